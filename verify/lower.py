"""A lower bound on kappa* of any rule: what the portfolio finds, as far as the judge accepts it.

The finder works in floats. What it ends with is shrunk to a small rational input and judged by ``Subject.judge``:
in exact arithmetic for rules that have one, by an enclosure for the geometric median, else from the float output with
rounding allowed for. ``lower`` is what the judge says, never what the finder believed.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from kappaguard.rules.checks import require_count
from kappaguard.rules.errors import InputError, RuleFault
from kappaguard.rules.witness import Bound
from kappaguard.search.adversaries.base import Adversary
from kappaguard.search.arena import Arena, Candidate
from kappaguard.search.portfolio import ADVERSARIES, hunt
from kappaguard.search.result import KappaResult, Stats
from kappaguard.search.shrink import shrink
from kappaguard.verify.deadline import OutOfTime
from kappaguard.verify.judgement import Judgement
from kappaguard.verify.subject import Subject, subject

BUDGET = 10.0
"""Seconds, if nothing is said."""
KEEP = 0.9998
"""The fraction of the ratio that a shrunk input must keep."""
JUDGED = 6
"""How many of the best inputs are judged until one is accepted."""
BEYOND_ROUNDING = 10**6
SHRINKING = 0.25
"""The time or the evaluations for shrinking, as a fraction of those of the search."""
LEAST_EVALUATIONS = 200


@dataclass(frozen=True)
class Progress:
    """How far a search is: for a progress bar."""

    best: float
    adversary: str
    evaluations: int
    seconds: float


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
    require_count(seed, 0, "the seed")
    if d is not None:
        require_count(d, 1, "the dimension d")
    if evaluations is not None:
        require_count(evaluations, 1, "the budget in evaluations")
    if budget is None:
        budget = math.inf if evaluations is not None else BUDGET
    if isinstance(budget, bool) or not isinstance(budget, int | float) or not budget > 0:
        raise InputError(f"the budget must be a positive number of seconds, got {budget!r}")
    if isinstance(target, bool) or not isinstance(target, int | float | Fraction | None):
        raise InputError(f"the target must be a number, got {target!r}")
    under = subject(rule, n, f, tolerance=tolerance)
    hunter = _Hunter(under, target, seed)
    arena = Arena(
        under.rule,
        n,
        f,
        budget=float(budget),
        evaluations=math.inf if evaluations is None else evaluations,
        target=math.inf if target is None else _float(target),
        dimension=d,
        settles=hunter.settles,
    )
    if report is not None:
        arena.report = _reporter(report)
    ended = hunt(arena, seed, adversaries)
    judgement = hunter.conclude(arena, brief=isinstance(ended, OutOfTime))
    stats = Stats(
        arena.seconds,
        arena.used,
        seed=seed,
        adversaries=tuple(adversary.name for adversary, _ in adversaries if adversary.applies(arena)),
        trace=tuple(arena.trace),
        dimensions=tuple(sorted(arena.by_dimension.items())),
        faults=arena.faults,
        fault=None if arena.fault is None else arena.fault.detail,
        interrupted=ended is not None,
        timed_out=isinstance(ended, OutOfTime),
        precision=f"exact to {under.inexact:.0e} relative, which is allowed here" if under.inexact else None,
    )
    lower: Bound = Fraction(0) if judgement is None else _bound(judgement)
    witness = None if judgement is None else judgement.witness
    return KappaResult(under.name, n, f, lower, math.inf if lower == math.inf else None, witness, None, None, stats)


def _float(value: Fraction | float) -> float:
    """As a float; infinite beyond their range."""
    try:
        return float(value)
    except OverflowError:
        return math.inf


def _bound(judgement: Judgement) -> Bound:
    """What is proved; infinite if the honest vectors are all equal and the error is far beyond rounding."""
    infinite = judgement.witness.lower == math.inf and judgement.ratio > BEYOND_ROUNDING
    return math.inf if infinite else judgement.ratio


def _reporter(report: Callable[[Progress], None]) -> Callable[[Arena], None]:
    def tell(arena: Arena) -> None:
        best = arena.best.ratio if arena.best else 0.0
        report(Progress(best, arena.adversary, arena.used, arena.seconds))

    return tell


@dataclass
class _Hunter:
    """Judges what the portfolio finds."""

    under: Subject
    target: Fraction | float | None
    seed: int
    caught: Judgement | None = None

    def settles(self, candidate: Candidate) -> bool:
        """Whether the judge agrees that the target is exceeded, or the ratio infinite."""
        judgement = self._plain(candidate)
        if judgement is None:
            return False
        enough = _bound(judgement) == math.inf or (self.target is not None and judgement.ratio > self.target)
        if enough:
            self.caught = judgement
        return enough

    def conclude(self, arena: Arena, *, brief: bool = False) -> Judgement | None:
        """The best that is accepted, shrunk if that loses nothing that matters and there is time."""
        best = self.caught
        if brief:
            return best or next(filter(None, map(self._plain, arena.pool[:1])), None)
        patience = _patience(arena)
        for candidate in arena.pool[:JUDGED]:
            if best is not None and not candidate.ratio > best.ratio:
                break
            for judgement in (self._shrunk(candidate, patience), self._plain(candidate)):
                if judgement is None or judgement.ratio == 0:
                    continue
                if best is None or judgement.ratio * Fraction(KEEP) > best.ratio:
                    best = judgement
        if self.caught is not None and best is self.caught and arena.best is not None:
            small = self._shrunk(arena.best, patience)
            if small is not None and (
                _bound(small) == math.inf or (self.target is not None and small.ratio > self.target)
            ):
                return small
        return best

    def _plain(self, candidate: Candidate) -> Judgement | None:
        under = self.under
        honest = candidate.honest(under.n - under.f)
        try:
            return under.judge(under.witness(candidate.input, honest, candidate.adversary))
        except (InputError, RuleFault):
            return None

    def _shrunk(self, candidate: Candidate, patience: Callable[[int], bool]) -> Judgement | None:
        under = self.under
        keep = KEEP
        if self.target is not None and candidate.ratio > self.target > 0 and math.isfinite(candidate.ratio):
            # half of what there is beyond the target may go
            keep = min(keep, (1 + _float(self.target) / candidate.ratio) / 2)
        try:
            witness = shrink(
                under.name,
                candidate.input,
                candidate.honest(under.n - under.f),
                under.f,
                keep=keep,
                found_by=candidate.adversary,
                seed=self.seed,
                rule=under.rule,
                patience=patience,
            )
            return under.judge(witness)
        except (InputError, RuleFault):
            return None


def _patience(arena: Arena) -> Callable[[int], bool]:
    """A fraction of the time that the search took, or of its evaluations if that is what its budget was in."""
    if math.isinf(arena.budget):
        most = max(LEAST_EVALUATIONS, int(SHRINKING * arena.used))
        return lambda used: used <= most
    until = time.perf_counter() + SHRINKING * min(arena.budget, arena.seconds) + 0.2
    return lambda used: time.perf_counter() < until
