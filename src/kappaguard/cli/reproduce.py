"""``kappaguard reproduce``: the paper's tables and figures, resumable cell by cell."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kappaguard.cli.options import DataFolder, Device, Engine

if TYPE_CHECKING:
    from kappaguard.training.reproduce.catalogue import Experiment
    from kappaguard.training.reproduce.experiments import Cell
    from kappaguard.training.reproduce.ledger import CellStore

STORE = "cells.sqlite"


def reproduce(
    what: Annotated[
        str,
        typer.Argument(
            metavar="TABLE|FIGURE",
            help="table2, baseline, kappa, mnist, dgd, others, fashion-mnist, cifar-10 and more of the paper's "
            "settings (mnist-f6-alpha1); theorem1 (-logistic, -cnn, -slack), theorem2 (-logistic, -cnn, "
            "-regimes), rates, witnesses.",
        ),
    ],
    seeds: Annotated[int, typer.Option("--seeds", help="Seeds 1 to this; the paper has 5.")] = 1,
    steps: Annotated[
        int | None, typer.Option("--steps", help="Fewer steps than the paper.", show_default=False)
    ] = None,
    engine: Engine = "local",
    jobs: Annotated[
        int, typer.Option("--jobs", "-j", help="Processes at a time; default: 1, as each run has all cores.")
    ] = 1,
    address: Annotated[
        str | None, typer.Option("--address", help="Of the cluster's scheduler.", show_default=False)
    ] = None,
    rules: Annotated[list[str] | None, typer.Option("--rule", help="Only this one; may be repeated.")] = None,
    attacks: Annotated[list[str] | None, typer.Option("--attack", help="Only this one; may be repeated.")] = None,
    evaluate_every: Annotated[
        int | None, typer.Option("--evaluate-every", help="Steps between tests.", show_default=False)
    ] = None,
    data_dir: DataFolder = None,
    device: Device = "auto",
    out: Annotated[Path, typer.Option("--out", metavar="DIR", help="Where results are kept.")] = Path(
        ".kappaguard/reproduce"
    ),
) -> None:
    """Run an experiment of the paper and print our numbers beside the paper's; finished cells are not run again."""
    from kappaguard.cli import theorems
    from kappaguard.cli.output import print_table
    from kappaguard.cli.witnesses import worst_inputs
    from kappaguard.reports.experiments.table import HEADINGS, made_by, markdown, table
    from kappaguard.rules.base.checks import require_count, shown
    from kappaguard.rules.base.errors import InputError
    from kappaguard.rules.base.files import write
    from kappaguard.search.engines import ENGINES
    from kappaguard.training.reproduce.catalogue import MARGIN
    from kappaguard.training.reproduce.experiments import OTHERS, SEEDS, cells_of, experiment_named, name_of
    from kappaguard.training.reproduce.ledger import CellStore

    require_count(seeds, 1, "seeds")
    if seeds > SEEDS:
        raise InputError(f"seeds must be at most {SEEDS}, got {shown(seeds)}")
    if engine not in ENGINES:
        raise InputError(f"no engine is called {engine!r}; there are {', '.join(ENGINES)}")

    def finish(cells: list[Cell]) -> dict[str, dict[str, Any]]:
        return _finish(cells, CellStore(out / STORE), engine, jobs, address)

    if what in OTHERS:
        ignored: dict[str, Any] = {"--attack": attacks, "--evaluate-every": evaluate_every, "--data-dir": data_dir}
        ignored |= {"--device": device != "auto", "--seeds": what == "theorem2-regimes" and seeds != 1}
        ignored |= {"--rule": rules} if what != "witnesses" else {"--steps": steps, "--engine": engine != "local"}
        for name in (name for name, value in ignored.items() if value):
            raise InputError(f"{what} takes no {name}")
        if what == "rates":
            theorems.rates(steps, seeds, finish, out)
        elif what == "witnesses":
            worst_inputs(rules, seeds, out)
        else:
            theorems.regimes(3000 if steps is None else steps, finish, out)
        return
    given = {"steps": steps, "evaluate_every": evaluate_every, "data_dir": data_dir}
    changes: dict[str, Any] = {key: value for key, value in given.items() if value is not None}
    cells = theorems.with_kappa(cells_of(what, seeds, rules, attacks, device=device, **changes))
    done = finish(cells)
    finished = [(cell, done[cell.key]) for cell in cells]
    ledger = CellStore(out / STORE)
    experiment = experiment_named(what)
    name = name_of(what, cells)
    paths = [out / f"{name}.md"]
    crossed: list[str] = []
    headings, rows = HEADINGS, table(finished)
    if experiment.quantity == MARGIN:
        headings, rows, crossed = theorems.margins(finished, ledger, out)
    else:
        paths += _figure(finished, ledger, out / name, experiment)
    print_table(headings, rows)
    write(paths[0], f"# {experiment.title}\n\n{markdown(headings, rows)}")
    typer.echo(f"Stored: {', '.join(map(str, [ledger.path, *paths]))}")
    codes = made_by(finished)
    if len(codes) > 1:
        known = ", ".join(code or "an earlier version" for code in codes)
        typer.echo(f"These cells were made by {len(codes)} versions of the code: {known}", err=True)
    for line in crossed:
        typer.echo(line)
    if crossed:
        raise typer.Exit(1)


def _finish(
    cells: list[Cell], ledger: CellStore, engine: str, jobs: int, address: str | None
) -> dict[str, dict[str, Any]]:
    """What came out of every cell, by its key, with a bar while it lasts; interrupted, it can go on another time."""
    from kappaguard.cli.progress import nested
    from kappaguard.training.reproduce.sweep import sweep

    done: dict[str, dict[str, Any]] = {}
    with nested("cells", len(cells)) as bar:
        try:
            for cell, result in sweep(cells, ledger, lambda cell: bar.begin(cell.label), engine, jobs, address):
                done[cell.key] = result
                bar.done()
        except KeyboardInterrupt:
            typer.echo(f"interrupted: {len(done)} of {len(cells)} cells are done; run again to go on", err=True)
            raise typer.Abort from None
    return done


def _figure(
    finished: list[tuple[Cell, dict[str, Any]]], ledger: CellStore, path: Path, experiment: Experiment
) -> list[Path]:
    """The picture of an experiment, and every point of it."""
    from kappaguard.reports.experiments.figure import picture
    from kappaguard.rules.base.files import write
    from kappaguard.training.reproduce.curves import as_csv, curves

    drawn = curves([(cell, ledger.rows(cell)) for cell, _ in finished], experiment.quantity)
    paths = [path.with_name(f"{path.name}.svg"), path.with_name(f"{path.name}.csv")]
    write(paths[0], picture(drawn, experiment.quantity, experiment.title))
    write(paths[1], as_csv(drawn, experiment.quantity))
    return paths
