"""From a point of a node's program to inputs that the rule itself attains.

The optimum of a closed cell lies on ties. Gram matrices are convex, so a small step towards the point with the largest
slack in all inequalities decides every tie the right way: (1 - e) optimum + e interior.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from kappaguard.search.exact.node import Name, Node
from kappaguard.search.exact.program import normalised, solve
from kappaguard.search.exact.space import Floats

STEPS = (0.0, 1e-9, 1e-8, 3e-8, 6e-8, 1e-7, 2e-7, 4e-7, 1e-6, 3e-6, 1e-5, 1e-4, 1e-3)
MANY = 100
CORNERS = (2, 3, 5)
STEP = 1e-3
"""How far inside the decisions of a cell are looked at again."""


def interior(node: Node, names: list[Name]) -> tuple[float, Floats]:
    """The point with the largest slack in all inequalities, under a bounded trace; and that slack."""
    space = node.space
    rows = normalised([node.form(name) for name in names])
    scalars = space.length - space.first_scalar
    bounded = space.trace()
    bounded[space.first_scalar :] = 1.0 / space.n
    # unknowns: the point and the slack s; rows . g - s >= 0
    linear = [np.append(bounded, 0.0)[None]]
    if scalars:
        bottom = np.zeros((scalars, space.length + 1))
        bottom[:, space.first_scalar : -1] = -np.eye(scalars)
        linear.append(bottom)
    if len(rows):
        linear.append(np.hstack([-rows, np.ones((len(rows), 1))]))
    linear.append(np.eye(1, space.length + 1, space.length))
    count = sum(map(len, linear))
    matrix = np.vstack([*linear, -np.eye(space.first_scalar, space.length + 1)])
    right = np.zeros(len(matrix))
    right[0] = right[count - 1] = 1.0
    goal = np.zeros(space.length + 1)
    goal[-1] = -1.0
    _, point, _ = solve(goal, matrix, right, count, space.blocks)
    return float(point[-1]), point[:-1]


def towards_interior(node: Node, names: list[Name], optimum: Floats, step: float = STEP) -> Floats:
    """The optimum, moved a little towards the interior."""
    _, inside = interior(node, names)
    if not np.isfinite(inside).all():
        return optimum
    scale = float(node.variance @ optimum) / max(float(node.variance @ inside), 1e-9)
    return (1 - step) * optimum + step * scale * inside


def inputs(node: Node, names: list[Name], optimum: Floats) -> Iterator[list[Floats]]:
    """Inputs whose ratios approach the node's bound, from the optimum inwards; in few dimensions first."""
    slack, inside = interior(node, names)
    if not np.isfinite(inside).all():
        inside = optimum
    scale = float(node.variance @ optimum) / max(float(node.variance @ inside), 1e-9)
    widths = sorted({min(width, node.n) for width in (*CORNERS, node.n)})
    if node.n > MANY:
        widths = widths[:2]
    for width in widths:
        found = []
        for step in STEPS if slack > 0 and node.n <= MANY else STEPS[:4]:
            x = node.space.realise((1 - step) * optimum + step * scale * inside, width)
            for members, leader in node.leads:
                x[sorted(members)] = x[leader]
            found.append(x)
        yield found
