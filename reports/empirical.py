"""docs/empirical.md: tables and the picture of the study of MNIST gradients, from what ``kappaguard estimate`` printed.

    python -m kappaguard.reports.empirical docs STORED.json ...

writes docs/empirical.csv from stored results, and with or without any, the tables between their marks in
docs/empirical.md and docs/empirical.svg from that file. The sentences of the page are written by hand.
"""

from __future__ import annotations

import csv
import io
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from kappaguard.reports.estimate import COLUMNS, read_estimate, table_csv
from kappaguard.reports.pictures.empirical import study, worst_of
from kappaguard.reports.pictures.estimate import on_white
from kappaguard.rules.base.files import write

PLAIN = (
    *("average", "cwmed", "cwtm", "gm", "krum", "multikrum", "mda", "meamed"),
    *("centered_clipping", "monna", "smea", "caf"),
)
DRAWN = ("cwtm", "cwmed", "gm", "krum", "multikrum", "mda", "meamed", "caf")
KINDS = ("", "nnm+", "bucketing+")
SPLITS = {"alpha=0.1": "alpha = 0.1", "alpha=1": "alpha = 1", "alpha=10": "alpha = 10", "iid": "iid"}
POINTS = {"": "at the start", ",after=100": "after 100 steps"}
NUMBERS = frozenset(COLUMNS) - {"rule", "attack", "source", "criterion", "subsets", "witness"}

Row = dict[str, Any]


def rows_of(text: str) -> list[Row]:
    """The lines of the CSV, numbers as numbers; None for what is not known."""
    return [
        {key: _value(value) if key in NUMBERS else value for key, value in row.items()}
        for row in csv.DictReader(io.StringIO(text))
    ]


def _value(text: str) -> float | str | None:
    if text in ("", "inf"):
        return text or None
    return float(text)


def source(split: str, point: str) -> str:
    """The name of a source: which split of the data, at which point of the training."""
    return f"mnist:{split}{point}"


def short(value: Any) -> str:
    """Three digits, powers of ten from a thousand on."""
    if value is None or value == "inf":
        return "infinite" if value else ""
    return f"{value:.2g}" if abs(value) >= 1000 else f"{value:.3g}"


def quantiles(rows: Sequence[Row], point: str) -> list[str]:
    """Per rule, the 95 % quantile and the largest ratio under the worst attack, at every heterogeneity."""
    head = ["rule", *(name for name in SPLITS.values()), "kappa*", "of kappa*"]
    lines = []
    for kind in KINDS:
        for rule in PLAIN:
            name = kind + rule
            cells, most = [], 0.0
            for split in SPLITS:
                best = worst_of(rows, name, source(split, point))
                if best is None:
                    cells.append("")
                    continue
                own = [row for row in rows if row["rule"] == name and row["source"] == source(split, point)]
                largest = max(float(row["largest"]) for row in own)
                most = max(most, largest)
                cells.append(f"{short(float(best['quantile_95']))} ({best['attack']}), {short(largest)}")
            known = next((row for row in rows if row["rule"] == name), None)
            if known is None:
                continue
            lines.append([name, *cells, bracket(known), reached(known, most)])
    return markdown_table(head, lines)


def bracket(row: Mapping[str, Any]) -> str:
    """kappa* as far as it is known."""
    low, high = row["lower"], row["upper"]
    if low == "inf":
        return "infinite"
    if low is None and high is None:
        return ""
    if high is None:
        return f">= {short(low)}"
    return short(high) if low is not None and high - low <= 1e-5 * high else f"{short(low)} to {short(high)}"


def reached(row: Mapping[str, Any], largest: float) -> str:
    """The part of kappa* that the largest ratio is."""
    low, high = row["lower"], row["upper"]
    if low in (None, "inf") and high in (None, "inf"):
        return ""
    ends = [f"{100 * largest / value:.0f}" for value in (high, low) if isinstance(value, float)]
    if high is None:
        return f"<= {ends[0]} %"
    return f"{ends[0]} %" if len(set(ends)) == 1 else f"{ends[0]} to {ends[1]} %"


def mixing(rows: Sequence[Row], kind: str) -> list[str]:
    """Per rule, the paired effect over all streams: quotients of ratios, and how often mixing made it worse."""
    head = ["rule", "start: median quotient", "start: worse", "after 100: median quotient", "after 100: worse"]
    lines = []
    for rule in PLAIN:
        cells: list[str] = []
        for point in POINTS:
            own = [
                row
                for row in rows
                if row["rule"] == kind + rule and row["source"] in {source(s, point) for s in SPLITS}
            ]
            medians = [float(row["amplification_median"]) for row in own if row["amplification_median"] is not None]
            compared, worse = (sum(int(row[key] or 0) for row in own) for key in ("compared", "worse"))
            cells.append(f"{short(min(medians))} to {short(max(medians))}" if medians else "")
            cells.append(f"{100 * worse / compared:.0f} % of {compared:,}" if compared else "")
        lines.append([kind + rule, *cells])
    return markdown_table(head, lines)


def terms(rows: Sequence[Row]) -> list[str]:
    """The two terms of the lemma, at every heterogeneity, under the attack that makes their sum largest."""
    head = ["mixing", "gradients", *SPLITS.values()]
    lines = []
    for kind in KINDS[1:]:
        for point, when in POINTS.items():
            cells = []
            for split in SPLITS:
                own = [row for row in rows if row["rule"].startswith(kind) and row["source"] == source(split, point)]
                own = [row for row in own if row["total_largest"] is not None]
                best = max(own, key=lambda row: float(row["total_largest"]), default=None)
                cells.append("" if best is None else _sum(best))
            lines.append([kind.removesuffix("+"), when, *cells])
    return markdown_table(head, lines)


def _sum(row: Row) -> str:
    variance, bias, most = (short(row[key]) for key in ("variance_median", "bias_median", "total_largest"))
    return f"{variance} + {bias}, at most {most}"


def attacks(rows: Sequence[Row]) -> list[str]:
    """Which attack reaches the highest 95 % quantile, over all rules and streams."""
    names = list(dict.fromkeys(row["attack"] for row in rows))
    head = ["", *names]
    lines = []
    for kind in KINDS:
        counts = dict.fromkeys(names, 0)
        for rule in PLAIN:
            for split in SPLITS:
                for point in POINTS:
                    best = worst_of(rows, kind + rule, source(split, point))
                    if best is not None:
                        counts[best["attack"]] += 1
        lines.append([kind + "..." if kind else "alone", *(str(counts[name]) for name in names)])
    return markdown_table(head, lines)


def rounds(rows: Sequence[Row]) -> list[str]:
    """How many rounds were run of what, on which streams."""
    seen: dict[tuple[str, str, int], list[str]] = {}
    for row in rows:
        group = "smea" if row["rule"].rpartition("+")[2] == "smea" else "all rules but smea"
        streams = seen.setdefault((group, row["attack"], int(row["inputs"])), [])
        if row["source"] not in streams:
            streams.append(row["source"])
    merged: dict[tuple[str, int, tuple[str, ...]], list[str]] = {}
    for (group, attack, count), streams in seen.items():
        merged.setdefault((group, count, tuple(streams)), []).append(attack)
    everywhere = len(SPLITS) * len(POINTS)
    lines = [
        [group, ", ".join(names), str(count), "all" if len(streams) == everywhere else ", ".join(map(_stream, streams))]
        for (group, count, streams), names in merged.items()
    ]
    return markdown_table(["rules", "attacks", "rounds", "streams"], lines)


def _stream(name: str) -> str:
    return f"`{name.removeprefix('mnist:')}`"


def markdown_table(head: Sequence[str], lines: Sequence[Sequence[str]]) -> list[str]:
    """The lines of a Markdown table with this head."""
    return ["| " + " | ".join(cells) + " |" for cells in (head, ["---"] * len(head), *lines)]


TABLES: dict[str, Callable[[Sequence[Row]], list[str]]] = {
    "rounds": rounds,
    "start": lambda rows: quantiles(rows, ""),
    "later": lambda rows: quantiles(rows, ",after=100"),
    "terms": terms,
    "nnm": lambda rows: mixing(rows, "nnm+"),
    "bucketing": lambda rows: mixing(rows, "bucketing+"),
    "attacks": attacks,
}


def filled(page: str, rows: Sequence[Row]) -> str:
    """The page with every table between its marks written anew."""
    for name, table in TABLES.items():
        begin, end = f"<!-- {name} -->\n", "\n<!-- end -->"
        before, mark, rest = page.partition(begin)
        page = before + mark + "\n".join(table(rows)) + end + rest.partition(end)[2]
    return page


def picture(rows: Sequence[Row]) -> str:
    """The picture of the page."""
    rules = [kind + rule for rule in DRAWN for kind in KINDS]
    sources = [[source(split, point) for split in SPLITS] for point in POINTS]
    return on_white(study(rows, rules, sources, list(SPLITS.values()), list(POINTS.values())))


def main(folder: Path, stored: Sequence[Path]) -> None:
    """Write the data, the picture and the tables."""
    if stored:
        texts = [table_csv(_without_files(read_estimate(path))).splitlines() for path in stored]
        lines = [texts[0][0], *(line for text in texts for line in text[1:])]
        write(folder / "empirical.csv", re.sub(r"\d\.\d{7,}(e[-+]\d+)?|\d+\.\d{7,}", _rounded, "\n".join(lines)) + "\n")
    rows = rows_of((folder / "empirical.csv").read_text(encoding="utf-8"))
    write(folder / "empirical.svg", picture(rows))
    page = folder / "empirical.md"
    write(page, filled(page.read_text(encoding="utf-8"), rows))


def _rounded(found: re.Match[str]) -> str:
    """Six digits are enough for a table."""
    return f"{float(found[0]):.6g}"


def _without_files(data: dict[str, Any]) -> dict[str, Any]:
    """Where the inputs are on somebody's disk is of no use to others."""
    return {**data, "estimates": [{**each, "witness": None} for each in data["estimates"]]}


if __name__ == "__main__":
    main(Path(sys.argv[1]), [Path(name) for name in sys.argv[2:]])
