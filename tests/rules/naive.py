"""The definitions again, followed literally with loops: the judge of the rules, sharing no line with them.

Numbers may be floats or fractions. Inputs are lists of rows.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations

import numpy as np


def square_distance(a, b):
    return sum((p - q) * (p - q) for p, q in zip(a, b, strict=True))


def mean(rows):
    return [sum(column) / len(rows) for column in zip(*rows, strict=True)]


def nearest(x, i, count):
    """The indices of the vectors nearest to x_i, itself first, ties by index."""
    return sorted(range(len(x)), key=lambda j: (square_distance(x[i], x[j]), j))[:count]


def average(x, f):
    return mean(x)


def cwmed(x, f):
    n = len(x)
    out = []
    for column in zip(*x, strict=True):
        values = sorted(column)
        out.append(values[n // 2] if n % 2 else (values[n // 2 - 1] + values[n // 2]) / 2)
    return out


def cwtm(x, f):
    out = []
    for column in zip(*x, strict=True):
        kept = sorted(column)[f : len(x) - f]
        out.append(sum(kept) / len(kept))
    return out


def meamed(x, f):
    out = []
    for column, median in zip(zip(*x, strict=True), cwmed(x, f), strict=True):
        kept = sorted(column, key=lambda value: (abs(value - median), value))[: len(x) - f]
        out.append(sum(kept) / len(kept))
    return out


def krum_score(x, j, f):
    return sum(square_distance(x[j], x[i]) for i in nearest(x, j, len(x) - f))


def krum(x, f):
    return list(x[min(range(len(x)), key=lambda j: (krum_score(x, j, f), j))])


def multikrum(x, f):
    best = sorted(range(len(x)), key=lambda j: (krum_score(x, j, f), j))[: len(x) - f]
    return mean([x[j] for j in best])


def mda(x, f):
    def diameter(subset):
        return max((square_distance(x[i], x[j]) for i, j in combinations(subset, 2)), default=0)

    best = min(combinations(range(len(x)), len(x) - f), key=lambda subset: (diameter(subset), subset))
    return mean([x[i] for i in best])


def monna(x, f):
    return mean([x[j] for j in nearest(x, 0, len(x) - f)])


def smea(x, f):
    def largest_eigenvalue(subset):
        rows = np.array([x[i] for i in subset], dtype=float)
        return np.linalg.eigvalsh(np.atleast_2d(np.cov(rows.T, bias=True)))[-1]

    best = min(combinations(range(len(x)), len(x) - f), key=largest_eigenvalue)
    return mean([x[i] for i in best])


def caf(x, f):
    points = np.array(x, dtype=float)
    weights = np.ones(len(points))
    best, least = points.mean(axis=0), np.inf
    while weights.sum() > len(points) - 2 * f:
        centre = weights @ points / weights.sum()
        offset = points - centre
        covariance = (offset * weights[:, None]).T @ offset / weights.sum()
        values, vectors = np.linalg.eigh(covariance)
        if values[-1] < least:
            best, least = centre, values[-1]
        tau = (offset @ vectors[:, -1]) ** 2
        largest = tau[weights > 0].max()
        if largest == 0:
            break
        weights = weights * np.clip(1 - tau / largest, 0, None)
    return list(best)


def gm(x, f):
    """The vertex that satisfies the optimality condition, else Weiszfeld's iteration from the mean, many steps."""
    points = np.array(x, dtype=float)
    centre = points.mean(axis=0)
    _, sizes, axes = np.linalg.svd(points - centre)
    if len(sizes) == 1 or sizes[1] <= 1e-12 * sizes[0] or sizes[0] <= 1e-12 * np.abs(points).max():
        return list(centre + np.median((points - centre) @ axes[0]) * axes[0])
    for vertex in points:
        length = np.linalg.norm(points - vertex, axis=1)
        pull = sum((p - vertex) / r for p, r in zip(points, length, strict=True) if r > 0)
        if np.linalg.norm(pull) <= (length == 0).sum():
            return list(vertex)
    y = points.mean(axis=0)
    for _ in range(20000):
        length = np.linalg.norm(points - y, axis=1)
        new = (points / length[:, None]).sum(axis=0) / (1 / length).sum()
        if np.linalg.norm(new - y) <= 1e-15 * length.max():
            break
        y = new
    return list(y)


def centered_clipping(x, f, tau=100.0):
    points = np.array(x, dtype=float)
    rows = [row * min(1.0, tau / np.linalg.norm(row)) if row.any() else row for row in points]
    return list(np.mean(rows, axis=0))


def length(a):
    return float(np.linalg.norm(np.array(a, dtype=float)))


def medoid(x, f):
    sums = [sum(length(np.subtract(a, b)) for b in x) for a in x]
    return list(x[next(i for i, total in enumerate(sums) if total <= min(sums) * (1 + 1e-9))])


def near_median(x, count):
    centre = cwmed(x, 0)
    return mean([x[i] for i in sorted(range(len(x)), key=lambda i: (square_distance(x[i], centre), i))[:count]])


def aksel(x, f):
    return near_median(x, -(-len(x) // 2))


def ctma(x, f):
    return near_median(x, len(x) - f)


def cge(x, f):
    norms = [sum(value * value for value in row) for row in x]
    return mean([x[i] for i in sorted(range(len(x)), key=lambda i: (norms[i], i))[: len(x) - f]])


def median_clipping(x, f):
    limit = float(np.median([length(row) for row in x]))
    return mean([list(np.array(row, dtype=float) * min(1.0, limit / max(length(row), 1e-300))) for row in x])


def dnc(x, f):
    points = np.array(x, dtype=float)
    centred = points - points.mean(axis=0)
    scores = (centred @ np.linalg.svd(centred)[2][0]) ** 2
    return list(points[sorted(np.argsort(scores, kind="stable")[: len(x) - f])].mean(axis=0))


def filterl2(x, f, limit=20.0):
    points, weights = np.array(x, dtype=float), np.ones(len(x))
    while True:
        centre = weights @ points / weights.sum()
        offset = points - centre
        values, vectors = np.linalg.eigh((offset * weights[:, None]).T @ offset / weights.sum())
        tau = (offset @ vectors[:, -1]) ** 2
        following = weights * np.clip(1 - tau / max(tau[weights > 0].max(), 1e-300), 0, None)
        if values[-1] <= limit or not following.sum():
            return list(centre)
        weights = following


def nnm(x, f):
    return [mean([x[j] for j in nearest(x, i, len(x) - f)]) for i in range(len(x))]


def bucketing(x, f):
    n = len(x)
    size = n // (2 * f) if f else n
    order = np.random.default_rng(0).permutation(n)
    return [mean([x[j] for j in order[start : start + size]]) for start in range(0, n, size)]


def clipping(x, f, c=2.0):
    return [list(np.array(row) * min(1.0, c / max(np.linalg.norm(row), 1e-300))) for row in x]


def arc(x, f):
    n = len(x)
    clipped = (2 * f * (n - f)) // n
    norms = [float(np.linalg.norm(np.array(row, dtype=float))) for row in x]
    limit = sorted(norms)[n - clipped - 1]
    return [
        list(np.array(row) * (limit / norm)) if norm > limit else list(row) for row, norm in zip(x, norms, strict=True)
    ]


Step = Callable[[list, int], list]

RULES: dict[str, Step] = {
    "average": average,
    "cwmed": cwmed,
    "cwtm": cwtm,
    "gm": gm,
    "krum": krum,
    "multikrum": multikrum,
    "mda": mda,
    "meamed": meamed,
    "centered_clipping": centered_clipping,
    "monna": monna,
    "smea": smea,
    "caf": caf,
    "medoid": medoid,
    "aksel": aksel,
    "ctma": ctma,
    "cge": cge,
    "median_clipping": median_clipping,
    "dnc": dnc,
    "filterl2": filterl2,
}
PRE_AGGREGATIONS: dict[str, Step] = {"nnm": nnm, "bucketing": bucketing, "clipping": clipping, "arc": arc}


def prepare(spec: str, x: list, f: int) -> list:
    """What the pre-aggregations of a pipeline such as ``nnm+krum`` make of the rows x."""
    for step in spec.split("+")[:-1]:
        x = PRE_AGGREGATIONS[step](x, f)
    return x


def evaluate(spec: str, x: list, f: int) -> list:
    """The output of a pipeline on the rows x."""
    return RULES[spec.rsplit("+", maxsplit=1)[-1]](prepare(spec, x, f), f)
