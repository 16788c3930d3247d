"""Our numbers beside the paper's."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable
from typing import Any

from kappaguard.training.finite_json import largest
from kappaguard.training.reproduce.experiments import Cell
from kappaguard.training.reproduce.paper import paper_number_for

HEADINGS = [
    *("rule", "attack", "ours %", "paper %", "difference", "standard errors"),
    *("ratio (error²/variance)", "steps", "seeds"),
]
SEEDS_OF_THE_PAPER = 5

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
    ratio = largest([result["largest_ratio"] for result in results]) if measured else None
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
        "" if paper is None or not best else f"{standard_errors(best, *paper):+.1f}",
        "" if ratio is None else f"{ratio:.3g}",
        ", ".join(map(str, steps)),
        str(len(results)),
    ]


def standard_errors(ours: list[float], mean: float, deviation: float) -> float:
    """By how many standard errors the mean of ours is off the paper's: sqrt(s^2/k + s_paper^2/5).

    A single seed has no deviation of its own: the paper's stands for it.
    """
    own = statistics.stdev(ours) if len(ours) > 1 else deviation
    error = math.sqrt(own**2 / len(ours) + deviation**2 / SEEDS_OF_THE_PAPER)
    difference = statistics.fmean(ours) - mean
    return difference / error if error > 0 else math.copysign(math.inf, difference)


def made_by(done: Done) -> list[str]:
    """The hashes of the code that made the results; one of before they were kept is empty."""
    return sorted({str(result.get("code", "")) for _, result in done})


def markdown(headings: list[str], rows: list[list[str]]) -> str:
    """The table for a document."""
    lines = [headings, ["---"] * len(headings), *rows]
    return "".join("| " + " | ".join(line) + " |\n" for line in lines)
