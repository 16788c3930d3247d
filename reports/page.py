"""index.html: one page that needs nothing else, made from the results by a template that escapes all it is given."""

from __future__ import annotations

import base64
from collections import Counter
from collections.abc import Mapping, Sequence
from importlib.resources import files
from typing import Any

from kappaguard.reports import pictures
from kappaguard.reports.highlights import highlights
from kappaguard.reports.table import F, N


def page(results: Mapping[str, Any], changes: Sequence[str] | None = None) -> str:
    """The page as a text."""
    from jinja2 import Environment, StrictUndefined
    from markupsafe import Markup

    folder = files("kappaguard.reports").joinpath("templates")
    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True)
    environment.filters["shown"] = shown
    environment.filters["base64"] = lambda text: base64.b64encode(text.encode()).decode()
    template = environment.from_string(folder.joinpath("index.html.j2").read_text(encoding="utf-8"))
    claims = [
        {"corrects": None, "detail": None, "error": None, "tightness": None, **each} for each in results["claims"]
    ]
    kappa = [{"proof": None, **each} for each in results.get("kappa", [])]
    filled = {**results, "claims": claims, "kappa": kappa, "drawings": results.get("drawings", [])}
    return template.render(
        results=filled,
        counts=Counter(each["verdict"] for each in claims),
        highlights=highlights(claims, kappa),
        changes=changes,
        tables=tables(kappa),
        pictures=drawn(results),
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


def drawn(results: Mapping[str, Any]) -> list[pictures.Picture]:
    """The pictures for which there are data."""
    kappa = results.get("kappa", [])
    found = [
        pictures.curves(kappa),
        pictures.tightness(kappa),
        pictures.traces(results.get("searches", [])),
        pictures.runs(results.get("runs", [])),
    ]
    return [each for each in found if each is not None]


def shown(value: object) -> str:
    """A number with few digits; nothing for none."""
    if value is None:
        return ""
    return f"{value:.5g}" if isinstance(value, int | float) else {"inf": "infinite"}.get(str(value), str(value))
