"""Finished cells of experiments: what came out of each, and its log, kept in a ledger."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import kappaguard
from kappaguard.rules.base.errors import InputError
from kappaguard.search.ledger import ledger
from kappaguard.training.finite_json import dumps
from kappaguard.training.reproduce.experiments import PLACES, Cell


class CellStore:
    """The file; every method opens and closes it, so that several processes may share it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        with ledger(path):
            pass

    def add(self, cell: Cell, result: dict[str, Any], rows: list[dict[str, Any]]) -> None:
        """A cell is finished: its result and its log, in one transaction."""
        entry = {
            "experiment": cell.experiment,
            "configuration": cell.configuration.to_json(),
            "result": result,
            "version": kappaguard.__version__,
            "finished": datetime.now(UTC).isoformat(timespec="seconds"),
        }
        with ledger(self.path) as finished:
            finished.update({cell.key: dumps(entry), _log_of(cell): dumps(rows)})

    def result(self, cell: Cell) -> dict[str, Any] | None:
        """What came out of a cell; None if it is not finished, or was finished with other defaults."""
        entry = self._read(cell.key)
        if entry is None:
            return None
        try:
            stored = {name: value for name, value in entry["configuration"].items() if name not in PLACES}
            result = dict(entry["result"])
        except (TypeError, AttributeError, KeyError, ValueError):
            raise InputError(f"{self.path} is damaged: it holds a cell that no experiment has written") from None
        given = cell.configuration.to_json()
        return result if all(given.get(name) == value for name, value in stored.items()) else None

    def rows(self, cell: Cell) -> list[dict[str, Any]]:
        """The log of a finished cell."""
        return list(self._read(_log_of(cell)) or ())

    def _read(self, key: str) -> Any:
        """What is stored under a key; None if nothing is."""
        with ledger(self.path) as finished:
            try:
                return json.loads(finished[key])
            except KeyError:
                return None
            except (ValueError, RecursionError) as error:
                raise InputError(f"{self.path} is damaged: {error}") from None


def _log_of(cell: Cell) -> str:
    return f"{cell.key} log"
