"""The table of peers under guard: every rule of ByzFL and Flower that runs here, as it is installed.

``python -m kappaguard.reports.peers docs`` writes docs/peers.md and the witnesses beside it.
"""

from __future__ import annotations

import shutil
import sys
from importlib.metadata import version
from pathlib import Path

import kappaguard
from kappaguard.reports.dossier.markdown_text import escaped, table
from kappaguard.rules.base.errors import InputError
from kappaguard.verify.guard.check import Job, run_jobs
from kappaguard.verify.guard.claim_check import ClaimCheck
from kappaguard.verify.guard.claimed import coefficient, counterpart
from kappaguard.verify.guard.verdict import Verdict
from kappaguard.verify.process.run import Limits
from kappaguard.verify.theory.coefficients import OURS

N, F = 11, 2
EVALUATIONS = 20_000
SECONDS = 400.0
ANY = "1000000"
"""A claim for rules that nobody makes one for: what exceeds it is as good as infinite."""
ROOM = "(1+1/10**6)"
"""What certificates in fractions leave above a closed form."""
FOLDER = "peers"

RULES = (
    *(
        f"byzfl:{name}"
        for name in (
            "Average",
            "Median",
            "TrMean",
            "GeometricMedian",
            "Krum",
            "MultiKrum",
            "CenteredClipping",
            "MDA",
            "MoNNA",
            "Meamed",
            "CAF",
            "SMEA",
        )
    ),
    "byzfl:NNM+byzfl:TrMean",
    "byzfl:NNM+byzfl:Krum",
    "byzfl:Bucketing(s=2)+byzfl:TrMean",
    "byzfl:Clipping+byzfl:TrMean",
    "byzfl:ARC+byzfl:TrMean",
    *(
        f"flwr.serverapp.strategy:{name}"
        for name in ("FedAvg", "FedAvgM", "FedProx", "FedMedian", "FedTrimmedAvg", "Krum", "MultiKrum", "Bulyan")
    ),
    *(
        f"flwr.server.strategy:{name}"
        for name in ("FaultTolerantFedAvg", "FedAvg", "FedAvgM", "FedMedian", "FedTrimmedAvg", "Krum", "Bulyan")
    ),
    *(
        f"flwr.server.strategy.aggregate:{name}"
        for name in (
            "aggregate",
            "aggregate_median",
            "aggregate_trimmed_avg",
            "aggregate_krum",
            "aggregate_bulyan",
        )
    ),
    *(
        f"byzpy:{name}"
        for name in (
            "CoordinateWiseMedian",
            "CoordinateWiseTrimmedMean",
            "MeanOfMedians",
            "GeometricMedian",
            "Krum",
            "MultiKrum",
            "MinimumDiameterAveraging",
            "ComparativeGradientElimination",
        )
    ),
    *(
        f"fedml:{name}Defense"
        for name in ("CoordinateWiseMedian", "CoordinateWiseTrimmedMean", "GeometricMedian", "Krum")
    ),
    "torchjd:TrimmedMean",
    "torchjd:Krum",
)

INTRODUCTION = """# Peers under guard

The rules of ByzFL {byzfl}, ByzPy {byzpy}, FedML {fedml}, Flower {flwr} and TorchJD {torchjd}, as they are installed, at
n = {n} and f = {f}; written by `python -m kappaguard.reports.peers docs` (kappaguard {version}, {evaluations:,}
evaluations for each search, seed 0), and backed by a test that replays every witness and asks the health checks again.

The claim is the paper's coefficient for the rule that a peer's is meant to be; where the paper has none, the kappa\\*
that kappaguard certifies for it (to a millionth), and where there is none either, any: a ratio beyond a million. A
claim is proved where the code is [traced](explanation/tracing.md): the upper bound is certified for its recipe, and the
rule of ours that has this recipe is named. A claim that is open was not refuted within its evaluations. A rule under
the name of a theorem need not be the theorem's rule: where a claim is refuted, that is said about the claim for this
code, and whoever wrote the code may never have made it. The paper is *Fixing by Mixing: A Recipe for Optimal Byzantine
ML under Heterogeneity* (Allouah, Farhadkhani, Guerraoui, Gupta, Pinot, Stephan, AISTATS 2023).

The peers are installed without their dependencies, by `make test` or, in the folder of this repository, by

    pip install -c constraints.txt -r requirements-peers-imports.txt
    pip install -c constraints.txt --no-deps -r requirements-peers.txt
"""

CLOSING = """
Health checks are explained in `verify/guard/health/`; those in bold refute the claim by themselves, the others warn.
Outputs are judged with rounding allowed for (`verify/judge/rounding.py`). Flower's Krum and MultiKrum add up the
distances to n - f - 2 others where the paper's rules have n - f - 1 (n - f vectors, the vector itself among them): they
are other functions, with another kappa\\*. And its MultiKrum averages `num_nodes_to_select` vectors, which is 1 unless
one says otherwise: as it comes it is its Krum, not the mean of n - f vectors that the claim is about, and therefore
refuted. With as many selected it is multikrum with 7 neighbours, whose kappa\\* is a little more than 4f/(n-2f):
`kappaguard exact "flwr.serverapp.strategy:MultiKrum(num_nodes_to_select=9)" -n 11 -f 2`. TorchJD's Krum adds up
distances that are not squared, which is another function again and cannot be traced. FedML's trimmed mean does not look
at values: it sorts the clients by their numbers of examples, drops the f first and f last, and averages the others. Its
geometric median keeps the weights of the clients in a set, where equal ones collapse to one. ByzPy's MDA leaves subsets
out of its search by what it has seen so far, which cannot be traced; its CenteredClipping needs a radius that nothing
else gives, and is left out.

Not in the table: NVFlare 2.9.0 and fluke 0.8.1 install here (`fluke-fl`, without dependencies), but a search of their
code for medians, trimmed means and Krum finds none: their servers average, weighted by numbers of examples. Calicarpa's
krum is on no package index that this was written with. And not in the table, because they are no rules from n vectors
to one: Flower's server optimisers (FedAdagrad, FedAdam, FedYogi, FedOpt, QFedAvg), which need the model of the last
round, its wrappers for differential privacy, and its strategies for boosted trees.
"""


def claim_for(spec: str, n: int, f: int) -> tuple[str, str]:
    """The claim on a peer's rule, and who makes it."""
    stated = coefficient(spec, f)
    if stated is not None:
        return stated, "paper"
    ours = OURS.get(counterpart(spec) or "")
    if ours is not None and ours.holds(n, f):
        return f"({ours.expression})*{ROOM}", "kappaguard"
    return ANY, "any"


def write_table(folder: Path, jobs: int = 2, evaluations: int = EVALUATIONS) -> Path:
    """Check every rule, save the witnesses, and write the page."""
    orders = [
        Job(ClaimCheck(spec, N, F, claim_for(spec, N, F)[0], evaluations), None, True, Limits(SECONDS))
        for spec in RULES
    ]
    outcomes = run_jobs(orders, jobs)
    shutil.rmtree(folder / FOLDER, ignore_errors=True)
    (folder / FOLDER).mkdir(parents=True)
    rows = [_row(spec, outcome, folder / FOLDER) for spec, outcome in zip(RULES, outcomes, strict=True)]
    about: dict[str, object] = {peer: version(peer) for peer in ("byzfl", "byzpy", "fedml", "flwr", "torchjd")}
    about |= {"n": N, "f": F}
    text = INTRODUCTION.format(**about, version=kappaguard.__version__, evaluations=evaluations)
    headings = ["rule", "health", "kappa* >=", "claim", "its value", "verdict", "witness", "kappa* <=", "traced as"]
    path = folder / "peers.md"
    path.write_text(text + "\n" + "\n".join(table(headings, rows)) + "\n" + CLOSING, encoding="utf-8")
    return path


def _row(spec: str, outcome: Verdict | InputError, folder: Path) -> list[str]:
    if isinstance(outcome, InputError):
        return [escaped(spec), "", "", "", "", f"does not run: {escaped(outcome)[:200]}", "", "", ""]
    health = ", ".join(f"**{each.check}**" if each.refutes else each.check for each in outcome.findings) or "sound"
    claim, who = claim_for(spec, N, F)
    said = "any" if who == "any" else f"{escaped(claim)} ({who})"
    value = "" if who == "any" else f"{float(outcome.bound):.4g}"
    verdict = outcome.verdict
    witness = ""
    if outcome.witness is not None:
        name = outcome.witness.save(folder).name
        witness = f"[file]({FOLDER}/{name})"
    upper = "" if outcome.upper is None else f"{float(outcome.upper):.5g}"
    traced = (outcome.traced or "").partition("traced: ")[2] if (outcome.traced or "").startswith("traced: ") else ""
    return [escaped(spec), health, _found(outcome), said, value, verdict, witness, upper, escaped(traced)]


def _found(verdict: Verdict) -> str:
    return "infinite" if verdict.lower == float("inf") else f"{float(verdict.lower):.4g}"


if __name__ == "__main__":
    write_table(Path(sys.argv[1]))
