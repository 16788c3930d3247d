"""Training on the worst inputs that ``exact`` finds: kappa* as what is left of a gradient.

For every rule and f, the witness of kappa* is made into losses (``kappaguard.training.theorems.witnessed``) and D-GD
and D-SHB are run on them with the rule itself, in units in which G = 1.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from kappaguard.rules.names import rule as rule_named
from kappaguard.training.algorithm import Training
from kappaguard.training.build import build
from kappaguard.training.reproduce.experiments import cells_of
from kappaguard.training.theorems.constants import Constants
from kappaguard.training.theorems.rates import Slope, fit
from kappaguard.training.theorems.witnessed import Trajectory, at_rest, course, displaced
from kappaguard.verify.judge.exact import exact
from kappaguard.verify.judge.result import KappaResult

BASES = ("cwtm", "cwmed", "gm", "meamed", "phocas", "winsorised", "krum", "multikrum", "mda", "mva", "nna", "faba")
RULES = tuple(f"{step}{rule}" for rule in BASES for step in ("", "nnm+"))
N, SHARES, RATES_AT = 17, (1, 2, 4, 8), 4
"""Workers, numbers of Byzantine ones, and the one for which the rates are measured."""

GD_STEPS, SHB_STEPS = 30, 400
GD_HORIZONS, GD_EXTRA, GD_DISTANCE = (8, 16, 32, 64, 128), 60, 5.0
SHB_HORIZONS, SHB_EXTRA, SHB_DISTANCE = (200, 400, 800, 1600, 3200), 20, 3.0
NOISE, NOISY_STEPS = 0.3, 800


def trained(rule: str, n: int, f: int, seeds: int = 2, rates: bool = False) -> dict[str, Any]:
    """Where both algorithms end on the rule's worst input, and with ``rates`` how fast they come there."""
    found = exact(rule, n, f)
    upper = found.upper
    entry: dict[str, Any] = {
        "rule": rule,
        "n": n,
        "f": f,
        "kappa": _number(found.lower),
        "upper": None if upper is None else _number(upper),
        "found_by": "" if found.witness is None else found.witness.found_by,
        "gd": None,
        "shb": None,
        "random": None,
        "output": None,
        "bound_random": None,
        "noisy": None,
        "rates": [],
    }
    if found.witness is None or entry["kappa"] is None or entry["kappa"] == 0:
        return entry
    kappa = float(entry["kappa"])
    exactly = _course(found, GD_STEPS, None)
    entry |= {"gd": exactly.end, "shb": _course(found, SHB_STEPS, kappa).end}
    assert exactly.output is not None
    entry |= {"random": exactly.random, "output": exactly.output}
    entry["bound_random"] = kappa * exactly.spread + 2 * exactly.gap / GD_STEPS
    if rates:
        noisy = _course(found, NOISY_STEPS, kappa, extra=SHB_EXTRA, condition=1.0, distance=SHB_DISTANCE, sigma=NOISE)
        entry["noisy"] = math.fsum(noisy.errors[-NOISY_STEPS // 2 :]) / (NOISY_STEPS // 2)
        entry["rates"] = [_gd_rate(found, kappa), _shb_rate(found, kappa, seeds)]
    return entry


def _number(value: Any) -> float | None:
    """None for what is infinite."""
    return float(value) if value != math.inf else None


def _course(found: KappaResult, steps: int, kappa: float | None, rest: bool = False, **given: float) -> Trajectory:
    """A run on the witness; with ``rest`` from where its own part has come to rest."""
    assert found.witness is not None
    rows = [[float(value) for value in row] for row in found.witness.x]
    problem, order = displaced(rows, found.witness.subset, **given)
    rule = rule_named(found.rule, f=found.f)
    return course(rule, at_rest(rule, problem, order) if rest else problem, order, steps, kappa)


def _gd_rate(found: KappaResult, kappa: float) -> dict[str, Any]:
    """Error of the output less kappa* G^2 against T: the theorem says 1/T."""
    errors = []
    for steps in GD_HORIZONS:
        run = _course(found, steps, None, True, extra=GD_EXTRA, distance=GD_DISTANCE)
        assert run.output is not None
        errors.append(run.output - kappa)
    return _rate("D-GD", GD_HORIZONS, errors, _slope(GD_HORIZONS, errors, 1), -1.0)


def _shb_rate(found: KappaResult, kappa: float, seeds: int) -> dict[str, Any]:
    """Mean error over all iterates less kappa* G^2 against T, the noise being shared: 1/sqrt(T).

    The noise is so large that the theorem's step size is 1/(24 L), its largest, at the least T, and falls from there.
    """
    given = {"extra": SHB_EXTRA, "condition": 1.0, "distance": SHB_DISTANCE}
    gap = _course(found, 1, kappa, True, **given).gap
    stated = Constants(1.0, gap, 1.0, 1.0, kappa, found.n, found.f, SHB_HORIZONS[0])
    sigma = 12 * stated.a_2 / (stated.a_kappa * math.sqrt(SHB_HORIZONS[0]))
    every = [
        _course(found, steps, kappa, True, **given, sigma=sigma, shared=True, seed=seed).random - kappa
        for steps in SHB_HORIZONS
        for seed in range(1, seeds + 1)
    ]
    means = [math.fsum(every[start : start + seeds]) / seeds for start in range(0, len(every), seeds)]
    return _rate("D-SHB", SHB_HORIZONS, means, _slope(SHB_HORIZONS, every, seeds), -0.5)


def _slope(horizons: Sequence[int], errors: list[float], seeds: int) -> Slope | None:
    """None where what is left is not above kappa* G^2."""
    if min(errors) <= 0:
        return None
    return fit([float(steps) for steps in horizons for _ in range(seeds)], errors)


def _rate(
    algorithm: str, horizons: Sequence[int], errors: list[float], slope: Slope | None, theorem: float
) -> dict[str, Any]:
    interval = (None, None, None) if slope is None else (slope.value, slope.low, slope.high)
    named = dict(zip(("slope", "low", "high"), interval, strict=True))
    return {"algorithm": algorithm, "horizons": list(horizons), "errors": errors, **named, "theorem": theorem}


def owned_slack(steps: int) -> dict[str, Any]:
    """The adversary that owns all of a slack kappa = 1, on quadratics with G = L = 1: what its two outputs leave.

    The aggregate with the least norm, which Algorithm 1 outputs, may leave 9 kappa G^2; one of the iterates at random
    leaves kappa G^2 + 2 L Delta/T at most, on average (equation (7) of the paper).
    """
    (cell,) = cells_of("theorem1-slack", 1, steps=steps)
    training = build(cell.configuration)
    problem, errors = training.problem, []
    room = torch_rows(training)
    gap = problem.evaluate(training.state.theta).loss
    for _ in range(steps):
        problem.exact(training.state.theta, room)
        errors.append(float((room[: problem.honest].mean(dim=0) ** 2).sum()))
        training.step()
    at = training.state.output_step
    assert at is not None
    return {"steps": steps, "output": errors[at], "random": math.fsum(errors) / steps, "bound": 1 + 2 * gap / steps}


def torch_rows(training: Training) -> Any:
    """Room for the gradients of all workers."""
    import torch

    theta = training.state.theta
    return torch.empty((training.problem.workers, training.problem.dimension), dtype=theta.dtype)
