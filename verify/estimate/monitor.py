"""A guard at run time: does what the server returned contradict the claimed kappa, whoever is Byzantine?

The claim says that for *every* set S of n - f vectors the output is within kappa variances of the mean of S. So nobody
needs to know who is honest: one S that contradicts it shows that the aggregation is broken or mis-configured.

Seen from the output o, let r_i = ||x_i - o||^2 and D_ij = ||x_i - x_j||^2. The mean of r over S is the squared error
plus the variance, so S contradicts kappa if and only if

    sum over S of r_i  >  (1 + kappa) sum over S of v_i,      v_i = 1/(2m) sum over j in S of D_ij,  m = n - f.

v_i is at least a_i = 1/(2m) times the sum of the m smallest D_ij, so if the m largest r_i - (1 + kappa) a_i add up to
nothing positive, no S contradicts the claim: a proof for all S at the price of one sort. Most rounds end there.
Where they do not, sets are climbed (``kappaguard.rules.subsets``).

Long vectors are first looked at through a sample of blocks of coordinates, other ones in every round. The sample
decides only whether to look at everything: an alarm always rests on all coordinates, on the set that ``worst_subset``
finds, and on an error beyond what rounding can explain, so it is true whatever the sample was. What a sample misses
goes unnoticed in that round; ``sample=None`` looks at everything always.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kappaguard.rules.base.arrays import Array
from kappaguard.rules.base.checks import require_count, require_minority
from kappaguard.rules.base.errors import InputError
from kappaguard.rules.base.expression import evaluate
from kappaguard.rules.gram import distances_from_gram
from kappaguard.rules.subsets import worst_subset
from kappaguard.verify.estimate.witnesses import keep_vectors
from kappaguard.verify.judge.rounding import LOST, tolerance_for

SAMPLE = 4096
WIDTH = 64
"""Coordinates that are sampled next to each other: as many as a few cache lines."""
SUSPICIOUS = 0.5
"""A sample that shows this part of the claim is reason enough to look at everything."""
SLACK = 0.05
CLIMBS = 4
STARTS = 32
SURE = 1 + 1e-6
"""Beyond the rounding of our own arithmetic."""
BLOCK = 1 << 16

Floats = NDArray[np.float64]
logger = logging.getLogger("kappaguard.monitor")


@dataclass(frozen=True)
class Observation:
    """What a monitor saw in one round.

    ``ratio`` is the largest that was found, 0 where it was proved before any was formed that no set contradicts the
    claim. ``whole`` says that all coordinates were looked at, ``proved`` that no set contradicts the claim on what was
    looked at. An alarm has its set S, and the file in which the round is kept.
    """

    round: int
    violated: bool
    claim: float
    ratio: float = 0.0
    whole: bool = True
    proved: bool = False
    subset: tuple[int, ...] | None = None
    witness: str | None = None

    def __str__(self) -> str:
        if not self.violated:
            return f"round {self.round}: nothing contradicts kappa <= {self.claim:.6g}"
        return (
            f"round {self.round}: the output contradicts kappa <= {self.claim:.6g}: its ratio is {self.ratio:.6g}"
            f" for S = {_shortened(self.subset or ())}"
            f"{'' if self.witness is None else f'; the round is kept in {self.witness}'}"
        )


class ClaimViolation(AssertionError):
    """Raised by a monitor with ``on_violation="raise"``; ``observation`` says what was seen."""

    def __init__(self, observation: Observation) -> None:
        super().__init__(str(observation))
        self.observation = observation


class Monitor:
    """Watches a server: hand it the n vectors of a round and what the server made of them.

    ``claim`` is a number or arithmetic in n and f, such as ``"6*(1+f/(n-2*f))"``. Vectors may be arrays or tensors of
    shape (n, d), or one update per worker: an array, a list of arrays (layers), or a mapping of them. On a violation
    the round (vectors, output and S) is written to ``folder``, for the first ``keep`` alarms, and the alarm is logged;
    ``on_violation="raise"`` raises ``ClaimViolation`` as well, and a callable is called with the observation instead.
    ``tolerance`` is the relative error that the server's own arithmetic may have, where that is more than rounding.
    """

    def __init__(
        self,
        n: int,
        f: int,
        claim: str | float,
        *,
        sample: int | None = SAMPLE,
        on_violation: str | Callable[[Observation], None] = "log",
        folder: Path | str = ".kappaguard/alarms",
        tolerance: float | None = None,
        name: str = "server",
        keep: int = 20,
    ) -> None:
        require_count(n, 2, "n")
        require_count(f, 0, "f")
        require_minority("a monitor", n, f)
        require_count(keep, 0, "keep")
        if sample is not None:
            require_count(sample, WIDTH, "the sample")
        if not callable(on_violation) and on_violation not in ("log", "raise"):
            raise InputError(f"on_violation is log, raise or a callable, and not {on_violation!r}")
        self.n, self.f = n, f
        self.claim = _claimed(claim, n, f)
        self.sample = sample
        self.on_violation = on_violation
        self.folder = Path(folder)
        self.tolerance = tolerance
        self.name = name
        self.keep = keep
        self.rounds = 0
        self.alarms: list[Observation] = []
        self.largest = 0.0
        self._generator = np.random.default_rng(0)

    def __call__(self, vectors: Any, output: Any) -> Observation:
        """Look at one round; an alarm is logged or raised, and returned."""
        x, aggregate = _rows(vectors), _vector(output)
        sizes = {len(row) for row in x} if isinstance(x, list) else {x.shape[1]}
        if len(x) != self.n or sizes != {len(aggregate)}:
            shown = ", ".join(map(str, sorted(sizes)))
            raise InputError(
                f"n = {self.n} vectors are expected, got {len(x)} of {shown} numbers and an output of {len(aggregate)}"
            )
        number, self.rounds = self.rounds, self.rounds + 1
        found = self._look(x, aggregate, number)
        self.largest = max(self.largest, found.ratio)
        if found.violated:
            self.alarms.append(found)
            self._alarm(found)
        return found

    def _look(self, x: Array, output: Array, number: int) -> Observation:
        whole = self.sample is None or len(output) <= 2 * self.sample
        if not whole:
            part = self._sampled(x, output)
            if _holds_for_every_set(part, self.n - self.f, self.claim * SUSPICIOUS):
                return Observation(number, False, self.claim, whole=False, proved=True)
            seen = _climbed(part, self.n - self.f)
            if seen < self.claim * SUSPICIOUS:
                return Observation(number, False, self.claim, seen, whole=False)
        points = np.stack([_numpy(row) for row in x]) if isinstance(x, list) else _numpy(x)
        aggregate = _numpy(output)
        if whole and np.all(np.isfinite(aggregate)) and self._proved(points, aggregate):
            return Observation(number, False, self.claim, proved=True)
        return self._judged(points, aggregate, number)

    def _proved(self, x: NDArray[Any], output: NDArray[Any]) -> bool:
        """Whether no set contradicts the claim on all coordinates: in the vectors' own precision if that suffices.

        Sums of d products are off by d epsilon of the squares in them at most. Among the m nearest to i, r_j is at most
        2 D_ij + 2 r_i, so r_i is off by 1.5 (1 + kappa) d epsilon of itself and a_i by 2 d epsilon: less than the
        ``SLACK`` that 1 + kappa is lowered by.
        """
        m, off = self.n - self.f, x.shape[1] * float(np.finfo(x.dtype).eps)
        with np.errstate(over="ignore", invalid="ignore"):
            if x.dtype == output.dtype != np.float64 and (1.5 * (1 + self.claim) + 2) * off < 0.9 * SLACK:
                lowered = (1 + self.claim) * (1 - SLACK) - 1
                if _holds_for_every_set(x - output.astype(x.dtype, copy=False), m, lowered):
                    return True
            return _holds_for_every_set(np.asarray(x, dtype=np.float64) - output, m, self.claim)

    def _sampled(self, x: Array, output: Array) -> NDArray[Any]:
        """x_i - output on blocks of coordinates that are spread evenly from a random place on."""
        count = self.sample // WIDTH if self.sample else 1
        stride = len(output) // count
        base = int(self._generator.integers(len(output) - count * stride + 1))
        inside = int(self._generator.integers(stride - WIDTH + 1))
        columns = slice(base, base + count * stride)

        def blocks(rows: Array) -> NDArray[Any]:
            shape = (*rows.shape[:-1], count, stride)
            chosen = rows[..., columns].reshape(shape)[..., inside : inside + WIDTH]
            return _numpy(chosen).reshape(*rows.shape[:-1], -1)

        sampled = np.stack([blocks(row) for row in x]) if isinstance(x, list) else blocks(x)
        with np.errstate(over="ignore", invalid="ignore"):
            return np.asarray(sampled - blocks(output))

    def _judged(self, x: NDArray[Any], output: NDArray[Any], number: int) -> Observation:
        """All coordinates, the worst set that is found, and rounding allowed for."""
        m = self.n - self.f
        finite = np.isfinite(x).all(axis=1)
        if finite.sum() < m:
            # more than f vectors are none: no claim speaks of that
            return Observation(number, False, self.claim)
        if not np.all(np.isfinite(output)):
            subset = tuple(np.flatnonzero(finite)[:m].tolist())
            return self._violation(x, output, subset, math.inf, number)
        found = worst_subset(output, x, self.f)
        subset = tuple(int(place) for place in found.subset)
        ratio = float(found.ratio)
        if ratio <= self.claim:
            return Observation(number, False, self.claim, ratio, proved=found.exact)
        beyond = beyond_rounding(output, x, subset, self.tolerance)
        if beyond <= self.claim * SURE:
            return Observation(number, False, self.claim, beyond)
        return self._violation(x, output, subset, ratio, number)

    def _violation(
        self, x: NDArray[Any], output: NDArray[Any], subset: tuple[int, ...], ratio: float, number: int
    ) -> Observation:
        path = None
        if len(self.alarms) < self.keep:
            name = f"{self.name}-round-{number}"
            path = str(keep_vectors(name, self.n, self.f, x, subset, self.folder, output))
        return Observation(number, True, self.claim, ratio, subset=subset, witness=path)

    def _alarm(self, found: Observation) -> None:
        if callable(self.on_violation):
            self.on_violation(found)
            return
        logger.error("%s: %s", self.name, found)
        if self.on_violation == "raise":
            raise ClaimViolation(found)


def beyond_rounding(
    output: NDArray[Any], x: NDArray[Any], subset: Sequence[int], tolerance: float | None = None
) -> float:
    """The ratio that remains when rounding is allowed for, as in ``kappaguard.verify.judge.rounding``, in float64.

    A server adds up n numbers in a row in the less precise of the two types, unless ``tolerance`` says otherwise.
    """
    epsilon = max(float(np.finfo(each.dtype).eps) for each in (x, output) if each.dtype.kind == "f")
    honest = x[list(subset)]
    allowed = float(tolerance_for(len(x), 0, epsilon)) if tolerance is None else tolerance
    size = float(np.abs(honest).max())
    finite = x[np.isfinite(x).all(axis=1)]
    tau = allowed * float(np.abs(finite).max())
    tau = min(tau, float(LOST) * size) if tolerance is None and size else tau
    square = spread = 0.0
    for start in range(0, x.shape[1], BLOCK):
        part = honest[:, start : start + BLOCK].astype(np.float64)
        first = part[0]
        offsets = part - first
        shift = offsets.mean(axis=0)
        error = output[start : start + BLOCK].astype(np.float64) - first - shift
        square += float(np.sum(np.maximum(np.abs(error) - tau, 0) ** 2))
        spread += float(np.sum((np.abs(offsets - shift) + tau) ** 2)) / len(honest)
    return square / spread if spread else math.inf if square else 0.0


def _holds_for_every_set(z: NDArray[Any], m: int, kappa: float) -> bool:
    """Whether no set of m rows of z = x - output contradicts kappa: see above. False where it cannot be told."""
    far, pairs = _pairs(z)
    near = np.partition(pairs, m - 1, axis=1)[:, :m].sum(axis=1) / (2 * m)
    excess = far - (1 + kappa) * near
    return bool(np.partition(excess, len(excess) - m)[len(excess) - m :].sum() <= 0)


def _pairs(z: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """r_i and D_ij; NaN where squares overflow, which no comparison passes."""
    with np.errstate(over="ignore", invalid="ignore"):
        gram = z @ z.T
        far = gram.diagonal().copy()
        pairs = distances_from_gram(gram).distances
    return far, np.maximum(pairs, 0)


def _climbed(z: NDArray[Any], m: int) -> float:
    """The largest ratio of sets of m rows that a few steps find: a lower bound; infinite where it cannot be told."""
    far, pairs = (each.astype(np.float64) for each in _pairs(z))
    if not (np.all(np.isfinite(far)) and np.all(np.isfinite(pairs))):
        return math.inf
    n = len(far)
    starts = pairs if n <= STARTS else pairs[:: n // STARTS]
    sets = np.argpartition(np.concatenate([starts, far[None], -far[None]]), m - 1, axis=1)[:, :m]
    best = 0.0
    for _ in range(CLIMBS):
        mask = np.zeros((len(sets), n))
        np.put_along_axis(mask, sets, 1.0, axis=1)
        near = mask @ pairs / m
        variance = np.sum(near * mask, axis=1) / (2 * m)
        distance = mask @ far / m
        with np.errstate(divide="ignore", invalid="ignore"):
            level = np.where(variance > 0, distance / variance, math.inf)
        top = float(np.max(np.where(distance > 0, level - 1, 0.0)))
        if not top > best * (1 + 1e-9) or math.isinf(top):
            return max(best, top)
        best = top
        sets = np.argpartition(level[:, None] * near - far, m - 1, axis=1)[:, :m]
    return best


def _claimed(claim: str | float, n: int, f: int) -> float:
    if isinstance(claim, str):
        value = float(evaluate(claim, n, f))
    elif isinstance(claim, int | float | Fraction) and not isinstance(claim, bool):
        value = float(claim)
    else:
        raise InputError(f"a claim is a number or arithmetic in n and f, and not {claim!r}")
    if not 0 <= value < math.inf:
        raise InputError(f"the claim must be a finite number >= 0, got {value:g} at n = {n}, f = {f}")
    return value


def _rows(vectors: Any) -> Array:
    """One (n, d) array or tensor, or a list of n vectors, of whatever a round is handed as, without a copy."""
    if hasattr(vectors, "ndim") and vectors.ndim == 2:
        return vectors.detach() if hasattr(vectors, "detach") else vectors
    if not isinstance(vectors, Iterable):
        raise InputError(f"a round is an array or a list of updates, and not {type(vectors).__name__}")
    return [_vector(each) for each in vectors]


def _vector(update: Any) -> Array:
    """One worker's update, or the server's, as a vector: arrays and layers are laid end to end."""
    if isinstance(update, Mapping):
        update = list(update.values())
    if hasattr(update, "ndim"):
        flat = update.detach() if hasattr(update, "detach") else update
        return flat if flat.ndim == 1 else flat.reshape(-1)
    if isinstance(update, Iterable):
        parts = list(update)
        if parts and not any(hasattr(part, "ndim") and part.ndim for part in parts):
            return np.asarray(parts, dtype=np.float64)
        return np.concatenate([_numpy(_vector(part)) for part in parts]) if parts else np.empty(0)
    raise InputError(f"an update is an array or a list of arrays, and not {type(update).__name__}")


def _numpy(array: Any) -> NDArray[Any]:
    plain = np.asarray(array.cpu() if hasattr(array, "cpu") else array)
    if plain.dtype.kind in "iub":
        return plain.astype(np.float64)
    if plain.dtype.kind != "f":
        raise InputError(f"vectors must hold real numbers, got {plain.dtype}")
    return plain.astype(np.float32) if plain.dtype == np.float16 else plain


def _shortened(subset: Sequence[int]) -> str:
    runs: list[list[int]] = []
    for place in subset:
        if runs and place == runs[-1][-1] + 1:
            runs[-1].append(place)
        else:
            runs.append([place])
    return ", ".join(str(run[0]) if len(run) == 1 else f"{run[0]}-{run[-1]}" for run in runs)
