"""CTMA: the mean of the vectors nearest to the output of another rule."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from kappaguard.rules.base.checks import require_count, require_minority
from kappaguard.rules.base.errors import InputError
from kappaguard.rules.base.rule import Traits
from kappaguard.rules.recipe.recipe import NearVector, Recipe
from kappaguard.rules.recipe.rule import RecipeBased
from kappaguard.rules.recipe.weights import equal, median

BASES = ("cwmed", "cwtm")


@dataclass(frozen=True)
class CenteredTrimming(RecipeBased):
    """The mean of the n - f vectors nearest to the output of another rule, cwmed or cwtm.

    Definition (Dahan and Levy 2024, centered trimmed meta-aggregation; omega-CTMA is the same with weighted workers,
    and with equal weights it is this): the anchor is what ``base`` returns. Ties: the lower index. Needs f < n/2.
    Guarantee (theirs, in short): from a coefficient c of the base rule one of order f/n (1 + c), as behind nnm. Its
    constant is not repeated here as a claim; kappa* follows from the recipe.
    """

    f: int
    base: str = "cwmed"
    name: ClassVar[str] = "ctma"
    _traits: ClassVar[Traits] = Traits(rotates=False)

    def __post_init__(self) -> None:
        require_count(self.f, 0, "ctma: f")
        if self.base not in BASES:
            raise InputError(f"ctma: base must be one of {', '.join(BASES)}, got {self.base!r}")

    def recipe(self, n: int) -> Recipe:
        """The vectors nearest to the middle values, or to the mean of them."""
        require_minority(self.name, n, self.f)
        anchor = median(n) if self.base == "cwmed" else equal(n, self.f, n - self.f)
        return Recipe(n, NearVector(anchor, n - self.f))
