"""Rules that are another one in every step: those that draw permutations, and the adversary that owns the slack."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from kappaguard.rules.bucketing import Bucketing
from kappaguard.rules.pipeline import Pipeline
from kappaguard.search.attacks.base import Aggregation
from kappaguard.training.slack import Slack


def reseeded(rule: Aggregation, *seed: int) -> Aggregation:
    """The rule with its Bucketing stages, if it has any without a fixed permutation, drawing from the given seed.

    The last number of the seed is the step. The server permutes after it has received all vectors, so the adversary
    gets a rule with another seed.
    """
    if isinstance(rule, Slack):
        return rule.at(seed[-1])
    if not isinstance(rule, Pipeline) or not any(isinstance(step, Bucketing) for step in rule.steps):
        return rule
    drawn = int(np.random.SeedSequence(seed).generate_state(1)[0])
    steps = tuple(replace(step, seed=drawn) if isinstance(step, Bucketing) else step for step in rule.steps)
    return replace(rule, steps=steps)
