"""Quadratic forms in the vectors of a node, averaged over its roles.

Worker i owns vectors of one or more kinds t: its input, and a free one for every row of mixing that is not decided. A
form ||sum c_ti v_ti||^2 whose coefficients add up to zero, averaged over all exchanges within roles, is

    || sum over o, t of s_ot a_ot ||^2  +  sum over o of < w_o , Q_o >

with s_ot the sum of c_ti over role o, a_ot the mean of its vectors of kind t, Q_o the matrix of inner products of the
deviations from these means, summed over the role, and (D_tu = sum over i in o of c_ti c_ui, m the size of o)

    w_o = (m D - s s^T) / (m (m - 1)).

So a form is a vector: a symmetric matrix on the means (in coordinates that add up to zero), one small symmetric matrix
per role with several workers, and coefficients of scalars. Its length depends on the number of roles and not on n.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
ROOT = 2.0**0.5


def pack(matrix: Floats) -> Floats:
    """The upper triangle, column by column, entries off the diagonal times the root of two."""
    columns, rows = _triangle(len(matrix))
    packed: Floats = matrix[rows, columns] * np.where(rows == columns, 1.0, ROOT)
    return packed


def unpack(values: Floats, size: int) -> Floats:
    """The symmetric matrix of a packed triangle."""
    matrix = np.zeros((size, size))
    columns, rows = _triangle(size)
    matrix[rows, columns] = values * np.where(rows == columns, 1.0, 1 / ROOT)
    return matrix + matrix.T - np.diag(np.diag(matrix))


@cache
def _triangle(size: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    return np.tril_indices(size)


@cache
def _centred_basis(count: int) -> Floats:
    """An orthonormal basis, as columns, of the vectors whose entries add up to zero."""
    basis: Floats = np.linalg.qr(np.eye(count)[:, 1:] - 1.0 / count)[0]
    return basis


class Space:
    """The coordinates of forms at a node: ``kinds[o]`` lists the kinds of vectors that a worker of role o owns."""

    def __init__(self, n: int, roles: list[list[int]], kinds: list[tuple[int, ...]], scalars: int) -> None:
        self.n, self.roles, self.kinds = n, roles, kinds
        self.role_of = {i: index for index, role in enumerate(roles) for i in role}
        self.offsets = np.cumsum([0, *map(len, kinds)])
        count = int(self.offsets[-1])
        self.size = count - 1
        self.basis = _centred_basis(count) if count > 1 else np.zeros((1, 0))
        self.blocks = [self.size, *(len(kind) for role, kind in zip(roles, kinds, strict=True) if len(role) > 1)]
        self.scattered = [index for index, role in enumerate(roles) if len(role) > 1]
        lengths = [size * (size + 1) // 2 for size in self.blocks]
        self.starts = np.cumsum([0, *lengths])
        self.first_scalar = int(self.starts[-1])
        self.length = self.first_scalar + scalars
        self._order = [i for role in roles for i in role]
        self._edges = np.cumsum([0, *map(len, roles)])[:-1]
        self._owners = np.repeat(np.arange(len(roles)), list(map(len, kinds)))
        self._kinds = np.concatenate([np.array(kind, dtype=int) for kind in kinds])
        self._sizes = np.array([len(role) for role in roles], dtype=float)
        self._columns, self._rows = _triangle(self.size)
        self._factors = np.where(self._columns == self._rows, 1.0, ROOT)

    def zero(self) -> Floats:
        """The form that vanishes."""
        return np.zeros(self.length)

    def scalar(self, index: int) -> Floats:
        """The form that is one scalar."""
        form = self.zero()
        form[self.first_scalar + index] = 1.0
        return form

    def square(self, coefficients: Floats) -> Floats:
        """The averaged form of coefficients of shape (kinds, n) that add up to zero."""
        form = self.zero()
        ordered = coefficients[:, self._order]
        by_role = np.add.reduceat(ordered, self._edges, axis=1)
        point = by_role[self._kinds, self._owners] @ self.basis
        form[: self.starts[1]] = point[self._rows] * point[self._columns] * self._factors
        if not self.scattered:
            return form
        squares = np.add.reduceat(ordered * ordered, self._edges, axis=1)
        for place, index in enumerate(self.scattered):
            kind, m = list(self.kinds[index]), self._sizes[index]
            start = self.starts[place + 1]
            if len(kind) == 1:
                form[start] = (m * squares[0, index] - by_role[0, index] ** 2) / (m * (m - 1))
                continue
            part = coefficients[kind][:, self.roles[index]]
            total = by_role[kind, index]
            form[start : self.starts[place + 2]] = pack((m * (part @ part.T) - np.outer(total, total)) / (m * (m - 1)))
        return form

    def trace(self) -> Floats:
        """The sum of the traces of all blocks."""
        form = self.zero()
        for start, size in zip(self.starts, self.blocks, strict=False):
            form[start : start + size * (size + 1) // 2] = pack(np.eye(size))
        return form

    def matrices(self, form: Floats) -> list[Floats]:
        """The blocks of a form as symmetric matrices."""
        return [
            unpack(form[start : start + size * (size + 1) // 2], size)
            for start, size in zip(self.starts, self.blocks, strict=False)
        ]

    def realise(self, point: Floats, groups: int) -> Floats:
        """Inputs of shape (n, d) whose averaged inner products are a point of the program.

        Means by a root of their Gram matrix; every scattered role as a regular simplex with at most ``groups`` corners
        around its mean, in coordinates of its own.
        """
        matrices = self.matrices(point)
        values, vectors = np.linalg.eigh(matrices[0]) if self.size else (np.zeros(0), np.zeros((0, 0)))
        large = values > 1e-13 * max(1e-300, values.max(initial=0.0))
        means = self.basis @ (vectors[:, large] * np.sqrt(values[large]))
        parts = [np.zeros((self.n, means.shape[1]))]
        for index, role in enumerate(self.roles):
            parts[0][role] = means[self.offsets[index]]
        for place, index in enumerate(self.scattered):
            role = self.roles[index]
            scatter = max(0.0, float(matrices[place + 1][0, 0]))
            width = min(len(role), groups)
            corners = np.arange(len(role)) % width
            simplex = np.eye(width)[corners] - np.bincount(corners, minlength=width) / len(role)
            total = float((simplex**2).sum())
            part = np.zeros((self.n, width))
            part[role] = simplex * np.sqrt(scatter / total)
            if scatter > 1e-13:
                parts.append(part)
        return np.hstack(parts)


def counted(members: Sequence[int], role_of: dict[int, int]) -> dict[int, int]:
    """How many of the members have each role."""
    counts: dict[int, int] = {}
    for i in members:
        counts[role_of[i]] = counts.get(role_of[i], 0) + 1
    return counts
