"""Rules as users write them with ranks, one-hot rows, masks in two dimensions, lists that shrink, and tensors."""

import heapq
import math
import statistics
from itertools import combinations

import numpy as np
import torch
from scipy import stats
from scipy.spatial.distance import cdist
from torch import Tensor


def distances(x):
    return ((x[:, None] - x[None]) ** 2).sum(-1)


def scores_of(x, f):
    return np.sort(distances(x), axis=1)[:, : len(x) - f].sum(1)


def krum_heap(x, f):
    scores = [sum(heapq.nsmallest(len(x) - f, row)) for row in distances(x)]
    return x[min(range(len(x)), key=scores.__getitem__)]


def krum_math(x, f):
    return x[int(np.argmin([sum(sorted(math.dist(a, b) ** 2 for b in x)[: len(x) - f]) for a in x]))]


def krum_row_of_identity(x, f):
    return np.eye(len(x))[np.argmin(scores_of(x, f))] @ x


def krum_rank_zero(x, f):
    return x[scores_of(x, f).argsort().argsort() == 0].mean(axis=0)


def by_ranks(x, f):
    ranks = np.argsort(np.argsort(scores_of(x, f)))
    return x[ranks < len(x) - f].mean(axis=0)


def by_rank_weights(x, f):
    weights = (np.argsort(np.argsort(scores_of(x, f))) < len(x) - f).astype(float)
    return (weights[:, None] * x).sum(0) / weights.sum()


def by_ordinal_ranks(x, f):
    return x[stats.rankdata(scores_of(x, f), method="ordinal") <= len(x) - f].mean(axis=0)


def by_inverse(x, f):
    ranks = np.empty(len(x), dtype=int)
    ranks[np.argsort(scores_of(x, f))] = np.arange(len(x))
    return x[np.flatnonzero(ranks < len(x) - f)].mean(axis=0)


def by_rows_of_identity(x, f):
    return np.eye(len(x))[np.argsort(scores_of(x, f))[: len(x) - f]].mean(0) @ x


def by_membership(x, f):
    return x[np.isin(np.arange(len(x)), np.argsort(scores_of(x, f))[: len(x) - f])].mean(0)


def by_a_set(x, f):
    good = set(np.argsort(scores_of(x, f))[: len(x) - f].tolist())
    return np.mean([x[i] for i in range(len(x)) if i in good], axis=0)


def without_a_list(x, f):
    bad = list(np.argsort(scores_of(x, f))[len(x) - f :])
    kept = [i for i in range(len(x)) if i not in bad]
    return x[kept].mean(axis=0)


def by_deletion(x, f):
    return np.delete(x, np.argsort(scores_of(x, f))[len(x) - f :], axis=0).mean(0)


def by_removal(x, f):
    scores, vectors = list(scores_of(x, f)), list(x)
    for _ in range(f):
        worst = int(np.argmax(scores))
        scores.pop(worst)
        del vectors[worst]
    return np.mean(vectors, axis=0)


def mixed_by_weights(x, f):
    n, d = len(x), cdist(x, x)
    weights = np.zeros((n, n))
    for i in range(n):
        weights[i, np.argsort(d[i])[: n - f]] = 1 / (n - f)
    return np.sort(weights @ x, axis=0)[f : n - f].mean(axis=0)


def mixed_by_put(x, f):
    weights = np.zeros((len(x), len(x)))
    np.put_along_axis(weights, np.argsort(cdist(x, x), axis=1)[:, : len(x) - f], 1 / (len(x) - f), axis=1)
    return np.sort(weights @ x, axis=0)[f : len(x) - f].mean(axis=0)


def mda_table(x, f):
    subsets = np.array(list(combinations(range(len(x)), len(x) - f)))
    widths = distances(x)[subsets[:, :, None], subsets[:, None, :]].max(axis=(1, 2))
    return x[subsets[np.argmin(widths)]].mean(0)


def mda_running(x, f):
    best, chosen = float("inf"), None
    for subset in combinations(range(len(x)), len(x) - f):
        width = 0
        for i in subset:
            for j in subset:
                width = max(width, np.sum((x[i] - x[j]) ** 2))
        if width < best:
            best, chosen = width, subset
    return np.mean([x[i] for i in chosen], axis=0)


def faba_list(x, f):
    vectors = list(x)
    for _ in range(f):
        middle = sum(vectors) / len(vectors)
        del vectors[int(np.argmax([np.sum((v - middle) ** 2) for v in vectors]))]
    return sum(vectors) / len(vectors)


def faba_mask(x, f):
    for _ in range(f):
        x = x[np.arange(len(x)) != np.argmax(np.linalg.norm(x - x.mean(axis=0), axis=1))]
    return x.mean(axis=0)


def faba_filtered(x, f):
    vectors = list(x)
    for _ in range(f):
        middle = np.mean(vectors, axis=0)
        worst = np.argmax([np.sum((v - middle) ** 2) for v in vectors])
        vectors = [v for i, v in enumerate(vectors) if i != worst]
    return np.mean(vectors, axis=0)


def faba_joined(x, f):
    for _ in range(f):
        worst = np.argmax(np.linalg.norm(x - x.mean(axis=0), axis=1))
        x = np.concatenate([x[:worst], x[worst + 1 :]])
    return x.mean(axis=0)


def faba_tensors(x: Tensor, f):
    for _ in range(f):
        worst = (x - x.mean(0)).norm(dim=1).argmax()
        x = torch.cat([x[:worst], x[worst + 1 :]])
    return x.mean(0)


def krum_first_of_mask(x, f):
    return x[scores_of(x, f).argsort().argsort() == 0][0]


def trimmed_by_scipy(x, f):
    return stats.trim_mean(x, f / len(x), axis=0)


def trimmed_by_ranks(x, f):
    ranks = x.argsort(axis=0).argsort(axis=0)
    return np.where((ranks >= f) & (ranks < len(x) - f), x, 0).sum(0) / (len(x) - 2 * f)


def trimmed_by_put(x, f):
    mask = np.zeros_like(x)
    np.put_along_axis(mask, np.argsort(x, axis=0)[f : len(x) - f], 1, axis=0)
    return (x * mask).sum(0) / mask.sum(0)


def trimmed_by_deletion(x, f):
    found = []
    for column in x.T:
        left = column
        for _ in range(f):
            left = np.delete(left, np.argmax(left))
            left = np.delete(left, np.argmin(left))
        found.append(statistics.fmean(left))
    return np.array(found)


def medians(x, f):
    return np.array([statistics.median(column) for column in x.T])


def median_without_nan(x, f):
    return np.nanmedian(x, axis=0)


def tensor_in_place(x: Tensor, f):
    gram = x @ x.t()
    squares = torch.diag(gram)
    d = (squares.unsqueeze(0) + squares.unsqueeze(1) - 2 * gram).clamp_(min=0)
    d.masked_fill_(torch.eye(len(x), dtype=torch.bool), float("inf"))
    return x[d.sort(dim=1)[0][:, : len(x) - f - 1].sum(1).argmin().item()]


def tensors_one_by_one(x: Tensor, f):
    scores = []
    for i in range(len(x)):
        others = [torch.dist(x[i], x[j]).item() ** 2 for j in range(len(x)) if j != i]
        scores.append(sum(sorted(others)[: len(x) - f - 1]))
    return x[int(np.argmin(scores))]


def tensor_one_hot(x: Tensor, f):
    order = (torch.cdist(x, x) ** 2).sort(1)[0][:, : len(x) - f].sum(1).argsort()[: len(x) - f]
    weights = torch.nn.functional.one_hot(order, len(x)).sum(0)
    return (weights[:, None] * x).sum(0) / weights.sum()


def tensor_scatter(x: Tensor, f):
    order = (torch.cdist(x, x) ** 2).sort(1)[0][:, : len(x) - f].sum(1).argsort()[: len(x) - f]
    return torch.zeros(len(x), dtype=x.dtype).scatter_(0, order, 1.0).div_(len(x) - f) @ x


def tensor_added_up(x: Tensor, f):
    total = torch.zeros_like(x[0])
    for place in (torch.cdist(x, x) ** 2).sort(1)[0][:, : len(x) - f].sum(1).argsort()[: len(x) - f].tolist():
        total.add_(x[place])
    return total.div_(len(x) - f)


SPELLINGS = {
    "krum": (
        krum_heap,
        krum_math,
        krum_row_of_identity,
        krum_rank_zero,
        krum_first_of_mask,
        tensor_in_place,
        tensors_one_by_one,
    ),
    "multikrum": (
        by_ranks,
        by_rank_weights,
        by_ordinal_ranks,
        by_inverse,
        by_rows_of_identity,
        by_membership,
        by_a_set,
        without_a_list,
        by_deletion,
        by_removal,
        tensor_one_hot,
        tensor_scatter,
        tensor_added_up,
    ),
    "nnm+cwtm": (mixed_by_weights, mixed_by_put),
    "mda": (mda_table, mda_running),
    "faba": (faba_list, faba_mask, faba_filtered, faba_joined, faba_tensors),
    "cwtm": (trimmed_by_scipy, trimmed_by_ranks, trimmed_by_put, trimmed_by_deletion),
    "cwmed": (medians, median_without_nan),
}
