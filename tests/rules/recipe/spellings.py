"""Rules as people write them, in ten lines of NumPy: each with the name of the rule that it is at (n, f)."""

from itertools import combinations

import numpy as np
from scipy.spatial.distance import cdist, pdist, squareform

from kappaguard.rules.recipe.weights import equal, median


def krum_broadcast(x, f):
    n = len(x)
    d = ((x[:, None] - x[None]) ** 2).sum(-1)
    return x[np.argmin(np.sort(d, axis=1)[:, : n - f].sum(1))]


def krum_norm_partition(x, f):
    n = x.shape[0]
    d = np.linalg.norm(x[:, None] - x[None], axis=-1) ** 2
    np.fill_diagonal(d, np.inf)
    scores = np.partition(d, n - f - 2, axis=1)[:, : n - f - 1].sum(axis=1)
    return x[int(np.argmin(scores))]


def krum_gram(x, f):
    n = len(x)
    g = x @ x.T
    q = np.diag(g)
    d = np.maximum(q[:, None] + q[None, :] - 2 * g, 0)
    return x[np.argsort(np.sort(d, axis=1)[:, 1 : n - f].mean(axis=1))[0]]


def krum_einsum(x, f):
    n = len(x)
    gap = x[:, None, :] - x[None, :, :]
    d = np.einsum("ijk,ijk->ij", gap, gap)
    return x[np.sort(d)[:, : n - f].sum(1).argmin()]


def krum_cdist(x, f):
    d = cdist(x, x, "sqeuclidean")
    return x[np.argpartition(np.sort(d)[:, : len(x) - f].sum(1), 0)[0]]


def krum_pdist(x, f):
    d = squareform(pdist(x)) ** 2
    order = np.argsort(d, axis=1)[:, : len(x) - f]
    return x[np.argmin(np.take_along_axis(d, order, axis=1).sum(1))]


def krum_loops(x, f):
    n = len(x)
    best, chosen = None, None
    for i in range(n):
        distances = sorted(float(np.sum((x[i] - x[j]) ** 2)) for j in range(n) if j != i)
        score = sum(distances[: n - f - 1])
        if best is None or score < best:
            best, chosen = score, i
    return x[chosen]


def krum_index(x, f):
    scores = [float(np.sort(((x - each) ** 2).sum(axis=1))[: len(x) - f].sum()) for each in x]
    return x[scores.index(min(scores))]


def krum_of_flower(x, f):
    n = len(x)
    d = np.zeros((n, n))
    for i in range(n):
        for j in range(n):
            d[i, j] = np.linalg.norm(x[i] - x[j]) ** 2
    scores = [np.sum(d[i, np.argsort(d[i])[1 : n - f - 1].tolist()]) for i in range(n)]
    return x[np.argmin(scores)]


def multikrum_slices(x, f):
    n = len(x)
    d = ((x[:, None] - x[None]) ** 2).sum(-1)
    scores = np.sort(d, axis=1)[:, : n - f].sum(1)
    return x[np.argsort(scores)[: n - f]].mean(axis=0)


def multikrum_listed(x, f):
    n = len(x)
    d = ((x[:, None] - x[None]) ** 2).sum(-1)
    scores = np.sort(d, axis=1)[:, : n - f].sum(1)
    chosen = [x[i] for i in sorted(range(n), key=lambda i: scores[i])[: n - f]]
    return np.mean(chosen, axis=0)


def nnm_krum(x, f):
    n = len(x)
    d = ((x[:, None] - x[None]) ** 2).sum(-1)
    y = x[np.argsort(d, axis=1)[:, : n - f]].mean(axis=1)
    e = ((y[:, None] - y[None]) ** 2).sum(-1)
    return y[np.argmin(np.sort(e, axis=1)[:, : n - f].sum(1))]


def nnm_median(x, f):
    n = len(x)
    y = np.empty_like(x)
    for i in range(n):
        y[i] = x[np.argsort(((x - x[i]) ** 2).sum(1))[: n - f]].mean(0)
    return np.median(y, axis=0)


def mda_min(x, f):
    d = ((x[:, None] - x[None]) ** 2).sum(-1)
    best = min(combinations(range(len(x)), len(x) - f), key=lambda s: d[np.ix_(s, s)].max())
    return x[list(best)].mean(0)


def mda_loop(x, f):
    least, best = np.inf, None
    for subset in combinations(range(len(x)), len(x) - f):
        diameter = max(np.linalg.norm(x[i] - x[j]) for i, j in combinations(subset, 2))
        if diameter < least:
            least, best = diameter, subset
    return x[list(best)].mean(0)


def mva_loop(x, f):
    best = None
    for subset in combinations(range(len(x)), len(x) - f):
        spread = x[list(subset)].var(axis=0).sum()
        if best is None or spread < best:
            best = spread
            output = x[list(subset)].mean(0)
    return output


def faba_delete(x, f):
    for _ in range(f):
        x = np.delete(x, np.argmax(((x - x.mean(0)) ** 2).sum(1)), axis=0)
    return x.mean(0)


def faba_keep(x, f):
    for _ in range(f):
        d = np.linalg.norm(x - x.mean(axis=0), axis=1)
        x = x[np.argsort(d)[:-1]]
    return np.average(x, axis=0)


def cwtm_sort(x, f):
    return np.sort(x, axis=0)[f : len(x) - f].mean(axis=0)


def cwtm_partition(x, f):
    return np.mean(np.partition(x, (f, len(x) - f - 1), axis=0)[f : len(x) - f], axis=0)


def cwtm_extremes(x, f):
    s = np.sort(x, axis=0)
    return (x.sum(0) - s[:f].sum(0) - s[len(x) - f :].sum(0)) / (len(x) - 2 * f)


def cwtm_columns(x, f):
    return np.array([np.sort(column)[f : len(x) - f].mean() for column in x.T])


def cwmed_median(x, f):
    return np.median(x, axis=0)


def cwmed_quantile(x, f):
    return np.quantile(x, 0.5, axis=0)


def meamed_take(x, f):
    order = np.argsort(np.abs(x - np.median(x, axis=0)), axis=0)[: len(x) - f]
    return np.take_along_axis(x, order, axis=0).mean(axis=0)


def phocas_partition(x, f):
    n = len(x)
    centre = np.sort(x, axis=0)[f : n - f].mean(0)
    near = np.argpartition((x - centre) ** 2, n - f - 1, axis=0)[: n - f]
    return np.take_along_axis(x, near, axis=0).mean(0)


def winsorised_clip(x, f):
    s = np.sort(x, axis=0)
    return np.clip(x, s[f], s[len(x) - f - 1]).mean(0)


def winsorised_minimum(x, f):
    s = np.sort(x, axis=0)
    return np.minimum(np.maximum(x, s[f]), s[-f - 1]).mean(0)


def centre_of_half(x, f):
    middle = np.median(x, axis=0)
    distances = np.linalg.norm(x - middle, axis=1)
    return x[np.argsort(distances)[: len(x) // 2 + 1]].mean(axis=0)


def cwtm_masks(x, f):
    s = np.sort(x, axis=0)
    mask = (x >= s[f]) & (x <= s[len(x) - f - 1])
    return (x * mask).sum(0) / mask.sum(0)


SELECTIONS = {
    krum_broadcast: "krum",
    krum_norm_partition: "krum",
    krum_gram: "krum",
    krum_einsum: "krum",
    krum_cdist: "krum",
    krum_pdist: "krum",
    krum_loops: "krum",
    krum_index: "krum",
    krum_of_flower: "krum(neighbours={flower})",
    multikrum_slices: "multikrum",
    multikrum_listed: "multikrum",
    nnm_krum: "nnm+krum",
    mda_min: "mda",
    mda_loop: "mda",
    mva_loop: "mva",
    faba_delete: "faba",
    faba_keep: "faba",
}
COLUMNS = {
    nnm_median: "nnm+cwmed",
    cwtm_sort: "cwtm",
    cwtm_partition: "cwtm",
    cwtm_extremes: "cwtm",
    cwtm_columns: "cwtm",
    cwmed_median: "cwmed",
    cwmed_quantile: "cwmed",
    meamed_take: "meamed",
    phocas_partition: "phocas",
    winsorised_clip: "winsorised",
    winsorised_minimum: "winsorised",
}


def half_by_squares(x, f):
    middle = np.median(x, axis=0)
    near = np.argpartition(((x - middle) ** 2).sum(1), len(x) // 2)[: len(x) // 2 + 1]
    return x[near].mean(0)


def half_by_loops(x, f):
    middle = np.sort(x, axis=0)[(len(x) - 1) // 2 : len(x) // 2 + 1].mean(0)
    scores = [sum((v - middle) ** 2) for v in x]
    order = sorted(range(len(x)), key=lambda i: scores[i])
    return sum(x[i] for i in order[: len(x) // 2 + 1]) / (len(x) // 2 + 1)


def around_trimmed_mean(x, f):
    centre = np.sort(x, axis=0)[f : len(x) - f].mean(axis=0)
    return x[np.argsort(np.linalg.norm(x - centre, axis=1))[: len(x) - f]].mean(axis=0)


def nearest_to_median(x, f):
    return x[np.argmin(((x - np.median(x, axis=0)) ** 2).sum(axis=1))]


CENTRES = {
    centre_of_half: lambda n, f: (median(n), n // 2 + 1),
    half_by_squares: lambda n, f: (median(n), n // 2 + 1),
    half_by_loops: lambda n, f: (median(n), n // 2 + 1),
    around_trimmed_mean: lambda n, f: (equal(n, f, n - f), n - f),
    nearest_to_median: lambda n, f: (median(n), 1),
}
"""With the centre's weights and how many are near."""
