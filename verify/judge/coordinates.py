"""Coordinate-wise recipes: what proves (F - mean)^2 <= upper V in one dimension, and so in every dimension.

(Error and variance are sums over coordinates, with one S for all of them.) Let h_1 >= ... >= h_m be the honest values,
m = n - f, and F >= mean; the other case is the mirror image (``upwards`` false: all values and the order of the weights
change sign). Let the weights of the order statistics be non-negative.

- Of the f + i largest values at least i are honest, so the (f + i)-th largest of all values is at most h_i. If the f
  largest places have no weight, a weighted sum of order statistics is at most C = sum over i of w_(f+i) h_i, where
  w_j is the weight of the j-th largest.
- Near a centre c <= C the mean of the k nearest is F. Each of the Byzantine values b among them can be paired with an
  honest value s that is not: with r Byzantine values inside, m - k + r >= r honest ones are outside, as k <= m.
  |b - c| <= |s - c|, so b <= s if s >= c, and b <= 2 c - s otherwise; let q of the s be of the second kind. Then k F is
  at most a sum over k different honest values, of which q count as 2 c - s and the others as s: at most the k - q
  largest, plus 2 q C, minus the q smallest. A cell is q <= min(f, k).

So m (F - mean) <= sum v_i h_i with v = m w_(f+i) - 1, or v = (m/k) (1 on the first k - q, - 1 on the last q, + 2 q w)
- 1, of sum zero. The certificate gives p, non-increasing, of sum zero, with partial sums at least those of v: then
sum v_i h_i <= sum p_i h_i <= |p| (m V)^(1/2), and upper = |p|^2 / m is proved. Behind nnm the h_i are mixed values, and
what follows from F <= sum (p_i + 1)/m h_i there is in ``mixed``.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import groupby, pairwise
from typing import Any

from kappaguard.rules.recipe.recipe import NearCentre, OrderStatistics, Recipe
from kappaguard.verify.judge.mixed import factor_behind_nnm
from kappaguard.verify.judge.numbers import number
from kappaguard.verify.judge.rejected import demand


def check_cells(recipe: Recipe, f: int, upper: Fraction, cells: Any) -> int:
    """Reject unless the runs prove the bound on every cell; how many cells there are."""
    choice = recipe.choice
    demand(isinstance(choice, OrderStatistics | NearCentre), "not a coordinate-wise recipe")
    mixed = bool(recipe.mixing)
    demand(not mixed or recipe.mixing == (recipe.n - f,), "mixing that is not one layer of nnm")
    demand_inner(choice.weights, f)  # type: ignore[union-attr]
    demand(not isinstance(choice, NearCentre) or choice.count <= recipe.n - f, "more values are near than are honest")
    most = min(f, choice.count) if isinstance(choice, NearCentre) else 0
    needed = {(upwards, q) for upwards in (True, False) for q in range(most + 1)}
    demand(isinstance(cells, list) and len(cells) == len(needed), f"{len(needed)} cells are needed")
    lists = []
    for cell in cells:
        demand(isinstance(cell, dict) and set(cell) == {"upwards", "q", "runs"}, "a cell has upwards, q and runs")
        upwards, q = cell["upwards"], cell["q"]
        demand(
            type(upwards) is bool and type(q) is int and (upwards, q) in needed, "not a cell, or one that came before"
        )
        needed.remove((upwards, q))
        bound = honest_weights(recipe, f, upwards, q)
        if mixed:
            lists.append(_covering(bound, cell["runs"]))
        else:
            check_runs(bound, upper, cell["runs"])
    demand(not mixed or factor_behind_nnm(recipe.n, f, lists) <= upper, "what the lists prove behind nnm exceeds upper")
    return len(cells)


def demand_inner(weights: tuple[Fraction, ...], f: int) -> None:
    """Reject weights that are negative, or that an outer place has."""
    demand(all(weight >= 0 for weight in weights), "a weight is negative")
    demand(not any(weights[:f]) and not any(weights[len(weights) - f :]), "an outer place has weight")


def check_runs(weights: list[Fraction], upper: Fraction, runs: Any) -> None:
    """Reject unless p, given as runs, proves that sum v_i h_i is small for the weights v and all h_1 >= ... >= h_m."""
    given = _covering(weights, runs)
    size = sum(count * value * value for count, value in given)
    demand(size <= upper * len(weights), "|p|^2 exceeds upper times m")


def _covering(weights: list[Fraction], runs: Any) -> list[tuple[int, Fraction]]:
    """p as numbers; ``Rejected`` unless sum v_i h_i <= sum p_i h_i for all h_1 >= ... >= h_m."""
    m = len(weights)
    demand(isinstance(runs, list), "runs is not a list")
    given: list[tuple[int, Fraction]] = []
    for run in runs:
        demand(isinstance(run, list) and len(run) == 2 and type(run[0]) is int and 0 < run[0] <= m, "a run is bad")
        given.append((run[0], number(run[1])))
    demand(sum(count for count, _ in given) == m, "p does not have m values")
    demand(sum(count * value for count, value in given) == 0, "p does not have sum zero")
    demand(all(left[1] >= right[1] for left, right in pairwise(given)), "p is not non-increasing")
    bound = [(len(list(same)), weight) for weight, same in groupby(weights)]
    demand(sum(count * value for count, value in bound) == 0, "the weights do not add up to zero")
    # between the ends of runs partial sums are linear
    mine, least = _partial_sums(given), _partial_sums(bound)
    covers = all(_at(mine, place) >= _at(least, place) for place in (*mine, *least))
    demand(covers, "a partial sum of p is below that of the weights")
    return given


def _partial_sums(runs: list[tuple[int, Fraction]]) -> dict[int, Fraction]:
    """The partial sums at the ends of runs, by place."""
    sums, place, total = {0: Fraction(0)}, 0, Fraction(0)
    for count, value in runs:
        place, total = place + count, total + count * value
        sums[place] = total
    return sums


def _at(sums: dict[int, Fraction], place: int) -> Fraction:
    """The partial sum at any place."""
    if place in sums:
        return sums[place]
    before = max(end for end in sums if end < place)
    after = min(end for end in sums if end > place)
    return sums[before] + (sums[after] - sums[before]) * Fraction(place - before, after - before)


def honest_weights(recipe: Recipe, f: int, upwards: bool, q: int = 0) -> list[Fraction]:
    """v: the weights of h_1 >= ... >= h_m in the bound on m (F - mean)."""
    n, m = recipe.n, recipe.n - f
    choice = recipe.choice
    given = choice.weights  # type: ignore[union-attr]
    # w of the (f + i)-th largest, i = 1 .. m: from the top of the sorted values, or of their mirror image
    of_largest = [given[n - 1 - (f + i)] if upwards else given[f + i] for i in range(m - f)] + [Fraction(0)] * f
    if isinstance(choice, OrderStatistics):
        return [m * weight - 1 for weight in of_largest]
    k = choice.count  # type: ignore[union-attr]
    bound = []
    for i, weight in enumerate(of_largest):
        count = (1 if i < k - q else 0) - (1 if i >= m - q else 0) + 2 * q * weight
        bound.append(Fraction(m, k) * count - 1)
    return bound
