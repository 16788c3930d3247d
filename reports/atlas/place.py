"""What stands in the atlas: rules, with and without something in front, at some (n, f)."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass

from kappaguard.rules.base.checks import require_count, require_setting
from kappaguard.rules.grammar import split_pipeline
from kappaguard.rules.names import PRE_AGGREGATIONS, RULES, is_code, parse
from kappaguard.verify.process.sweep import digest
from kappaguard.verify.theory.store import shared_hash

STEPS = ("", "nnm", "bucketing(s=2)")
"""In front of the rules."""
PLACES = ((5, 1), (9, 2), (17, 4))
QUICK_PLACES = ((5, 1),)
EVALUATIONS = 2_000
QUICK_EVALUATIONS = 200
RANDOM = "bucketing"
WEISZFELD = "gm(steps=3)"
"""RFA as it is run: a few smoothed steps instead of the geometric median."""
BUILT_IN = (*RULES, WEISZFELD)


@dataclass(frozen=True)
class AtlasPlace:
    """One rule, perhaps behind a pre-aggregation, at one (n, f), with the evaluations that a search for it has."""

    base: str
    step: str
    n: int
    f: int
    evaluations: int = EVALUATIONS
    seed: int = 0

    def __post_init__(self) -> None:
        require_setting(self.n, self.f, 3, 1)
        require_count(self.evaluations, 1, "the number of evaluations")

    @property
    def rule(self) -> str:
        """The name of the rule with the step in front of it."""
        return f"{self.step}+{self.base}" if self.step else self.base

    @property
    def random(self) -> bool:
        """Whether a random step is in it, of which only the permutation of seed 0 is looked at."""
        return any(part.strip().startswith(RANDOM) for part in split_pipeline(self.rule) if not is_code(part))

    @property
    def key(self) -> str:
        """All that the numbers depend on, as a text."""
        return json.dumps([asdict(self), digest(self.rule), shared_hash()], sort_keys=True)


def trusts(rule: str) -> bool:
    """Whether the rule has a worker that the adversary cannot be: its kappa* is over the sets S with that worker."""
    return not is_code(rule) and parse(rule, f=1).trusted is not None


def places(
    own: Sequence[str] = (),
    at: Sequence[tuple[int, int]] = PLACES,
    evaluations: int = EVALUATIONS,
    seed: int = 0,
    built_in: Sequence[str] = BUILT_IN,
) -> list[AtlasPlace]:
    """Every rule at every (n, f), the user's own first.

    A rule that brings a step along has no other put in front, and one that trusts a worker no bucketing, which mixes
    that worker with others.
    """
    found = []
    for base in dict.fromkeys([*own, *built_in]):
        # a name that has a pre-aggregation in front already is taken as it is
        first = split_pipeline(base)[0].partition("(")[0].strip()
        steps: tuple[str, ...] = ("",) if first in PRE_AGGREGATIONS else STEPS
        if trusts(base):
            steps = tuple(step for step in steps if not step.startswith(RANDOM))
        found += [AtlasPlace(base, step, n, f, evaluations, seed) for step in steps for n, f in at]
    return found
