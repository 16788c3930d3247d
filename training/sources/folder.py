"""The messages of a training run, kept with ``kappaguard train --keep-messages K``: every K-th step is a round.

One compressed file per kept step, written whole or not at all: what the n workers sent, and how many were honest.
"""

from __future__ import annotations

import hashlib
import os
import re
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kappaguard.rules.base.errors import InputError
from kappaguard.training.sources.files import File
from kappaguard.training.sources.source import Source, StreamRound

if TYPE_CHECKING:
    from torch import Tensor

MESSAGES = "messages"
_NAME = re.compile(r"step-(\d{1,12})\.npz")


def keep_messages(folder: Path, step: int, messages: Tensor, honest: int) -> Path:
    """Write down what the workers sent in a step."""
    import numpy as np

    where = folder / MESSAGES
    path = where / f"step-{step:08d}.npz"
    try:
        where.mkdir(parents=True, exist_ok=True)
        descriptor, beside = tempfile.mkstemp(dir=where, prefix=".step-", suffix=".npz")
        with os.fdopen(descriptor, "wb") as stream:
            np.savez_compressed(stream, vectors=messages.detach().cpu().numpy()[None], honest=np.arange(honest))
        Path(beside).chmod(0o644)
        Path(beside).replace(path)
    except OSError as error:
        raise InputError(f"cannot keep the messages in {where}, is the disk full? ({error.strerror})") from None
    return path


@dataclass(frozen=True)
class Messages(Source):
    """The kept steps of a run, in order. They follow from each other: intervals are only a rough guide."""

    path: str
    n: int = 0
    f: int = 0

    independent = False

    @property
    def label(self) -> str:
        """The folder of the run."""
        return self.path

    @property
    def workers(self) -> int:
        """How many workers the run has, honest or not."""
        return self._first.workers

    @property
    def dimension(self) -> int:
        """The number of parameters of the model."""
        return self._first.dimension

    @property
    def complete(self) -> bool:
        """Byzantine messages are kept as well."""
        return self.workers == self.n

    @property
    def length(self) -> int:
        """How many steps were kept."""
        return len(self.steps)

    @property
    def fingerprint(self) -> str:
        """Names, sizes and times of all files."""
        about = [(path.name, path.stat().st_size, path.stat().st_mtime_ns) for path in self.steps]
        return hashlib.sha256(repr((str(Path(self.path).resolve()), self.n, about)).encode()).hexdigest()

    @cached_property
    def steps(self) -> list[Path]:
        """The files, in the order of the steps."""
        where = Path(self.path) / MESSAGES
        try:
            names = sorted(path for path in where.iterdir() if _NAME.fullmatch(path.name))
        except OSError:
            names = []
        if not names:
            raise InputError(f"{self.path} has no messages: keep them with kappaguard train --keep-messages 10")
        return names

    @cached_property
    def _first(self) -> File:
        return self._file(self.steps[0])

    def _file(self, path: Path) -> File:
        return File(str(path), n=self.n)

    def rounds(self, begin: int, end: int) -> Iterator[StreamRound]:
        """The rounds, each from a file."""
        shape = self.workers, self.dimension
        for path in self.steps[begin:end]:
            file = self._file(path)
            if (file.workers, file.dimension) != shape or file.length != 1:
                raise InputError(f"{path} is of another run: it has other workers or another dimension")
            yield from file.rounds(0, 1)

    def __getstate__(self) -> dict[str, Any]:
        return {name: self.__dict__[name] for name in ("path", "n", "f")}
