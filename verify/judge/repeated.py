"""A violation counts if it repeats: whoever replays a witness must see what the verdict says.

A rule that draws from a generator of its own violates a claim in some calls and not in others. Its kappa* is a supremum
over what it may draw, so one violation is one too many; how often it happens is said with the confidence that the
number of calls gives (Clopper and Pearson, "The use of confidence or fiducial limits illustrated in the case of the
binomial", Biometrika 26, 1934).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from kappaguard.rules.witness import Bound
from kappaguard.verify.judge.judgement import Judgement
from kappaguard.verify.judge.subject import Subject

REPEATS = 4
"""Further calls that all violate the claim make a violation that everybody will see again."""
CALLS, FEW_CALLS = 200, 12
"""Further calls of a rule that did not repeat its violation in each of those; of one that takes long."""
DOUBT = 0.01


@dataclass(frozen=True)
class Repetition:
    """What came of calling a rule again: its judgement if it violated the claim again, and in words if not always."""

    judgement: Judgement | None
    words: str | None = None


def repeated(judgement: Judgement, subject: Subject, bound: Bound) -> Repetition:
    """The judgement if further calls of the rule on its witness exceed the bound as well.

    If the ratios differ, the least of them is what is told, and the witness has all of them between its bounds. A rule
    of ours is deterministic, and is judged once.
    """
    if subject.is_builtin:
        return Repetition(judgement)
    first = [subject.judge(judgement.witness) for _ in range(REPEATS)]
    beyond = [each for each in first if _violates(each, judgement, bound)]
    if len(beyond) == REPEATS:
        return Repetition(_joined([judgement, *beyond]))
    calls = FEW_CALLS if subject.brief else CALLS
    beyond += [
        again
        for again in (subject.judge(judgement.witness) for _ in range(calls - REPEATS))
        if _violates(again, judgement, bound)
    ]
    words = _words(len(beyond), calls)
    return Repetition(_joined([judgement, *beyond]) if beyond else None, words)


def _violates(again: Judgement, first: Judgement, bound: Bound) -> bool:
    return again.ratio > bound and (again.output is None) == (first.output is None)


def _joined(judgements: list[Judgement]) -> Judgement:
    least = min(judgements, key=lambda each: each.ratio)
    lower = min(each.witness.lower for each in judgements)
    upper = max(each.witness.upper for each in judgements)
    return replace(least, witness=replace(least.witness, lower=lower, upper=upper))


def _words(count: int, calls: int) -> str:
    """How often it happens, with confidence."""
    from scipy.special import betaincinv

    sure = f"with {1 - DOUBT:.0%} confidence in"
    if not count:
        most = 1 - DOUBT ** (1 / calls)
        return f"not deterministic: the violation did not repeat in {calls} calls, {sure} fewer than {most:.1%} of them"
    least = float(betaincinv(count, calls - count + 1, DOUBT))
    return (
        f"not deterministic: the violation repeated in {count} of {calls} calls, {sure} more than {least:.1%} of them"
    )
