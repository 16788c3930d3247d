"""A source: a stream of rounds, each the vectors that the workers send at once.

Rounds are numbered, and round k follows from the source and k alone. So a stream can be cut into parts that other
processes work on, begun again in the middle, and asked for one round once more: nothing needs to be kept of it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import ClassVar

from kappaguard.rules.base.arrays import Array
from kappaguard.rules.base.errors import InputError

Report = Callable[[int, int], None]


@dataclass(frozen=True)
class StreamRound:
    """The vectors of one round, (k, d).

    ``honest`` are the places of the honest ones, None if nobody knows which. ``flipped`` are f vectors more, from
    workers whose labels are wrong, where the source can have such.
    """

    vectors: Array
    honest: tuple[int, ...] | None
    flipped: Array | None = None


class Source(ABC):
    """A stream of rounds of vectors of one dimension."""

    independent: ClassVar[bool] = True
    """Whether rounds are independent draws of one distribution, which the confidence intervals assume."""
    once: ClassVar[bool] = False
    """Whether a round can be seen once only, and in order."""
    flips: bool = False
    """Whether rounds have vectors of label flippers."""

    @property
    @abstractmethod
    def label(self) -> str:
        """What it is called in reports: the same label and seed stand for the same stream."""

    @property
    @abstractmethod
    def workers(self) -> int:
        """How many vectors a round has."""

    @property
    @abstractmethod
    def dimension(self) -> int:
        """How many coordinates a vector has."""

    @property
    def complete(self) -> bool:
        """Whether a round has the Byzantine vectors, too, whoever they are."""
        return False

    @property
    def length(self) -> int | None:
        """How many rounds there are; None for as many as anybody wants."""
        return None

    @property
    def honest(self) -> tuple[int, ...] | None:
        """The places of the honest vectors of a round, as the first one has them; None if nobody knows."""
        for seen in self.rounds(0, 1):
            return seen.honest
        raise InputError(f"{self.label} has no round")

    @property
    @abstractmethod
    def fingerprint(self) -> str:
        """All that the rounds depend on: two sources with the same one have the same rounds."""

    def prepared(self, report: Report | None = None) -> Source:
        """The same, ready to be sent to other processes: what takes long is done once, here."""
        del report
        return self

    @abstractmethod
    def rounds(self, begin: int, end: int) -> Iterator[StreamRound]:
        """Rounds number begin .. end - 1."""
