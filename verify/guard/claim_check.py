"""A request to check one claim on kappa* of a rule, and what is said of a process that ran one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from kappaguard.rules.witness import Witness
from kappaguard.verify.guard.finding import HealthFinding
from kappaguard.verify.guard.verdict import Verdict
from kappaguard.verify.judge.result import KappaResult

EVALUATIONS = 20_000
"""Of a search; a rule of a few lines of NumPy takes about 3 s for them on an idle core."""

Finder = Callable[..., KappaResult]
Known = Sequence[tuple[str, Witness]]
Begin = Callable[[str], None]
Keep = Callable[[Verdict], None]


@dataclass(frozen=True)
class ClaimCheck:
    """What is to be found out, and how hard to try."""

    rule: str | Callable[..., Any]
    n: int
    f: int
    claim: str | float | Fraction | None = None
    evaluations: int = EVALUATIONS
    seed: int = 0
    tolerance: Fraction | None = None
    rotates: bool = False


def conduct(printed: str, forks: int) -> tuple[HealthFinding, ...]:
    """What a rule did besides returning a vector."""
    found = []
    lines = [line for line in printed.splitlines() if line.strip()]
    if lines:
        found.append(
            HealthFinding("conduct", False, f"it printed {len(lines)} lines, the first: {lines[0].strip()[:200]}")
        )
    if forks:
        found.append(HealthFinding("conduct", False, f"it forked {forks} times"))
    return tuple(found)
