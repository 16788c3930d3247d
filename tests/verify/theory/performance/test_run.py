"""Runs of robust D-GD, replayed in exact arithmetic and by code that shares nothing with the library."""

from __future__ import annotations

import json
import statistics
from fractions import Fraction

import numpy as np
import pytest

import kappaguard as kg
from kappaguard.rules.base.errors import InputError
from kappaguard.rules.names import rule
from kappaguard.verify.theory.performance.run import Run, from_json, replay, swinging_run


def by_hand(record: dict) -> tuple[Fraction, Fraction]:
    """Both sides of Theorem 1 for a run with the median, from its JSON alone."""
    curvature = Fraction(record["losses"][0][0])
    slopes = [Fraction(slope) for _, slope in record["losses"]]
    steps, theta = len(record["messages"]), Fraction(record["start"])
    seen = []
    for sent in record["messages"]:
        messages = [curvature * theta + slope for slope in slopes] + [Fraction(value) for value in sent]
        aggregate = statistics.median(messages)
        seen.append((abs(aggregate), theta))
        theta = theta - aggregate / curvature
    output = min(seen)[1]
    centre = sum(slopes) / len(slopes)
    spread = sum((slope - centre) ** 2 for slope in slopes) / len(slopes)
    gap = (curvature * Fraction(record["start"]) + centre) ** 2 / (2 * curvature)
    stated = 4 * Fraction(record["kappa"]) * spread + 4 * curvature * gap / steps
    return (curvature * output + centre) ** 2, stated


@pytest.mark.parametrize("steps", [4, 5, 12, 100])
def test_the_run_breaks_theorem_1(steps):
    run = swinging_run(steps)
    outcome = replay(run)
    left, right = by_hand(json.loads(json.dumps(run.to_json())))
    assert (outcome.gradient_squared, outcome.bound(run.kappa, 4, 4)) == (left, right)
    assert left > right
    assert left <= outcome.bound(run.kappa, 9, 4)
    assert outcome.unique
    assert outcome.chosen == 1


def test_the_numbers_at_four_steps():
    outcome = replay(swinging_run(4))
    assert outcome.gradient_squared == Fraction(299, 100) ** 2
    assert outcome.bound(Fraction(1), 4, 4) == 4 + 4 * Fraction(299, 100) ** 2 / 8
    assert outcome.aggregates == (Fraction(199, 100), 2, -2, 2)


@pytest.mark.parametrize("steps", [1, 2, 3])
def test_it_does_not_for_fewer_steps(steps):
    outcome = replay(swinging_run(steps, margin=Fraction(0)))
    assert outcome.gradient_squared <= outcome.bound(Fraction(1), 4, 4)


@pytest.mark.parametrize("name", ["cwmed", "cwtm", "gm"])
def test_other_rules_of_three_break_it_too_in_floats(name):
    """In one dimension these are the median of three; kappa = 1."""
    run, aggregate, theta, seen = swinging_run(8), rule(name, f=1), 2.99, []
    for (sent,) in run.messages:
        value = float(aggregate(np.array([[theta + 1], [theta - 1], [float(sent)]]))[0])
        seen.append((abs(value), theta))
        theta -= value
    assert min(seen)[1] ** 2 > 4 + 4 * 2.99**2 / 2 / 8


def test_the_coefficient_of_the_run_is_exact():
    assert kg.exact("cwmed", n=3, f=1).upper == 1


def test_a_run_survives_json():
    run = swinging_run(6)
    assert from_json(json.loads(json.dumps(run.to_json()))) == run


@pytest.mark.parametrize(
    "change",
    [
        {"schema": "other"},
        {"n": 4},
        {"messages": []},
        {"messages": [["1", "2"]]},
        {"losses": [["1", "0"], ["2", "0"]]},
        {"losses": [["0", "0"], ["0", "0"]]},
        {"kappa": "1/0"},
        {"start": None},
        {"losses": 3},
    ],
)
def test_what_is_wrong_with_a_record_is_said(change):
    with pytest.raises(InputError):
        from_json({**swinging_run(4).to_json(), **change})


@pytest.mark.parametrize("seed", range(20))
def test_the_corrected_statement_holds_on_random_runs(seed):
    """Random starts, Byzantine messages that are random or push one way, and small T."""
    random = np.random.default_rng(seed)
    steps = int(random.integers(1, 12))
    losses = ((Fraction(1), Fraction(1)), (Fraction(1), Fraction(-1)))
    for _ in range(50):
        start = Fraction(int(random.integers(-800, 800)), 100)
        messages = tuple((Fraction(int(random.integers(-600, 600)), 100),) for _ in range(steps))
        outcome = replay(Run("cwmed", 3, 1, Fraction(1), losses, start, messages))
        assert outcome.gradient_squared <= outcome.bound(Fraction(1), 9, 4)
        assert steps > 3 or outcome.gradient_squared <= outcome.bound(Fraction(1), 4, 4)
