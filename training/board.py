"""What a run measures, for TensorBoard: the lines of the log as scalars, by torch's own writer."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from kappaguard.rules.base.errors import InputError
from kappaguard.training.testing import model_step

NAME = "tensorboard"
ASIDE = ("step", "model_step")


def writer() -> Any:
    """torch's class; without TensorBoard, the way to get it."""
    try:
        from torch.utils.tensorboard import SummaryWriter
    except ImportError:
        raise InputError("--tensorboard needs TensorBoard: pip install 'kappaguard[tensorboard]'") from None
    return SummaryWriter


class Board:
    """The folder ``tensorboard`` in that of a run; ``tensorboard --logdir`` shows it."""

    def __init__(self, folder: Path) -> None:
        self._writer = writer()(str(folder / NAME))

    def add(self, row: dict[str, Any]) -> None:
        """Write a line of the log."""
        for name, value in row.items():
            if name not in ASIDE and isinstance(value, int | float):
                self._writer.add_scalar(name, value, model_step(row))

    def close(self) -> None:
        """Everything is on the disk."""
        self._writer.close()
