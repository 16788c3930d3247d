"""The eta that maximises ||F(x) - mean|| when f Byzantine workers all send mean + eta a.

Rules that commute with rotations are evaluated in few coordinates (``reduced``), coordinate-wise ones on a sample of
the coordinates with whole evaluations to confirm (``columns``), everything else, rules of other libraries included, on
the vectors themselves.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kappaguard.rules.arrays import Array, enter, in_double, namespace
from kappaguard.rules.base import Rule
from kappaguard.rules.cloud import Cloud
from kappaguard.search.attacks import columns
from kappaguard.search.attacks.base import Aggregation
from kappaguard.search.attacks.maximise import MOST, Candidate, maximise
from kappaguard.search.attacks.reduced import Reduced, ends_in_median, reduce

CONFIRMED = 2
"""How many candidates of a sample are evaluated whole."""
LEVEL = 50.0
"""From so many units on the geometric median hardly moves, and finding it takes other ways: vectors too far apart."""


def strongest(rule: Aggregation, honest: Array, f: int, mean: Array, direction: Array) -> Candidate:
    """The best eta, of either sign, and the error that it leads to."""
    xp = namespace(honest)
    if not bool(xp.any(direction != 0)):
        return Candidate(0.0, error_at(rule, honest, f, mean, direction, 0.0))
    reduced = reduce(honest, mean, direction)
    if isinstance(rule, Rule) and rule.traits.rotates:
        known: Rule = rule
        reach = LEVEL if ends_in_median(known) else MOST
        return maximise(lambda etas: reduced.errors(known, etas, f), reduced.unit, reach=reach)[0]
    if isinstance(rule, Rule) and columns.applies(rule):
        known = rule
        seen = columns.sample(honest, mean, direction)
        found = maximise(
            lambda etas: seen.errors(known, etas, f, reduced), reduced.unit, 1 if seen.whole else CONFIRMED
        )
        if seen.whole or len(found) == 1:
            return found[0]
        return max(_confirmed(rule, honest, f, mean, direction, found, reduced), key=lambda each: each.error)

    def directly(etas: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.array([error_at(rule, honest, f, mean, direction, float(eta)) for eta in etas])

    return maximise(directly, reduced.unit)[0]


def error_at(rule: Aggregation, honest: Array, f: int, mean: Array, direction: Array, eta: float) -> float:
    """||F(x) - mean|| by the rule itself on the vectors themselves."""
    room = _together(honest, f)
    room[honest.shape[0] :] = mean + eta * direction
    difference = in_double(rule(room)) - in_double(mean)
    return float(namespace(difference).linalg.vector_norm(difference))


def _confirmed(
    rule: Rule, honest: Array, f: int, mean: Array, direction: Array, found: list[Candidate], reduced: Reduced
) -> list[Candidate]:
    """The candidates with their errors on all coordinates; the distances are known already."""
    room, back = enter(_together(honest, f))
    centre, along = enter(mean)[0], enter(direction)[0]
    result = []
    for each in found:
        room[honest.shape[0] :] = centre + each.eta * along
        cloud = Cloud(room)
        if isinstance(room, np.ndarray):
            cloud.__dict__["distances"] = reduced.clouds(np.array([each.eta]), f).distances[0]
        difference = in_double(back(rule.aggregate(cloud))) - in_double(mean)
        result.append(Candidate(each.eta, float(namespace(difference).linalg.vector_norm(difference))))
    return result


def _together(honest: Array, f: int) -> Array:
    """Room for all n vectors, the honest ones in place."""
    xp = namespace(honest)
    empty = xp.zeros((f, honest.shape[1]), dtype=honest.dtype, device=getattr(honest, "device", None))
    return xp.concat([honest, empty], axis=0)
