"""Rules that draw permutations: a new one in every step."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from kappaguard.rules.bucketing import Bucketing
from kappaguard.rules.pipeline import Pipeline
from kappaguard.search.attacks.base import Aggregation


def reseeded(rule: Aggregation, *seed: int) -> Aggregation:
    """The rule with its Bucketing stages, if it has any without a fixed permutation, drawing from the given seed.

    The server permutes after it has received all vectors, so the adversary gets a rule with another seed.
    """
    if not isinstance(rule, Pipeline) or not any(isinstance(step, Bucketing) for step in rule.steps):
        return rule
    drawn = int(np.random.SeedSequence(seed).generate_state(1)[0])
    steps = tuple(replace(step, seed=drawn) if isinstance(step, Bucketing) else step for step in rule.steps)
    return replace(rule, steps=steps)
