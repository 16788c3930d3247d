"""Finished pieces of work in one SQLite file: each is written, in a transaction of its own, when it is finished.

Killed at any moment, the file holds what was written by then; started again, the work goes on with what is missing.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from kappaguard.rules.base.errors import InputError

SCHEMA = "kappaguard-ledger/1"
TABLES = {"about", "cells"}


class Ledger:
    """Texts by key. A file that is somebody else's database is left as it is."""

    def __init__(self, path: Path | str) -> None:
        self.path = Path(path)
        with self._told("open"):
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._connection = sqlite3.connect(self.path, timeout=60)
            try:
                self._prepare()
            except BaseException:
                self._connection.close()
                raise

    def _prepare(self) -> None:
        self._connection.execute("pragma synchronous = full")
        with self._connection as connection:
            found = connection.execute("select name from sqlite_master where type = 'table'")
            tables = {str(name) for (name,) in found}
            if not tables:
                connection.execute("pragma journal_mode = wal")
                connection.execute("create table about (schema text not null)")
                connection.execute("create table cells (key text primary key, result text not null)")
                connection.execute("insert into about values (?)", (SCHEMA,))
            known = connection.execute("select schema from about").fetchall() if "about" in tables else []
            if tables and (tables != TABLES or not known):
                raise InputError(f"{self.path} is a database of somebody else's: it is left as it is")
            if known and known[0][0] != SCHEMA:
                raise InputError(f"{self.path} holds {str(known[0][0])[:60]!r} and not {SCHEMA!r}")

    @contextmanager
    def _told(self, what: str) -> Iterator[None]:
        """An error of the database or of the disk in one line."""
        try:
            yield
        except (sqlite3.Error, OSError) as error:
            raise InputError(f"cannot {what} {self.path}: {error}") from None

    def __getitem__(self, key: str) -> str:
        with self._told("read"):
            row = self._connection.execute("select result from cells where key = ?", (key,)).fetchone()
        if row is None:
            raise KeyError(key)
        return str(row[0])

    def __contains__(self, key: str) -> bool:
        with self._told("read"):
            return self._connection.execute("select 1 from cells where key = ?", (key,)).fetchone() is not None

    def __setitem__(self, key: str, result: str) -> None:
        self.update({key: result})

    def update(self, results: Mapping[str, str]) -> None:
        """Write several at once: all of them, or none."""
        with self._told("write to"), self._connection as connection:
            connection.executemany("insert or replace into cells values (?, ?)", results.items())

    def items(self) -> Iterator[tuple[str, str]]:
        """All of them, in the order of their keys."""
        with self._told("read"):
            yield from self._connection.execute("select key, result from cells order by key")

    def close(self) -> None:
        """Close the file of the ledger."""
        self._connection.close()


@contextmanager
def ledger(path: Path | str) -> Iterator[Ledger]:
    """The ledger in a file, closed afterwards."""
    opened = Ledger(path)
    try:
        yield opened
    finally:
        opened.close()
