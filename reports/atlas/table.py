"""The atlas as rows: of the page, and of a CSV file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from kappaguard.reports.bounds import lower_shown, upper_shown
from kappaguard.reports.pictures.figure import csv_text

COLUMNS = (
    *("base", "step", "rule", "n", "f", "status", "lower", "upper", "universal", "proof", "breaks_at", "stands_to"),
    *("worst_d", "line", "error", "cost", "worst_attack", "worst_accuracy", "random", "tried"),
    *("witness", "certificate", "breakdown", "refused", "command"),
)
ROUNDING = 1e-20
"""Of an error that is none, relative to the variance."""
WORDS = {"exact": "exact", "bracket": "bracket", "lower": "found", "infinite": "infinite"}


def atlas_csv(entries: Sequence[Mapping[str, Any]]) -> str:
    """All entries, one per line."""
    told = [{**entry, **dict(zip(("worst_attack", "worst_accuracy"), _worst(entry), strict=True))} for entry in entries]
    return csv_text([COLUMNS, *([entry.get(column) for column in COLUMNS] for entry in told)])


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
        "growth": _growth(entry),
        "growth_key": _gain(entry),
        "trained": _trained(entry),
        "trained_key": "" if _worst(entry)[1] is None else _worst(entry)[1],
        "error": _digits(entry.get("error")),
        "cost": _digits(entry.get("cost")),
    }


def _breaks(entry: Mapping[str, Any]) -> str:
    if entry["refused"] or entry.get("stands_to") is None:
        return ""
    return f"f = {entry['breaks_at']}" if entry["breaks_at"] else f"stands to {entry['stands_to']}"


def _gain(entry: Mapping[str, Any]) -> float | str:
    """kappa* over what was found with d = 1."""
    lower, line = entry.get("lower"), entry.get("line")
    if not isinstance(lower, int | float) or not isinstance(line, int | float) or not line:
        return ""
    return max(1.0, lower / line)


def _growth(entry: Mapping[str, Any]) -> str:
    """How many times the ratio on a line the worst input is, and in how many dimensions."""
    gain = _gain(entry)
    if gain == "":
        return ""
    return "1" if entry["worst_d"] == 1 else f"{float(gain):.3g} (d = {entry['worst_d']})"


def _worst(entry: Mapping[str, Any]) -> tuple[str | None, float | None]:
    """The attack under which training ends worst, and the accuracy there; 0 for a run that did not finish."""
    rows = {attack: accuracy or 0.0 for attack, accuracy in (entry.get("trained") or {}).items() if attack != "none"}
    return min(rows.items(), key=lambda pair: pair[1]) if rows else (None, None)


def _trained(entry: Mapping[str, Any]) -> str:
    attack, accuracy = _worst(entry)
    return "" if accuracy is None else f"{100 * accuracy:.0f} % ({attack})"


def _key(value: object) -> float | str:
    """For sorting: infinity is the largest, and what is unknown comes last."""
    if value is None:
        return ""
    return 1e300 if value == "inf" else float(str(value))


def _digits(value: float | None) -> str:
    if value is None:
        return ""
    return "0" if abs(value) < ROUNDING else f"{value:.3g}"
