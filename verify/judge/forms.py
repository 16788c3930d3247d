"""Quadratic forms in exact fractions, averaged over roles.

A vector is a combination of atoms (kind, worker): kind 0 is the worker's input, kind l + 1 its mixed vector of layer
l. For coefficients c that add up to zero, with s the sums of c over a role o of m workers and D = sum over o of c_t
c_u,

    average of ||sum c v||^2 = ||sum over o, t of s_ot a_ot||^2 + sum over o of <W_o, Q_o>,   W_o = (m D - s s^T) / (m
    (m - 1)),

where a_ot is the mean of the vectors of kind t over o and Q_o is the Gram matrix of the deviations from it, summed
over o: the average of a matrix over all permutations of m coordinates is a multiple of the identity plus one of the
matrix of ones. Both matrices Q and the Gram matrix of the a's are positive semidefinite, in every dimension. So a
form with positive semidefinite coefficient matrices, and non-negative coefficients of scalars that are not negative,
is not negative.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from kappaguard.verify.judge.exact_numbers import is_semidefinite

Atom = tuple[int, int]
"""A kind and a worker; or a kind and -1 - o, for the same weight on every worker of role o."""
Vector = dict[Atom, Fraction]
"""Coefficients of atoms; those of a whole role are the sum over it."""


class Form:
    """A sum of averaged squares and scalars, to be shown non-negative."""

    def __init__(self, roles: list[list[int]]) -> None:
        self.role_of = {i: index for index, members in enumerate(roles) for i in members}
        self.sizes = [len(members) for members in roles]
        self.means: dict[tuple[tuple[int, int], tuple[int, int]], Fraction] = {}
        self.scatters: dict[int, dict[tuple[int, int], Fraction]] = {}
        self.scalars: dict[int, Fraction] = {}

    def add_scalar(self, factor: Fraction, index: int) -> None:
        """factor times a scalar."""
        self.scalars[index] = self.scalars.get(index, Fraction(0)) + factor

    def add_square(self, factor: Fraction, vector: Vector) -> None:
        """factor ||vector||^2, averaged; the coefficients add up to zero."""
        if sum(vector.values()) != 0:
            raise AssertionError("a form that is not invariant under translation")
        sums: dict[tuple[int, int], Fraction] = {}
        own: dict[tuple[int, int], Fraction] = {}
        inside: dict[int, dict[int, dict[int, Fraction]]] = {}
        for (kind, i), value in vector.items():
            role = self.role_of[i] if i >= 0 else -1 - i
            sums[role, kind] = sums.get((role, kind), Fraction(0)) + value
            if i >= 0 and self.sizes[role] > 1:
                # equal weights on all of a role do not change m D - s s^T
                own[role, kind] = own.get((role, kind), Fraction(0)) + value
                inside.setdefault(role, {}).setdefault(i, {})[kind] = value
        for left, a in sums.items():
            for right, b in sums.items():
                if a and b:
                    self.means[left, right] = self.means.get((left, right), Fraction(0)) + factor * a * b
        for role, workers in inside.items():
            m = self.sizes[role]
            block = self.scatters.setdefault(role, {})
            products: dict[tuple[int, int], Fraction] = {}
            for kinds in workers.values():
                for t, a in kinds.items():
                    for u, b in kinds.items():
                        products[t, u] = products.get((t, u), Fraction(0)) + a * b
            present = {kind for kinds in workers.values() for kind in kinds}
            for t in present:
                for u in present:
                    value = m * products.get((t, u), Fraction(0)) - own[role, t] * own[role, u]
                    block[t, u] = block.get((t, u), Fraction(0)) + factor * value / (m * (m - 1))

    def is_nonnegative(self) -> bool:
        """Whether all coefficient matrices are positive semidefinite, and all coefficients of scalars not negative."""
        if any(value < 0 for value in self.scalars.values()):
            return False
        return _is_semidefinite(self.means) and all(_is_semidefinite(block) for block in self.scatters.values())


def _is_semidefinite(block: dict[Any, Fraction]) -> bool:
    index = sorted({key for pair, value in block.items() if value for key in pair})
    zero = Fraction(0)
    return is_semidefinite([[block.get((left, right), zero) for right in index] for left in index])
