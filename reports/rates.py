"""The rates of the convergence theorems, kept in a file and shown: errors against T, and what no T removes.

Without heterogeneity (G = 0) Theorem 1 leaves 4 L (L_H(theta_0) - L*)/T, so the error of robust D-GD falls like 1/T,
and Theorem 2 leaves a term in sigma/sqrt(T), so that of robust D-SHB falls like 1/sqrt(T). With heterogeneity, a
constant times kappa G^2 stays whatever T is: the floor.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from kappaguard.reports.results import read_part, save_part

NAME = "rates.json"
COMMAND = "kappaguard reproduce rates"


def save(rates: dict[str, Any], folder: Path) -> Path:
    """Write the rates into the folder, as rates.json."""
    return save_part(rates, "rates", folder / NAME)


def read(path: Path) -> dict[str, Any]:
    """The rates in a file, or in the file rates.json of a folder."""
    return read_part("rates", NAME, path)


SLOPES = ["algorithm", "rule", "attack", "slope", "95 % interval", "theorem"]
FLOORS = ["problem", "setting", "n", "f", "left", "ratio G^2"]


def slope_rows(rates: Mapping[str, Any]) -> list[list[str]]:
    """A table of the slopes, under SLOPES."""
    return [
        [
            *(each[key] for key in ("algorithm", "rule", "attack")),
            f"{each['slope']:.4f}",
            f"{each['low']:.4f} to {each['high']:.4f}",
            f"{each['theorem']:g}",
        ]
        for each in rates["slopes"]
    ]


def floor_rows(rates: Mapping[str, Any]) -> list[list[str]]:
    """A table of the floors, under FLOORS."""
    return [
        [
            *(str(each[key]) for key in ("problem", "setting", "n", "f")),
            f"{each['left']:.5g}",
            f"{each['ratio'] * each['heterogeneity_squared']:.5g}",
        ]
        for each in rates["floors"]
    ]
