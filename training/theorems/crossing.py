"""A run whose error is above the theorem's bound, kept so that anybody can run it again.

A folder like that of any run: the resolved configuration (with the seed, from which everything random follows), the log
of every step and what came out; and in ``crossing.json`` both sides of the bound. ``kappaguard train --replay`` carries
out the run anew from the configuration alone and compares every number.
"""

from __future__ import annotations

import json
import math
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from kappaguard.rules.base.errors import InputError
from kappaguard.rules.base.files import write
from kappaguard.training.configuration import Configuration
from kappaguard.training.finite_json import dumps, finite
from kappaguard.training.folder import Folder
from kappaguard.training.theorems.margins import Margin, margin

CLOSE = 1e-9
"""Numbers of the same run on the same machine are equal; another machine may round differently."""


def keep(
    out: Path, name: str, configuration: Configuration, rows: list[dict[str, Any]], result: dict[str, Any]
) -> Path:
    """The folder of a run that crossed its bound; one that is kept already is not kept again."""
    found = margin(configuration, rows, result)
    for path in sorted(out.glob(f"{name}-*/crossing.json")):
        if Folder.existing(path.parent)[1] == configuration:
            return path.parent
    folder = Folder.create(out, name, configuration)
    for row in rows:
        folder.log(row)
    write(folder.path / "crossing.json", dumps(asdict(found), indent=2) + "\n")
    folder.finish(result)
    return folder.path


@dataclass(frozen=True)
class RunComparison:
    """What became of a run that was carried out again: the margin now and then, and the first step that differs."""

    now: Margin
    left: float
    stated: float
    steps: int
    differs: int | None

    @property
    def agrees(self) -> bool:
        """Whether every number came out again, and with them the left-hand side."""
        return self.differs is None and math.isclose(self.now.left, self.left, rel_tol=CLOSE)


def replay(path: Path) -> RunComparison:
    """Carry out the run in a folder again, in memory: nothing is written."""
    from kappaguard.training.build import build
    from kappaguard.training.run import run

    folder, configuration = Folder.existing(path)
    try:
        kept = json.loads((path / "crossing.json").read_text(encoding="utf-8"))
        left, stated = float(kept["left"]), float(kept["stated"])
    except OSError:
        raise InputError(f"{path} has no crossing.json: only runs that crossed a bound are replayed") from None
    except (ValueError, KeyError, TypeError):
        raise InputError(f"{path}/crossing.json is damaged") from None
    rows: list[dict[str, Any]] = []
    result = run(build(configuration), configuration, keep=lambda row: rows.append(finite(row))).to_json()
    stored = folder.rows()
    pairs = zip(rows, stored, strict=False)
    differing = [new["step"] for new, old in pairs if not _same(new, old)]
    if len(rows) != len(stored):
        differing.append(min(len(rows), len(stored)) + 1)
    return RunComparison(
        margin(configuration, rows, result), left, stated, result["steps"], min(differing, default=None)
    )


def _same(one: dict[str, Any], other: dict[str, Any]) -> bool:
    return one.keys() == other.keys() and all(
        math.isclose(one[key], other[key], rel_tol=CLOSE, abs_tol=1e-300)
        if isinstance(one[key], int | float) and isinstance(other[key], int | float)
        else one[key] == other[key]
        for key in one
    )
