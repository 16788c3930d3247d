"""Finished pieces of work in one SQLite file: each is written, in a transaction of its own, when it is finished.

Killed at any moment, the file holds what was written by then; started again, the work goes on with what is missing.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from kappaguard.rules.errors import InputError

SCHEMA = "kappaguard-ledger/1"


class Ledger:
    """Texts by key."""

    def __init__(self, path: Path | str) -> None:
        self.path = Path(path)
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._connection = sqlite3.connect(self.path, timeout=60)
            with self._connection as connection:
                connection.execute("pragma journal_mode = wal")
                connection.execute("pragma synchronous = full")
                connection.execute("create table if not exists about (schema text not null)")
                connection.execute("create table if not exists cells (key text primary key, result text not null)")
                known = connection.execute("select schema from about").fetchall()
                if not known:
                    connection.execute("insert into about values (?)", (SCHEMA,))
        except (sqlite3.Error, OSError) as error:
            raise InputError(f"cannot open {self.path}: {error}") from None
        if known and known[0][0] != SCHEMA:
            raise InputError(f"{self.path} holds {known[0][0]!r} and not {SCHEMA!r}")

    def __getitem__(self, key: str) -> str:
        row = self._connection.execute("select result from cells where key = ?", (key,)).fetchone()
        if row is None:
            raise KeyError(key)
        return str(row[0])

    def __contains__(self, key: str) -> bool:
        return self._connection.execute("select 1 from cells where key = ?", (key,)).fetchone() is not None

    def __setitem__(self, key: str, result: str) -> None:
        with self._connection as connection:
            connection.execute("insert or replace into cells values (?, ?)", (key, result))

    def items(self) -> Iterator[tuple[str, str]]:
        """All of them, in the order of their keys."""
        yield from self._connection.execute("select key, result from cells order by key")

    def close(self) -> None:
        """Let go of the file."""
        self._connection.close()


@contextmanager
def ledger(path: Path | str) -> Iterator[Ledger]:
    """The ledger in a file, closed afterwards."""
    opened = Ledger(path)
    try:
        yield opened
    finally:
        opened.close()
