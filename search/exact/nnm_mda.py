"""MDA after NNM: an upper bound on kappa* from small semidefinite programs.

The honest mixed vectors have a mean square distance of at most 4f/(n-f) V from the mean of the honest inputs, and a
diameter of at most (4 (f+1)^2/(n-f) V)^(1/2): both are proved in ``verify/certified/nnm_mda.py``. The cells are those
of MDA; the largest error under these two bounds, and not under one on the variance alone, is the bound.
"""

from __future__ import annotations

import numpy as np

from kappaguard.search.exact import mda
from kappaguard.search.exact.dual import Cell
from kappaguard.search.exact.forms import Orbits


def cell(n: int, f: int, key: mda.Key) -> Cell:
    """The forms of a cell; the variance of the inputs is the squared length from ``center`` to ``unit``."""
    plain = mda.orbits(n, f, key)
    roles = Orbits({**plain.sizes, "center": 1, "unit": 1}, plain.honest)
    variance, diameter = roles.distances("center", "unit"), roles.distances("first", "second")
    inequalities = []
    for one, two in mda.pairs(plain, key):
        count = plain.size(one) * (plain.size(two) - (one == two))
        inequalities.append(roles.visible(count * diameter - roles.distances(one, two)))
    around = sum((roles.distances(role, "center") for role in sorted(plain.honest)), roles.zero())
    inequalities.append(roles.visible(variance - 1 / (4 * f) * around))
    inequalities.append(roles.visible(variance - (n - f) / (4 * (f + 1) ** 2) * diameter))
    inside = np.sum([plain.size(role) * roles.unit(role) for role in mda.inside(plain, key)], axis=0) / (n - f)
    error = roles.square(inside - roles.unit("center"))
    return Cell(error, roles.visible(variance), tuple(inequalities))


def named(n: int, f: int, key: mda.Key) -> tuple[list[list[str]], Cell]:
    """The cell, and for each multiplier the name under which a certificate writes it."""
    pairs = [[f"{one}-{two}"] for one, two in mda.pairs(mda.orbits(n, f, key), key)]
    return [*pairs, ["spread"], ["widest"]], cell(n, f, key)
