"""Estimates for people: rows of tables, a CSV, and what to bear in mind."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from kappaguard.reports.pictures.figure import csv_text
from kappaguard.reports.results import read_json, validate

HEADINGS = (
    "attack",
    "rule",
    "inputs",
    "largest",
    "median",
    "95 %",
    "P(more)",
    "kappa*",
    "paper",
    "of kappa*",
    "of paper",
)
MIXING_HEADINGS = (
    *("attack", "rule", "variance after/before", "bias/variance", "sum", "4f/(n-f)", "8f/(n-f)"),
    *("kappa'", "4f/(n-f) (kappa+1)", "amplification", "worse"),
)
COLUMNS = (
    *("rule", "n", "f", "attack", "source", "criterion", "seed", "subsets", "inputs", "largest", "round", "witness"),
    *("median", "median_low", "median_high", "quantile_95", "quantile_95_low", "quantile_95_high", "exceedance"),
    *("lower", "upper", "coefficient", "reach_of_kappa_least", "reach_of_kappa_most", "reach_of_coefficient"),
    *("variance_median", "variance_largest", "bias_median", "bias_largest", "total_largest", "sharp"),
    *(
        "amplification_median",
        "amplification_95",
        "amplification_largest",
        "compared",
        "worse",
        "kappa_bound",
        "beyond",
    ),
)


def read_estimate(path: Path) -> dict[str, Any]:
    """What ``kappaguard estimate --json`` printed, from a file of anybody's."""
    data = read_json(path)
    validate(data, "estimates")
    return data


def shown(value: Any) -> str:
    """A number in short."""
    if value is None:
        return ""
    return "infinite" if value == "inf" else f"{float(value):.4g}"


def percent(value: Any) -> str:
    """A part as a percentage."""
    return "" if value is None else "infinite" if value == "inf" else f"{100 * float(value):.3g} %"


def _between(low: str, high: str) -> str:
    return low if low == high else f"{low} to {high}" if low and high else low or f"<= {high}" if high else ""


def _bracket(entry: Mapping[str, Any]) -> str:
    low, high = shown(entry["lower"]), shown(entry["upper"])
    return f">= {low}" if low and not high else _between(low, high)


def _interval(entry: Mapping[str, Any]) -> str:
    return f"{shown(entry['value'])} [{shown(entry['low'])}, {shown(entry['high'])}]"


def row(entry: Mapping[str, Any]) -> tuple[str, ...]:
    """One rule under one attack: what happens beside what can."""
    return (
        entry["attack"],
        entry["rule"],
        f"{entry['inputs']:,}",
        shown(entry["largest"]),
        _interval(entry["median"]),
        _interval(entry["quantile_95"]),
        shown(entry["exceedance"]),
        _bracket(entry),
        shown(entry["coefficient"]),
        _between(*map(percent, entry["reach_of_kappa"])),
        percent(entry["reach_of_coefficient"]),
    )


def _spoken(entry: Mapping[str, Any] | None) -> str:
    return "" if entry is None else f"{shown(entry['median'])}, at most {shown(entry['largest'])}"


def mixing_row(entry: Mapping[str, Any]) -> tuple[str, ...]:
    """The paired effect of mixing on one rule under one attack."""
    mixing = entry["mixing"]
    lemma = mixing["by"] == "nnm"
    share = f"{mixing['worse']:,} of {mixing['compared']:,}"
    return (
        entry["attack"],
        entry["rule"],
        _spoken(mixing["variance"]),
        _spoken(mixing["bias"]),
        _spoken(mixing["total"]),
        shown(mixing["sharp"]) if lemma else "",
        shown(mixing["paper"]) if lemma else "",
        shown(entry["largest"]),
        shown(mixing["kappa_bound"]) if lemma else "",
        _spoken(mixing["amplification"]),
        share,
    )


def notes(data: Mapping[str, Any]) -> list[str]:
    """What the numbers are, and what they are not."""
    sets = {
        "known": "the honest ones",
        "enumeration": "the worst of all sets, by enumeration: the source does not say who is honest",
        "heuristic": "the worst set that a heuristic finds, which may miss a worse one: nobody says who is honest",
    }[data["subsets"]]
    lines = [f"source    {data['source']}, seed {data['seed']}, criterion {data['criterion']}; S: {sets}"]
    if not data["independent"]:
        lines.append("note      rounds are not known to be independent: the intervals assume it")
    if data["criterion"] != "trace":
        lines.append("note      kappa* and the coefficients are about the trace, and not compared with this criterion")
    crossed = sum(
        each["mixing"]["crossed"] for each in data["estimates"] if each["mixing"] and each["mixing"]["by"] == "nnm"
    )
    if crossed:
        lines.append(
            f"WARNING   in {crossed} rounds variance + bias behind nnm exceed 4f/(n-f), which cannot be: a bug"
        )
    best = max(data["estimates"], key=lambda each: float(each["largest"]))
    kept = [each for each in data["estimates"] if each["witness"]]
    if kept:
        lines.append(f"witness   {best['witness'] or kept[0]['witness']} ({best['rule']}); one per rule")
    return lines


def table_csv(data: Mapping[str, Any]) -> str:
    """All rules and attacks as CSV, one line each."""
    return csv_text([COLUMNS, *(_line(each) for each in data["estimates"])])


def _line(entry: Mapping[str, Any]) -> list[Any]:
    mixing = entry["mixing"] or {}

    def term(name: str, part: str) -> Any:
        return (mixing.get(name) or {}).get(part, "")

    flat = {
        **{key: entry[key] for key in COLUMNS if key in entry and not isinstance(entry[key], dict | list)},
        **{"median": entry["median"]["value"], "quantile_95": entry["quantile_95"]["value"]},
        **{f"{name}_{end}": entry[name][end] for name in ("median", "quantile_95") for end in ("low", "high")},
        "reach_of_kappa_least": entry["reach_of_kappa"][0],
        "reach_of_kappa_most": entry["reach_of_kappa"][1],
        **{f"{name}_median": term(name, "median") for name in ("variance", "bias", "amplification")},
        **{f"{name}_largest": term(name, "largest") for name in ("variance", "bias", "total", "amplification")},
        "amplification_95": term("amplification", "quantile_95"),
        **{key: mixing.get(key, "") for key in ("sharp", "compared", "worse", "kappa_bound", "beyond")},
    }
    return ["" if flat.get(key) is None else flat[key] for key in COLUMNS]
