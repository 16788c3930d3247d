"""index.html of the atlas: one page that needs nothing else; its script sorts, filters and searches the table."""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from importlib.resources import files
from typing import Any

from kappaguard.reports.atlas.table import atlas_rows
from kappaguard.reports.pictures.atlas import against_cost, against_error
from kappaguard.reports.typesetting import typeset


def atlas_page(entries: Sequence[Mapping[str, Any]], about: Mapping[str, Any]) -> str:
    """The page as a text."""
    from jinja2 import Environment, StrictUndefined
    from markupsafe import Markup

    folder = files("kappaguard.reports").joinpath("templates")
    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    environment.filters |= {"typeset": typeset, "base64": lambda text: base64.b64encode(text.encode()).decode()}
    rows = atlas_rows(entries)
    pictures = [against_error(entries, about["command"]), against_cost(entries, about["command"])]
    return environment.from_string(folder.joinpath("atlas.html.j2").read_text(encoding="utf-8")).render(
        about=about,
        rows=rows,
        places=sorted({(entry["n"], entry["f"]) for entry in entries}),
        steps=list(dict.fromkeys(entry["step"] for entry in entries)),
        words=list(dict.fromkeys(row["word"] for row in rows)),
        pictures=[each for each in pictures if each is not None],
        style=Markup(folder.joinpath("style.css").read_text(encoding="utf-8")),
        script=Markup(folder.joinpath("atlas.js").read_text(encoding="utf-8")),
    )
