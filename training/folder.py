"""Where a run is kept: its resolved configuration, its log of JSON lines, a checkpoint, and what came out.

A new run always gets a new folder; nothing is ever written over another run.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import IO, Any

from kappaguard.rules.base.errors import InputError
from kappaguard.rules.base.files import write
from kappaguard.training.configuration import Configuration
from kappaguard.training.finite_json import dumps
from kappaguard.training.picture import as_table, drawn

MOST_RUNS = 100_000


class Folder:
    """The folder of one run: configuration, log, checkpoint and results."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._log: IO[str] | None = None

    @classmethod
    def create(cls, out: Path, name: str, configuration: Configuration) -> Folder:
        """A new folder NAME-1, NAME-2, ... with the configuration in it."""
        try:
            out.mkdir(parents=True, exist_ok=True)
            for number in range(1, MOST_RUNS):
                path = out / f"{name}-{number}"
                try:
                    path.mkdir()
                except FileExistsError:
                    continue
                write(path / "configuration.json", dumps(configuration.to_json(), indent=2) + "\n")
                return cls(path)
        except OSError as error:
            raise InputError(f"cannot write to {out}: {error.strerror or error}") from None
        raise InputError(f"{out} is full: it has {MOST_RUNS} runs of {name}")

    @classmethod
    def existing(cls, path: Path) -> tuple[Folder, Configuration]:
        """The folder of an earlier run, and its configuration."""
        try:
            values = json.loads((path / "configuration.json").read_text(encoding="utf-8"))
        except OSError:
            raise InputError(f"{path} is not the folder of a run") from None
        except (ValueError, RecursionError):
            raise InputError(f"{path}/configuration.json is damaged") from None
        if not isinstance(values, dict):
            raise InputError(f"{path}/configuration.json is damaged")
        return cls(path), Configuration().with_values(values)

    @property
    def checkpoint(self) -> Path:
        """The file to continue from."""
        return self.path / "checkpoint.pt"

    def processes(self) -> int | None:
        """How many processes the run was begun with; None if there is no checkpoint, of one or of several."""
        if self.checkpoint.exists():
            return 1
        sizes = [path.name.partition("of")[2].partition("-")[0] for path in self.path.glob("checkpoint-*of*-*.pt")]
        return max((int(size) for size in sizes if size.isdecimal()), default=None)

    def require_processes(self, size: int) -> None:
        """A run goes on only with as many processes as it was begun with."""
        before = self.processes()
        if before not in (None, size):
            count = "1 process" if before == 1 else f"{before} processes"
            raise InputError(f"{self.path} was run with {count}; resume with as many")

    def log(self, row: dict[str, Any]) -> None:
        """One more line, written through."""
        if self._log is None:
            self._log = (self.path / "log.jsonl").open("a", encoding="utf-8", newline="\n")
        self._log.write(dumps(row) + "\n")
        self._log.flush()

    def rows(self) -> list[dict[str, Any]]:
        """The log so far; a last line that was cut off is left out."""
        path = self.path / "log.jsonl"
        if not path.exists():
            return []
        rows: list[dict[str, Any]] = []
        try:
            lines = path.read_text(encoding="utf-8").splitlines()
        except ValueError:
            raise InputError(f"{path} is damaged: it is not UTF-8") from None
        except OSError as error:
            raise InputError(f"cannot read {path}: {error.strerror or error}") from None
        for number, line in enumerate(lines, 1):
            try:
                row = json.loads(line)
            except (ValueError, RecursionError):
                break
            if not isinstance(row, dict) or not isinstance(row.get("step"), int):
                raise InputError(f"line {number} of {path} is damaged: it has no step")
            for name, value in row.items():
                if not (value is None or isinstance(value, float) or (isinstance(value, int) and abs(value) < 2**63)):
                    raise InputError(f"line {number} of {path} is damaged: {name[:40]!r} is no number")
            rows.append(row)
        return rows

    def forget_after(self, step: int) -> None:
        """Drop what was logged after a step: it is about to be done again. Up to it, every step must be there."""
        kept = [row for row in self.rows() if row["step"] <= step]
        lost = set(range(1, step + 1)).difference(row["step"] for row in kept)
        if lost:
            raise InputError(f"{self.path / 'log.jsonl'} is damaged: step {min(lost)} is missing")
        write(self.path / "log.jsonl", "".join(dumps(row) + "\n" for row in kept))

    def finish(self, result: dict[str, Any]) -> None:
        """Write down what came out, and draw it."""
        self.close()
        self.draw()
        write(self.path / "result.json", dumps(result, indent=2) + "\n")

    def draw(self) -> None:
        """Accuracy, loss and ratio of the steps so far: run.csv and run.svg."""
        rows = self.rows()
        write(self.path / "run.csv", as_table(rows))
        write(self.path / "run.svg", drawn(rows, self.path.name))

    def finished(self) -> dict[str, Any] | None:
        """What came out, if the run has come to its end; it is left as it is then."""
        try:
            values = json.loads((self.path / "result.json").read_text(encoding="utf-8"))
        except FileNotFoundError:
            return None
        except (OSError, ValueError, RecursionError):
            raise InputError(f"{self.path}/result.json is damaged; remove it to go on from the checkpoint") from None
        if not isinstance(values, dict) or not isinstance(values.get("status"), str):
            raise InputError(f"{self.path}/result.json is damaged; remove it to go on from the checkpoint")
        return values

    def close(self) -> None:
        """Close the log of the run; its rows are on disk."""
        if self._log is not None:
            self._log.close()
            self._log = None
