"""Training on worst inputs, kept in a file and shown: where the algorithms end, and how fast they come there."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from kappaguard.reports.results import read_part, save_part

NAME = "witnesses.json"
COMMAND = "kappaguard reproduce witnesses"

ENDS = ["rule", "f", "kappa*", "found by", "D-GD ends", "D-SHB ends", "random output", "its bound", "with noise"]
SLOPES = ["algorithm", "rule", "f", "slope above kappa* G²", "95 % interval", "theorem"]
SLACK = ["T", "least aggregate leaves", "random output leaves", "its bound"]


def save_trained(stored: Mapping[str, Any], folder: Path) -> Path:
    """Write what runs on worst inputs gave into the folder, as witnesses.json."""
    return save_part(stored, "trained", folder / NAME)


def read_trained(path: Path) -> dict[str, Any]:
    """What a file holds, or the file witnesses.json of a folder."""
    return read_part("trained", NAME, path)


def trained_tables(stored: Mapping[str, Any]) -> list[tuple[list[str], list[list[str]]]]:
    """All tables, with their headings; those without a row are left out."""
    found = [(ENDS, ends(stored)), (SLOPES, slopes(stored)), (SLACK, slack(stored))]
    return [(headings, rows) for headings, rows in found if rows]


def ends(stored: Mapping[str, Any]) -> list[list[str]]:
    """Where the algorithms end, in units of G², under ENDS."""
    return [
        [
            each["rule"],
            str(each["f"]),
            _kappa(each),
            each["found_by"],
            *(_shown(each[key]) for key in ("gd", "shb", "random", "bound_random", "noisy")),
        ]
        for each in stored["runs"]
    ]


def slopes(stored: Mapping[str, Any]) -> list[list[str]]:
    """How fast, under SLOPES."""
    return [
        [
            rate["algorithm"],
            each["rule"],
            str(each["f"]),
            *(
                ["", ""]
                if rate["slope"] is None
                else [f"{rate['slope']:.3f}", f"{rate['low']:.3f} to {rate['high']:.3f}"]
            ),
            f"{rate['theorem']:g}",
        ]
        for each in stored["runs"]
        for rate in each["rates"]
    ]


def slack(stored: Mapping[str, Any]) -> list[list[str]]:
    """Both outputs under the adversary that owns all of a slack kappa = 1, in units of kappa G², under SLACK."""
    return [
        [str(each["steps"]), *(_shown(each[key]) for key in ("output", "random", "bound"))] for each in stored["slack"]
    ]


def reached(each: Mapping[str, Any]) -> bool:
    """Whether training came to kappa* G²; not so where a tie, which the exact witness is, is decided by rounding."""
    kappa, end = each["kappa"], each["gd"]
    return kappa is not None and end is not None and abs(end - kappa) <= 1e-3 * kappa


def _kappa(each: Mapping[str, Any]) -> str:
    if each["kappa"] is None:
        return "infinite"
    closed = each["upper"] is not None and each["upper"] <= each["kappa"] * (1 + 1e-6)
    return f"{each['kappa']:.5f}" if closed else f">= {each['kappa']:.5f}"


def _shown(value: float | None) -> str:
    return "" if value is None else f"{value:.5f}"
