"""Behaviour under the paper's five attacks in a short training run, beside the same run with nnm+cwtm.

Two of the attacks ask the rule hundreds of times in each step; how many steps there are depends on how long it takes.
"""

from __future__ import annotations

import time
from typing import Any

from kappaguard.reports.dossier.plan import Plan
from kappaguard.training.build import build
from kappaguard.training.configuration import Configuration, preset
from kappaguard.training.run import run

ATTACKS = ("alie", "foe", "sf", "mimic", "lf")
DEMANDING = "alie"
BESIDE = "nnm+cwtm"
MOST_STEPS, LEAST_STEPS, TRIAL_STEPS = 100, 20, 3
FOR_ONE_RUN = 20.0
"""Seconds that the most demanding run should take."""


def compute(plan: Plan) -> dict[str, Any]:
    """One run for each attack and each of the two rules, and one without an attack."""
    usual = preset("digits").with_values({"n": plan.n, "f": plan.f, "seed": plan.seed + 1, "device": "cpu"})
    steps = _steps(usual.with_values({"rule": plan.rule}))
    usual = usual.with_values({"steps": steps, "evaluate_every": steps})
    rows = []
    for attack in ("none", *ATTACKS):
        row: dict[str, Any] = {"attack": attack}
        for name, rule in (("rule", plan.rule), ("beside", BESIDE)):
            result = _run(usual.with_values({"attack": attack, "rule": rule}))
            row[name] = {"status": result.status, "accuracy": result.accuracy, "ratio": result.largest_ratio}
        rows.append(row)
    return {"rows": rows, "beside": BESIDE, "steps": steps, "dataset": usual.dataset, "model": usual.model}


def _run(configuration: Configuration) -> Any:
    return run(build(configuration), configuration)


def _steps(configuration: Configuration) -> int:
    """As many as the time allows, by a trial."""
    trial = configuration.with_values({"attack": DEMANDING, "steps": TRIAL_STEPS, "evaluate_every": 0})
    training = build(trial)
    start = time.perf_counter()
    run(training, trial)
    each = (time.perf_counter() - start) / TRIAL_STEPS
    return max(LEAST_STEPS, min(MOST_STEPS, int(FOR_ONE_RUN / each)))
