"""From the float input that a search ends with to a witness that a person can read.

In turn: the smallest dimension, a coarse grid of rationals, few distinct values, small whole numbers; each step is kept
if the ratio stays above a stated fraction of what it was. And off ties: an input on which the rule's choice hangs on
equal numbers proves little about other implementations of the rule, which choose otherwise.

There is no general way to ask a rule how near it is to a tie. So an input is probed: it is off ties if small
perturbations of every entry, and of all at once, change the ratio slightly. Ratios jump where a choice changes.

Decisions are made in floats, which off ties is safe, many candidates at a time; the ratio of the result is exact where
the rule's arithmetic is. Judging the result is not done here, see ``kappaguard.verify.judge.replay``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kappaguard.rules.base.errors import InputError, RuleFault
from kappaguard.rules.base.rationals import grids, on_grid, whole
from kappaguard.rules.base.rule import Traits, traits_of
from kappaguard.rules.names import rule as rule_named
from kappaguard.rules.ratio import criterion_named, members, ratio
from kappaguard.rules.witness import Bound, Witness, fractions

Floats = NDArray[np.float64]

PROBE = 2.0**-14
"""The size of a perturbation, relative to the largest entry; even its square is more than rules take for a tie."""
JUMP = 0.01
"""A relative change of the ratio by more than this is a jump."""
LARGE = 1e3
"""What an infinite ratio must still be after a perturbation."""
NUDGES = tuple(2.0**-k for k in (4, 6, 8, 10, 12))
TRIES = 64
ENTRY_PROBES = 128
CHUNK = 256
"""So many coordinates are tried alone at once."""
ROUNDS = 40
MOST_EVALUATIONS = 100_000


@dataclass(frozen=True)
class ShrinkTask:
    """A rule with n, f, S and criterion: everything but the input. The ratio of many inputs at a time, in floats."""

    rule: Callable[[Any], Any]
    subset: tuple[int, ...]
    criterion: str

    @property
    def traits(self) -> Traits:
        """What is known to hold for the rule."""
        return traits_of(self.rule)

    def ratios(self, inputs: Floats) -> Floats:
        """The ratios of inputs of shape (k, n, d); one on which the rule fails counts as 0."""
        try:
            return self._ratios(inputs)
        except RuleFault:
            if len(inputs) == 1:
                return np.zeros(1)
            return np.concatenate([self.ratios(inputs[k : k + 1]) for k in range(len(inputs))])

    def _ratios(self, inputs: Floats) -> Floats:
        values = np.asarray(ratio(np.asarray(self.rule(inputs)), inputs, self.subset, self.criterion))
        return np.where(np.isnan(values), 0.0, values)

    def exact(self, x: NDArray[Any]) -> Bound:
        """The ratio of an input of fractions, in exact arithmetic if the rule and the criterion have one."""
        if self.traits.rational and criterion_named(self.criterion).rational:
            value = ratio(self.rule(x), x, self.subset, self.criterion)
            return value if isinstance(value, float) else Fraction(value)
        value = float(self.ratios(x.astype(np.float64)[None])[0])
        return value if math.isinf(value) else Fraction(value)


def off_ties(problem: ShrinkTask, x: Floats, *, thorough: bool = False, seed: int = 0) -> bool:
    """Whether small perturbations of x change the ratio only slightly: of all entries, and (thorough) of each."""
    size = float(np.max(np.abs(x))) or 1.0
    generator = np.random.default_rng(seed)
    moves = [generator.uniform(-1, 1, (12 if thorough else 6, *x.shape))]
    if thorough and x.size <= ENTRY_PROBES:
        single = np.eye(x.size).reshape(x.size, *x.shape)
        moves += [single, -single]
    values = problem.ratios(np.concatenate([x[None], x + PROBE * size * np.concatenate(moves)]))
    if math.isinf(values[0]):
        return bool(np.all(values >= LARGE))
    return bool(np.all(np.abs(values[1:] - values[0]) <= JUMP * max(values[0], 1e-300)))


def shrink(
    spec: str,
    x: NDArray[Any],
    subset: Sequence[int],
    f: int,
    criterion: str = "trace",
    keep: Fraction | float = Fraction(99, 100),
    found_by: str = "",
    seed: int = 0,
    rule: Callable[[Any], Any] | None = None,
    patience: Callable[[int], bool] = lambda used: used <= MOST_EVALUATIONS,
) -> Witness:
    """A small witness whose ratio is at least ``keep`` times that of x and S, off ties if there is one.

    ``rule`` is the rule itself where ``spec`` only labels it. ``patience`` is asked, with the number of evaluations so
    far, whether to go on; if not, x is left as it is by then.
    The note says if it sits on a tie. For rules without exact arithmetic the recorded ratio is the one in floats;
    ``kappaguard.verify.judge.replay.settle`` replaces it by what can be proved.
    """
    start = np.asarray(x, dtype=np.float64)
    if start.ndim != 2 or not np.all(np.isfinite(start)):
        raise InputError("an input to shrink must be a finite matrix of shape (n, d)")
    chosen = tuple(sorted(members(subset, len(start)).tolist()))
    problem = ShrinkTask(rule or rule_named(spec, f=f), chosen, criterion_named(criterion).name)
    if not 0 < keep <= 1:
        raise InputError(f"the fraction of the ratio to keep must be in (0, 1], got {keep}")
    before = float(problem.ratios(start[None])[0])
    if before <= 0:
        raise InputError("the ratio of this input is 0: there is nothing to keep")
    least = before * float(keep) if math.isfinite(before) else LARGE
    search = _Shrinker(problem, least, math.isinf(before), seed, patience)
    small, untied = search.run(_normalised(start, problem))
    exact, value = _settled(problem, small, keep, before)
    note = f"shrunk from dimension {start.shape[1]}, keeping at least {float(keep):g} of the ratio {before:.12g}"
    if not untied:
        note += "; sits on a tie: another implementation may choose otherwise"
    return Witness(spec, len(start), f, problem.criterion, chosen, fractions(exact), value, value, found_by, note)


def _settled(
    problem: ShrinkTask, small: NDArray[Any], keep: Fraction | float, before: float
) -> tuple[NDArray[Any], Bound]:
    exact = whole(small) if problem.traits.scales else small
    value = problem.exact(exact)
    if not (math.isinf(value) if math.isinf(before) else value >= before * float(keep) * (1 - 1e-9)):
        raise InputError(f"in exact arithmetic the ratio {before:.12g} of this input falls to {float(value):.12g}")
    return exact, value


def _normalised(x: Floats, problem: ShrinkTask) -> Floats:
    """x moved to where S has a vector at zero, and scaled to size one, as far as the rule does not mind."""
    if problem.traits.translates:
        moved = x - x[problem.subset[0]]
        x = moved if np.any(moved) else x
    size = float(np.max(np.abs(x)))
    return x / size if problem.traits.scales and size > 0 else x


class _Shrinker:
    """The steps, with what must be kept: the ratio, and being off ties if the input can be brought there."""

    def __init__(
        self, problem: ShrinkTask, least: float, infinite: bool, seed: int, patience: Callable[[int], bool]
    ) -> None:
        self.problem, self.least, self.infinite, self.seed = problem, least, infinite, seed
        self.untied = False
        self.used, self.patience = 0, patience

    def run(self, x: Floats) -> tuple[NDArray[Any], bool]:
        x = self._fewer_dimensions(x)
        self.untied = off_ties(self.problem, x, seed=self.seed)
        if not self.untied:
            moved = self._nudged(x)
            if moved is not None:
                x, self.untied = moved, True
        rational = self._coarsest(x)
        rational = self._fewer_columns(self._fewer_values(rational))
        if self.untied and not off_ties(self.problem, rational.astype(np.float64), thorough=True, seed=self.seed + 1):
            self.untied = False
        return rational, self.untied

    def enough(self, inputs: Floats) -> NDArray[np.bool_]:
        """Which inputs keep the ratio; none when patience has run out."""
        if not self.patience(self.used):
            return np.zeros(len(inputs), dtype=bool)
        self.used += len(inputs)
        values = self.problem.ratios(inputs)
        return np.isinf(values) if self.infinite else values >= self.least

    def good(self, x: NDArray[Any]) -> bool:
        """Whether an input keeps the ratio and stays off ties."""
        floats = x.astype(np.float64)
        if not self.enough(floats[None])[0]:
            return False
        return not self.untied or off_ties(self.problem, floats, seed=self.seed)

    def _fewer_dimensions(self, x: Floats) -> Floats:
        if x.shape[1] == 1:
            return x
        if self.problem.traits.rotates:
            centre = x[self.problem.subset[0]] if self.problem.traits.translates else np.zeros(x.shape[1])
            axes = np.linalg.svd(x - centre, full_matrices=False)[2]
            turned: Floats = (x - centre) @ axes.T
            for width in range(1, turned.shape[1] + 1):
                if self.enough(turned[None, :, :width])[0]:
                    return turned[:, :width]
        for start in range(0, x.shape[1], CHUNK):
            alone = self.enough(np.ascontiguousarray(x[:, start : start + CHUNK].T[:, :, None]))
            if np.any(alone):
                return x[:, [start + int(np.argmax(alone))]]
        kept = list(range(x.shape[1]))
        block = len(kept) // 2
        while block and self.patience(self.used):
            for start in reversed(range(0, len(kept), block)):
                trial = kept[:start] + kept[start + block :]
                if trial and self.enough(x[None, :, trial])[0]:
                    kept = trial
            block //= 2
        return x[:, kept]

    def _fewer_columns(self, x: NDArray[Any]) -> NDArray[Any]:
        """x without the coordinates that became superfluous."""
        for column in reversed(range(x.shape[1])):
            if not self.patience(self.used):
                break
            trial = np.delete(x, column, axis=1)
            if trial.shape[1] and self.good(trial):
                x = trial
        return x

    def _nudged(self, x: Floats) -> Floats | None:
        """x moved a little, at random, to where it keeps the ratio off ties; the smallest move that does."""
        generator = np.random.default_rng(self.seed)
        size = float(np.max(np.abs(x))) or 1.0
        for nudge in reversed(NUDGES):
            trials = x + nudge * size * generator.uniform(-1, 1, (TRIES, *x.shape))
            for trial in trials[self.enough(trials)][:8]:
                if off_ties(self.problem, trial, seed=self.seed):
                    return np.asarray(trial)
        return None

    def _coarsest(self, x: Floats) -> NDArray[Any]:
        size = Fraction(float(np.max(np.abs(x)))) or Fraction(1)
        for denominator in grids():
            if not self.patience(self.used):
                break
            if self.problem.traits.scales:
                candidate = on_grid(x, denominator)
            else:
                # a grid that suits the numbers as they are
                candidate = on_grid(x, denominator * max(1, math.ceil(1 / size)))
            if self.good(candidate):
                return candidate
        return on_grid(x, 2**1074)

    def _fewer_values(self, x: NDArray[Any]) -> NDArray[Any]:
        """Values merged with others or made simpler, one change at a time, as long as one is good."""
        for _ in range(ROUNDS):
            if not self.patience(self.used):
                break
            changes = list(self._simpler(x))
            if not changes:
                break
            keeps = self.enough(np.stack([change.astype(np.float64) for change in changes]))
            better = next((c for c, kept in zip(changes, keeps, strict=True) if kept and self.good(c)), None)
            if better is None:
                break
            x = better
        return x

    def _simpler(self, x: NDArray[Any]) -> Iterator[NDArray[Any]]:
        """All distinct values merged with a neighbour, set to zero, halved, or moved one unit towards zero."""
        values = sorted(set(x.ravel().tolist()))
        if len(values) > 200:
            return
        for value in values:
            if value:
                yield _replaced(x, value, Fraction(0))
        for low, high in sorted(pairwise(values), key=lambda pair: pair[1] - pair[0]):
            yield _replaced(x, low, high)
            yield _replaced(x, high, low)
        unit = Fraction(1, math.lcm(*(value.denominator for value in values)))
        for value in sorted(values, key=abs, reverse=True):
            units = abs(value) / unit
            for fewer in sorted({int(units) // 2, int(units) * 3 // 4, int(units) - 1}):
                if 0 < fewer < units:
                    yield _replaced(x, value, (fewer if value > 0 else -fewer) * unit)


def _replaced(x: NDArray[Any], old: Fraction, new: Fraction) -> NDArray[Any]:
    result = x.copy()
    result[x == old] = new
    return result
