"""Coordinate-wise rules: what proves (F - mean)^2 <= kappa V in one dimension (enough by the paper's lemma).

Let h_1 >= ... >= h_m be the honest values, m = n - f, and suppose F >= mean (the other case is its mirror image).
Each cell bounds m (F - mean) by sum_i w_i h_i with weights w of sum zero that follow from the rule's definition:

- among the f + i largest values at least i are honest, so the (f + i)-th largest of all values is at most h_i.
  Hence the trimmed mean is at most the mean of h_1 .. h_(n-2f), and the median at most h_k with k = (n+1)/2 - f,
  or (h_k + h_(k+1))/2 with k = n/2 - f for even n.
- MeaMed: m (F - mean) = sum over the Byzantine values b in the window - sum over the honest values s outside it.
  Pair them. With M the median, |b - M| <= |s - M|; so b <= s if s >= M, and b - s <= 2 (M - s) if s < M. With q
  honest values below M left out, m (F - mean) <= 2 (q M - the sum of the q smallest honest values), and M is
  bounded as above. A cell is q.

The certificate gives p, non-increasing, with sum zero and with partial sums at least those of w. Then
sum w_i h_i <= sum p_i h_i (summation by parts) <= |p| (m V)^(1/2), so kappa = |p|^2 / m is proved.
Weights are written as runs (how many, value).
"""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

from kappaguard.verify.certified.rejected import demand

Runs = list[tuple[int, Fraction]]


def cells(rule: str, f: int) -> set[tuple[int, ...]]:
    """All cells."""
    return {(q,) for q in range(f + 1)} if rule == "meamed" else {()}


def weights(rule: str, n: int, f: int, key: tuple[int, ...]) -> Runs:
    """w, which follows from the definition of the rule."""
    m = n - f
    if rule == "cwtm":
        return [(n - 2 * f, Fraction(m, n - 2 * f) - 1), (f, Fraction(-1))]
    place = (n + 1) // 2 - f
    if rule == "cwmed":
        return _with_median(Fraction(m), place, n, [(m, Fraction(-1))])
    (q,) = key
    return _with_median(Fraction(2 * q), place, n, [(m - q, Fraction(0)), (q, Fraction(-2))])


def _with_median(factor: Fraction, place: int, n: int, runs: Runs) -> Runs:
    """runs + factor times the bound on the median: one unit at a place, or half at it and half at the next."""
    flat: Runs = []
    position = 0
    added = {place: factor} if n % 2 else {place: factor / 2, place + 1: factor / 2}
    for count, value in runs:
        cuts = sorted({position, position + count, *(at + shift for at in added for shift in (-1, 0))})
        cuts = [cut for cut in cuts if position <= cut <= position + count]
        for start, end in pairwise(cuts):
            flat.append((end - start, value + added.get(end, Fraction(0)) * (end - start == 1)))
        position += count
    return flat


def check(rule: str, n: int, f: int, key: tuple[int, ...], runs: Runs, kappa: Fraction) -> None:
    """Reject unless the runs of p prove kappa on the cell."""
    m = n - f
    demand(all(count > 0 for count, _ in runs) and sum(count for count, _ in runs) == m, "p does not have m values")
    values = [value for _, value in runs]
    demand(all(left >= right for left, right in pairwise(values)), "p is not non-increasing")
    demand(sum(count * value for count, value in runs) == 0, "p does not sum to zero")
    wanted = weights(rule, n, f, key)
    demand(sum(count for count, _ in wanted) == m and sum(count * value for count, value in wanted) == 0, "w is wrong")
    demand(_dominates(runs, wanted), "a partial sum of p is below that of w")
    demand(sum(count * value**2 for count, value in runs) <= kappa * m, "|p|^2 exceeds kappa m")


def _dominates(upper: Runs, lower: Runs) -> bool:
    """Whether every partial sum of one is at least that of the other; partial sums are linear within runs."""
    ends = sorted({sum(count for count, _ in runs[: k + 1]) for runs in (upper, lower) for k in range(len(runs))})
    return all(_partial(upper, end) >= _partial(lower, end) for end in ends)


def _partial(runs: Runs, end: int) -> Fraction:
    total = Fraction(0)
    for count, value in runs:
        total += min(count, end) * value
        end -= min(count, end)
    return total
