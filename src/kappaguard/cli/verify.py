"""``kappaguard verify``: every claim, its verdict, and a report."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Annotated

import typer

N, F = 17, 4
HEADINGS = ["rule", "claimed coefficient", f"at n = {N}, f = {F}", "source"]
NOTICE = (
    "The claims are not implemented yet: nothing is proved or refuted here. "
    f"The table only evaluates the coefficients that are claimed for the built-in rules at n = {N}, f = {F}."
)


def verify(
    out: Annotated[Path, typer.Option("--out", metavar="DIR", help="Where the report goes.")] = Path("kappa-report"),
) -> None:
    """Check every claim and write the report. (No claim is implemented yet: it tabulates coefficients.)"""
    from kappaguard.cli.output import markdown_table, print_table

    rows = _rows()
    # As code, so that the stars of a formula are not read as emphasis.
    as_code = [(rule, f"`{coefficient}`", *rest) for rule, coefficient, *rest in rows]
    report = f"# kappaguard report\n\n{NOTICE}\n\n{markdown_table(HEADINGS, as_code)}"
    path = _write(report, out)
    print_table(HEADINGS, rows)
    typer.echo(f"{NOTICE}\nReport: {path}")


def _rows() -> list[tuple[str, str, str, str]]:
    from kappaguard.cli.catalogue import entries
    from kappaguard.rules.expression import evaluate

    return [
        (
            entry.name,
            entry.coefficient or "none",
            _shown(evaluate(entry.coefficient, n=N, f=F)) if entry.coefficient else "",
            entry.source or "",
        )
        for entry in entries()
        if entry.kind == "rule"
    ]


def _shown(value: Fraction | float) -> str:
    return str(value) if float(value).is_integer() else f"{value} ≈ {float(value):.6g}"


def _write(report: str, folder: Path) -> Path:
    from kappaguard.rules.errors import InputError

    path = folder / "report.md"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        path.write_text(report, encoding="utf-8")
    except OSError as error:
        raise InputError(f"cannot write {path}: {error.strerror}") from None
    return path
