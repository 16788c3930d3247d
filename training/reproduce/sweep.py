"""Running the cells of an experiment: here one after the other, or on an engine; what is finished is not redone."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

from kappaguard.rules.base.checks import require_count
from kappaguard.rules.base.errors import InputError
from kappaguard.search.engines import Died, distribute
from kappaguard.training.data.dataset import Dataset
from kappaguard.training.reproduce.experiments import SUMMARY, Cell
from kappaguard.training.reproduce.ledger import CellStore

Report = Callable[[int, int], None]
Rows = list[dict[str, Any]]


def sweep(
    cells: list[Cell],
    ledger: CellStore,
    report: Callable[[Cell], Report],
    engine: str = "local",
    jobs: int = 1,
    address: str | None = None,
) -> Iterator[tuple[Cell, dict[str, Any]]]:
    """Every cell with its result, as they get done; engines are those of ``kappaguard.search.engines``.

    A cell is put into the ledger, by this process, as soon as it is finished.
    """
    require_count(jobs, 1, "jobs")
    left = []
    for cell in cells:
        result = ledger.result(cell)
        if result is None:
            left.append(cell)
        else:
            yield cell, result
    if engine == "local" and jobs == 1:
        for cell in left:
            result, rows = finish(cell, report(cell))
            ledger.add(cell, result, rows)
            yield cell, result
        return
    for place, outcome in distribute(finish, left, engine, address, max(1, min(jobs, len(left)))):
        if isinstance(outcome, Died):
            raise InputError("a process of the experiment died, out of memory perhaps; start again to go on")
        result, rows = outcome
        ledger.add(left[place], result, rows)
        yield left[place], result


def finish(cell: Cell, report: Report = lambda done, total: None) -> tuple[dict[str, Any], Rows]:
    """Run one cell: what came out, and the log if that is kept."""
    from kappaguard.training.build import build
    from kappaguard.training.run import run
    from kappaguard.training.theorems.summary import summary

    given = cell.configuration
    rows: Rows = []
    data = None if given.model == "quadratic" else _data(given.dataset, given.data_dir)
    if cell.kind == SUMMARY:
        return summary(given, report, data).to_json(), rows
    training = build(given, data)
    result = run(training, given, report=report, keep=rows.append).to_json()
    return result, rows


@cache
def _data(dataset: str, data_dir: str | None) -> Dataset:
    from kappaguard.training.data.catalogue import load

    return load(dataset, data_dir)
