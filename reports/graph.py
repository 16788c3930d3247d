"""graph.html: which claim rests on which, drawn in columns: a claim stands to the right of all that its proof uses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib.resources import files
from typing import Any

Claims = Sequence[Mapping[str, Any]]
WIDTH, HEIGHT, GAP, MARGIN = 250, 22, 90, 12
"""Of a node, between columns, and around all, in pixels."""


def linked(claims: Claims) -> list[tuple[str, str]]:
    """The pairs (claim, what it uses) of claims that are both in the report."""
    names = {each["name"] for each in claims}
    return [(each["name"], used) for each in claims for used in each["rests_on"] if used in names]


def columns(claims: Claims) -> list[list[str]]:
    """The claims that rest on something or are rested on; each as far left as what it uses allows."""
    pairs = linked(claims)
    used: dict[str, list[str]] = {}
    for name, other in pairs:
        used.setdefault(name, []).append(other)

    def depth(name: str, below: tuple[str, ...] = ()) -> int:
        if name in below:
            raise ValueError(f"claims that rest on each other: {', '.join(below)}")
        return 1 + max((depth(other, (*below, name)) for other in used.get(name, [])), default=-1)

    shown = {name for pair in pairs for name in pair}
    depths = {each["name"]: depth(each["name"]) for each in claims if each["name"] in shown}
    return [
        [name for name, at in depths.items() if at == level] for level in range(max(depths.values(), default=0) + 1)
    ]


def graph_page(claims: Claims) -> str:
    """The page as a text."""
    from jinja2 import Environment, StrictUndefined
    from markupsafe import Markup

    places = {
        name: (MARGIN + level * (WIDTH + GAP), MARGIN + row * (HEIGHT + 10))
        for level, column in enumerate(columns(claims))
        for row, name in enumerate(column)
    }
    known = {each["name"]: each for each in claims}
    arrows = []
    for name, used in linked(claims):
        (left, top), (right, bottom) = places[used], places[name]
        start, end = (left + WIDTH, top + HEIGHT / 2), (right, bottom + HEIGHT / 2)
        bend = (start[0] + end[0]) / 2
        arrows.append(f"M{start[0]} {start[1]} C{bend} {start[1]} {bend} {end[1]} {end[0]} {end[1]}")
    folder = files("kappaguard.reports").joinpath("templates")
    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    template = environment.from_string(folder.joinpath("graph.html.j2").read_text(encoding="utf-8"))
    return template.render(
        nodes=[(known[name], x, y) for name, (x, y) in places.items()],
        arrows=arrows,
        width=max(x for x, _ in places.values()) + WIDTH + MARGIN,
        height=max(y for _, y in places.values()) + HEIGHT + MARGIN,
        node=(WIDTH, HEIGHT),
        style=Markup(folder.joinpath("style.css").read_text(encoding="utf-8")),
    )
