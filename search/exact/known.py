"""Inputs that are bad for many rules, in closed form: of the paper's lower bound, and the worst ones of some rules."""

from __future__ import annotations

from fractions import Fraction

from kappaguard.rules.recipe.recipe import Choice, NearCentre, OrderStatistics, Recipe
from kappaguard.rules.recipe.weights import median
from kappaguard.search.exact import gm
from kappaguard.search.exact.coordinates import TRIFLE, worst_inputs

FAR = (10**3, 10**6)
"""Where Byzantine vectors keep together; the first is a number in narrow floats, too."""

Input = tuple[list[list[Fraction]], list[int], str]


def known_inputs(n: int, f: int) -> list[Input]:
    """Vectors, the indices of the honest ones, and what they are known for."""
    zeros, ones = [[Fraction(0)]] * (n - f), [[Fraction(1)]] * f
    first = list(range(n - f))
    inputs: list[Input] = [
        (zeros + ones, list(range(f, n)), "universal lower bound"),
        (zeros + ones, first, "no spread"),
    ]
    if not f:
        return inputs
    inputs.append((ones + zeros, list(range(f, n)), "no spread"))
    if f > 1:
        inputs.append((_near_their_mean(n, f), first, "one near the mean"))
    recipes: dict[str, Choice] = {"cwmed": OrderStatistics(median(n)), "meamed": NearCentre(median(n), n - f)}
    for rule, choice in recipes.items():
        inputs += [(x, first, f"extremal for {rule}") for x in worst_inputs(Recipe(n, choice), f)]
    inputs.append((gm.worst_input(n, f), first, "extremal for gm"))
    inputs.append((_two_sides(n, f), first, "extremal for nnm"))
    for far in FAR:
        apart = [[Fraction(index % 2)] for index in range(n - f)] + [[Fraction(far)]] * f
        inputs.append((apart, first, "extremal for krum with too few neighbours"))
    return inputs


def _near_their_mean(n: int, f: int) -> list[list[Fraction]]:
    """No spread, and a Byzantine vector nearer to the mean than the honest ones, as others draw that far away.

    With 1 and f - 1 times 4n the mean is 4(f-1) + 1/n, nearer to 1 than to 0: what trusts the vectors near the mean of
    all, or what has the least sum of squared distances, prefers the Byzantine 1.
    """
    return [[Fraction(0)]] * (n - f) + [[Fraction(1)]] + [[Fraction(4 * n)]] * (f - 1)


def _two_sides(n: int, f: int) -> list[list[Fraction]]:
    """n - 2f honest vectors at 0, f at 1, the Byzantine ones just short of -1."""
    return [[Fraction(0)]] * (n - 2 * f) + [[Fraction(1)]] * f + [[Fraction(-1) + TRIFLE]] * f
