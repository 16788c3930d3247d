"""What an adversary is.

``run`` is a generator: it evaluates some inputs through the arena, then yields, so that the portfolio can give the
next slice of the budget to somebody else. It may end, when it has nothing more to try, or go on for ever. Everything
it finds is recorded by the arena; to build on what others found, it looks at ``arena.pool``.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import ClassVar

import numpy as np

from kappaguard.search.arena import Arena


class Adversary(ABC):
    """Whatever chooses inputs: an attack of a paper and an optimiser alike."""

    name: ClassVar[str]

    def applies(self, arena: Arena) -> bool:
        """Whether it can do anything with this rule."""
        del arena
        return True

    @abstractmethod
    def run(self, arena: Arena, generator: np.random.Generator) -> Iterator[None]:
        """Evaluate inputs, a slice at a time."""
