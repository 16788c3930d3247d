"""Verdicts as rows of a table."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from kappaguard.reports.bounds import lower_shown, upper_shown
from kappaguard.reports.guard.explanation import FEW_DIGITS, decimal, stated
from kappaguard.rules.base.text import printable
from kappaguard.rules.witness import Bound
from kappaguard.verify.guard.verdict import Verdict

HEADINGS = ["rule", "n", "f", "claim", "kappa* >=", "kappa* <=", "verdict", "health", "tried"]


def row(verdict: Verdict) -> list[str]:
    """The cells of a verdict in the table of all."""
    refuting = sum(finding.refutes for finding in verdict.findings)
    warning = len(verdict.findings) - refuting
    health = ", ".join(
        text for count, text in ((refuting, f"{refuting} refute"), (warning, f"{warning} warn")) if count
    )
    effort = verdict.effort
    return [
        printable(verdict.rule),
        str(verdict.n),
        str(verdict.f),
        stated(verdict),
        _outward(verdict.lower, lower_shown),
        "" if verdict.upper is None else _outward(verdict.upper, upper_shown),
        verdict.verdict,
        health or ("sound" if verdict.trouble is None and verdict.violating is None else "not examined"),
        f"{effort.evaluations} evaluations, {effort.seconds:.1f} s, seed {effort.seed}",
    ]


def _outward(bound: Bound, shown: Callable[[object, int], str]) -> str:
    try:
        return shown(float(bound), FEW_DIGITS)
    except OverflowError:
        return decimal(bound)


def warnings(verdicts: Sequence[Verdict]) -> Iterator[str]:
    """What the health checks warn of in verdicts that hold, in the words of the first (n, f) where it was seen."""
    places: dict[tuple[str, str], list[str]] = {}
    messages: dict[tuple[str, str], str] = {}
    for verdict in verdicts:
        for finding in verdict.findings if verdict.holds else ():
            key = verdict.rule, finding.check
            messages.setdefault(key, finding.message)
            places.setdefault(key, []).append(f"({verdict.n}, {verdict.f})")
    for (rule, check), seen in places.items():
        yield f"{printable(rule)} at {', '.join(seen)} warns: {check}: {printable(messages[rule, check])}"
