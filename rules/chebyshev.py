"""The Chebyshev centre of the balls in which the output of a robust rule has to lie."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain, combinations
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from kappaguard.rules.base.arrays import Array, device_of, namespace, to_numpy
from kappaguard.rules.base.checks import require_count, require_inexact, require_minority
from kappaguard.rules.base.errors import InputError
from kappaguard.rules.base.rule import Rule, Traits
from kappaguard.rules.cloud import Cloud

Floats = NDArray[np.float64]

MOST_SETS = 20_000
"""All sets of n - f vectors are looked at; more take longer than anybody waits."""
ROUNDS = 200
CLOSE = 1e-13
"""How far, relatively, a set may be beyond the others that are looked at when the search ends."""
PRESENT = 1e-9


@dataclass(frozen=True)
class ChebyshevCentre(Rule):
    """The point with the smallest maximum over S of ||z - mean_S||^2 - kappa V_S, kappa = f/(n-2f), |S| = n - f.

    F is (f, kappa)-robust if and only if its output lies in all balls B(mean_S, (kappa V_S)^(1/2)). cwtm lies in them,
    so they meet, and this point lies in all of them: its kappa* is f/(n-2f), the least of all rules (claim
    rotation-free of ``kappaguard verify``). Unlike cwtm it moves with every rotation of the inputs. The maximum is
    strictly convex, so that there is one such point; ties and the order of the workers do not matter. Needs f < n/2.

    With r_i = ||z - x_i||^2 the maximum is over S of mean_S r - (1 + kappa) V_S, and z is a mean of some mean_S: all of
    it is said by distances. Sets are added one after the other, each time the one that is farthest beyond; the weights
    of the sets so far solve a small quadratic program, and in the end linear equations. Gradients through torch take
    the weights for constants.
    """

    f: int
    name: ClassVar[str] = "chebyshev"
    _traits: ClassVar[Traits] = Traits(rational=False)

    def __post_init__(self) -> None:
        require_count(self.f, 0, "chebyshev: f")

    def aggregate(self, cloud: Cloud) -> Array:
        """The centre of the smallest ball that holds the mean of every n - f of the points."""
        require_inexact(self.name, cloud.base)
        n = cloud.n
        require_minority(self.name, n, self.f)
        if math.comb(n, self.f) > MOST_SETS:
            raise InputError(
                f"chebyshev would go through {math.comb(n, self.f):.2g} sets of {n - self.f} out of {n} vectors; more "
                f"than {MOST_SETS} are not tried"
            )
        distances = cloud.distances
        xp = namespace(distances)
        batch = distances.shape[:-2]
        tables = to_numpy(distances).astype(np.float64).reshape(math.prod(batch), n, n)
        found = np.array([centre_weights(table, self.f) for table in tables]).reshape(*batch, n)
        return cloud.combine(xp.asarray(found, device=device_of(distances)))


@lru_cache(maxsize=4)
def _members(n: int, m: int) -> Floats:
    """Every set of m out of n as a row of weights 1/m and 0."""
    count = math.comb(n, m)
    places = np.fromiter(chain.from_iterable(combinations(range(n), m)), dtype=np.intp, count=count * m)
    rows = np.zeros((count, n))
    np.put_along_axis(rows, places.reshape(count, m), 1.0 / m, axis=1)
    rows.setflags(write=False)
    return rows


def centre_weights(distances: Floats, f: int) -> Floats:
    """The weights of the vectors in the centre, from their squared distances."""
    n = len(distances)
    if not np.all(np.isfinite(distances)):
        return _without_far(distances, f)
    size = float(distances.max())
    if size == 0 or f == 0:
        return np.full(n, 1.0 / n)
    rows, kappa = _members(n, n - f), f / (n - 2 * f)
    scaled = distances / size
    variances = np.einsum("si,ij,sj->s", rows, scaled, rows, optimize=True) / 2

    def excess(weights: Floats) -> Floats:
        away = scaled @ weights - weights @ scaled @ weights / 2
        values: Floats = rows @ away - (1 + kappa) * variances
        return values

    weights = np.full(n, 1.0 / n)
    used: list[int] = []
    for _ in range(ROUNDS):
        values = excess(weights)
        worst = int(values.argmax())
        if used and (worst in used or values[worst] <= values[used].max() + CLOSE):
            break
        used.append(worst)
        shares = _shares(rows[used], scaled, kappa * variances[used])
        used = [each for each, share in zip(used, shares, strict=True) if share > 0]
        weights = shares[shares > 0] @ rows[used]
    return weights


def _without_far(distances: Floats, f: int) -> Floats:
    """Vectors that are too far for their distances to be numbers are left out, as long as they are no more than f."""
    finite = np.isfinite(distances).sum(axis=1)
    near = np.flatnonzero(np.isfinite(distances[int(finite.argmax())]))
    gone = len(distances) - len(near)
    if gone > f:
        raise InputError(f"{gone} of {len(distances)} vectors are too far away for their distances to be numbers")
    weights = np.zeros(len(distances))
    inside = distances[np.ix_(near, near)]
    weights[near] = centre_weights(inside, f - gone) if len(near) > 2 * (f - gone) else 1.0 / len(near)
    return weights


def _shares(means: Floats, distances: Floats, radii: Floats) -> Floats:
    """The shares of the means in the point with the smallest maximum of ||z - mean||^2 - radius.

    The maximum of sum a_s ((distance of mean_s to the first)^2 - radius_s) - ||sum a_s mean_s||^2 over shares a.
    """
    count = len(means)
    if count == 1:
        return np.ones(1)
    apart = means - means[0]
    gram = -(apart @ distances @ apart.T) / 2
    linear = np.diag(gram) - radii
    active = list(range(count))
    shares = _program(gram, linear)
    # the program says which shares are there; equations say how large they are
    while active:
        active = [place for place in active if shares[place] > PRESENT]
        exact = _equations(gram[np.ix_(active, active)], linear[active])
        if exact is None or not np.all(np.isfinite(exact)):
            break
        refined = np.zeros(count)
        refined[active] = exact
        if np.all(exact > 0):
            return refined
        shares = refined
    found = np.maximum(_program(gram, linear), 0)
    found[found <= PRESENT] = 0
    total: Floats = found / found.sum()
    return total


def _equations(gram: Floats, linear: Floats) -> Floats | None:
    """Shares with 2 gram a + t = linear and sum 1; the shortest, if there are several."""
    count = len(linear)
    if not count:
        return None
    system = np.zeros((count + 1, count + 1))
    system[:count, :count], system[:count, count], system[count, :count] = 2 * gram, 1.0, 1.0
    solution, *_ = np.linalg.lstsq(system, np.append(linear, 1.0), rcond=1e-13)
    shares: Floats = solution[:count]
    return shares


def _program(gram: Floats, linear: Floats) -> Floats:
    """The shares of the quadratic program."""
    import clarabel
    from scipy.sparse import csc_matrix

    count = len(linear)
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-12
    matrix = csc_matrix(np.vstack([np.ones((1, count)), -np.eye(count)]))
    right = np.append(1.0, np.zeros(count))
    cones = [clarabel.ZeroConeT(1), clarabel.NonnegativeConeT(count)]
    upper = csc_matrix(np.triu(2 * gram))
    found = clarabel.DefaultSolver(upper, -linear, matrix, right, cones, settings).solve()
    shares = np.array(found.x)
    return shares if np.all(np.isfinite(shares)) else np.full(count, 1.0 / count)
