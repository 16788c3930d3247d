"""MultiKrum: inputs that attain the largest ratio of a cell, up to a trifle."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np

from kappaguard.rules.multikrum import MultiKrum
from kappaguard.search.exact import multikrum
from kappaguard.search.exact.dual import worst_case
from kappaguard.search.exact.vectors import rows

TRIFLES = (1e-9, 1e-8, 1e-7, 1e-6)
"""By how much of the variance the scores are kept apart; the first that decides the ties as the cell wants is best."""
BITS = 40


def worst_input(n: int, f: int, key: multikrum.Key) -> tuple[list[list[Fraction]], list[int]]:
    """The better of the input on a line and one of the cell, and the honest indices.

    The cell's inequalities compare scores, and its worst input meets some of them with equality. With a trifle of the
    variance taken off them the scores differ as the selection wants it. The judge evaluates the result exactly.
    """
    line, first = multikrum.worst_input(n, f), list(range(n - f))
    best = (_ratio(line, first, f), line, first)
    if n >= 3 * f:
        return best[1:]
    for trifle in TRIFLES:
        x, honest = _arrange(n, f, key, trifle)
        ratio = _ratio(x, honest, f)
        if ratio > best[0]:
            best = (ratio, x, honest)
    return best[1:]


def _arrange(n: int, f: int, key: multikrum.Key, trifle: float) -> tuple[list[list[Fraction]], list[int]]:
    """An input of the cell, the selected vectors first; Byzantine vectors of a role are copies of one."""
    chosen = multikrum.pattern(n, f, key)
    plain = multikrum.cell(n, f, key)
    apart = replace(plain, inequalities=tuple(form - trifle * plain.variance for form in plain.inequalities))
    means, scatters = worst_case(apart)
    vectors = rows(chosen.orbits, means, scatters, n, BITS)
    width = len(next(iter(vectors.values()))[0])
    x: list[list[Fraction]] = []
    honest: list[int] = []
    for role in [*chosen.kept, *chosen.byzantine, *chosen.out]:
        members = vectors.get(role, [])
        if role in chosen.pull:
            members = [members[0]] * chosen.pull[role] if members else []
        else:
            honest += range(len(x), len(x) + len(members))
        x += members
    far = 1000 * (1 + max(abs(value) for row in x for value in row))
    idle = [[far * (1 + k)] * width for k in range(n - len(x))]
    return x + idle, honest


def _ratio(x: list[list[Fraction]], honest: list[int], f: int) -> float:
    """The ratio in floats, to choose between inputs."""
    points = np.array([[float(value) for value in row] for row in x])
    mean = points[honest].mean(axis=0)
    error = MultiKrum(f=f)(points) - mean
    return float(error @ error / ((points[honest] - mean) ** 2).sum(axis=1).mean())
