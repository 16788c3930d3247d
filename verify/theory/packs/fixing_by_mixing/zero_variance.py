"""A set without spread decides the output.

Problem: F is (f, kappa)-robust with any kappa >= 0, and the vectors of some S of size n - f are equal.
Statement: then F returns that vector, whatever the f others are. (So kappa = 0 would ask for F = mean_S for every S.)
Computed: the right-hand side of the definition is kappa * 0, whatever kappa; and every built-in rule with a finite
    kappa* is run in exact arithmetic on such inputs, with the f others outside, between and among the rest. The
    average fails: its kappa* is infinite as soon as f >= 1.
Reference: Definition 1 (def:resaveraging).
"""

from __future__ import annotations

from kappaguard.verify.theory.algebra import demand
from kappaguard.verify.theory.claim import Claim, Effort, Finding, Report
from kappaguard.verify.theory.worst import settled

RULES = ("cwtm", "cwmed", "meamed", "gm", "krum", "mda", "multikrum")


def check(effort: Effort, report: Report) -> Finding:
    """Run every rule on inputs in which n - f vectors agree."""
    pairs = effort.choose([(3, 1), (7, 3)], [(3, 1), (7, 3), (10, 4)], [(3, 1), (7, 3), (10, 4), (17, 8)])
    runs = [(pre + rule, n, f) for n, f in pairs for rule in RULES for pre in ("", "nnm+")]
    for done, (rule, n, f) in enumerate(runs):
        others = [[5 * place - 7, 3 - place] for place in range(f)]
        demand(settled(rule, f, [[2, -1]] * (n - f) + others).upper == 0, f"{rule} returns the common vector")
        report(done + 1, len(runs))
    average = settled("average", 1, [[0], [0], [1]])
    demand(average.lower == float("inf"), "the average does not")
    return Finding(
        "proved",
        ("symbolic", "exact"),
        0.0,
        0.0,
        f"kappa times no spread is 0, so the error is 0; {len(runs)} runs of built-in rules agree. The average is not "
        "robust for any kappa.",
        "==",
    )


CLAIM = Claim(
    "zero-variance",
    "if the vectors of S are equal, an (f, kappa)-robust F returns that vector, for every kappa",
    "Definition 1 (def:resaveraging)",
    "proved",
    check,
    scope="instances",
)
