"""A violation counts only if it repeats: whoever replays a witness must see what the verdict says."""

from __future__ import annotations

from dataclasses import replace

from kappaguard.rules.witness import Bound
from kappaguard.verify.judgement import Judgement
from kappaguard.verify.subject import Subject

REPEATS = 4
"""Further calls: of a rule that errs by chance, every second time, one in 32 violations gets through."""
NOT_REPEATED = "not deterministic: the violation did not repeat"


def repeated(judgement: Judgement, under: Subject, bound: Bound) -> Judgement | None:
    """The judgement if further calls of the rule on its witness exceed the bound as well, else None.

    If the ratios differ, the least of them is what is told, and the witness has all of them between its bounds. A rule
    of ours is deterministic, and is judged once.
    """
    if under.is_builtin:
        return judgement
    least, lower, upper = judgement, judgement.witness.lower, judgement.witness.upper
    for _ in range(REPEATS):
        again = under.judge(judgement.witness)
        if not again.ratio > bound or (again.output is None) != (judgement.output is None):
            return None
        least = again if again.ratio < least.ratio else least
        lower, upper = min(lower, again.witness.lower), max(upper, again.witness.upper)
    return replace(least, witness=replace(least.witness, lower=lower, upper=upper))
