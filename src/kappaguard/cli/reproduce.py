"""``kappaguard reproduce``: the paper's tables and figures, resumable cell by cell."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from kappaguard.training.reproduce.catalogue import Experiment
    from kappaguard.training.reproduce.experiments import Cell
    from kappaguard.training.reproduce.ledger import Ledger


def reproduce(
    what: Annotated[
        str,
        typer.Argument(
            metavar="TABLE|FIGURE",
            help="table2, baseline, kappa, mnist, dgd, others, fashion-mnist, cifar-10 and more of the paper's "
            "settings (mnist-f6-alpha1); theorem1 (-logistic, -cnn), theorem2 (-logistic, -regimes), "
            "rates.",
        ),
    ],
    seeds: Annotated[int, typer.Option("--seeds", help="Seeds 1 to this; the paper has 5.")] = 1,
    steps: Annotated[
        int | None, typer.Option("--steps", help="Fewer steps than the paper.", show_default=False)
    ] = None,
    engine: Annotated[str, typer.Option("--engine", help="local, dask or ray.")] = "local",
    jobs: Annotated[int, typer.Option("--jobs", help="Processes of the local engine.")] = 1,
    address: Annotated[str | None, typer.Option("--address", help="Of a cluster.", show_default=False)] = None,
    rules: Annotated[list[str] | None, typer.Option("--rule", help="Only this one; may be repeated.")] = None,
    attacks: Annotated[list[str] | None, typer.Option("--attack", help="Only this one; may be repeated.")] = None,
    evaluate_every: Annotated[
        int | None, typer.Option("--evaluate-every", help="Steps between tests.", show_default=False)
    ] = None,
    data_dir: Annotated[str | None, typer.Option("--data-dir", help="A folder with the data.")] = None,
    device: Annotated[str, typer.Option("--device", help="auto, cpu, cuda or mps.")] = "auto",
    out: Annotated[Path, typer.Option("--out", metavar="DIR", help="Where results are kept.")] = Path(
        ".kappaguard/reproduce"
    ),
) -> None:
    """Run an experiment of the paper and print our numbers beside the paper's; finished cells are not run again."""
    from kappaguard.cli.output import print_table
    from kappaguard.cli.progress import nested
    from kappaguard.rules.checks import require_count
    from kappaguard.rules.errors import InputError
    from kappaguard.rules.files import write
    from kappaguard.search.engines import ENGINES
    from kappaguard.training.reproduce.catalogue import MARGIN
    from kappaguard.training.reproduce.experiments import OTHERS, cells_of, experiment_named, name_of
    from kappaguard.training.reproduce.ledger import Ledger
    from kappaguard.training.reproduce.sweep import sweep
    from kappaguard.training.reproduce.table import HEADINGS, markdown, table

    require_count(seeds, 1, "seeds")
    if what in OTHERS:
        ignored: dict[str, Any] = {"--rule": rules, "--attack": attacks, "--engine": engine != "local"}
        ignored |= {"--jobs": jobs != 1, "--address": address, "--evaluate-every": evaluate_every}
        ignored |= {"--data-dir": data_dir, "--device": device != "auto", "--seeds": what != "rates" and seeds != 1}
        for name in (name for name, value in ignored.items() if value):
            raise InputError(f"{what} takes no {name}")
        if what == "rates":
            _rates(steps, seeds, out)
        else:
            _regimes(3000 if steps is None else steps, out)
        return
    given = {"steps": steps, "evaluate_every": evaluate_every, "data_dir": data_dir}
    changes: dict[str, Any] = {key: value for key, value in given.items() if value is not None}
    cells = _with_kappa(cells_of(what, seeds, rules, attacks, device=device, **changes))
    if engine not in ENGINES:
        raise InputError(f"no engine is called {engine!r}; there are {', '.join(ENGINES)}")
    ledger = Ledger(out / "cells.sqlite")
    done: dict[str, dict[str, Any]] = {}
    with nested("cells", len(cells)) as bar:
        try:
            for cell, result in sweep(cells, ledger, lambda cell: bar.begin(cell.label), engine, jobs, address):
                done[cell.key] = result
                bar.done()
        except KeyboardInterrupt:
            typer.echo(f"interrupted: {len(done)} of {len(cells)} cells are done; run again to go on", err=True)
            raise typer.Abort from None
    finished = [(cell, done[cell.key]) for cell in cells if cell.key in done]
    experiment = experiment_named(what)
    name = name_of(what, cells)
    paths = [out / f"{name}.md"]
    crossed: list[Path] = []
    headings, rows = HEADINGS, table(finished)
    if experiment.quantity == MARGIN:
        headings, rows, crossed = _margins(finished, ledger, out)
    else:
        paths += _figure(finished, ledger, out / name, experiment)
    print_table(headings, rows)
    write(paths[0], f"# {experiment.title}\n\n{markdown(headings, rows)}")
    typer.echo(f"Stored: {', '.join(map(str, [ledger.path, *paths]))}")
    for path in crossed:
        typer.echo(f"A bound is crossed: kappaguard train --replay {path}")
    if crossed:
        raise typer.Exit(1)


def _with_kappa(cells: list[Cell]) -> list[Cell]:
    """With the certified upper bound on kappa* where Theorem 2's step sizes need one and the paper claims none."""
    from dataclasses import replace
    from functools import cache

    from kappaguard.rules.names import parse

    @cache
    def proved(rule: str, n: int, f: int) -> float | None:
        from kappaguard.verify.exact import exact

        upper = exact(rule, n, f).upper if parse(rule, f=f).claim is None else None
        return None if upper is None else math.nextafter(float(upper), math.inf)

    def given(cell: Cell) -> Cell:
        own = cell.configuration
        if own.schedule != "theorem" or own.algorithm != "shb":
            return cell
        return replace(cell, configuration=own.with_values({"kappa": proved(own.rule, own.n, own.f)}))

    return [given(cell) for cell in cells]


def _margins(
    finished: list[tuple[Cell, dict[str, Any]]], ledger: Ledger, out: Path
) -> tuple[list[str], list[list[str]], list[Path]]:
    """Both sides of the convergence theorems; a run that crosses the bound as stated is kept in a folder of its own."""
    from kappaguard.cli.train import slug
    from kappaguard.rules.errors import InputError
    from kappaguard.training.theorems.crossing import keep
    from kappaguard.training.theorems.margins import HEADINGS, line, margin

    lines, crossed = [], []
    for cell, result in finished:
        steps = ledger.rows(cell)
        try:
            found = margin(cell.configuration, steps, result)
        except InputError as error:
            given = cell.configuration
            blank = [""] * (len(HEADINGS) - 4)
            lines.append([given.rule, given.attack, str(given.steps), *blank, f"cannot be said: {error}"])
            continue
        lines.append(line(found))
        if not found.holds:
            name = f"{cell.experiment}-{slug(cell.configuration)}"
            crossed.append(keep(out / "crossed", name, cell.configuration, steps, result))
    return HEADINGS, lines, crossed


def _figure(
    finished: list[tuple[Cell, dict[str, Any]]], ledger: Ledger, path: Path, experiment: Experiment
) -> list[Path]:
    """The picture of an experiment, and every point of it."""
    from kappaguard.rules.files import write
    from kappaguard.training.reproduce.curves import as_csv, curves
    from kappaguard.training.reproduce.figure import picture

    drawn = curves([(cell, ledger.rows(cell)) for cell, _ in finished], experiment.quantity)
    paths = [path.with_name(f"{path.name}.svg"), path.with_name(f"{path.name}.csv")]
    write(paths[0], picture(drawn, experiment.quantity, experiment.title))
    write(paths[1], as_csv(drawn, experiment.quantity))
    return paths


def _regimes(steps: int, out: Path) -> None:
    """Each term of Theorem 2's bound in a run where it is all that matters."""
    from kappaguard.cli.output import print_table
    from kappaguard.rules.checks import require_count
    from kappaguard.rules.files import write
    from kappaguard.training.reproduce.table import markdown
    from kappaguard.training.theorems.regimes import HEADINGS, regimes

    require_count(steps, 1, "steps")
    rows = [found.line() for found in regimes(steps)]
    print_table(HEADINGS, rows)
    out.mkdir(parents=True, exist_ok=True)
    path = out / f"theorem2-regimes-steps{steps}.md"
    write(path, f"# Theorem 2, term by term\n\n{markdown(HEADINGS, rows)}")
    typer.echo(f"Stored: {path}")


def _rates(steps: int | None, seeds: int, out: Path) -> None:
    """The slopes of the convergence theorems and the floors, for the report."""
    from kappaguard.cli.output import print_table
    from kappaguard.cli.progress import counting
    from kappaguard.reports import rates
    from kappaguard.rules.errors import InputError

    command = f"{rates.COMMAND}{f' --steps {steps}' if steps else ''} --seeds {seeds}"
    if (out / rates.NAME).exists() and rates.read(out)["command"] != command:
        raise InputError(f"{out / rates.NAME} holds the rates of other settings; choose another folder with --out")
    with counting("rates") as report:
        found = rates.measure(steps, seeds, report, command)
    print_table(rates.SLOPES, rates.slope_rows(found))
    print_table(rates.FLOORS, rates.floor_rows(found))
    typer.echo(f"Stored: {rates.save(found, out)}")
