"""Rational multipliers for the leaves of a tree: kappa V - E - sum of mu_k g_k as a form that is nowhere negative.

A program looks for multipliers well inside, so that rounding them to binary fractions cannot hurt.
Workers that play no part are taken out first: where neither V nor E has a coordinate and every inequality could only
make it negative, their multipliers have to be zero, and the coordinate is left out.

At a kappa that a leaf attains nothing is inside. There the form vanishes on the worst input, so its kernel is guessed
from the solution, rounded to simple fractions, and the multipliers are corrected, in fractions, to have it.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from kappaguard.rules.recipe.recipe import Recipe
from kappaguard.search.exact.facts import Facts
from kappaguard.search.exact.kernel import kernel_multipliers
from kappaguard.search.exact.node import Name, Node
from kappaguard.search.exact.program import solve
from kappaguard.search.exact.space import Floats, pack

BITS = 46
ATTEMPTS = 4
STRICT = 1e-5
ENOUGH = 2.0**-36
"""The depth that rounding to ``BITS`` binary places cannot use up."""


@dataclass(frozen=True)
class Multipliers:
    """The multipliers of a leaf by the names of its inequalities, and how deep inside they are."""

    by_name: dict[Name, Fraction]
    depth: float


@dataclass(frozen=True)
class Leaf:
    """A leaf of a tree for which kappa is to be proved; ``tight`` if it may be attained there."""

    recipe: Recipe
    f: int
    facts: Facts
    cuts: tuple[Name, ...]
    kappa: Fraction
    tight: bool


def leaf_multipliers(leaf: Leaf) -> Multipliers:
    """The multipliers of a leaf's own inequalities and cuts."""
    node = Node(leaf.recipe, leaf.f, leaf.facts)
    return multipliers(node, [*node.names(), *leaf.cuts], leaf.kappa, leaf.tight)


def multipliers(node: Node, names: list[Name], kappa: Fraction, tight: bool = False) -> Multipliers:
    """Multipliers that prove kappa on a node, if the depth is positive; ``tight`` if it may be attained there."""
    if not np.abs(node.error).max() > 1e-12:
        return Multipliers({}, 1.0)
    names = list(dict.fromkeys(names))
    forms = [node.form(name) for name in names]
    sizes = [max(1e-300, float(np.abs(form).max())) for form in forms]
    units = [2.0 ** round(np.log2(size)) if size > 1e-12 else 0.0 for size in sizes]
    usable = [k for k, unit in enumerate(units) if unit]
    slack = float(kappa) * node.variance - node.error
    for _ in range(ATTEMPTS):
        asked = usable
        system = _System(node, slack, [forms[k] / units[k] for k in asked])
        depth, values = system.deepest()
        if depth >= ENOUGH:
            break
        idle = _idle(node, slack, [forms[k] / units[k] for k in asked])
        if not any(idle):
            break
        usable = [k for k, unused in zip(asked, idle, strict=True) if not unused]
    if depth < ENOUGH and tight:
        exact = kernel_multipliers(system.raw, system.scalars[np.concatenate([[0], system.kept + 1])], values)
        if exact is not None:
            pairs = zip(system.kept, exact, strict=True)
            by_name = {names[asked[k]]: value / Fraction(units[asked[k]]) for k, value in pairs if value}
            return Multipliers(by_name, ENOUGH)
    found = {
        names[asked[k]]: Fraction(round(value * 2**BITS), 2**BITS) / Fraction(units[asked[k]])
        for k, value in zip(system.kept, values, strict=True)
        if value > 2.0**-BITS
    }
    return Multipliers(found, depth)


def _idle(node: Node, slack: Floats, forms: list[Floats]) -> list[bool]:
    """Inequalities that are strict where neither V nor E sees anything: their multipliers have to be zero.

    If kappa V - E <= 0 and all g_k >= 0 at some Gram matrix, then sum of mu_k g_k <= 0 there, so mu_k = 0 wherever
    g_k > 0. An interior-point method ends in the middle of all such Gram matrices.
    """
    space = node.space
    scalars = space.length - space.first_scalar
    bounded = space.trace()
    bounded[space.first_scalar :] = 1.0
    rows = np.array([-slack, *forms])
    bottom = np.zeros((scalars, space.length))
    bottom[:, space.first_scalar :] = -np.eye(scalars)
    linear = np.vstack([bounded[None], -rows, bottom])
    matrix = np.vstack([linear, -np.eye(space.first_scalar, space.length)])
    right = np.zeros(len(matrix))
    right[0] = 1.0
    _, point, _ = solve(-bounded, matrix, right, len(linear), space.blocks)
    if not np.isfinite(point).all() or bounded @ point < 0.5:
        return [False] * len(forms)
    return [float(form @ point) > STRICT for form in forms]


class _System:
    """slack - sum of mu_k g_k on the coordinates that matter: role means, scatters and scalars."""

    def __init__(self, node: Node, slack: Floats, forms: list[Floats]) -> None:
        space = node.space
        self.space = space
        rows = np.array([slack, *forms])
        blocks = [np.array([space.matrices(row)[b] for row in rows]) for b in range(len(space.blocks))]
        basis = space.basis
        # role means themselves, instead of coordinates that add up to zero: there the workers can be told apart
        blocks[0] = np.einsum("ab,kbc,dc->kad", basis, blocks[0], basis) if space.size else np.zeros((len(rows), 1, 1))
        self.scalars = rows[:, space.first_scalar :]
        kept = np.ones(len(forms), dtype=bool)
        alive = [np.ones(block.shape[1], dtype=bool) for block in blocks]
        changed = True
        while changed:
            changed = False
            for block, coordinates in zip(blocks, alive, strict=True):
                diagonals = np.einsum("kaa->ka", block)
                for a in np.flatnonzero(coordinates):
                    own = diagonals[1:, a]
                    if diagonals[0, a] <= 1e-12 and np.all(own[kept] >= -1e-12):
                        coordinates[a] = False
                        kept &= ~(np.abs(block[1:, a]).max(axis=1) > 1e-12)
                        changed = True
        self.kept = np.flatnonzero(kept)
        self.parts, self.raw = [], []
        for place, (block, coordinates) in enumerate(zip(blocks, alive, strict=True)):
            matrices = block[np.concatenate([[0], self.kept + 1])][:, coordinates][:, :, coordinates]
            count = int(coordinates.sum())
            if count:
                self.raw.append(matrices)
            if place == 0 and count:
                centred = np.linalg.qr(np.eye(count)[:, 1:] - 1.0 / count)[0] if count > 1 else np.zeros((1, 0))
                matrices = np.einsum("ab,kac,cd->kbd", centred, matrices, centred)
            if matrices.shape[1]:
                self.parts.append(matrices)

    def deepest(self) -> tuple[float, Floats]:
        """The depth and the multipliers of the point deepest inside."""
        count = len(self.kept)
        if not self.parts:
            return 1.0, np.zeros(count)
        rows = np.concatenate([[0], self.kept + 1])
        scalars = self.scalars[rows].T
        touched = np.abs(scalars).max(axis=1, initial=0.0) > 1e-12
        scalars = scalars[touched]
        linear = np.vstack(
            [
                np.hstack([-np.eye(count), np.zeros((count, 1))]),
                np.eye(1, count + 1, count),
                np.hstack([scalars[:, 1:], np.ones((len(scalars), 1))]),
            ]
        )
        right = np.concatenate([np.zeros(count), np.ones(1), scalars[:, 0]])
        cones, values = [], []
        for matrices in self.parts:
            packed = np.array([pack(matrix) for matrix in matrices])
            identity = pack(np.eye(matrices.shape[1]))
            cones.append(np.hstack([packed[1:].T, identity[:, None]]))
            values.append(packed[0])
        goal = np.zeros(count + 1)
        goal[-1] = -1.0
        matrix, whole = np.vstack([linear, *cones]), np.concatenate([right, *values])
        _, point, _ = solve(goal, matrix, whole, len(linear), [part.shape[1] for part in self.parts])
        found = np.maximum(point[:-1], 0.0)
        return self.depth(found), found

    def depth(self, found: Floats) -> float:
        """How far inside some multipliers are; negative outside."""
        weights = np.concatenate([[1.0], -found])
        least = min(float(np.linalg.eigvalsh(np.tensordot(weights, part, 1))[0]) for part in self.parts)
        rows = np.concatenate([[0], self.kept + 1])
        scalars = weights @ self.scalars[rows]
        touched = np.abs(self.scalars[rows]).max(axis=0, initial=0.0) > 1e-12
        return min(least, float(scalars[touched].min(initial=1.0)))
