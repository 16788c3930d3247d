"""A quadratic form in vectors that are grouped by role, kept in exact fractions.

For a role o of n_o vectors with mean a_o and scatter W_o = sum ||x_i - a_o||^2 the parallel-axis theorem gives

    sum over i in o, j in p of ||x_i - x_j||^2  =  n_o n_p ||a_o - a_p||^2 + n_p W_o + n_o W_p     (o != p),
    sum over ordered pairs i, j in o            =  2 n_o W_o.

So a form made of such sums, of squared lengths of combinations of means, and of variances is determined by a
matrix over the means and a number per scatter, and it is non-negative for all vectors in all dimensions if the
matrix is positive semidefinite and the numbers are not negative.
"""

from __future__ import annotations

from fractions import Fraction

from kappaguard.verify.exact_numbers import is_semidefinite

Direction = dict[str, Fraction]


class Ledger:
    """Adds terms to a form, then tells whether it is non-negative."""

    def __init__(self, sizes: dict[str, int]) -> None:
        self.sizes = {role: size for role, size in sizes.items() if size > 0}
        self.roles = list(self.sizes)
        self.matrix = [[Fraction(0)] * len(self.roles) for _ in self.roles]
        self.scatter = dict.fromkeys(self.roles, Fraction(0))

    def add_square(self, factor: Fraction, direction: Direction) -> None:
        """factor ||sum_o direction_o a_o||^2."""
        coordinates = [direction.get(role, Fraction(0)) for role in self.roles]
        for i, left in enumerate(coordinates):
            for j, right in enumerate(coordinates):
                self.matrix[i][j] += factor * left * right

    def add_distances(self, factor: Fraction, first: str, second: str) -> None:
        """factor times the sum of squared distances over ordered pairs, one of each role."""
        if first not in self.sizes or second not in self.sizes:
            return
        if first == second:
            self.scatter[first] += factor * 2 * self.sizes[first]
            return
        difference = {first: Fraction(1), second: Fraction(-1)}
        self.add_square(factor * self.sizes[first] * self.sizes[second], difference)
        self.scatter[first] += factor * self.sizes[second]
        self.scatter[second] += factor * self.sizes[first]

    def add_variance(self, factor: Fraction, honest: set[str]) -> None:
        """factor (1/|S|) sum over the honest of ||x_i - mean||^2."""
        members = [role for role in self.roles if role in honest]
        total = sum(self.sizes[role] for role in members)
        mean = self.mean(honest)
        for role in members:
            self.add_square(factor * self.sizes[role] / total, minus({role: Fraction(1)}, mean))
            self.scatter[role] += factor / total

    def mean(self, members: set[str]) -> Direction:
        """The mean of all vectors of some roles, as a combination of their means."""
        total = sum(self.sizes[role] for role in self.roles if role in members)
        return {role: Fraction(self.sizes[role], total) for role in self.roles if role in members}

    def is_nonnegative(self) -> bool:
        """Whether the form is non-negative for all vectors."""
        scattered = all(self.scatter[role] >= 0 for role in self.roles if self.sizes[role] > 1)
        return scattered and is_semidefinite(self.matrix)


def minus(left: Direction, right: Direction) -> Direction:
    """left - right."""
    return {role: left.get(role, Fraction(0)) - right.get(role, Fraction(0)) for role in {**left, **right}}
