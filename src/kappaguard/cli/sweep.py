"""``kappaguard sweep``: many searches, on this machine or on a cluster, resumable."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from kappaguard.cli.options import Address, AsJson, Engine, Jobs, RuleNames, Tolerance


def sweep(
    rules: RuleNames,
    at: Annotated[list[str], typer.Option("--at", metavar="N,F", help="A pair n,f; may be given several times.")],
    seeds: Annotated[int, typer.Option("--seeds", help="How many seeds, from 0.")] = 1,
    budget: Annotated[
        list[float] | None, typer.Option("--budget", metavar="SECONDS", help="Per search; may be given several times.")
    ] = None,
    evaluations: Annotated[
        list[int] | None,
        typer.Option("--evaluations", help="Inputs that one search tries; may be given several times."),
    ] = None,
    tolerance: Tolerance = None,
    store: Annotated[Path, typer.Option("--store", metavar="FILE", help="One SQLite file with all results.")] = Path(
        ".kappaguard/sweep.sqlite"
    ),
    engine: Engine = "local",
    address: Address = None,
    jobs: Jobs = None,
    as_json: AsJson = False,
) -> None:
    """Search for the worst inputs of many rules at many (n, f). What is finished is kept; started again, it goes on."""
    import json

    from kappaguard.cli.options import relative_error
    from kappaguard.cli.output import print_table
    from kappaguard.cli.progress import counting
    from kappaguard.rules.base.checks import require_count
    from kappaguard.rules.base.errors import InputError
    from kappaguard.verify.process.sweep import SearchTask
    from kappaguard.verify.process.sweep import sweep as run

    require_count(seeds, 1, "the number of seeds")
    if jobs is not None:
        require_count(jobs, 1, "the number of jobs")
    # no budget in one unit leaves it to the other, and none at all to the search's own
    every_budget: list[float | None] = [*budget] if budget else [None]
    every_number: list[int | None] = [*evaluations] if evaluations else [None]
    allowed = relative_error(tolerance)
    cells = [
        SearchTask(rule, n, f, seed, seconds, number, tolerance=None if allowed is None else str(allowed))
        for rule in rules
        for n, f in map(pair, at)
        for seconds in every_budget
        for number in every_number
        for seed in range(seeds)
    ]
    try:
        with counting("searches") as report:
            results = run(cells, store, engine=engine, address=address, jobs=jobs, report=report)
    except KeyboardInterrupt:
        typer.echo(f"interrupted: finished searches are in {store}; run again to go on", err=True)
        raise typer.Abort from None
    if all("error" in result for result in results):
        raise InputError(results[0]["error"])
    if as_json:
        typer.echo(json.dumps(results, indent=1))
    else:
        print_table(("rule", "n", "f", "seed", "kappa* >=", "found by", "evaluations", "seconds"), map(_row, results))


def pair(text: str) -> tuple[int, int]:
    from kappaguard.rules.base.errors import InputError

    parts = text.split(",")
    if len(parts) != 2 or not all(part.strip().isdecimal() for part in parts):
        raise InputError(f"a pair n,f is two numbers with a comma, such as 17,4, and not {text[:40]!r}")
    return int(parts[0]), int(parts[1])


def _row(result: dict[str, Any]) -> tuple[str, ...]:
    first = (result["rule"], str(result["n"]), str(result["f"]), str(result["seed"]))
    if "error" in result:
        return (*first, result["error"], "", "", "")
    lower = result["lower"]
    words = lower if isinstance(lower, str) else f"{lower:.6g}"
    return (*first, words, result["found_by"] or "", f"{result['used']:,}", f"{result['seconds']:.1f}")
