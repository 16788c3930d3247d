"""``kappaguard reproduce``: the paper's tables and figures, resumable cell by cell."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from kappaguard.training.reproduce.experiments import Cell
    from kappaguard.training.reproduce.ledger import Ledger


def reproduce(
    what: Annotated[
        str,
        typer.Argument(
            metavar="TABLE|FIGURE",
            help="table2, kappa, mnist, dgd, others, fashion-mnist, cifar-10; theorem1 (-logistic, -cnn), theorem2.",
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
    from kappaguard.training.reproduce.experiments import cells_of, experiment_named
    from kappaguard.training.reproduce.ledger import Ledger
    from kappaguard.training.reproduce.sweep import sweep
    from kappaguard.training.reproduce.table import HEADINGS, markdown, table

    require_count(seeds, 1, "seeds")
    given = {"steps": steps, "evaluate_every": evaluate_every, "data_dir": data_dir}
    changes: dict[str, Any] = {key: value for key, value in given.items() if value is not None}
    cells = cells_of(what, seeds, rules, attacks, device=device, **changes)
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
    headings, rows = _margins(finished, ledger) if what.startswith("theorem") else (HEADINGS, table(finished))
    print_table(headings, rows)
    title = experiment_named(what).title
    path = out / f"{what}.md"
    write(path, f"# {title}\n\n{markdown(headings, rows)}")
    typer.echo(f"Stored: {ledger.path}, {path}")


def _margins(finished: list[tuple[Cell, dict[str, Any]]], ledger: Ledger) -> tuple[list[str], list[list[str]]]:
    """Both sides of the convergence theorems."""
    from kappaguard.training.theorems.margins import HEADINGS, line, margin

    lines = [line(margin(cell.configuration, ledger.rows(cell), result)) for cell, result in finished]
    return HEADINGS, lines
