"""All that is computed for a report, put together: claims, the table of kappa*, witnesses to draw, searches."""

from __future__ import annotations

import importlib.util
import math
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from kappaguard.reports.drawing import drawn
from kappaguard.reports.table import F, N, places, table
from kappaguard.rules.base.errors import InputError
from kappaguard.rules.witness import load
from kappaguard.verify.judge.search import search

SEARCHED = ("krum", "mda", "nnm+krum")
EVALUATIONS = 20_000
ESTIMATED = ("cwtm", "cwmed", "gm", "krum", "multikrum", "meamed")
GRADIENTS, FAMILY = "digits:alpha=1", "heterogeneous:d=50,spread=3"
ATTACKS, ROUNDS = ("alie", "sf"), 25
DRAWN_AT = (N, F)
VISIBLE = 1e-3
"""A relative improvement that a picture can show."""

Report = Callable[[int, int], None]


def collect(results: Mapping[str, Any], folder: Path, report: Report = lambda done, total: None) -> dict[str, Any]:
    """The results of the claims with everything else; files of witnesses and certificates are written."""
    kappa = table(places(results["effort"]), folder, report)
    return {
        **results,
        "kappa": kappa,
        "drawings": drawings(results["claims"], kappa, folder),
        "searches": [] if results["effort"] == "quick" else _searches(kappa),
        "estimates": [] if results["effort"] == "quick" else [_estimate()],
    }


def _estimate() -> dict[str, Any]:
    """What happens to the rules of the table on gradients; without torch or scikit-learn, on a random family."""
    from kappaguard.training.sources.names import source_named
    from kappaguard.verify.estimate.part import Question
    from kappaguard.verify.estimate.results import as_results
    from kappaguard.verify.estimate.run import run

    real = all(importlib.util.find_spec(name) is not None for name in ("torch", "sklearn"))
    name = GRADIENTS if real else FAMILY
    question = Question(ESTIMATED, N, F, ATTACKS)
    results = run(question, source_named(name, N, F), ROUNDS)
    attacks = ",".join(ATTACKS)
    command = (
        f"kappaguard estimate {' '.join(ESTIMATED)} -n {N} -f {F} --from {name} --attack {attacks} --rounds {ROUNDS}"
    )
    return as_results(results, command)


def drawings(claims: Sequence[Mapping[str, Any]], kappa: Sequence[Mapping[str, Any]], folder: Path) -> list[Any]:
    """The witnesses of the table, and of the claims that have an input as their witness."""
    wanted = [(f"{each['rule']} at its worst", each["witness"]) for each in kappa if (each["n"], each["f"]) == DRAWN_AT]
    wanted += [(f"{each['name']} refuted", each["witness"]) for each in claims if each["verdict"] == "refuted"]
    found = []
    for title, name in wanted:
        if name is None:
            continue
        try:
            witness = load(folder / name)
        except InputError:
            # a claim may have a witness of another kind: a run, a sequence
            continue
        picture = drawn(witness, title, name)
        if picture is not None:
            found.append(picture)
    return found


def _searches(kappa: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    known = {(each["rule"], each["n"], each["f"]): each["upper"] for each in kappa}
    found = []
    for rule in SEARCHED:
        result = search(rule, N, F, evaluations=EVALUATIONS)
        trace = thinned([[s.adversary, s.evaluations, round(s.seconds, 4), s.ratio] for s in result.stats.trace])
        upper = known.get((rule, N, F))
        if trace and isinstance(upper, int | float) and all(math.isfinite(step[3]) for step in trace):
            command = f"kappaguard search {rule} -n {N} -f {F} --evaluations {EVALUATIONS}"
            found.append(
                {
                    "rule": rule,
                    "n": N,
                    "f": F,
                    "seed": 0,
                    "reference": upper,
                    "evaluations": result.stats.evaluations,
                    "trace": trace,
                    "command": command,
                }
            )
    return found


def thinned(trace: Sequence[list[Any]]) -> list[list[Any]]:
    """Without the improvements that nobody could see; the last one stays."""
    kept: list[list[Any]] = []
    for step in trace:
        if not kept or step is trace[-1] or step[3] > kept[-1][3] * (1 + VISIBLE):
            kept.append(step)
    return kept
