"""The picture of the README, from the results of a report: ``python -m kappaguard.reports.cover kappa-report docs``."""

from __future__ import annotations

import sys
from pathlib import Path

from kappaguard.reports.pictures.kappa import curves
from kappaguard.reports.results import read
from kappaguard.rules.base.errors import InputError
from kappaguard.rules.base.files import write

GREY = "#6e7781"
"""Readable on light and on dark."""
HEADER = '<?xml version="1.0" encoding="utf-8"?>\n'


def write_cover(results: Path, folder: Path) -> Path:
    """Write kappa.svg, which stands alone: without links, and with a size."""
    entries = [{**each, "witness": None} for each in read(results).get("kappa", [])]
    picture = curves(entries, "")
    if picture is None:
        raise InputError(f"{results} has too few values of kappa* for a picture: was it written by verify --quick?")
    text = picture.svg.replace("currentColor", GREY).replace("<svg ", '<svg width="720" ', 1)
    write(folder / "kappa.svg", HEADER + text)
    return folder / "kappa.svg"


if __name__ == "__main__":
    write_cover(Path(sys.argv[1]), Path(sys.argv[2]))
