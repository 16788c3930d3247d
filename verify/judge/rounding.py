"""How much of an error may be rounding: the one place where a float rule is given the benefit of the doubt.

A rule that runs in floats is judged by what it returned, and that carries rounding errors. A claim kappa that holds
with equality, or honest vectors that are all equal, would turn the last digit into a violation. So a float rule is
allowed what a backward stable implementation may do: return F(x') + delta for some x' near x, where no entry of x' - x
exceeds tau/2, no entry of delta exceeds tau/2, and F satisfies the claim. Then, with mean' and variance' those of x',

    |F(x')_k - mean'_k| >= |output_k - mean_k| - tau        (tau/2 from delta, tau/2 from the mean)
    |x'_ik - mean'_k|   <= |x_ik - mean_k| + tau            (tau/2 from the entry, tau/2 from the mean)

and the claim at x' gives

    sum_k max(0, |output_k - mean_k| - tau)^2  <=  kappa (1/m) sum_{i in S, k} (|x_ik - mean_k| + tau)^2.

The quotient of the two sides is the ratio beyond rounding. It never exceeds the ratio, it is finite unless tau is 0,
and a claim below it is refuted whatever the last digits were. tau is ``tolerance`` times the largest entry of x, but
never more than a thousandth of the largest honest entry, unless the user allows it with a tolerance of their own: the
Byzantine vectors may be as large as they like, and a rule that adds and subtracts them until nothing is left of the
honest ones has not rounded, it was broken into.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

from kappaguard.rules.witness import Bound
from kappaguard.verify.judge.exact_numbers import Vector, mean, minus

FEW = 8
"""Roundings beyond those of the sums."""
LOST = Fraction(1, 1000)
"""Of the largest honest entry: more is never rounding."""
DOUBLE = 2.0**-52
"""The gap between 1 and the next float64."""


def tolerance_for(n: int, d: int, epsilon: float = DOUBLE) -> Fraction:
    """(8 + (n + d)/2) epsilon: a sum of k numbers in a row is off by at most k epsilon/2 of the sum of their sizes."""
    return Fraction(epsilon) * (FEW + Fraction(n + d, 2))


def ratio_beyond_rounding(
    output: Sequence[Fraction],
    x: Sequence[Vector],
    subset: Sequence[int],
    tolerance: Fraction,
    limit: Fraction | None = LOST,
) -> Bound:
    """The ratio of x and S that remains when tau is allowed, in exact arithmetic; ``limit`` None is none."""
    honest = [x[index] for index in subset]
    tau = tolerance * max(abs(value) for row in x for value in row)
    size = max(abs(value) for row in honest for value in row)
    tau = min(tau, limit * size) if limit is not None and size else tau
    centre = mean(honest)
    square = _square_sum([max(Fraction(0), abs(value) - tau) for value in minus(output, centre)])
    spread = sum((_square_sum([abs(value) + tau for value in minus(row, centre)]) for row in honest), Fraction(0))
    if spread:
        return square * len(honest) / spread
    return math.inf if square else Fraction(0)


def _square_sum(values: Sequence[Fraction]) -> Fraction:
    return sum((value * value for value in values), Fraction(0))
