"""A page of training runs alone: what came out, and accuracy, loss and ratio of every step."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

import kappaguard
from kappaguard.reports.training import train_command
from kappaguard.rules.base.errors import InputError
from kappaguard.training.folder import Folder
from kappaguard.training.picture import as_table, drawn


def runs_page(folders: Sequence[Path]) -> str:
    """The page as a text; it needs nothing else."""
    from jinja2 import Environment, StrictUndefined
    from markupsafe import Markup

    place = files("kappaguard.reports").joinpath("templates")
    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    template = environment.from_string(place.joinpath("runs.html.j2").read_text(encoding="utf-8"))
    style = Markup(place.joinpath("style.css").read_text(encoding="utf-8"))
    return template.render(runs=[_run(path) for path in folders], style=style, version=kappaguard.__version__)


def _run(path: Path) -> dict[str, Any]:
    from markupsafe import Markup

    folder, given = Folder.existing(path)
    rows = folder.rows()
    if not rows:
        raise InputError(f"{path} has no step to show: its log is empty")
    result = folder.finished()
    algorithm = "D-GD" if given.algorithm == "gd" else "D-SHB"
    words = f"{algorithm} with {given.rule} under {given.attack}, n = {given.n}, f = {given.f}, seed {given.seed}"
    return {
        "name": path.resolve().name,
        "words": f"{words}.",
        "facts": _facts(result, rows[-1]["step"], given.steps),
        "svg": Markup(drawn(rows, words)),
        "csv": base64.b64encode(as_table(rows).encode()).decode(),
        "command": train_command(given),
    }


def _facts(result: dict[str, Any] | None, done: int, steps: int) -> list[tuple[str, str]]:
    """What came out, in words; of a run that is under way only how far it is."""
    if result is None:
        return [("status", f"under way: {done} of {steps} steps")]
    facts = [("status", f"{result['status']} after {result['steps']} steps, {result['seconds']:.1f} s")]
    for name, key in (("best accuracy", "best_accuracy"), ("last accuracy", "accuracy")):
        if result.get(key) is not None:
            facts.append((name, f"{result[key]:.2%}"))
    if result.get("largest_ratio") is not None:
        facts.append(("largest ratio", f"{result['largest_ratio']:.4g}"))
    for name, key in (("training samples", "images"), ("code", "code")):
        if result.get(key):
            facts.append((name, str(result[key])))
    return facts
