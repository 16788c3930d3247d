"""Weighted order statistics: what proves (F - mean)^2 <= upper * variance for every order of the honest workers.

Let G be a rule of W values, a sum of the sorted ones times weights a_1 .. a_W >= 0 of which the ``held`` outermost at
each end are 0, and let worker i stand for w_i of the W values (``kappaguard.rules.weighted``). Let S weigh m = W -
held. The t-th largest of the honest copies is at least the (held + t)-th largest of all copies, so that F is at most
the sum over t of v_t times the t-th largest honest copy, with v_t = a of place held + t from the top. For workers in
falling order of their values h_j, each taking the next w_j places, m (F - mean) <= sum of c_j h_j with c_j the sum of
m v_t - 1 over its places. The c_j add up to 0.

Let P be a concave function on [0, m] with P(0) = P(m) = 0 that is at least the partial sums of c at the end of every
worker, and let p_j be what it rises over worker j. By summation by parts, sum c_j h_j <= sum p_j h_j, and by Cauchy
and Schwarz this is at most the root of (sum of p_j^2/w_j) times m variance. So upper = (1/m) max over orders of sum
of p_j^2/w_j is proved, for F >= mean; the other case is that of the reversed weights. P is made by raising partial
sums to chords until it is concave. All orders of different weights are gone through: that is a proof, and no
sampling.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import combinations

from kappaguard.rules.recipe.recipe import OrderStatistics, Recipe
from kappaguard.verify.judge.rejected import demand

MOST_ORDERS = 50_000


def upper_over_orders(recipe: Recipe, weights: Sequence[int], f: int) -> Fraction | None:
    """What is proved for every S whose complement weighs at most f; None if there are more than ``MOST_ORDERS``."""
    choice = recipe.choice
    demand(isinstance(choice, OrderStatistics) and not recipe.mixing, "not a rule of sorted values")
    assert isinstance(choice, OrderStatistics)
    demand(recipe.n == sum(weights) and min(weights) > 0, "the recipe is not for the sum of the weights")
    demand(all(each >= 0 for each in choice.weights), "a place has a negative weight")
    sets = {tuple(sorted(each)) for each in _honest(weights, f)}
    if sum(map(_orders, sets)) > MOST_ORDERS:
        return None
    upper = Fraction(0)
    for honest in sets:
        held = recipe.n - sum(honest)
        for places in {choice.weights, choice.weights[::-1]}:
            demand(not any(places[:held]) and not any(places[recipe.n - held :]), "an outer place has weight")
            upper = max(upper, _over_orders(honest, places[::-1][held:]))
    return upper


def _honest(weights: Sequence[int], f: int) -> Iterator[tuple[int, ...]]:
    """The weights of every S."""
    for size in range(len(weights)):
        for away in combinations(range(len(weights)), size):
            if sum(weights[i] for i in away) <= f:
                yield tuple(weight for i, weight in enumerate(weights) if i not in away)


def _orders(honest: tuple[int, ...]) -> int:
    """How many different orders there are."""
    return math.factorial(len(honest)) // math.prod(math.factorial(count) for count in Counter(honest).values())


def _over_orders(honest: tuple[int, ...], places: Sequence[Fraction]) -> Fraction:
    """(1/m) max over orders of sum of p_j^2/w_j, ``places`` being v and beyond it zeros."""
    m = sum(honest)
    given = [*places, *[Fraction(0)] * m]
    sums = [Fraction(0)]
    for t in range(m):
        sums.append(sums[-1] + m * given[t] - 1)
    demand(sums[m] == 0, "the weights do not add up to zero")
    most = Fraction(0)
    for order in _permutations(Counter(honest)):
        ends = [0]
        for weight in order:
            ends.append(ends[-1] + weight)
        raised = _raised(ends, [sums[end] for end in ends])
        total = sum(
            ((raised[j + 1] - raised[j]) ** 2 / Fraction(ends[j + 1] - ends[j]) for j in range(len(order))), Fraction(0)
        )
        most = max(most, total / m)
    return most


def _raised(ends: list[int], heights: list[Fraction]) -> list[Fraction]:
    """The heights of a concave function at the ends, at least as high as these: the highest chord over every end."""
    last = len(ends) - 1
    raised = list(heights)
    for j in range(1, last):
        for left in range(j):
            for right in range(j + 1, last + 1):
                part = Fraction(ends[j] - ends[left], ends[right] - ends[left])
                raised[j] = max(raised[j], heights[left] + part * (heights[right] - heights[left]))
    return raised


def _permutations(counts: Counter[int]) -> Iterator[tuple[int, ...]]:
    """Every order of weights that occur so often."""
    if not counts:
        yield ()
    for weight in sorted(counts):
        rest = counts - Counter([weight])
        for tail in _permutations(rest):
            yield (weight, *tail)
