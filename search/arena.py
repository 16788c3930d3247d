"""Where adversaries meet the rule: inputs go in, ratios come out, and the best ones are kept.

An input is written in roles: its first m = n - f vectors are the honest ones. Which worker plays which role is the
``arrangement``, a permutation: worker w is handed the vector of role arrangement[w]. A rule whose result does not
depend on the order of the workers has only one. The set S is thus part of the search in two ways: as the roles, and,
for every input that is the best so far, by looking for a worse S for the same output.

Evaluations are counted, never timed, so that everything an adversary decides depends on the seed alone. Time enters
only through the budget: when it is used up, the evaluation in progress raises ``Exhausted``.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kappaguard.rules.base.errors import RuleFault
from kappaguard.rules.base.rule import UNKNOWN, Rule, Traits, trusted_by
from kappaguard.rules.ratio import criterion_named, ratio
from kappaguard.rules.subsets import worst_subset
from kappaguard.search.stats import Improvement

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

LEAST_SPREAD = 1e-6
"""Honest vectors nearer to each other than this, relative to their largest entry, leave a ratio to rounding."""
POOL = 24
"""How many good inputs are kept for other adversaries to start from."""
SUBSETS = 5_000
"""Up to this many sets S are looked at for one input."""
FAULTS = 8
"""So many inputs on which the rule fails are shown to whoever settles the search."""
REFUSALS = 30
"""After so many refused inputs the next one must be better by more than a trifle."""
PART = 0.02
CHUNK = 1 << 20
"""How many numbers are handed to the rule at once."""


class Exhausted(Exception):
    """The budget is used up, or the target is reached."""


@dataclass(frozen=True)
class Candidate:
    """An input in roles with its arrangement and its ratio in floats."""

    x: Floats
    arrangement: tuple[int, ...]
    ratio: float
    adversary: str

    @property
    def input(self) -> Floats:
        """The input as the rule sees it."""
        return self.x[list(self.arrangement)]

    def honest(self, m: int) -> list[int]:
        """S: the workers that play an honest role."""
        return [worker for worker, role in enumerate(self.arrangement) if role < m]


@dataclass
class Arena:
    """One rule at one (n, f), a budget, and what has been found so far.

    A best ratio beyond ``target`` ends the search if ``settles`` agrees; so does an infinite one. If ``arranged``,
    the first m workers are the honest ones, and nothing else counts: the others may be told apart by more than vectors.
    """

    rule: Callable[[Any], Any]
    n: int
    f: int
    budget: float = math.inf
    evaluations: float = math.inf
    target: float = math.inf
    dimension: int | None = None
    criterion: str = "trace"
    traits: Traits = UNKNOWN
    arranged: bool = False
    report: Callable[[Arena], None] = field(default=lambda arena: None)
    settles: Callable[[Candidate], bool] | None = None
    used: int = 0
    faults: int = 0
    fault: RuleFault | None = None
    pool: list[Candidate] = field(default_factory=list)
    trace: list[Improvement] = field(default_factory=list)
    by_dimension: dict[int, float] = field(default_factory=dict)
    arrangement: tuple[int, ...] = ()
    adversary: str = ""

    def __post_init__(self) -> None:
        if isinstance(self.rule, Rule):
            self.traits = self.rule.traits
        self.trusted = trusted_by(self.rule)
        self.arrangement = tuple(range(self.n))
        self.started = time.perf_counter()
        self._criterion = criterion_named(self.criterion)
        self._refused, self._refusals = -math.inf, 0
        self._faulty: list[int] = []
        self._shown = 0
        self._pace = 8

    @property
    def m(self) -> int:
        """The number of honest vectors."""
        return self.n - self.f

    @property
    def best(self) -> Candidate | None:
        """The best input so far."""
        return self.pool[0] if self.pool else None

    @property
    def seconds(self) -> float:
        """Seconds since the start of the search."""
        return time.perf_counter() - self.started

    def dimensions(self) -> tuple[int, ...]:
        """The dimensions to search in, rising; the widest is enough for every Gram matrix of n points."""
        if self.dimension is not None:
            return tuple(sorted({min(self.dimension, d) for d in (1, 2, 3, self.dimension)}))
        return tuple(sorted({d for d in (1, 2, 3, 5, self.n - 1) if 1 <= d < max(2, self.n)}))

    def spend(self, evaluations: int) -> None:
        """Count work that is not an evaluation as so many."""
        self._check()
        if self.used + evaluations > self.evaluations:
            raise Exhausted
        self.used += evaluations

    def _check(self) -> None:
        if self.used >= self.evaluations or self.seconds > self.budget:
            raise Exhausted

    def ratios(self, x: Floats, arrangement: Sequence[int] | None = None) -> Floats:
        """The ratios of inputs in roles, of shape (k, n, d) -> (k,); of no use where the rule fails: -inf."""
        order = self.arrangement if arrangement is None else tuple(arrangement)
        widened = self._widened(x)
        values = np.full(len(x), -np.inf)
        most = max(1, CHUNK // (self.n * widened.shape[-1]))
        start = 0
        while start < len(x):
            self._check()
            size = most if math.isinf(self.budget) else min(most, self._pace)
            stop = start + int(min(size, self.evaluations - self.used, len(x) - start))
            before = self.seconds
            values[start:stop] = self._evaluate(widened[start:stop], order)
            # a slow rule is not handed more at once than it does in a small part of the budget; without a budget in
            # seconds the clock must not matter
            quick = self.seconds - before < PART * self.budget
            self._pace = max(1, 2 * (stop - start) if quick else (stop - start) // 2)
            start = stop
        return values

    def _widened(self, x: Floats) -> Floats:
        """x with columns of zeros up to the dimension that was asked for."""
        if self.dimension is None or x.shape[-1] >= self.dimension:
            return x
        wide = np.zeros((*x.shape[:-1], self.dimension))
        wide[..., : x.shape[-1]] = x
        return wide

    def _evaluate(self, x: Floats, order: tuple[int, ...]) -> Floats:
        if (self.trusted is not None and order[self.trusted] >= self.m) or (
            self.arranged and max(order[: self.m]) >= self.m
        ):
            # the adversary cannot be these workers: such an input says nothing
            self.used += len(x)
            return np.full(len(x), -np.inf)
        outputs = self.outputs(x, order)
        values = np.full(len(x), -np.inf)
        chosen = np.flatnonzero(np.all(np.isfinite(outputs), axis=1))
        if len(chosen):
            raw = np.asarray(ratio(outputs[chosen], x[chosen], list(range(self.m)), self._criterion), dtype=np.float64)
            values[chosen] = np.where(np.isnan(raw), -np.inf, raw)
        self._discard_rounding(x, values)
        self._record(x, outputs, values, order)
        if self._faulty:
            self._show_faults(x, order)
        return values

    def _show_faults(self, x: Floats, order: tuple[int, ...]) -> None:
        """No vector for a finite input satisfies no bound: if whoever settles the search agrees, it ends here."""
        faulty, self._faulty = self._faulty, []
        if self.settles is None:
            return
        for place in faulty[: max(0, FAULTS - self._shown)]:
            self._shown += 1
            if self.settles(Candidate(x[place].copy(), order, math.inf, self.adversary)):
                raise Exhausted

    def outputs(self, x: Floats, arrangement: Sequence[int] | None = None) -> Floats:
        """What the rule makes of inputs in roles, (k, n, d) -> (k, d); NaN where the input or the rule is faulty."""
        self._check()
        self.used += len(x)
        seen = x[:, list(self.arrangement if arrangement is None else arrangement)]
        outputs = np.full((len(x), x.shape[-1]), np.nan)
        for place, output in self._outputs(seen, np.flatnonzero(np.all(np.isfinite(seen), axis=(1, 2)))):
            outputs[place] = output
        return outputs

    def _outputs(self, seen: Floats, places: Integers) -> Iterator[tuple[Integers, Floats]]:
        """The outputs of those inputs on which the rule does not fail; halved until the faulty ones stand alone."""
        if not len(places):
            return
        try:
            yield places, np.asarray(self.rule(seen[places]), dtype=np.float64)
        except RuleFault as fault:
            if len(places) > 1:
                middle = len(places) // 2
                yield from self._outputs(seen, places[:middle])
                yield from self._outputs(seen, places[middle:])
                return
            self.faults += 1
            self.fault = self.fault or fault
            self._faulty.append(int(places[0]))
            yield places, np.full((1, seen.shape[-1]), np.nan)

    def _discard_rounding(self, x: Floats, values: Floats) -> None:
        """Finite ratios that rounding may have made are not counted."""
        honest = x[:, : self.m]
        width = np.max(np.ptp(honest, axis=1), axis=-1)
        values[np.isfinite(values) & (width <= LEAST_SPREAD * np.max(np.abs(honest), axis=(1, 2)))] = -np.inf

    def _record(self, x: Floats, outputs: Floats, values: Floats, order: tuple[int, ...]) -> None:
        least = self.pool[-1].ratio if len(self.pool) >= POOL else -np.inf
        for place in np.argsort(-values, kind="stable")[:POOL]:
            if not values[place] > max(least, 0.0):
                break
            candidate = Candidate(x[place].copy(), order, float(values[place]), self.adversary)
            before = self.best
            if before is None or candidate.ratio > before.ratio:
                candidate = self._worse_subset(candidate, outputs[place])
                self.arrangement = candidate.arrangement
            d = _width(candidate.x, self.traits.rotates)
            self.by_dimension[d] = max(candidate.ratio, self.by_dimension.get(d, 0.0))
            self._keep(candidate)
            if before is None or candidate.ratio > before.ratio:
                self.trace.append(Improvement(self.adversary, self.used, self.seconds, candidate.ratio, d))
        self.report(self)
        self._settle()

    def _settle(self) -> None:
        best = self.best
        if best is None or best.ratio <= self._refused or not (best.ratio > self.target or math.isinf(best.ratio)):
            return
        if self.settles is None or self.settles(best):
            raise Exhausted
        # what was refused was mostly rounding, or a tie: only a better one is worth another look
        self._refusals += 1
        if math.isinf(best.ratio):
            self.pool.remove(best)
        else:
            self._refused = best.ratio * (1 + (1e-3 if self._refusals > REFUSALS else 1e-12))

    def _keep(self, candidate: Candidate) -> None:
        """One input per ratio: equal ones are mostly the same input once more."""
        if any(math.isclose(candidate.ratio, other.ratio, rel_tol=1e-9) for other in self.pool):
            return
        self.pool.append(candidate)
        self.pool.sort(key=lambda each: -each.ratio)
        del self.pool[POOL:]

    def _worse_subset(self, candidate: Candidate, output: Floats) -> Candidate:
        """The same input with the set S for which it is worst."""
        if math.isinf(candidate.ratio) or self.arranged:
            return candidate
        found = worst_subset(output, candidate.x, self.f, self._criterion, SUBSETS)
        if not float(found.ratio) > candidate.ratio * (1 + 1e-9):
            return candidate
        chosen = found.subset.tolist()
        if self.trusted is not None and candidate.arrangement[self.trusted] not in chosen:
            return candidate
        roles = [*chosen, *(role for role in range(self.n) if role not in set(chosen))]
        place = {role: new for new, role in enumerate(roles)}
        x = candidate.x[roles]
        values = np.array([float(found.ratio)])
        self._discard_rounding(x[None], values)
        if values[0] == -np.inf:
            return candidate
        arrangement = tuple(place[role] for role in candidate.arrangement)
        return Candidate(x, arrangement, float(found.ratio), candidate.adversary)


def _width(x: Floats, turning: bool) -> int:
    """The dimension of an input: the columns that are not zero, or fewer if a rotation makes no difference."""
    columns = int(np.count_nonzero(np.any(x != 0, axis=0)))
    rank = int(np.linalg.matrix_rank(x - x[0], tol=1e-9 * float(np.max(np.abs(x))))) if turning else columns
    return max(1, min(columns, rank))
