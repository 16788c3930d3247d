"""What is drawn of an experiment: a quantity against the step for every rule, attack and seed, from stored logs."""

from __future__ import annotations

import csv
import io
import statistics
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from kappaguard.training.reproduce.experiments import Cell
from kappaguard.training.reproduce.paper import paper_number_for
from kappaguard.training.testing import model_step

HEADINGS = ("rule", "attack", "seed", "step")


@dataclass
class Curve:
    """One rule under one attack: for every seed the points (step, value); the paper's number in the same unit."""

    rule: str
    attack: str
    seeds: dict[int, list[tuple[int, float]]] = field(default_factory=dict)
    paper: tuple[float, float] | None = None

    def summary(self) -> list[tuple[int, float, float, float]]:
        """Step, mean, least and largest over the seeds, at the steps that every seed has."""
        values = [dict(points) for points in self.seeds.values()]
        steps = sorted(set.intersection(*(set(each) for each in values))) if values else []
        at = [(step, [each[step] for each in values]) for step in steps]
        return [(step, statistics.fmean(own), min(own), max(own)) for step, own in at]


def curves(cells: Iterable[tuple[Cell, list[dict[str, Any]]]], quantity: str) -> list[Curve]:
    """The curves of finished cells and their logs; accuracies in per cent."""
    found: dict[tuple[str, str], Curve] = {}
    factor = 100.0 if quantity == "accuracy" else 1.0
    for cell, rows in cells:
        given = cell.configuration
        curve = found.setdefault((given.rule, cell.attack), Curve(given.rule, cell.attack))
        points = [(model_step(row), factor * row[quantity]) for row in rows if row.get(quantity) is not None]
        curve.seeds[given.seed] = points
        curve.paper = paper_number_for(given) if quantity == "accuracy" else None
    return list(found.values())


def as_csv(drawn: list[Curve], quantity: str) -> str:
    """Every point of every seed."""
    room = io.StringIO()
    writer = csv.writer(room, lineterminator="\n")
    writer.writerow([*HEADINGS, "accuracy_percent" if quantity == "accuracy" else quantity])
    for curve in drawn:
        for seed, points in curve.seeds.items():
            writer.writerows([curve.rule, curve.attack, seed, step, repr(value)] for step, value in points)
    return room.getvalue()
