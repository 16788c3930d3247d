"""The rates of the convergence theorems, measured and kept in a file: errors against T, and what no T removes.

Without heterogeneity (G = 0) Theorem 1 leaves 4 L (L_H(theta_0) - L*)/T, so the error of robust D-GD falls like 1/T,
and Theorem 2 leaves a term in sigma/sqrt(T), so that of robust D-SHB falls like 1/sqrt(T). With heterogeneity, a
constant times kappa G^2 stays whatever T is: the floor.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from kappaguard.reports.results import read_json, validate
from kappaguard.rules.errors import InputError
from kappaguard.rules.files import write

NAME = "rates.json"
COMMAND = "kappaguard reproduce rates"
GD, SHB = (("cwtm", "sf"), ("nnm+krum", "foe")), (("cwtm", "sf"), ("nnm+cwtm", "foe"))
GD_STEPS, SHB_STEPS, HORIZONS = 128, 3200, 5
FLOOR = ("nnm+cwtm", "foe")
FLOOR_STEPS = 60
SHARES = [(17, 1, 1.0), (17, 2, 1.0), (17, 4, 1.0), (17, 6, 1.0), (17, 8, 1.0), (17, 4, 2.0), (17, 4, 4.0)]
ALPHAS = [0.1, 1.0, 10.0]

Report = Callable[[int, int], None]


def measure(
    steps: int | None = None, seeds: int = 1, report: Report = lambda done, total: None, command: str = COMMAND
) -> dict[str, Any]:
    """Slopes over four doublings of T up to ``steps``, and floors of runs of at most 60 steps."""
    from kappaguard.training.theorems.rates import floors_by_alpha, floors_by_share, gd_rate, shb_rate

    least = 2**HORIZONS
    if steps is not None and steps < least:
        raise InputError(f"rates need at least {least} steps, for {HORIZONS} horizons; {steps} were asked for")
    total = len(GD) + len(SHB) + len(SHARES) + len(ALPHAS)
    slopes: list[dict[str, Any]] = []
    for rule, attack in GD:
        report(len(slopes), total)
        horizons = _horizons(steps or GD_STEPS)
        slopes.append(_entry("D-GD", rule, attack, horizons, gd_rate(horizons, rule, attack), -1.0))
    for rule, attack in SHB:
        report(len(slopes), total)
        horizons = _horizons(steps or SHB_STEPS)
        slopes.append(_entry("D-SHB", rule, attack, horizons, shb_rate(horizons, rule, attack, seeds), -0.5))
    floors: list[dict[str, Any]] = []
    length = min(FLOOR_STEPS, steps or FLOOR_STEPS)
    for n, f, spread in SHARES:
        report(len(slopes) + len(floors), total)
        floors.append(_floor("quadratics", f"G = {spread:g}", floors_by_share(length, *FLOOR, [(n, f, spread)])[0]))
    for alpha in ALPHAS:
        report(len(slopes) + len(floors), total)
        floors.append(_floor("logistic, digits", f"alpha = {alpha:g}", floors_by_alpha(length, *FLOOR, [alpha])[0]))
    report(total, total)
    return {"command": command, "slopes": slopes, "floors": floors, "fit": _fit(floors)}


def save(rates: dict[str, Any], folder: Path) -> Path:
    """Write rates.json."""
    validate(rates, "rates")
    write(folder / NAME, json.dumps(rates, indent=1, allow_nan=False) + "\n")
    return folder / NAME


def read(path: Path) -> dict[str, Any]:
    """The rates in a file, or in the file rates.json of a folder."""
    rates = read_json(path / NAME if path.is_dir() else path)
    validate(rates, "rates")
    return rates


SLOPES = ["algorithm", "rule", "attack", "slope", "95 % interval", "theorem"]
FLOORS = ["problem", "setting", "n", "f", "left", "kappa-hat G^2"]


def slope_rows(rates: Mapping[str, Any]) -> list[list[str]]:
    """A table of the slopes, under SLOPES."""
    return [
        [
            *(each[key] for key in ("algorithm", "rule", "attack")),
            f"{each['slope']:.4f}",
            f"{each['low']:.4f} to {each['high']:.4f}",
            f"{each['theorem']:g}",
        ]
        for each in rates["slopes"]
    ]


def floor_rows(rates: Mapping[str, Any]) -> list[list[str]]:
    """A table of the floors, under FLOORS."""
    return [
        [
            *(str(each[key]) for key in ("problem", "setting", "n", "f")),
            f"{each['left']:.5g}",
            f"{each['kappa_hat'] * each['heterogeneity_squared']:.5g}",
        ]
        for each in rates["floors"]
    ]


def _horizons(steps: int) -> list[int]:
    return [steps >> halvings for halvings in reversed(range(HORIZONS))]


def _entry(algorithm: str, rule: str, attack: str, horizons: list[int], found: Any, theorem: float) -> dict[str, Any]:
    slope, errors = found
    return {
        "algorithm": algorithm,
        "rule": rule,
        "attack": attack,
        "horizons": horizons,
        "errors": errors,
        "slope": slope.value,
        "low": slope.low,
        "high": slope.high,
        "theorem": theorem,
    }


def _fit(floors: list[dict[str, Any]]) -> dict[str, float]:
    """The slope of log left against log kappa-hat G^2 on the quadratics; 1 where the floor is proportional to it."""
    from kappaguard.training.theorems.rates import fit

    here = [each for each in floors if each["problem"] == "quadratics"]
    found = fit([each["kappa_hat"] * each["heterogeneity_squared"] for each in here], [each["left"] for each in here])
    return {"slope": found.value, "low": found.low, "high": found.high}


def _floor(problem: str, setting: str, found: Any) -> dict[str, Any]:
    given = found.configuration
    return {
        "problem": problem,
        "setting": setting,
        "rule": given.rule,
        "attack": given.attack,
        "n": given.n,
        "f": given.f,
        "steps": given.steps,
        "left": found.left,
        "kappa_hat": found.kappa_hat,
        "heterogeneity_squared": found.heterogeneity_squared,
    }
