"""A lower bound on kappa* of any rule: what the search finds, as far as the judge accepts it.

A witness is judged by ``Subject.judge``: in exact arithmetic for rules that have one, by an enclosure for the geometric
median, else from the float output with rounding allowed for.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

from kappaguard.search.adversaries.base import Adversary
from kappaguard.search.portfolio import ADVERSARIES
from kappaguard.search.run import Progress, checked_budget
from kappaguard.search.run import search as run
from kappaguard.verify.judge.result import KappaResult
from kappaguard.verify.judge.subject import subject_of


def search(
    rule: str | Callable[..., Any],
    n: int,
    f: int,
    *,
    d: int | None = None,
    budget: float | None = None,
    evaluations: int | None = None,
    seed: int = 0,
    target: Fraction | float | None = None,
    report: Callable[[Progress], None] | None = None,
    adversaries: Sequence[tuple[Adversary, float]] = ADVERSARIES,
    tolerance: Fraction | None = None,
) -> KappaResult:
    """The largest ratio found within the budget: kappa*(rule, n, f) >= lower, by the witness.

    ``budget`` is in seconds (10 unless ``evaluations`` is given); with a budget in evaluations alone, the same seed
    gives the same result. ``d`` fixes the dimension, else it is swept. ``target`` ends the search as soon as a judged
    witness exceeds it. ``tolerance`` is the relative error allowed to a rule that iterates to one of its own. Ctrl-C
    ends the search with what there is.
    """
    checked_budget(d, budget, evaluations, seed, target)
    judge = subject_of(rule, n, f, tolerance=tolerance)
    found = run(
        judge,
        d=d,
        budget=budget,
        evaluations=evaluations,
        seed=seed,
        target=target,
        report=report,
        adversaries=adversaries,
    )
    exactness = f"exact to {judge.inexact:.0e} relative, which is allowed here" if judge.inexact else None
    stats = dataclasses.replace(found.stats, precision=exactness)
    upper = math.inf if found.lower == math.inf else None
    return KappaResult(judge.name, n, f, found.lower, upper, found.witness, None, None, stats)
