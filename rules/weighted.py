"""Workers with weights: the weighted criterion, and rules that count a worker w times.

Let worker i declare a weight w_i > 0, such as its number of examples, W the sum of all weights and w(S) that of a
set. A weighted rule F is (f, kappa)-robust if for every x and every set S whose complement has w at most f,

    ||F(x, w) - mean_S||^2  <=  kappa * variance_S,

where mean_S = sum over S of w_i x_i / w(S) and variance_S = sum over S of w_i ||x_i - mean_S||^2 / w(S). f is a
weight: the Byzantine workers hold a share of f / W at most. With equal weights of 1 these are all sets of at least n
- f workers, and kappa is the usual one, by the second of two lemmas:

- **Repetition.** For whole w_i let F(x, w) be a rule G applied to W vectors, x_i standing there w_i times. Then
  mean_S, variance_S and error are those of G at W vectors: a weighted witness is a witness of G whose vectors repeat,
  and kappa*(F, w, f) <= kappa*(G, W, f). It is less where weights cannot be divided as the worst input of G wants.
- **Fewer attackers.** Let S have m' > m = n - f members, and T run over its subsets of size m. mean_S is the mean of
  the mean_T, so ||G - mean_S||^2 is at most the mean of ||G - mean_T||^2, which is at most kappa times that of
  variance_T. The latter is m'(m - 1)/(m (m' - 1)) variance_S, not more than variance_S. So kappa holds for S.

If clients may say what they like, w(complement of S) <= f is no longer given. Let x be 0 on S and 1 on the rest,
which says that it has most of the weight. If S is honest, and the rest lies, F has to be 0; if the rest is honest,
and S holds little weight, 1. F sees the same both times: no F has a finite kappa for all honest weights and stands
lies as well. What is safe is to cap the claims, w_i = min(claim, C): then f Byzantine workers hold f C at most,
whatever they claim.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from kappaguard.rules.average import Average
from kappaguard.rules.base.arrays import Array, as_array, in_double, is_exact, namespace
from kappaguard.rules.base.checks import reject_nan
from kappaguard.rules.base.errors import InputError
from kappaguard.rules.base.rule import Rule
from kappaguard.rules.cloud import Cloud
from kappaguard.rules.cwmed import Median
from kappaguard.rules.cwtm import TrimmedMean
from kappaguard.rules.krum import Krum
from kappaguard.rules.names import parse
from kappaguard.rules.ordering import order

MOST_COPIES = 10_000
"""Copies of vectors that a rule is handed which knows no weights of its own."""


@dataclass(frozen=True)
class WeightedRule:
    """A rule that counts worker i ``weights[i]`` times: (n, d) and n whole numbers -> (d,).

    average, cwtm and cwmed are means of a window of the sorted values, of which each has its weight; krum adds up the
    distances of its nearest neighbours until they weigh enough. These take weights of any size. All other rules, gm
    among them, are handed copies. Where a rule has an f, it is a weight.
    """

    rule: Rule

    def __call__(self, x: Array, weights: Sequence[int]) -> Array:
        """The aggregate of the vectors x with these weights."""
        points, counts = as_array(x), whole(weights)
        if points.ndim != 2 or points.shape[0] != len(counts):
            raise InputError(f"{len(counts)} weights do not belong to x of shape {tuple(points.shape)}")
        total = sum(counts)
        limits = window(self.rule, total)
        if limits is not None:
            return _window_mean(points, counts, *limits)
        if isinstance(self.rule, Krum) and self.rule.neighbours is None:
            return points[_nearest(Cloud(points), counts, total - self.rule.f)]
        if total > MOST_COPIES:
            raise InputError(
                f"{self.rule.label} is handed copies, at most {MOST_COPIES}: divide the weights, their sum is {total}"
            )
        return self.rule(points[np.repeat(np.arange(len(counts)), counts)])


def weighted(spec: str, f: int | None = None) -> WeightedRule:
    """The weighted version of a rule that is built in; f is the weight that Byzantine workers hold at most."""
    return WeightedRule(parse(spec, f))


def whole(weights: Sequence[Any]) -> list[int]:
    """Weights as whole numbers, of which none is negative and not all are zero."""
    try:
        given = [int(weight) for weight in weights]
    except (TypeError, ValueError, OverflowError):
        given = []
    if not given or given != list(weights) or min(given) < 0 or not any(given):
        raise InputError(f"weights are whole numbers, none of them negative and not all zero, not {weights!r}"[:200])
    return given


def window(rule: Rule, total: int) -> tuple[int, int] | None:
    """Between which places of ``total`` sorted values the rule takes the mean; None if it does something else."""
    match rule:
        case Average():
            return 0, total
        case Median():
            return (total - 1) // 2, total // 2 + 1
        case TrimmedMean(f):
            if 2 * f >= total:
                raise InputError(f"cwtm cannot trim a weight of {f} at each end of a total of {total}")
            return f, total - f
    return None


def weighted_ratio(output: Array, x: Array, subset: Sequence[int], weights: Sequence[Any]) -> Fraction | float:
    """||output - mean_S||^2 / variance_S with real or rational weights: in fractions if x holds fractions."""
    points, members = as_array(x), list(subset)
    exact = is_exact(points)
    shares = np.array([Fraction(weights[i]) for i in members], dtype=object)
    if not members or min(shares) < 0 or not any(shares):
        raise InputError("the weights of S must not be negative, and not all zero")
    shares = shares / sum(shares) if exact else (shares / sum(shares)).astype(np.float64)
    honest = points[members]
    mean = shares @ honest
    variance = (shares @ ((honest - mean) ** 2)).sum()
    error = ((as_array(output) - mean) ** 2).sum()
    if variance > 0:
        return error / variance if exact else float(error / variance)
    return float("inf") if error > 0 else Fraction(0) if exact else 0.0


def _window_mean(x: Array, counts: list[int], low: int, high: int) -> Array:
    """Per coordinate, each sorted value by how much of its weight lies between ``low`` and ``high``."""
    reject_nan(x)
    if not isinstance(x, np.ndarray):
        xp = namespace(x)
        places, values = xp.argsort(x, axis=0), xp.sort(x, axis=0)
        shares = xp.asarray(_shares(np.asarray(places.cpu()), counts, low, high).astype(np.float64), device=x.device)
        return xp.astype(xp.sum(xp.where(shares > 0, shares * in_double(values), 0.0), axis=0), x.dtype)
    places = np.argsort(x, axis=0, kind="stable")
    values, shares = np.take_along_axis(x, places, axis=0), _shares(places, counts, low, high)
    if is_exact(x):
        return np.sum(shares * values, axis=0)
    taken = shares > 0
    kept = np.where(taken, values, 0).astype(np.float64)
    return np.sum(shares.astype(np.float64) * kept, axis=0).astype(x.dtype)


def _shares(places: Any, counts: list[int], low: int, high: int) -> Any:
    """The share of the window that each sorted value fills, of shape (n, d), as fractions."""
    ends = np.cumsum(np.array(counts, dtype=object)[places], axis=0)
    starts = ends - np.array(counts, dtype=object)[places]
    inside = np.maximum(np.minimum(ends, high) - np.maximum(starts, low), 0)
    return inside * Fraction(1, high - low)


def _nearest(cloud: Cloud, counts: list[int], wanted: int) -> int:
    """Who has the least sum of squared distances to neighbours that weigh ``wanted``, its own weight included."""
    distances = cloud.distances
    scores = []
    present = [j for j, count in enumerate(counts) if count]
    for i in present:
        left, score = wanted, 0 * distances[i, i]
        for j in sorted(present, key=lambda j: distances[i, j]):
            taken = min(left, counts[j])
            left, score = left - taken, score + taken * distances[i, j] if taken else score
        scores.append(score)
    ranked = scores if is_exact(distances) else np.array([float(score) for score in scores])
    return present[int(order(np.array(ranked, dtype=object if is_exact(distances) else np.float64))[..., 0])]
