"""``kappaguard stress``: the dossier of a new rule."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from kappaguard.cli.options import AsJson, Jobs, Seed, Tolerance


def stress(
    rule: Annotated[str, typer.Argument(metavar="RULE", help="Such as path/to/file.py:MyRule.", show_default=False)],
    n: Annotated[int, typer.Option("-n", help="The number of vectors.")] = 17,
    f: Annotated[int, typer.Option("-f", help="The number of Byzantine ones.")] = 4,
    out: Annotated[Path | None, typer.Option("--out", metavar="DIR", help="Default: kappa-dossier/RULE.")] = None,
    evaluations: Annotated[
        int, typer.Option("--evaluations", metavar="K", help="Inputs that one search tries; the same on every machine.")
    ] = 10_000,
    seed: Seed = 0,
    tolerance: Tolerance = None,
    timeout: Annotated[float, typer.Option("--timeout", metavar="SECONDS", help="For one section.")] = 300.0,
    jobs: Jobs = None,
    as_json: AsJson = False,
) -> int:
    """Put a rule through everything: one folder with a page, the numbers and all witnesses."""
    import json
    import re

    from kappaguard.cli.check import INTERRUPTED, cores
    from kappaguard.cli.options import relative_error
    from kappaguard.cli.progress import is_silent
    from kappaguard.reports.dossier.plan import Plan
    from kappaguard.reports.dossier.run import HTML, PAGE
    from kappaguard.reports.dossier.run import stress as write_dossier
    from kappaguard.reports.dossier.verdict import verdict
    from kappaguard.rules.base.checks import require_count
    from kappaguard.rules.base.errors import InputError

    allowed = relative_error(tolerance)
    told = None if allowed is None else str(allowed)
    plan = Plan(rule, n, f, evaluations, seed, tolerance=told, timeout=timeout)
    if jobs is not None:
        require_count(jobs, 1, "--jobs")
    slug = re.sub(r"[^A-Za-z0-9]+", "-", rule).strip("-")[:60] or "rule"
    folder = out if out is not None else Path("kappa-dossier") / slug
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"cannot write to {folder}: {error.strerror or error}") from None

    def tell(name: str) -> None:
        if not as_json and not is_silent():
            typer.echo(f"  {name}", err=True)

    dossier = write_dossier(plan, folder, jobs or cores(), done=tell)
    if as_json:
        typer.echo(json.dumps(dossier.to_json() | {"folder": str(folder)}, indent=2))
        return INTERRUPTED if dossier.interrupted else 0
    for line in verdict(plan, dossier.data, dossier.failed):
        typer.echo(f"- {_plain(line)}")
    ended = f"{dossier.seconds:.0f} s{', interrupted' if dossier.interrupted else ''}"
    typer.echo(f"\nDossier: {folder / HTML}, {PAGE} ({ended})")
    return INTERRUPTED if dossier.interrupted else 0


def _plain(line: str) -> str:
    """A line of Markdown for the terminal."""
    import re

    return re.sub(r"\\(.)", r"\1", line.replace("**", ""))
