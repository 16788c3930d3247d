"""A search for the worst input of any rule: what the portfolio finds, as far as the judge that is passed in accepts it.

The finder works in floats. What it ends with is shrunk to a small rational input and judged; what counts is what the
judge says, never what the finder believed.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Protocol

from numpy.typing import NDArray

from kappaguard.rules.base.checks import require_count
from kappaguard.rules.base.errors import InputError, OutOfTime, RuleFault
from kappaguard.rules.witness import Bound, Witness
from kappaguard.search.adversaries.base import Adversary
from kappaguard.search.arena import Arena, Candidate
from kappaguard.search.portfolio import ADVERSARIES, hunt
from kappaguard.search.shrink import shrink
from kappaguard.search.stats import Stats

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


class Judged(Protocol):
    """What a judge says of an input: the lower bound that it proves, rounding allowed for, and the settled witness."""

    @property
    def ratio(self) -> Bound: ...

    @property
    def witness(self) -> Witness: ...


class Judge(Protocol):
    """A rule at one (n, f), as the search needs it: what it is called with, and who says what an input proves."""

    @property
    def rule(self) -> Callable[[Any], Any]: ...

    @property
    def name(self) -> str: ...

    @property
    def n(self) -> int: ...

    @property
    def f(self) -> int: ...

    def witness(self, x: NDArray[Any], subset: Sequence[int], found_by: str) -> Witness:
        """An input and a set, not judged yet."""

    def judge(self, witness: Witness) -> Judged:
        """What they prove; InputError or RuleFault if the rule cannot be asked."""


@dataclass(frozen=True)
class Found:
    """What a search ends with: the best input that the judge accepted, if any, the bound, and how the search went."""

    lower: Bound
    witness: Witness | None
    stats: Stats


@dataclass(frozen=True)
class Progress:
    """How far a search is: for a progress bar."""

    best: float
    adversary: str
    evaluations: int
    seconds: float


def search(
    judge: Judge,
    *,
    d: int | None = None,
    budget: float | None = None,
    evaluations: int | None = None,
    seed: int = 0,
    target: Fraction | float | None = None,
    report: Callable[[Progress], None] | None = None,
    adversaries: Sequence[tuple[Adversary, float]] = ADVERSARIES,
    arranged: bool = False,
) -> Found:
    """The largest ratio found within the budget.

    ``budget`` is in seconds (10 unless ``evaluations`` is given); with a budget in evaluations alone, the same seed
    gives the same result. ``d`` fixes the dimension, else it is swept. ``target`` ends the search as soon as a judged
    witness exceeds it. If ``arranged``, S is the first n - f workers. Ctrl-C ends the search with what there is.
    """
    budget = checked_budget(d, budget, evaluations, seed, target)
    hunter = Hunter(judge, target, seed)
    arena = Arena(
        judge.rule,
        judge.n,
        judge.f,
        budget=float(budget),
        evaluations=math.inf if evaluations is None else evaluations,
        target=math.inf if target is None else _float(target),
        dimension=d,
        arranged=arranged,
        settles=hunter.settles,
    )
    if report is not None:
        arena.report = _reporter(report)
    ended = hunt(arena, seed, adversaries)
    judged = hunter.conclude(arena, brief=isinstance(ended, OutOfTime))
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
    )
    if judged is None:
        return Found(Fraction(0), None, stats)
    return Found(_bound(judged), judged.witness, stats)


def checked_budget(
    d: int | None, budget: float | None, evaluations: int | None, seed: int, target: Fraction | float | None
) -> float:
    """The budget in seconds; InputError if a setting of a search makes no sense."""
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
    return budget


def _float(value: Fraction | float) -> float:
    """As a float; infinite beyond their range."""
    try:
        return float(value)
    except OverflowError:
        return math.inf


def _bound(judged: Judged) -> Bound:
    """What is proved; infinite if the honest vectors are all equal and the error is far beyond rounding."""
    infinite = judged.witness.lower == math.inf and judged.ratio > BEYOND_ROUNDING
    return math.inf if infinite else judged.ratio


def _reporter(report: Callable[[Progress], None]) -> Callable[[Arena], None]:
    def tell(arena: Arena) -> None:
        best = arena.best.ratio if arena.best else 0.0
        report(Progress(best, arena.adversary, arena.used, arena.seconds))

    return tell


@dataclass
class Hunter:
    """Judges what the portfolio finds."""

    judge: Judge
    target: Fraction | float | None
    seed: int
    caught: Judged | None = None

    def settles(self, candidate: Candidate) -> bool:
        """Whether the judge agrees that the target is exceeded, or the ratio infinite."""
        judged = self._plain(candidate)
        if judged is None:
            return False
        enough = _bound(judged) == math.inf or (self.target is not None and judged.ratio > self.target)
        if enough:
            self.caught = judged
        return enough

    def conclude(self, arena: Arena, *, brief: bool = False) -> Judged | None:
        """The best that is accepted, shrunk if that loses nothing that matters and there is time."""
        best = self.caught
        if brief:
            return best or next(filter(None, map(self._plain, arena.pool[:1])), None)
        patience = _patience(arena)
        for candidate in arena.pool[:JUDGED]:
            if best is not None and not candidate.ratio > best.ratio:
                break
            for judged in (self._shrunk(candidate, patience), self._plain(candidate)):
                if judged is None or judged.ratio == 0:
                    continue
                if best is None or judged.ratio * Fraction(KEEP) > best.ratio:
                    best = judged
        if self.caught is not None and best is self.caught and arena.best is not None:
            small = self._shrunk(arena.best, patience)
            if small is not None and (
                _bound(small) == math.inf or (self.target is not None and small.ratio > self.target)
            ):
                return small
        return best

    def _plain(self, candidate: Candidate) -> Judged | None:
        judge = self.judge
        honest = candidate.honest(judge.n - judge.f)
        try:
            return judge.judge(judge.witness(candidate.input, honest, candidate.adversary))
        except (InputError, RuleFault):
            return None

    def _shrunk(self, candidate: Candidate, patience: Callable[[int], bool]) -> Judged | None:
        judge = self.judge
        keep = KEEP
        if self.target is not None and candidate.ratio > self.target > 0 and math.isfinite(candidate.ratio):
            # half of what there is beyond the target may go
            keep = min(keep, (1 + _float(self.target) / candidate.ratio) / 2)
        try:
            witness = shrink(
                judge.name,
                candidate.input,
                candidate.honest(judge.n - judge.f),
                judge.f,
                keep=keep,
                found_by=candidate.adversary,
                seed=self.seed,
                rule=judge.rule,
                patience=patience,
            )
            return judge.judge(witness)
        except (InputError, RuleFault):
            return None


def _patience(arena: Arena) -> Callable[[int], bool]:
    """A fraction of the time that the search took, or of its evaluations if that is what its budget was in."""
    if math.isinf(arena.budget):
        most = max(LEAST_EVALUATIONS, int(SHRINKING * arena.used))
        return lambda used: used <= most
    until = time.perf_counter() + SHRINKING * min(arena.budget, arena.seconds) + 0.2
    return lambda used: time.perf_counter() < until
