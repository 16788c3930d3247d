"""``kappaguard report``: the report from stored results."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def report(
    results: Annotated[Path, typer.Argument(metavar="RESULTS", help="A results.json, or the folder that has it.")],
    out: Annotated[Path, typer.Option("--out", metavar="DIR", help="Where the report goes.")],
    baseline: Annotated[
        Path | None, typer.Option("--baseline", metavar="RESULTS", help="An earlier results.json to compare with.")
    ] = None,
    runs: Annotated[
        list[Path] | None, typer.Option("--run", metavar="DIR", help="A stored training run to show; several times.")
    ] = None,
    rates: Annotated[
        Path | None, typer.Option("--rates", metavar="FILE", help="What `kappaguard reproduce rates` stored, to show.")
    ] = None,
    trained: Annotated[
        Path | None,
        typer.Option("--witnesses", metavar="FILE", help="What `kappaguard reproduce witnesses` stored, to show."),
    ] = None,
    estimates: Annotated[
        list[Path] | None,
        typer.Option("--estimate", metavar="FILE", help="What `kappaguard estimate --json` printed; several times."),
    ] = None,
) -> None:
    """Write the report of stored results again: index.html, report.md, results.json, witnesses and certificates."""
    from kappaguard.reports.results import read
    from kappaguard.reports.training import with_training
    from kappaguard.reports.write import copy_files, require_ours, write_report
    from kappaguard.rules.errors import InputError

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
