"""The page of a dossier in Markdown: what came out on top, then section by section."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import kappaguard
from kappaguard.reports.bounds import lower_shown
from kappaguard.reports.dossier.markdown_text import code, escaped, table
from kappaguard.reports.dossier.plan import Plan
from kappaguard.reports.dossier.verdict import verdict
from kappaguard.reports.estimate import HEADINGS, MIXING_HEADINGS, mixing_row
from kappaguard.reports.estimate import row as estimate_row
from kappaguard.reports.pictures.figure import Picture

Data = dict[str, Any]
FOLDER = "pictures"
NONE: Mapping[str, Picture] = {}
PLACES = range(7)
SEEN = HEADINGS[: len(PLACES)]
"""What an estimate says without the worst case, which the dossier has of its own."""


def page(
    plan: Plan, data: dict[str, Data], failed: dict[str, str], seconds: float, pictures: Mapping[str, Picture] = NONE
) -> str:
    """The whole page; ``pictures`` are those of sections, each in a file of its name."""
    lines = [f"# Dossier of {escaped(plan.rule)}", ""]
    lines += [f"- {line}" for line in verdict(plan, data, failed)]
    lines += [
        "",
        f"kappaguard {kappaguard.__version__}, n = {plan.n}, f = {plan.f},"
        f" {plan.evaluations:,} evaluations for each search, seed {plan.seed}, {seconds:.0f} s in all. Lower bounds are"
        " ratios of inputs in `witnesses/`, each judged on its own: `kappaguard replay --run-code witnesses/FILE` does"
        " it again. All numbers: `dossier.json`.",
    ]
    for name, (title, show) in PARTS.items():
        if name in data or name in failed:
            lines += ["", f"## {title}", ""]
            lines += show(data[name]) if name in data else [f"Left out: {escaped(failed[name])}"]
            if name in pictures:
                each = pictures[name]
                lines += ["", f"![{escaped(each.title)}]({FOLDER}/{each.name}.svg)", "", escaped(each.caption)]
    return "\n".join(lines) + "\n"


def shown(value: Any) -> str:
    """A number in short."""
    if value is None:
        return ""
    return "infinite" if value == "inf" else f"{float(value):.4g}"


def _witness(row: Data) -> str:
    return f"[file](witnesses/{row['witness']})" if row.get("witness") else ""


def _bound(row: Data) -> list[str]:
    if "refused" in row:
        return [escaped(row["refused"]), ""]
    reason = f": {escaped(row['why'])}" if row.get("why") else ""
    return [f"{lower_shown(row['lower'], 4)}{reason}", _witness(row)]


def _health(data: Data) -> list[str]:
    rows = [
        [
            escaped(each["check"]),
            escaped(each["question"]),
            "sound" if each["finding"] is None else ("**refutes**: " if each["refutes"] else "warns: "),
        ]
        for each in data["checks"]
    ]
    for row, each in zip(rows, data["checks"], strict=True):
        row[2] += "" if each["finding"] is None else escaped(each["finding"])
    return table(["check", "question", "finding"], rows)


def _recipe(data: Data) -> list[str]:
    if "refused" in data:
        return [f"The code was not traced: {escaped(data['refused'])}"]
    rows = []
    for row in data["rows"]:
        lower = _bound(row)
        rows.append([str(row["f"]), lower[0], shown(row.get("upper")), escaped(row.get("status", "")), lower[1]])
    lines = [*(f"- {escaped(line)}" for line in data["recipe"]), "", escaped(data["name"]), ""]
    lines += table(["f", "kappa* >=", "kappa* <=", "status", "witness"], rows)
    return lines if data["scope"] is None else [*lines, "", f"Scope: {escaped(data['scope'])}."]


def _grid(data: Data) -> list[str]:
    rows = []
    for row in data["rows"]:
        times = ""
        if isinstance(row.get("lower"), float | int):
            times = f"{row['lower'] / row['least']:.3g}"
        best = f"{escaped(row['best'])} {shown(row['best_value'])}"
        rows.append([str(row["n"]), str(row["f"]), *_bound(row), shown(row["least"]), times, best])
    lines = table(["n", "f", "kappa* >=", "witness", "f/(n-2f)", "times that", "best built-in"], rows)
    if data["slope"] is not None:
        lines += ["", f"What was found grows like (f/(n-2f))^{data['slope']:.2f}. {_power(data['slope'])}"]
    return lines


def _power(slope: float) -> str:
    """What a fitted power says, and what not: kappa* of cwmed, known exactly, has one below 1 at n = 17."""
    if slope < 1:
        return (
            "f/(n-2f) is a lower bound for every rule, and a power below 1 does not beat it: what was found is a"
            " smaller multiple of it where f/n is larger."
        )
    return "f/(n-2f) is a lower bound for every rule."


def _breakdown(data: Data) -> list[str]:
    rows = [
        [
            str(row["f"]),
            row["state"],
            str(row.get("tried", "")),
            escaped("; ".join(filter(None, (row["detail"], row.get("why"))))),
            _witness(row),
        ]
        for row in data["rows"]
    ]
    about = (
        "Inputs whose honest vectors are all equal, with Byzantine ones at fixed places: a rule breaks if it does not"
        " return the honest vector, or if a search of another section found an infinite ratio at that f. It stands if"
        " none of these breaks it."
    )
    return [about, "", *table([f"f (n = {data['n']})", "state", "inputs tried", "detail", "witness"], rows)]


def _dimension(data: Data) -> list[str]:
    about = "The largest ratio found among inputs of d dimensions; less at a larger d says that less was found there."
    return [about, "", *table(["d", "kappa* >=", "witness"], [[str(row["d"]), *_bound(row)] for row in data["rows"]])]


def _mixing(data: Data) -> list[str]:
    about = "Lower bounds, each found within its evaluations: they say what was found, not which rule is better."
    rows = [[escaped(row["rule"]), *_bound(row)] for row in data["rows"]]
    return [about, "", *table(["rule", "kappa* >=", "witness"], rows)]


def _happens(data: Data) -> list[str]:
    entries = data["estimates"]
    kept = data["largest"]
    about = (
        f"What happens on gradients of {escaped(data['source'])}, beside what can happen (above):"
        f" {entries[0]['inputs']} rounds under each attack, all rules on the same ones. {code(data['command'])}"
    )
    if kept["witness"]:
        about += f" The input of the rule's largest ratio: [file](witnesses/{kept['witness']})."
    lines = [
        about,
        "",
        *table(
            list(map(escaped, SEEN)), [[escaped(estimate_row(each)[place]) for place in PLACES] for each in entries]
        ),
    ]
    mixed = [list(map(escaped, mixing_row(each))) for each in entries if each["mixing"] is not None]
    return [*lines, "", *table(list(map(escaped, MIXING_HEADINGS)), mixed)] if mixed else lines


def _training(data: Data) -> list[str]:
    def cell(run: Data) -> str:
        if run["status"] != "finished" or run["accuracy"] is None:
            return escaped(run["status"])
        return f"{100 * run['accuracy']:.1f} %"

    rows = [[escaped(row["attack"]), cell(row["rule"]), cell(row["beside"])] for row in data["rows"]]
    about = f"Test accuracy after {data['steps']} steps on {escaped(data['dataset'])}, {escaped(data['model'])}."
    return [about, "", *table(["attack", "this rule", escaped(data["beside"])], rows)]


def _cost(data: Data) -> list[str]:
    lines: list[str] = []
    for letter, other, rows in (("n", "d", data["over_n"]), ("d", "n", data["over_d"])):
        cells = [[str(row[letter]), f"{1000 * row['seconds']:.3g} ms"] for row in rows]
        fixed = f" ({other} = {rows[0][other]})" if rows else ""
        lines += [*table([f"{letter}{fixed}", "one call"], cells), ""]
        exponent = data[f"exponent_{letter}"]
        if exponent is not None:
            lines += [f"Measured exponent in {letter}: {exponent:.2f}.", ""]
    return lines[:-1]


PARTS: dict[str, tuple[str, Callable[[Data], list[str]]]] = {
    "health": ("Health", _health),
    "recipe": ("What it does, and exact kappa*", _recipe),
    "grid": ("kappa* over n and f", _grid),
    "breakdown": ("Breakdown point", _breakdown),
    "dimension": ("Growth with d", _dimension),
    "mixing": ("With and without NNM and Bucketing", _mixing),
    "happens": ("What happens, beside what can happen", _happens),
    "training": ("Under attack in training", _training),
    "cost": ("Cost", _cost),
}
