"""Our numbers beside the paper's."""

from __future__ import annotations

import statistics
from collections.abc import Iterable
from typing import Any

from kappaguard.training.reproduce.experiments import Cell
from kappaguard.training.reproduce.paper import paper_number_for
from kappaguard.training.strict import largest

HEADINGS = ["rule", "attack", "ours %", "paper %", "difference", "kappa-hat (error²/variance)", "steps", "seeds"]

Done = Iterable[tuple[Cell, dict[str, Any]]]


def table(done: Done) -> list[list[str]]:
    """One line per rule and attack: mean and deviation over the seeds of the best accuracy, and the paper's."""
    groups: dict[tuple[str, str], list[tuple[Cell, dict[str, Any]]]] = {}
    for cell, result in done:
        groups.setdefault((cell.configuration.rule, cell.attack), []).append((cell, result))
    return [_line(own[0][0], [result for _, result in own]) for own in groups.values()]


def _line(cell: Cell, results: list[dict[str, Any]]) -> list[str]:
    measured = cell.configuration.measure != "none"
    best = [100 * result["best_accuracy"] for result in results if result["best_accuracy"] is not None]
    ratio = largest([result["largest_kappa_hat"] for result in results]) if measured else None
    paper = paper_number_for(cell.configuration)
    mean = statistics.fmean(best) if best else None
    spread = f" ± {statistics.stdev(best):.2f}" if len(best) > 1 else ""
    steps = sorted({result["steps"] for result in results})
    return [
        cell.configuration.rule,
        cell.attack,
        "" if mean is None else f"{mean:.2f}{spread}",
        "" if paper is None else f"{paper[0]:.2f} ± {paper[1]:.2f}",
        "" if paper is None or mean is None else f"{mean - paper[0]:+.2f}",
        "" if ratio is None else f"{ratio:.3g}",
        ", ".join(map(str, steps)),
        str(len(results)),
    ]


def markdown(headings: list[str], rows: list[list[str]]) -> str:
    """The table for a document."""
    lines = [headings, ["---"] * len(headings), *rows]
    return "".join("| " + " | ".join(line) + " |\n" for line in lines)
