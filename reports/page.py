"""index.html: one page that needs nothing else, made from the results by a template that escapes all it is given."""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from importlib.resources import files
from typing import Any

from kappaguard.reports.bounds import lower_shown, upper_shown
from kappaguard.reports.estimate import HEADINGS, MIXING_HEADINGS, mixing_row, notes, row
from kappaguard.reports.glossary import AUTHORS, TITLE, VENUE, WORDS
from kappaguard.reports.graph import linked
from kappaguard.reports.highlights import highlights
from kappaguard.reports.pictures.estimate import distributions
from kappaguard.reports.pictures.figure import Picture
from kappaguard.reports.pictures.kappa import curves, tightness
from kappaguard.reports.pictures.traces import traces
from kappaguard.reports.pictures.trained import worst_inputs
from kappaguard.reports.pictures.training import floors, rates, runs
from kappaguard.reports.summary import groups, told, verdicts_seen, verify_command
from kappaguard.reports.table import F, N
from kappaguard.reports.typesetting import formulas, place

OPTIONAL = ("proof", "expression", "fraction")
"""What entries of earlier versions do not have."""


def page(results: Mapping[str, Any], changes: Sequence[str] | None = None) -> str:
    """The page as a text."""
    from jinja2 import Environment, StrictUndefined
    from markupsafe import Markup

    folder = files("kappaguard.reports").joinpath("templates")
    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    environment.filters |= {
        "shown": shown,
        "lower_shown": lower_shown,
        "upper_shown": upper_shown,
        "typeset": formulas,
        "place": place,
        "base64": _base64,
    }
    template = environment.from_string(folder.joinpath("index.html.j2").read_text(encoding="utf-8"))
    claims = told(results)
    kappa = [{**dict.fromkeys(OPTIONAL), **each} for each in results.get("kappa", [])]
    empty: dict[str, Any] = {"drawings": [], "runs": [], "rates": None, "trained": None, "estimates": []}
    filled = {**empty, **results, "claims": claims, "kappa": kappa}
    return template.render(
        results=filled,
        paper={"title": TITLE, "authors": AUTHORS, "venue": VENUE},
        glossary=WORDS,
        command=verify_command(results["effort"]),
        groups=groups(claims),
        verdicts=verdicts_seen(claims),
        refuted=[each["name"] for each in claims if each["verdict"] == "refuted"],
        highlights=highlights(claims, kappa),
        changes=changes,
        graph=bool(linked(claims)),
        tables=tables(kappa),
        pictures=pictures_of_kappa(filled),
        searched=[each for each in [traces(results.get("searches", []))] if each],
        happens=[_happens(each) for each in filled["estimates"]],
        trained=pictures_of_training(filled),
        style=Markup(folder.joinpath("style.css").read_text(encoding="utf-8")),
        script=Markup(folder.joinpath("viewer.js").read_text(encoding="utf-8")),
    )


def tables(kappa: Sequence[Mapping[str, Any]]) -> list[tuple[str, list[Mapping[str, Any]]]]:
    """The rules alone and behind nnm, at the place of the table."""
    here = [each for each in kappa if (each["n"], each["f"]) == (N, F)]
    alone = [each for each in here if "+" not in each["rule"]]
    mixed = [each for each in here if each["rule"].startswith("nnm+")]
    found = [(f"Without NNM, n = {N}, f = {F}", alone), (f"With NNM, n = {N}, f = {F}", mixed)]
    return [(caption, rows) for caption, rows in found if rows]


def pictures_of_kappa(results: Mapping[str, Any]) -> list[Picture]:
    """Those for which there are data."""
    kappa, command = results["kappa"], verify_command(results["effort"])
    found = [curves(kappa, command), curves(kappa, command, mixed=True), tightness(kappa, command)]
    return [each for each in found if each is not None]


def pictures_of_training(results: Mapping[str, Any]) -> list[Picture]:
    """Those for which there are data."""
    worst = worst_inputs(results["trained"])
    found = [runs(results["runs"]), worst, rates(results["rates"]), floors(results["rates"])]
    return [each for each in found if each is not None]


def _happens(data: Mapping[str, Any]) -> dict[str, Any]:
    """One stored estimate: its picture and its tables."""
    entries = data["estimates"]
    mixed = [each for each in entries if each["mixing"] is not None]
    return {
        "title": f"{data['source']}, n = {data['n']}, f = {data['f']}",
        "picture": distributions(data),
        "headings": HEADINGS,
        "rows": [row(each) for each in entries],
        "mixing_headings": MIXING_HEADINGS,
        "mixing_rows": [mixing_row(each) for each in mixed],
        "notes": notes(data),
    }


def shown(value: object) -> str:
    """A number with few digits; nothing for none."""
    if value is None:
        return ""
    return f"{value:.5g}" if isinstance(value, int | float) else {"inf": "infinite"}.get(str(value), str(value))


def _base64(text: str) -> str:
    return base64.b64encode(text.encode()).decode()
