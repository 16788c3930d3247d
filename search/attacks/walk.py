"""The search for eta in the code of the paper's authors: sixteen values one after the other, none of them negative.

It is weaker than ``kappaguard.search.attacks.maximise`` and is there to repeat the authors' experiments
(``line_maximize`` in github.com/LPD-EPFL/robust-collaborative-learning, tools/misc.py).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from kappaguard.rules.bucketing import Bucketing
from kappaguard.rules.pipeline import Pipeline
from kappaguard.search.attacks.base import Aggregation
from kappaguard.search.attacks.maximise import Trial

GRID, LINE16 = SEARCHES = ("grid", "line16")
"""Ways to find eta: hundreds of values on grids around peaks, or sixteen one after the other."""
EVALUATIONS = 16
STEP = 1.0
RATIO = 0.8


def walk(error: Callable[[float, int], float], evaluations: int = EVALUATIONS) -> Trial:
    """The best of so many numbers; ``error(eta, k)`` is asked for the number of the evaluation as well, from 0.

    Upwards from 0 in steps 1, 2, 4, ... while the error grows. Then to and fro, each step 0.8 times the last: back
    from where it is, or forward if that is below the best number so far; a step across 0 is halved until it is none.
    """
    best = Trial(0.0, error(0.0, 0))
    place, step, growing = 0.0, STEP, True
    for number in range(1, evaluations):
        if growing:
            place = best.eta + step
        elif place < best.eta:
            place += step
        else:
            back = place - step
            while back < 0:
                back = (back + place) / 2
            place = back
        value = error(place, number)
        better = value > best.error
        if better:
            best = Trial(place, value)
        growing = growing and better
        step *= 2 if growing else RATIO
    return best


def redrawn(rule: Aggregation, number: int) -> Aggregation:
    """The rule with other permutations in its Bucketing stages, which the authors' code draws at every evaluation."""
    if not isinstance(rule, Pipeline):
        return rule
    steps = tuple(_redrawn(step, number) if isinstance(step, Bucketing) else step for step in rule.steps)
    return replace(rule, steps=steps)


def _redrawn(step: Bucketing, number: int) -> Bucketing:
    return replace(step, seed=int(np.random.SeedSequence((step.seed, number)).generate_state(1)[0]))
