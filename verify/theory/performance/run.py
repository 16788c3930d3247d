"""A run of robust D-GD that anybody can replay: rational losses, Byzantine messages, a rule by its name.

Each honest worker i has the loss a_i theta^2/2 + b_i theta in one dimension, so that L_H has curvature mean(a_i), each
gradient is rational, and heterogeneity and infimum are known in closed form. ``replay`` runs Algorithm 1 in exact
arithmetic and evaluates both sides of a bound of the form  error_weight kappa G^2 + gap_weight L (L_H(theta_0) - L*)/T.

    {"schema": "kappaguard-run/1", "rule": "cwmed", "n": 3, "f": 1, "kappa": "1", "losses": [["1", "1"], ["1", "-1"]],
     "start": "299/100", "messages": [["99/50"], ["2"], ["-2"], ["2"]]}
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from kappaguard.rules.base.errors import InputError
from kappaguard.rules.base.untrusted import fraction, short
from kappaguard.rules.names import rule as rule_named

SCHEMA = "kappaguard-run/1"
MOST_STEPS, MOST_WORKERS = 10_000, 1_000


@dataclass(frozen=True)
class Run:
    """A rule with its coefficient, losses (a_i, b_i) of the honest workers, a start, and f messages for every step."""

    rule: str
    n: int
    f: int
    kappa: Fraction
    losses: tuple[tuple[Fraction, Fraction], ...]
    start: Fraction
    messages: tuple[tuple[Fraction, ...], ...]

    def __post_init__(self) -> None:
        if len(self.losses) != self.n - self.f or not 0 <= 2 * self.f < self.n:
            raise InputError(f"a run with n = {self.n} and f = {self.f} needs {self.n - self.f} losses")
        if not 1 <= len(self.messages) <= MOST_STEPS or any(len(sent) != self.f for sent in self.messages):
            raise InputError(f"a run needs {self.f} Byzantine messages in each of its steps")
        if len({curvature for curvature, _ in self.losses}) != 1 or self.losses[0][0] <= 0:
            raise InputError("the losses need one common, positive curvature: else heterogeneity has no bound")

    def to_json(self) -> dict[str, Any]:
        """What JSON can hold."""
        return {
            "schema": SCHEMA,
            "rule": self.rule,
            "n": self.n,
            "f": self.f,
            "kappa": str(self.kappa),
            "losses": [[str(value) for value in loss] for loss in self.losses],
            "start": str(self.start),
            "messages": [[str(value) for value in sent] for sent in self.messages],
        }


def from_json(record: dict[str, Any]) -> Run:
    """The run in a record of ``to_json``, which may come from anywhere: only rules of ours, whole numbers, fractions as
    texts, and no more of anything than can be gone through."""
    if record.get("schema") != SCHEMA:
        raise InputError(f"its schema is not {SCHEMA!r} but {short(record.get('schema'))}")
    for key in (key for key in KEYS if key not in record):
        raise InputError(f"{key!r} is missing")
    rule, n, f = record["rule"], record["n"], record["f"]
    if not isinstance(rule, str) or ":" in rule or len(rule) > MOST_CHARACTERS:
        raise InputError(f"a run has a rule of ours, by name, and not {short(rule)}")
    for name, count in (("n", n), ("f", f)):
        if isinstance(count, bool) or not isinstance(count, int) or not 0 <= count <= MOST_WORKERS:
            raise InputError(f"{name!r} must be an integer from 0 to {MOST_WORKERS}, got {short(count)}")
    return Run(
        rule,
        n,
        f,
        fraction(record["kappa"], "kappa"),
        tuple((a, b) for a, b in _rows(record["losses"], "losses", 2)),
        fraction(record["start"], "start"),
        tuple(_rows(record["messages"], "messages", f)),
    )


KEYS = ("rule", "n", "f", "kappa", "losses", "start", "messages")
MOST_CHARACTERS = 200


def _rows(value: object, name: str, width: int) -> list[tuple[Fraction, ...]]:
    """A list of rows of so many fractions each."""
    if not isinstance(value, list) or len(value) > MOST_STEPS:
        raise InputError(f"{name!r} must be a list of at most {MOST_STEPS} rows")
    if not all(isinstance(row, list) and len(row) == width for row in value):
        raise InputError(f"every row of {name!r} must have {width} entries")
    return [tuple(fraction(each, name) for each in row) for row in value]


@dataclass(frozen=True)
class RunResult:
    """The run as replayed; ``unique`` says that one step alone has the smallest aggregate."""

    steps: int
    chosen: int
    unique: bool
    gradient_squared: Fraction
    heterogeneity: Fraction
    smoothness: Fraction
    gap: Fraction
    aggregates: tuple[Fraction, ...]

    def bound(self, kappa: Fraction, error_weight: Fraction | int, gap_weight: Fraction | int) -> Fraction:
        """error_weight kappa G^2 + gap_weight L (L_H(theta_0) - L*)/T."""
        return error_weight * kappa * self.heterogeneity + gap_weight * self.smoothness * self.gap / self.steps


def replay(run: Run) -> RunResult:
    """Algorithm 1 with gamma = 1/L, in exact arithmetic."""
    aggregate = rule_named(run.rule, f=run.f)
    curvature = run.losses[0][0]
    slope = sum((b for _, b in run.losses), Fraction(0)) / len(run.losses)
    theta, points, aggregates = run.start, [], []
    for sent in run.messages:
        gradients = [a * theta + b for a, b in run.losses]
        received = np.array([[value] for value in (*gradients, *sent)], dtype=object)
        points.append(theta)
        aggregates.append(Fraction(np.asarray(aggregate(received))[0]))
        theta -= aggregates[-1] / curvature
    smallest = min(abs(value) for value in aggregates)
    chosen = next(t for t, value in enumerate(aggregates) if abs(value) == smallest)
    return RunResult(
        len(run.messages),
        chosen + 1,
        sum(abs(value) == smallest for value in aggregates) == 1,
        (curvature * points[chosen] + slope) ** 2,
        sum(((b - slope) ** 2 for _, b in run.losses), Fraction(0)) / len(run.losses),
        curvature,
        (curvature * run.start + slope) ** 2 / (2 * curvature),
        tuple(aggregates),
    )


def swinging_run(steps: int, rule: str = "cwmed", margin: Fraction = Fraction(1, 100)) -> Run:
    """The worst run of Algorithm 1 for T >= 3, moved off the tie by ``margin``.

    Honest losses theta^2/2 + theta and theta^2/2 - theta, hence G^2 = 1 and L_H = theta^2/2, and one Byzantine worker,
    which repeats the message of one of the two: the median of three is then this message, and the error is 1 or -1. It
    starts at 3 - margin with the error -1, so that the aggregate 2 - margin is the smallest of all, and then swings
    between 1 and -1 with errors that double the gradient.
    """
    start = 3 - margin
    messages = [start - 1] + [Fraction(2 if t % 2 == 0 else -2) for t in range(steps - 1)]
    losses = ((Fraction(1), Fraction(1)), (Fraction(1), Fraction(-1)))
    return Run(rule, 3, 1, Fraction(1), losses, start, tuple((message,) for message in messages))
