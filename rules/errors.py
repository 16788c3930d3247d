"""The two ways in which an evaluation can go wrong."""

from __future__ import annotations

from typing import Literal

FaultKind = Literal["none", "nan", "infinite", "exception", "shape", "type"]


class InputError(ValueError):
    """The request itself is wrong: one line that names the fault and the numbers (exit code 2)."""


class RuleFault(Exception):
    """A rule under test did not return a usable vector: a finding about the rule, not a crash of ours.

    ``kind`` is what was seen: it returned ``none``, ``nan``, an ``infinite`` entry, a wrong ``shape`` or
    ``type``, or raised an ``exception``.
    """

    def __init__(self, rule: str, kind: FaultKind, detail: str) -> None:
        super().__init__(f"{rule}: {detail}")
        self.rule = rule
        self.kind: FaultKind = kind
        self.detail = detail
