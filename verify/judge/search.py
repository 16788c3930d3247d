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

from kappaguard.rules.base.errors import InputError
from kappaguard.rules.foreign.counts import named_with_counts, takes_counts
from kappaguard.search.adversaries.base import Adversary
from kappaguard.search.portfolio import ADVERSARIES
from kappaguard.search.run import BUDGET, Found, Progress, checked_budget
from kappaguard.search.run import search as run
from kappaguard.verify.judge.result import KappaResult
from kappaguard.verify.judge.subject import Subject, subject_of


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
    counts: Sequence[int] | None = None,
) -> KappaResult:
    """The largest ratio found within the budget: kappa*(rule, n, f) >= lower, by the witness.

    ``budget`` is in seconds (10 unless ``evaluations`` is given); with a budget in evaluations alone, the same seed
    gives the same result. ``d`` fixes the dimension, else it is swept. ``target`` ends the search as soon as a judged
    witness exceeds it. ``tolerance`` is the relative error allowed to a rule that iterates to one of its own. With
    ``counts`` the adversary also chooses what its clients claim, one of these numbers of examples, while the honest
    ones say 1; the budget is divided evenly. Ctrl-C ends the search with what there is.
    """
    if counts is not None:
        return _claiming(rule, n, f, counts, d, budget, evaluations, seed, target, report, adversaries, tolerance)
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
    return _result(judge, found)


def _result(judge: Subject, found: Found) -> KappaResult:
    exactness = f"exact to {judge.inexact:.0e} relative, which is allowed here" if judge.inexact else None
    stats = dataclasses.replace(found.stats, precision=exactness)
    upper = math.inf if found.lower == math.inf else None
    return KappaResult(judge.name, judge.n, judge.f, found.lower, upper, found.witness, None, None, stats)


def _claiming(
    rule: str | Callable[..., Any],
    n: int,
    f: int,
    counts: Sequence[int],
    d: int | None,
    budget: float | None,
    evaluations: int | None,
    seed: int,
    target: Fraction | float | None,
    report: Callable[[Progress], None] | None,
    adversaries: Sequence[tuple[Adversary, float]],
    tolerance: Fraction | None,
) -> KappaResult:
    """The worst of one search for every claim; the last f clients are Byzantine. The honest ones have weight 1 each."""
    if not isinstance(rule, str) or not takes_counts(subject_of(rule, n, f, tolerance=tolerance).rule):
        raise InputError(f"{rule} is not told numbers of examples: only code, by name, that takes them has counts")
    if not counts or any(isinstance(count, bool) or not isinstance(count, int) or count < 0 for count in counts):
        raise InputError(f"counts are whole numbers, none of them negative, not {counts!r}"[:200])
    if budget is None and evaluations is None:
        budget = BUDGET
    results = []
    for count in counts:
        named = named_with_counts(rule, [1] * (n - f) + [count] * f)
        judge = subject_of(named, n, f, tolerance=tolerance)
        part = run(
            judge,
            d=d,
            budget=None if budget is None else budget / len(counts),
            evaluations=None if evaluations is None else max(1, evaluations // len(counts)),
            seed=seed,
            target=target,
            report=report,
            adversaries=adversaries,
            arranged=True,
        )
        results.append(_result(judge, part))
        if results[-1].lower == math.inf or part.stats.interrupted:
            break
    best = max(results, key=lambda result: result.lower)
    spent = sum(result.stats.evaluations for result in results), sum(result.stats.seconds for result in results)
    stats = dataclasses.replace(best.stats, evaluations=spent[0], seconds=spent[1])
    return dataclasses.replace(best, stats=stats)
