"""``kappaguard search``: the worst input of any rule that can be found within a budget."""

from __future__ import annotations

import sys
from contextlib import redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kappaguard.cli.options import AsJson, Byzantine, RuleName, Seed, Tolerance, Vectors

if TYPE_CHECKING:
    from kappaguard.verify.judge.result import KappaResult


def search(
    rule: RuleName,
    n: Vectors,
    f: Byzantine,
    d: Annotated[int | None, typer.Option("-d", help="The dimension; swept if not given.")] = None,
    budget: Annotated[
        float | None, typer.Option("--budget", metavar="SECONDS", help="How long to search; 10 if nothing is given.")
    ] = None,
    evaluations: Annotated[
        int | None, typer.Option("--evaluations", help="Inputs that one search tries; the same on every machine.")
    ] = None,
    seed: Seed = 0,
    tolerance: Tolerance = None,
    counts: Annotated[
        str | None,
        typer.Option(
            "--counts",
            metavar="K,K,...",
            help="Numbers of examples that Byzantine clients may claim; honest ones have 1.",
        ),
    ] = None,
    save: Annotated[
        Path | None, typer.Option("--save", metavar="FILE", help="Where the witness goes, a file or a folder.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """A lower bound on kappa* with a witness: the input with the largest ratio found."""
    from kappaguard.cli.options import relative_error, whole_numbers
    from kappaguard.cli.progress import searching
    from kappaguard.search.run import BUDGET
    from kappaguard.verify.judge.search import search as find

    # what the rule prints is not ours to put into the output
    allowed = relative_error(tolerance)
    claims = None if counts is None else whole_numbers(counts, "--counts")
    with searching(budget or BUDGET) as report, redirect_stdout(sys.stderr):
        result = find(
            rule,
            n,
            f,
            d=d,
            budget=budget,
            evaluations=evaluations,
            seed=seed,
            report=report,
            tolerance=allowed,
            counts=claims,
        )
    path = None
    if result.witness is not None:
        path = result.witness.save(save or Path(".kappaguard/search") / result.witness.file_name)
    typer.echo(_json(result, path) if as_json else _text(result, path, fixed=d is not None))


def _json(result: KappaResult, path: Path | None) -> str:
    from kappaguard.cli.output import as_json
    from kappaguard.verify.guard.verdict import number

    stats = result.stats
    return as_json(
        result,
        path,
        verdict="open",
        status=result.status.value,
        adversaries=list(stats.adversaries),
        dimensions={str(d): number(ratio) for d, ratio in stats.dimensions},
        faults=stats.faults,
        fault=stats.fault,
        precision=stats.precision,
        interrupted=stats.interrupted,
        trace=[
            [step.adversary, step.evaluations, round(step.seconds, 4), number(step.ratio), step.dimension]
            for step in stats.trace
        ],
    )


def _text(result: KappaResult, path: Path | None, *, fixed: bool) -> str:
    from kappaguard.cli.output import outward
    from kappaguard.verify.judge.result import grown_until

    stats = result.stats
    lines = {
        "rule": f"{result.rule}, n = {result.n}, f = {result.f}",
        "kappa* >=": f"{outward(result.lower, up=False)}   {path or 'no input with a positive ratio was found'}",
    }
    if result.witness is not None:
        lines["found by"] = f"{result.witness.found_by}, in dimension {result.witness.d}"
    if stats.dimensions and not fixed:
        lines["dimension"] = f"the ratio stopped growing at d = {grown_until(stats.dimensions)}"
    lines["effort"] = (
        f"{stats.evaluations:,} evaluations, {stats.seconds:.2f} s, seed {stats.seed}"
        f"{', interrupted' if stats.interrupted else ''}"
    )
    if stats.precision is not None:
        lines["precision"] = f"{stats.precision}; --tolerance says what is meant"
    if stats.faults:
        lines["faults"] = f"{stats.faults:,}: it {stats.fault}; `kappaguard check` says what that refutes"
    return "\n".join(f"{key:<10} {value}" for key, value in lines.items())
