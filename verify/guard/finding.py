"""What a health check is, and what it finds."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from kappaguard.rules.base.errors import InputError
from kappaguard.verify.judge.judgement import Floats

if TYPE_CHECKING:
    from kappaguard.verify.judge.subject import Subject

MOST_CHARACTERS = 500
MOST_ENTRIES = 20_000


@dataclass(frozen=True)
class Example:
    """The smallest input at hand that shows it: x, and S where honest vectors play a part."""

    x: tuple[tuple[float, ...], ...]
    subset: tuple[int, ...] | None = None

    @property
    def array(self) -> Floats:
        """x as an array."""
        return np.array(self.x, dtype=np.float64)

    @property
    def finite(self) -> bool:
        """Whether every entry is."""
        return bool(np.all(np.isfinite(self.array)))


def example(x: NDArray[Any], subset: Sequence[int] | None = None, most: int = MOST_ENTRIES) -> Example | None:
    """An input as an example; none if it has more entries than ``most``, too many to be shown."""
    if x.size > most:
        return None
    return Example(tuple(tuple(row) for row in x.tolist()), None if subset is None else tuple(subset))


@dataclass(frozen=True)
class HealthFinding:
    """One thing that is wrong with a rule, and whether it refutes the claim or only warns.

    ``output`` is what the rule returned for the example, where the finding is about that one call.
    """

    check: str
    refutes: bool
    message: str
    example: Example | None = None
    output: Floats | None = field(default=None, repr=False, compare=False)

    def to_data(self) -> dict[str, Any]:
        """As JSON can hold it: entries that are not finite as texts."""
        shown: dict[str, Any] | None = None
        if self.example is not None:
            rows = [[value if math.isfinite(value) else str(value) for value in row] for row in self.example.x]
            shown = {"x": rows, "subset": self.example.subset and list(self.example.subset)}
        return {"check": self.check, "refutes": self.refutes, "message": self.message, "example": shown}


def finding_from_data(data: Any) -> HealthFinding:
    """The finding that ``to_data`` wrote."""
    try:
        shown = data["example"]
        seen = None
        if shown is not None:
            rows = tuple(tuple(float(value) for value in row) for row in shown["x"])
            seen = Example(rows, shown["subset"] and tuple(int(index) for index in shown["subset"]))
        return HealthFinding(str(data["check"]), data["refutes"] is True, str(data["message"])[:MOST_CHARACTERS], seen)
    except (KeyError, TypeError, ValueError, OverflowError):
        raise InputError("not a finding of a health check") from None


@dataclass(frozen=True)
class Check:
    """One question to a rule. ``look`` returns the first finding; ``Failed`` from a call is one as well.

    A finding with an example and a set S is a candidate for a witness: whoever knows the claim has it judged, and only
    then it refutes.
    """

    name: str
    question: str
    look: Callable[[Subject], HealthFinding | None]

    def warn(
        self,
        message: str,
        x: NDArray[Any] | None = None,
        subset: Sequence[int] | None = None,
        most: int = MOST_ENTRIES,
        output: Floats | None = None,
    ) -> HealthFinding:
        """A finding of this check."""
        shown = None if x is None else example(x, subset, most)
        return HealthFinding(self.name, False, message[:MOST_CHARACTERS], shown, output)

    def beside(self, subject: Subject, place: str, d: int, far: float) -> HealthFinding | None:
        """Honest vectors that are all 0 beside others so far away, if the result is off: that refutes every claim."""
        if not subject.f:
            return None
        x: Floats = np.zeros((subject.n, d))
        x[subject.n - subject.f :, 0] = far
        output = subject(x)
        error = float(np.max(np.abs(output)))
        if error <= float(subject.tolerance(d)) * far:
            return None
        said = f"{place} all honest vectors are 0 and the result is off by {error:.3g}"
        return self.warn(said, x, range(subject.n - subject.f), most=x.size, output=output)
