"""The vectors nearest to a centre by coordinates: what proves ||F - mean||^2 <= upper V in every dimension.

Let S be m = n - f workers with mean 0 and variance V, c the centre, T the h <= m vectors nearest to c, r of them not
in S, F their mean. The centre is a weighted sum of order statistics in every coordinate, so ||c||^2 <= K V, proved as
for such a rule (``coordinates``). With A = S and T, a = h - r, and U = S without T, u = m - a: nothing in U is nearer
to c than anything in T. Let alpha and s be mean and variance of A, nu and w those of U, beta the mean of the r others.
Then a alpha + u nu = 0, F = (a alpha + r beta) / h, m V = a (||alpha||^2 + s) + u (||nu||^2 + w), and

    (1)  K V - ||c||^2 >= 0
    (2)  ||nu - c||^2 + w - ||beta - c||^2 >= 0        the mean over U, and that over the r others, of ||x - c||^2,
    (3)  ||nu - c||^2 + w - ||alpha - c||^2 - s >= 0    and over A: ||beta - c||^2 is at most the mean over the r others

A case is r = 0, ..., min(f, h). Its multipliers p, q, t >= 0 prove the bound if upper V - ||F||^2 - p (1) - q (2) -
t (3) is never negative: as a form in alpha, c and beta, and in s and w, whose coefficients must not be negative. Where
u = 0 the output is the mean of S.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from kappaguard.rules.recipe.recipe import NearVector, OrderStatistics, Recipe
from kappaguard.verify.judge.coordinates import check_runs, demand_inner, honest_weights
from kappaguard.verify.judge.exact_numbers import Matrix, is_semidefinite
from kappaguard.verify.judge.numbers import number
from kappaguard.verify.judge.rejected import demand

Vector = tuple[Fraction, Fraction, Fraction]
ZERO = Fraction(0)


def check_centre(recipe: Recipe, f: int, upper: Fraction, data: Any) -> int:
    """Reject unless the centre's bound and the multipliers of every case prove the bound; how many cases there are."""
    choice, n, m = recipe.choice, recipe.n, recipe.n - f
    demand(isinstance(choice, NearVector) and not recipe.mixing, "not the vectors near a centre")
    assert isinstance(choice, NearVector)
    demand(choice.count <= m, "more vectors are near than are honest")
    demand(isinstance(data, dict) and set(data) == {"centre", "runs", "cases"}, "a centre has a bound, runs and cases")
    demand_inner(choice.weights, f)
    bound = number(data["centre"])
    runs = data["runs"]
    demand(isinstance(runs, list) and len(runs) == 2, "the centre's bound has two sides")
    for upwards, given in zip((True, False), runs, strict=True):
        check_runs(honest_weights(Recipe(n, OrderStatistics(choice.weights)), f, upwards), bound, given)
    cases = data["cases"]
    demand(isinstance(cases, list) and len(cases) == min(f, choice.count) + 1, "a case for every r is needed")
    for r, case in enumerate(cases):
        demand(isinstance(case, list) and len(case) == 3, "a case has three multipliers")
        multipliers = [number(each) for each in case]
        demand(all(each >= 0 for each in multipliers), "a multiplier is negative")
        demand(_holds(m, choice.count, r, bound, upper, multipliers), f"case {r}: the form is negative somewhere")
    return len(cases)


def _holds(m: int, h: int, r: int, bound: Fraction, upper: Fraction, multipliers: list[Fraction]) -> bool:
    """Whether the multipliers prove the case."""
    a = h - r
    u = m - a
    if u == 0:
        return True
    p, q, t = multipliers
    demand((r > 0 or q == 0) and (a > 0 or t == 0), "a multiplier of something that is not there")
    left = upper - p * bound
    if left * a / m + t < 0 or left * u / m - q - t < 0:
        return False
    one = Fraction(1)
    alpha: Vector = (one if a else ZERO, ZERO, ZERO)
    nu: Vector = (-Fraction(a, u), ZERO, ZERO)
    centre: Vector = (ZERO, one, ZERO)
    beta: Vector = (ZERO, ZERO, one if r else ZERO)
    form: Matrix = [[ZERO] * 3 for _ in range(3)]
    _add(form, left * a / m, alpha)
    _add(form, left * u / m, nu)
    _add(form, -one, tuple((a * x + r * y) / h for x, y in zip(alpha, beta, strict=True)))
    _add(form, p, centre)
    _add(form, -(q + t), _minus(nu, centre))
    if r:
        _add(form, q, _minus(beta, centre))
    if a:
        _add(form, t, _minus(alpha, centre))
    return is_semidefinite(form)


def _add(form: Matrix, factor: Fraction, vector: tuple[Fraction, ...]) -> None:
    """Add factor times the square of a combination of alpha, c and beta."""
    for i, x in enumerate(vector):
        for j, y in enumerate(vector):
            form[i][j] += factor * x * y


def _minus(left: Vector, right: Vector) -> tuple[Fraction, ...]:
    return tuple(x - y for x, y in zip(left, right, strict=True))
