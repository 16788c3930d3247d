"""``kappaguard estimate``: empirical kappa on real or random gradients, beside the worst case."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kappaguard.cli.options import Address, AsJson, Byzantine, DataFolder, Device, Engine, RuleNames, Seed, Vectors

if TYPE_CHECKING:
    from kappaguard.training.sources.source import Source
    from kappaguard.verify.estimate.part import Question
    from kappaguard.verify.estimate.result import Estimate


def estimate(
    rules: RuleNames,
    n: Vectors,
    f: Byzantine,
    source: Annotated[
        str,
        typer.Option(
            "--from",
            metavar="SOURCE",
            help="A family (gaussian:d=100), data (mnist:alpha=0.1,after=100), a file of gradients, a run's folder.",
        ),
    ] = "digits",
    attacks: Annotated[
        list[str] | None,
        typer.Option("--attack", help="alie, foe, sf, mimic, lf, adaptive, none; with commas or several times."),
    ] = None,
    rounds: Annotated[
        int | None, typer.Option("--rounds", help="How many; default: 200, or all that a file or a run has.")
    ] = None,
    until_width: Annotated[
        float | None,
        typer.Option("--until-width", help="Stop when the interval of every 95 % quantile is so wide, relative to it."),
    ] = None,
    criterion: Annotated[
        str, typer.Option("--criterion", help="What error is measured in: trace, spectral, diameter or pairwise.")
    ] = "trace",
    honest: Annotated[
        str | None, typer.Option("--honest", metavar="LIST", help="Who is honest in a file, such as 0-12.")
    ] = None,
    key: Annotated[str | None, typer.Option("--key", help="Which array of a file holds the vectors.")] = None,
    seed: Seed = 0,
    mixing: Annotated[
        bool, typer.Option("--mixing/--no-mixing", help="Also nnm and bucketing before each rule.")
    ] = True,
    worst_case: Annotated[
        bool, typer.Option("--worst-case/--no-worst-case", help="Put kappa* beside what happens.")
    ] = True,
    jobs: Annotated[
        int | None, typer.Option("--jobs", "-j", help="Processes at a time; default: 1, as each call has all cores.")
    ] = None,
    engine: Engine = "local",
    address: Address = None,
    store: Annotated[
        Path | None, typer.Option("--store", metavar="FILE", help="Keep finished parts; started again, it goes on.")
    ] = None,
    device: Device = "cpu",
    data_dir: DataFolder = None,
    save: Annotated[
        Path, typer.Option("--save", metavar="DIR", help="Where the input of each largest ratio is kept.")
    ] = Path(".kappaguard/estimate"),
    csv: Annotated[Path | None, typer.Option("--csv", metavar="FILE", help="Write a table.")] = None,
    picture: Annotated[
        Path | None, typer.Option("--picture", metavar="FILE", help="Draw the distributions (.svg).")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """What happens: the distribution of the ratio on a stream of inputs, beside kappa*, what can happen."""
    import sys
    from contextlib import redirect_stdout

    from kappaguard.cli.progress import counting
    from kappaguard.rules.base.files import write
    from kappaguard.training.sources.names import source_named
    from kappaguard.verify.estimate.part import NOBODY, Question
    from kappaguard.verify.estimate.results import as_results
    from kappaguard.verify.estimate.run import Engine, attacks_for, require_fit, run

    _require_sizes(n, f, seed)
    everyone = list(attacks or ()) == [NOBODY]
    found = source_named(
        source,
        n,
        f,
        honest=None if honest is None else _list(honest),
        seed=seed,
        everyone=everyone,
        data_dir=data_dir,
        device=device,
        key=key,
    )
    require_fit(found, n, f)
    with counting("steps") as report:
        found = found.prepared(report)
    question = Question(tuple(rules), n, f, attacks_for(found, attacks or (), n, f), criterion, seed, mixing)
    place = Engine(engine, _jobs(engine, jobs, address), address)
    try:
        with counting("rounds") as report, redirect_stdout(sys.stderr):
            results = run(
                question,
                found,
                rounds,
                until_width=until_width,
                engine=place,
                store=store,
                report=report,
                worst_case=worst_case,
            )
            results = _kept(results, question, found, save)
    except KeyboardInterrupt:
        if store is not None:
            typer.echo(f"interrupted: finished parts are in {store}; run again to go on", err=True)
        raise typer.Abort from None
    data = as_results(results, _command(sys.argv))
    if csv is not None:
        from kappaguard.reports.estimate import table_csv

        write(csv, table_csv(data))
    if picture is not None:
        from kappaguard.reports.pictures.estimate import standalone

        write(picture, standalone(data))
    _tell(data, as_json)


def _require_sizes(n: int, f: int, seed: int) -> None:
    from kappaguard.rules.base.checks import require_count, require_minority

    require_count(n, 2, "n")
    require_count(f, 1, "f")
    require_count(seed, 0, "the seed")
    require_minority("estimate", n, f)


def _jobs(engine: str, jobs: int | None, address: str | None) -> int:
    if jobs is not None or engine == "local" or address is not None:
        return jobs if jobs is not None else 1
    from kappaguard.cli.check import cores

    return cores()


def _list(text: str) -> tuple[int, ...]:
    """``0-12`` or ``0,2,5-7`` as numbers."""
    from kappaguard.rules.base.errors import InputError

    found: list[int] = []
    for part in text.split(","):
        first, dash, last = part.strip().partition("-")
        if not first.isdecimal() or (dash and not last.isdecimal()) or len(first) > 6 or len(last) > 6:
            raise InputError(f"a list of workers is written 0-12 or 0,2,5-7, and not {text[:40]!r}")
        found += range(int(first), int(last if dash else first) + 1)
    return tuple(found)


def _kept(results: Sequence[Estimate], question: Question, source: Source, folder: Path) -> list[Estimate]:
    """With the inputs of the largest ratios written down: of a rule, under the attack that reached most."""
    from kappaguard.verify.estimate.witnesses import keep_largest

    best: dict[str, Estimate] = {}
    for each in results:
        if each.rule not in best or each.largest > best[each.rule].largest:
            best[each.rule] = each
    paths = {rule: keep_largest(question, source, each, folder) for rule, each in best.items()}
    return [replace(each, witness=str(paths[each.rule])) if best[each.rule] is each else each for each in results]


def _command(arguments: Sequence[str]) -> str:
    import shlex

    return shlex.join(["kappaguard", *arguments[1:]])


def _tell(data: dict[str, Any], as_json: bool) -> None:
    import json

    from kappaguard.cli.output import print_table
    from kappaguard.reports.estimate import HEADINGS, MIXING_HEADINGS, mixing_row, notes, row

    if as_json:
        typer.echo(json.dumps(data, indent=1, allow_nan=False))
        return
    entries = data["estimates"]
    print_table(HEADINGS, [row(each) for each in entries])
    mixed = [each for each in entries if each["mixing"] is not None]
    if mixed:
        print_table(MIXING_HEADINGS, [mixing_row(each) for each in mixed])
    for line in notes(data):
        typer.echo(line)
