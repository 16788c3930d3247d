"""``kappaguard report``: the report from stored results."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from kappaguard.cli.options import Baseline, Estimates, Rates, Runs


def report(
    results: Annotated[
        Path | None,
        typer.Argument(metavar="[RESULTS]", help="A results.json, or the folder that has it; not with --run alone."),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", metavar="DIR", help="Where the report goes; with --run alone, the first run's folder."),
    ] = None,
    baseline: Baseline = None,
    runs: Runs = None,
    rates: Rates = None,
    trained: Annotated[
        Path | None,
        typer.Option("--worst-inputs", metavar="FILE", help="What `kappaguard reproduce witnesses` stored, to show."),
    ] = None,
    estimates: Estimates = None,
) -> None:
    """Write the report of stored results again: index.html, report.md, results.json, witnesses and certificates.

    Without RESULTS, a page of training runs alone.
    """
    from kappaguard.reports.results import read
    from kappaguard.reports.training import with_training
    from kappaguard.reports.write import copy_files, require_ours, write_report
    from kappaguard.rules.base.errors import InputError

    if results is None:
        if not runs or baseline or rates or estimates or trained:
            raise InputError("name the results to report on, or runs alone: kappaguard report --run DIR")
        _runs_alone(runs, out or runs[0])
        return
    if out is None:
        raise InputError("name the folder for the report: --out DIR")
    found = with_training(read(results), runs or (), rates, estimates or (), trained)
    before = None if baseline is None else read(baseline)
    try:
        require_ours(out)
        missing = copy_files(found, results if results.is_dir() else results.parent, out)
        path = write_report(found, out, before)
    except OSError as error:
        raise InputError(f"cannot write to {out}: {error.strerror or error}") from None
    if missing:
        typer.echo(f"kappaguard: {len(missing)} files that the results name are missing: {missing[0]}", err=True)
    typer.echo(f"Report: {path}")


def _runs_alone(runs: list[Path], out: Path) -> None:
    from kappaguard.reports.runs import runs_page
    from kappaguard.reports.write import require_ours
    from kappaguard.rules.base.errors import InputError
    from kappaguard.rules.base.files import write

    text = runs_page(runs)
    try:
        require_ours(out)
        out.mkdir(parents=True, exist_ok=True)
        write(out / "index.html", text)
    except OSError as error:
        raise InputError(f"cannot write to {out}: {error.strerror or error}") from None
    typer.echo(f"Report: {out / 'index.html'}")
