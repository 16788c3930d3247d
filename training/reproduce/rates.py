"""The rates of the convergence theorems from runs that are kept one by one; ``kappaguard.reports.rates`` shows them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kappaguard.rules.base.errors import InputError
from kappaguard.training.configuration import Configuration
from kappaguard.training.reproduce.experiments import SUMMARY, Cell
from kappaguard.training.theorems.rates import (
    Floor,
    Slope,
    alpha_runs,
    fit,
    floors,
    gd_rate,
    gd_runs,
    share_runs,
    shb_rate,
    shb_runs,
)
from kappaguard.training.theorems.summary import RateSummary

GD, SHB = (("cwtm", "sf"), ("nnm+krum", "foe")), (("cwtm", "sf"), ("nnm+cwtm", "foe"))
"""Rules and attacks whose slopes are measured."""
GD_STEPS, SHB_STEPS, HORIZONS = 128, 3200, 5
FLOOR = ("nnm+cwtm", "foe")
FLOOR_STEPS = 60
SHARES = [(17, 1, 1.0), (17, 2, 1.0), (17, 4, 1.0), (17, 6, 1.0), (17, 8, 1.0), (17, 4, 2.0), (17, 4, 4.0)]
ALPHAS = [0.1, 1.0, 10.0]


def cell_of(configuration: Configuration) -> Cell:
    """The run as a cell of an experiment."""
    return Cell("rates", configuration, SUMMARY)


def rate_cells(steps: int | None, seeds: int) -> list[Cell]:
    """Every run that ``measured`` needs: four doublings of T up to ``steps``, and floors of at most 60 steps."""
    least = 2**HORIZONS
    if steps is not None and steps < least:
        raise InputError(f"rates need at least {least} steps, for {HORIZONS} horizons; {steps} were asked for")
    runs = [each for pair in GD for each in gd_runs(_horizons(steps or GD_STEPS), *pair)]
    runs += [each for pair in SHB for each in shb_runs(_horizons(steps or SHB_STEPS), *pair, seeds)]
    runs += _share_runs(steps) + _alpha_runs(steps)
    return [cell_of(each) for each in dict.fromkeys(runs)]


def measured(steps: int | None, seeds: int, done: Mapping[str, dict[str, Any]], command: str) -> dict[str, Any]:
    """Slopes and floors, from the results of the cells by their keys."""

    def finish(configuration: Configuration) -> RateSummary:
        return RateSummary.from_json(done[cell_of(configuration).key])

    short, long = _horizons(steps or GD_STEPS), _horizons(steps or SHB_STEPS)
    slopes = [_slope("D-GD", pair, short, gd_rate(short, *pair, finish), -1.0) for pair in GD]
    slopes += [_slope("D-SHB", pair, long, shb_rate(long, *pair, seeds, finish), -0.5) for pair in SHB]
    shares, alphas = floors(_share_runs(steps), finish), floors(_alpha_runs(steps), finish)
    levels = [each.ratio * each.heterogeneity_squared for each in shares]
    found = fit(levels, [each.left for each in shares])
    return {
        "command": command,
        "slopes": slopes,
        "floors": [
            *(_floor("quadratics", f"G = {each.configuration.heterogeneity:g}", each) for each in shares),
            *(_floor("logistic, digits", f"alpha = {each.configuration.alpha:g}", each) for each in alphas),
        ],
        "fit": {"slope": found.value, "low": found.low, "high": found.high},
    }


def _share_runs(steps: int | None) -> list[Configuration]:
    return share_runs(min(FLOOR_STEPS, steps or FLOOR_STEPS), *FLOOR, SHARES)


def _alpha_runs(steps: int | None) -> list[Configuration]:
    return alpha_runs(min(FLOOR_STEPS, steps or FLOOR_STEPS), *FLOOR, ALPHAS)


def _horizons(steps: int) -> list[int]:
    return [steps >> halvings for halvings in reversed(range(HORIZONS))]


def _slope(
    algorithm: str, pair: tuple[str, str], horizons: list[int], found: tuple[Slope, list[float]], theorem: float
) -> dict[str, Any]:
    slope, errors = found
    named = {"algorithm": algorithm, "rule": pair[0], "attack": pair[1], "horizons": horizons, "errors": errors}
    return {**named, "slope": slope.value, "low": slope.low, "high": slope.high, "theorem": theorem}


def _floor(problem: str, setting: str, found: Floor) -> dict[str, Any]:
    given = found.configuration
    named = {"problem": problem, "setting": setting, "rule": given.rule, "attack": given.attack}
    return {
        **named,
        "n": given.n,
        "f": given.f,
        "steps": given.steps,
        "left": found.left,
        "ratio": found.ratio,
        "heterogeneity_squared": found.heterogeneity_squared,
    }
