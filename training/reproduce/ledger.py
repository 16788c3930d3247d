"""Finished cells in one SQLite file: what is in it is done, whatever happens to the process afterwards."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import kappaguard
from kappaguard.rules.errors import InputError
from kappaguard.training.reproduce.experiments import PLACES, Cell
from kappaguard.training.strict import dumps

_TABLE = """CREATE TABLE IF NOT EXISTS cells (
    key TEXT PRIMARY KEY, experiment TEXT, configuration TEXT, result TEXT, rows TEXT, version TEXT, finished TEXT
)"""


class Ledger:
    """The file; every method opens and closes it, so that several processes may share it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            with closing(self._open()) as connection, connection:
                tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
                if tables - {"cells"}:
                    raise InputError(f"{path} is a database of somebody else's: it is left as it is")
                connection.execute(_TABLE)
        except OSError as error:
            raise InputError(f"cannot write to {path}: {error.strerror or error}") from None
        except sqlite3.Error as error:
            raise InputError(f"{path} cannot be used: {error}") from None

    def _open(self) -> sqlite3.Connection:
        return sqlite3.connect(self.path, timeout=60)

    def add(self, cell: Cell, result: dict[str, Any], rows: list[dict[str, Any]]) -> None:
        """A cell is finished: its result and its log, in one transaction."""
        values = (
            cell.key,
            cell.experiment,
            json.dumps(cell.configuration.to_json()),
            dumps(result),
            dumps(rows),
            kappaguard.__version__,
        )
        try:
            with closing(self._open()) as connection, connection:
                connection.execute("INSERT OR REPLACE INTO cells VALUES (?, ?, ?, ?, ?, ?, datetime('now'))", values)
        except sqlite3.Error as error:
            raise InputError(f"cannot write to {self.path}: {error}") from None

    def result(self, cell: Cell) -> dict[str, Any] | None:
        """What came out of a cell; None if it is not finished, or was finished with other defaults."""
        found = self._read("configuration, result", cell)
        if found is None:
            return None
        given = cell.configuration.to_json()
        stored = {name: value for name, value in found[0].items() if name not in PLACES}
        return dict(found[1]) if all(given.get(name) == stored[name] for name in stored) else None

    def rows(self, cell: Cell) -> list[dict[str, Any]]:
        """The log of a finished cell."""
        found = self._read("rows", cell)
        return [] if found is None else list(found[0])

    def _read(self, columns: str, cell: Cell) -> list[Any] | None:
        """What some columns hold of a cell."""
        try:
            with closing(self._open()) as connection:
                found = connection.execute(f"SELECT {columns} FROM cells WHERE key = ?", (cell.key,)).fetchone()
            return None if found is None else [json.loads(each) for each in found]
        except (sqlite3.Error, ValueError, TypeError) as error:
            raise InputError(f"{self.path} is damaged: {error}") from None
