"""Pipelines: pre-aggregations in front of a rule, of any length."""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from typing import ClassVar, overload

from kappaguard.rules.base.arrays import Array
from kappaguard.rules.base.rule import Coefficient, PreAggregation, Rule, Stage, Traits
from kappaguard.rules.cloud import Cloud
from kappaguard.rules.recipe.recipe import Recipe


@dataclass(frozen=True)
class Chain(PreAggregation):
    """Pre-aggregations one after the other, first to last."""

    steps: tuple[PreAggregation, ...]
    name: ClassVar[str] = "chain"

    @property
    def traits(self) -> Traits:
        """What holds for all of them."""
        return _common(self.steps)

    @property
    def label(self) -> str:
        """Their names, joined by ``+``."""
        return "+".join(step.label for step in self.steps)

    def transform(self, cloud: Cloud) -> Cloud:
        """The cloud after the last step."""
        return reduce(lambda seen, step: step.transform(seen), self.steps, cloud)

    def amplify(self, claim: Coefficient | None) -> Coefficient | None:
        """The claim behind the last step, amplified step by step towards the first."""
        return reduce(lambda seen, step: step.amplify(seen), reversed(self.steps), claim)


@dataclass(frozen=True)
class Pipeline(Rule):
    """A rule after pre-aggregations: ``NNM(f=4) + Krum(f=4)``."""

    steps: tuple[PreAggregation, ...]
    rule: Rule
    name: ClassVar[str] = "pipeline"

    @property
    def traits(self) -> Traits:
        """What holds for all of its parts."""
        return _common((*self.steps, self.rule))

    @property
    def label(self) -> str:
        """The names of its parts, joined by ``+``."""
        return "+".join(part.label for part in (*self.steps, self.rule))

    @property
    def claim(self) -> Coefficient | None:
        """The rule's claim as amplified by the steps."""
        return Chain(self.steps).amplify(self.rule.claim)

    @property
    def front(self) -> tuple[PreAggregation, ...]:
        """Its steps, first to last."""
        return self.steps

    @property
    def last(self) -> Rule:
        """The rule behind them."""
        return self.rule

    @property
    def trusted(self) -> int | None:
        """Whoever the rule trusts."""
        return self.rule.trusted

    def recipe(self, n: int) -> Recipe | None:
        """The rule's recipe behind layers of mixing, if that is what all of its steps are."""
        behind = self.rule.recipe(n)
        layers = [step.mixing(n) for step in self.steps]
        if behind is None or any(layer is None for layer in layers):
            return None
        counts = tuple(count for layer in layers for count in layer or ())
        return Recipe(n, behind.choice, counts + behind.mixing, behind.trusted)

    def aggregate(self, cloud: Cloud) -> Array:
        """The rule's output on the transformed points."""
        return self.rule.aggregate(Chain(self.steps).transform(cloud))


@overload
def compose(first: PreAggregation, following: PreAggregation) -> Chain: ...
@overload
def compose(first: PreAggregation, following: Rule) -> Pipeline: ...
def compose(first: PreAggregation, following: PreAggregation | Rule) -> Chain | Pipeline:
    """``first + following``, flat: a chain of chains is one chain."""
    steps = first.steps if isinstance(first, Chain) else (first,)
    match following:
        case Pipeline():
            return Pipeline(steps + following.steps, following.rule)
        case Chain():
            return Chain(steps + following.steps)
        case PreAggregation():
            return Chain((*steps, following))
        case Rule():
            return Pipeline(steps, following)
    return NotImplemented


def _common(parts: tuple[Stage, ...]) -> Traits:
    return reduce(lambda seen, part: seen & part.traits, parts, Traits())
