"""Results as large as those of the default grid, without the minutes that computing them takes."""

from __future__ import annotations

from typing import Any

from kappaguard.reports.table import places
from kappaguard.rules.base.expression import evaluate
from kappaguard.rules.names import parse
from kappaguard.verify.theory.registry import claims

from .example import claim, drawing, entry, rates, results


def large_results() -> dict[str, Any]:
    """Every place of the default grid with the paper's coefficients, every claim by name with a long detail.

    The numbers are made up; names, statements and how many there are of everything are those of a real report.
    """
    kappa = []
    for place in places("default"):
        known = parse(place.rule, f=place.f).claim
        paper = None if known is None else float(evaluate(known.expression, place.n, place.f))
        kappa.append(entry(place.rule, place.n, place.f, 1.0 + place.f, 1.0 + place.f, paper))
    words = "A sentence or two for a reader who has the statement before them, with numbers and a reason. "
    told = [
        claim(
            each.name,
            each.expected,
            statement=each.statement,
            source=each.source,
            corrects=each.corrects,
            detail=3 * words,
            computed=8.9401,
            stated=5.4900,
            witness=f"witnesses/{each.name}.json",
            replays=True,
        )
        for each in claims()
    ]
    trace = [["levels", 10 * step + 1, 0.1 * step, 8.0 - 7.0 / (step + 1)] for step in range(60)]
    search = results()["searches"][0] | {"trace": trace}
    drawings = [drawing(f"number {index}", 1.0 + index) for index in range(20)]
    steps = list(range(500))
    run = {
        "name": "a run",
        "steps": steps,
        "ratio": [0.1 + step % 7 / 50 for step in steps],
        "command": "kappaguard train",
    }
    return results() | {
        "claims": told,
        "kappa": kappa,
        "drawings": drawings,
        "searches": [search] * 3,
        "runs": [run] * 3,
        "rates": rates(),
    }
