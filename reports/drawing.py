"""A witness as a picture: its vectors, the honest mean and the output, in two dimensions."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from kappaguard.reports.bounds import lower_shown
from kappaguard.rules.base.arrays import to_numpy
from kappaguard.rules.base.errors import InputError, RuleFault
from kappaguard.rules.names import rule as rule_named
from kappaguard.rules.witness import Witness

MOST_POINTS = 400


def drawn(witness: Witness, title: str, file: str) -> dict[str, Any] | None:
    """What the page needs to draw a witness; None if it is too large, or the rule does not run.

    One and two dimensions are shown as they are, more by their first two principal components.
    """
    if witness.n > MOST_POINTS:
        return None
    try:
        x = np.array([[float(value) for value in row] for row in witness.x])
        output = np.asarray(to_numpy(rule_named(witness.rule, f=witness.f)(x)), dtype=np.float64)
    except (InputError, RuleFault, OverflowError):
        return None
    honest = list(witness.subset)
    mean = x[honest].mean(axis=0)
    flat = _flat(np.vstack([x, mean, output]), mean)
    byzantine = [index for index in range(witness.n) if index not in set(honest)]
    lower = float(witness.lower)
    return {
        "title": title,
        "file": file,
        "rule": witness.rule,
        "n": witness.n,
        "f": witness.f,
        "d": witness.d,
        "ratio": "infinite" if math.isinf(lower) else lower_shown(lower, 6),
        "projected": witness.d > 2,
        "honest": flat[honest].tolist(),
        "byzantine": flat[byzantine].tolist(),
        "mean": flat[witness.n].tolist(),
        "output": flat[witness.n + 1].tolist(),
    }


def _flat(points: np.ndarray[Any, Any], centre: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """The points, centred, in the plane."""
    moved = points - centre
    if moved.shape[1] == 1:
        return np.hstack([moved, np.zeros_like(moved)])
    if moved.shape[1] == 2:
        return np.asarray(moved)
    axes = np.linalg.svd(moved, full_matrices=False)[2][:2]
    return np.asarray(moved @ axes.T)
