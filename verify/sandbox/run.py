"""The parent's side of the sandbox: start, watch, end, and read what came of it."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass, replace
from pathlib import Path

from kappaguard.rules.errors import InputError
from kappaguard.verify.claimed import claimed
from kappaguard.verify.inquiry import Inquiry, Known, conduct
from kappaguard.verify.sandbox.process import run_module
from kappaguard.verify.sandbox.request import ERROR, FORKS, PHASE, REQUEST, RESULT, Request
from kappaguard.verify.verdict import Effort, Verdict, verdict_from_json

GRACE = 30.0
"""Seconds that an inquiry may take beyond the budget of its search."""
MEMORY = 4 << 30
MOST_RESULT = 64 << 20


@dataclass(frozen=True)
class Limits:
    """What a worker may use: wall-clock seconds in all (None: the budget and some grace), and bytes of memory."""

    seconds: float | None = None
    memory: int = MEMORY

    def deadline(self, inquiry: Inquiry) -> float:
        """Seconds until the worker is ended."""
        return inquiry.budget + GRACE if self.seconds is None else self.seconds


def inquire_apart(inquiry: Inquiry, known: Known = (), limits: Limits = Limits()) -> Verdict:  # noqa: B008
    """The verdict of an inquiry carried out by a worker; a worker that does not finish is a trouble, not a verdict."""
    with tempfile.TemporaryDirectory(prefix="kappaguard-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        request = Request(inquiry, tuple(known), limits.memory)
        (folder / REQUEST).write_text(request.to_json(), encoding="utf-8")
        seconds = limits.deadline(inquiry)
        ended = run_module("kappaguard.verify.sandbox.worker", folder, seconds)
        error = _read(folder / ERROR)
        if error is not None:
            raise InputError(error)
        text = _read(folder / RESULT)
        if text is not None:
            forks = int(_read(folder / FORKS) or 0)
            verdict = verdict_from_json(text)
            return replace(verdict, findings=(*verdict.findings, *conduct(ended.printed, forks)))
        phase = _read(folder / PHASE) or "its import"
        if ended.status is None:
            trouble = f"the rule did not return within {seconds:g} s ({phase})"
        else:
            trouble = f"the process of the rule ended with {ended.how} ({phase})"
        return _unfinished(inquiry, trouble, ended.printed, seconds)


def _read(path: Path) -> str | None:
    try:
        with path.open(encoding="utf-8", errors="replace") as stream:
            return stream.read(MOST_RESULT)
    except OSError:
        return None


def _unfinished(inquiry: Inquiry, trouble: str, printed: str, seconds: float) -> Verdict:
    stated = claimed(inquiry.rule, inquiry.n, inquiry.f, inquiry.claim)
    return Verdict(
        str(inquiry.rule),
        inquiry.n,
        inquiry.f,
        stated.expression,
        stated.bound,
        "open",
        "the check was not finished",
        findings=conduct(printed, 0),
        effort=Effort(seconds=seconds, seed=inquiry.seed),
        trouble=trouble,
    )
