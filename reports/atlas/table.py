"""The atlas as rows: of the page, and of a CSV file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from kappaguard.reports.bounds import lower_shown, upper_shown
from kappaguard.reports.pictures.figure import csv_text

COLUMNS = (
    *("base", "step", "rule", "n", "f", "status", "lower", "upper", "universal", "proof", "breaks_at", "stands_to"),
    *("error", "cost", "random", "tried", "witness", "certificate", "breakdown", "refused", "command"),
)
ROUNDING = 1e-20
"""Of an error that is none, relative to the variance."""
WORDS = {"exact": "exact", "bracket": "bracket", "lower": "found", "infinite": "infinite"}


def atlas_csv(entries: Sequence[Mapping[str, Any]]) -> str:
    """All entries, one per line."""
    return csv_text([COLUMNS, *([entry.get(column) for column in COLUMNS] for entry in entries)])


def atlas_rows(entries: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """What the page shows of each entry, beside the numbers that it is sorted by."""
    return [_row(entry) for entry in entries]


def _row(entry: Mapping[str, Any]) -> dict[str, Any]:
    word = "refused" if entry["refused"] else WORDS[entry["status"]]
    lower, upper = entry.get("lower"), entry.get("upper")
    return {
        "entry": {"witness": None, "certificate": None, "breakdown": None, "proof": None, **entry},
        "word": word,
        "lower": lower_shown(lower),
        "upper": "" if lower == "inf" else upper_shown(upper),
        "lower_key": _key(lower),
        "upper_key": _key(upper),
        "breaks": _breaks(entry),
        "breaks_key": entry.get("breaks_at") or entry["n"],
        "error": _digits(entry.get("error")),
        "cost": _digits(entry.get("cost")),
    }


def _breaks(entry: Mapping[str, Any]) -> str:
    if entry["refused"] or entry.get("stands_to") is None:
        return ""
    return f"f = {entry['breaks_at']}" if entry["breaks_at"] else f"stands to {entry['stands_to']}"


def _key(value: object) -> float | str:
    """For sorting: infinity is the largest, and what is unknown comes last."""
    if value is None:
        return ""
    return 1e300 if value == "inf" else float(str(value))


def _digits(value: float | None) -> str:
    if value is None:
        return ""
    return "0" if abs(value) < ROUNDING else f"{value:.3g}"
