"""Arguments and options that several commands have, in the same words."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from fractions import Fraction

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON, and nothing else.")]
Tolerance = Annotated[float | None, typer.Option("--tolerance", help="The relative error of a rule that iterates.")]
Jobs = Annotated[int | None, typer.Option("--jobs", "-j", help="Processes at a time; default: one per core.")]
Vectors = Annotated[int, typer.Option("-n", help="The number of vectors.", show_default=False)]
Byzantine = Annotated[int, typer.Option("-f", help="The number of Byzantine ones.", show_default=False)]
Seed = Annotated[int, typer.Option("--seed", help="The same seed gives the same result.")]
Engine = Annotated[str, typer.Option("--engine", help="local, dask or ray.")]
Address = Annotated[str | None, typer.Option("--address", help="Of the cluster's scheduler.")]
Baseline = Annotated[
    Path | None, typer.Option("--baseline", metavar="RESULTS", help="An earlier results.json to compare with.")
]
Runs = Annotated[
    list[Path] | None, typer.Option("--run", metavar="DIR", help="A stored training run to show; several times.")
]
Rates = Annotated[
    Path | None, typer.Option("--rates", metavar="FILE", help="What `kappaguard reproduce rates` stored, to show.")
]
Estimates = Annotated[
    list[Path] | None,
    typer.Option("--estimate", metavar="FILE", help="What `kappaguard estimate --json` printed; several times."),
]
RuleOrRecipe = Annotated[
    str, typer.Argument(metavar="RULE", help="A rule: built in, code to be traced, or a recipe as a JSON file.")
]
TraceTimeout = Annotated[
    float | None, typer.Option("--timeout", metavar="SECONDS", help="For a trace of code; default: 120.")
]
RuleName = Annotated[str, typer.Argument(metavar="RULE", help="A name, module:attribute or file.py:attribute.")]
RuleNames = Annotated[list[str], typer.Argument(metavar="RULE...", help="The rules.", show_default=False)]
Device = Annotated[str, typer.Option("--device", help="auto, cpu, cuda or mps.")]
DataFolder = Annotated[
    str | None, typer.Option("--data-dir", help="A folder with the data; else KAPPAGUARD_DATA, else a download.")
]


def relative_error(tolerance: float | None) -> Fraction | None:
    """``--tolerance`` as a fraction; InputError unless it is at least 0 and less than 1."""
    from fractions import Fraction

    from kappaguard.rules.base.errors import InputError

    if tolerance is None:
        return None
    if not 0 <= tolerance < 1:
        raise InputError(f"--tolerance must be at least 0 and less than 1, got {tolerance:g}")
    return Fraction(tolerance)


def whole_numbers(text: str, option: str) -> list[int]:
    """Whole numbers with commas between them."""
    from kappaguard.rules.base.errors import InputError

    try:
        return [int(part) for part in text.split(",")]
    except ValueError:
        raise InputError(f"{option} are whole numbers with commas between them, not {text[:100]!r}") from None
