"""What happens beside what can happen: the rule's ratio on gradients, with and without mixing.

The gradients are those of scikit-learn's digits split over the workers. Alie asks the rule hundreds of times in each
round: how many rounds there are depends on how long that takes.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

from kappaguard.reports.dossier.plan import Plan
from kappaguard.training.sources.names import source_named
from kappaguard.verify.estimate.part import Question
from kappaguard.verify.estimate.results import as_results
from kappaguard.verify.estimate.run import run
from kappaguard.verify.estimate.witnesses import keep_largest

SOURCE = "digits:alpha=1"
ATTACKS = ("alie", "sf", "mimic")
MOST_ROUNDS, LEAST_ROUNDS = 100, 5
FOR_ALL = 25.0
"""Seconds that all rounds should take."""
SECONDS = 240.0


def compute(plan: Plan) -> dict[str, Any]:
    """The estimate, and the input of the rule's own largest ratio."""
    source = source_named(SOURCE, plan.n, plan.f, seed=plan.seed)
    question = Question((plan.rule,), plan.n, plan.f, ATTACKS, seed=plan.seed)
    run(question, source, 1, worst_case=False)
    start = time.perf_counter()
    run(question, source, 1, worst_case=False)
    each = time.perf_counter() - start
    rounds = max(LEAST_ROUNDS, min(MOST_ROUNDS, int(FOR_ALL / each)))
    results = run(question, source, rounds, worst_case=False)
    command = f"kappaguard estimate {plan.rule} -n {plan.n} -f {plan.f} --from {SOURCE} --attack {','.join(ATTACKS)}"
    data = as_results(results, f"{command} --rounds {rounds} --seed {plan.seed}")
    best = max((each for each in results if each.rule == plan.rule), key=lambda each: each.largest)
    path = keep_largest(question, source, best, Path(plan.witnesses))
    return data | {"largest": {"attack": best.attack, "witness": None if path is None else path.name}}


def seconds(_: Plan) -> float:
    """A slow rule is given more."""
    return SECONDS
