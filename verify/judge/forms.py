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

import math
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
        self.scalars: dict[int, Fraction] = {}
        # whole numbers over a denominator: role or -1 for the means, and two atoms or kinds
        self._parts: dict[int, dict[tuple[int, Any, Any], int]] = {}

    def add_scalar(self, factor: Fraction, index: int) -> None:
        """factor times a scalar."""
        self.scalars[index] = self.scalars.get(index, Fraction(0)) + factor

    def add_square(self, factor: Fraction, vector: Vector) -> None:
        """factor ||vector||^2, averaged; the coefficients add up to zero."""
        if sum(vector.values()) != 0:
            raise AssertionError("a form that is not invariant under translation")
        unit = math.lcm(*(value.denominator for value in vector.values()))
        sums: dict[tuple[int, int], int] = {}
        own: dict[tuple[int, int], int] = {}
        inside: dict[int, dict[int, dict[int, int]]] = {}
        for (kind, i), coefficient in vector.items():
            value = coefficient.numerator * (unit // coefficient.denominator)
            role = self.role_of[i] if i >= 0 else -1 - i
            sums[role, kind] = sums.get((role, kind), 0) + value
            if i >= 0 and self.sizes[role] > 1:
                # equal weights on all of a role do not change m D - s s^T
                own[role, kind] = own.get((role, kind), 0) + value
                inside.setdefault(role, {}).setdefault(i, {})[kind] = value
        times, over = factor.numerator, factor.denominator * unit * unit
        for left, a in sums.items():
            for right, b in sums.items():
                if a and b:
                    self._put(over, (-1, left, right), times * a * b)
        for role, workers in inside.items():
            m = self.sizes[role]
            products: dict[tuple[int, int], int] = {}
            for kinds in workers.values():
                for t, a in kinds.items():
                    for u, b in kinds.items():
                        products[t, u] = products.get((t, u), 0) + a * b
            present = {kind for kinds in workers.values() for kind in kinds}
            for t in present:
                for u in present:
                    value = m * products.get((t, u), 0) - own[role, t] * own[role, u]
                    self._put(over * m * (m - 1), (role, t, u), times * value)

    def _put(self, over: int, key: tuple[int, Any, Any], value: int) -> None:
        part = self._parts.setdefault(over, {})
        part[key] = part.get(key, 0) + value

    def is_nonnegative(self) -> bool:
        """Whether all coefficient matrices are positive semidefinite, and all coefficients of scalars not negative."""
        if any(value < 0 for value in self.scalars.values()):
            return False
        unit = math.lcm(*self._parts)
        blocks: dict[int, dict[tuple[Any, Any], int]] = {}
        for over, part in self._parts.items():
            for (role, left, right), value in part.items():
                block = blocks.setdefault(role, {})
                block[left, right] = block.get((left, right), 0) + value * (unit // over)
        return all(_is_semidefinite(block) for block in blocks.values())


def _is_semidefinite(block: dict[tuple[Any, Any], int]) -> bool:
    index = sorted({key for pair, value in block.items() if value for key in pair})
    return is_semidefinite([[Fraction(block.get((left, right), 0)) for right in index] for left in index])
