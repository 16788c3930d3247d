"""The eta that maximises ||F(x) - mean|| when f Byzantine workers all send mean + eta a.

Rules that commute with rotations are evaluated in few coordinates (``reduced``), coordinate-wise ones on a sample of
the coordinates with whole evaluations to confirm (``columns``), everything else, rules of other libraries included, on
the vectors themselves.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from kappaguard.rules.base.arrays import Array, enter, in_double, namespace
from kappaguard.rules.base.rule import Rule, traits_of
from kappaguard.rules.cloud import Cloud
from kappaguard.rules.gm import is_minimiser
from kappaguard.search.attacks import columns
from kappaguard.search.attacks.base import Aggregation, Total, whole
from kappaguard.search.attacks.maximise import JUMPING, MOST, SMOOTH, Trial, maximise
from kappaguard.search.attacks.reduced import Reduced, ends_in_median, reduce
from kappaguard.search.attacks.walk import LINE16, redrawn, walk

CONFIRMED = 2
"""How many candidates of a sample are evaluated whole."""
WALKED = 4 * columns.SAMPLED
"""How many coordinates stand for all where nothing is evaluated whole."""
LEVEL = 50.0
"""From so many units on the geometric median hardly moves, and finding it takes other ways: vectors too far apart."""
FARTHEST = 1e6
"""It moves a little all the same: so many units away, on both sides, it is looked at once more."""


def strongest(
    rule: Aggregation,
    honest: Array,
    f: int,
    mean: Array,
    direction: Array,
    total: Total = whole,
    positive: bool = False,
    reduced: Reduced | None = None,
) -> Trial:
    """The best eta, of either sign or not negative, and the error that it leads to; ``total``: see ``Attack.act``."""
    reduced = reduced or reduced_for(rule, honest, mean, direction, total)
    if not np.any(reduced.direction):
        return Trial(0.0, error_at(rule, honest, f, mean, direction, 0.0) if total is whole else 0.0)
    if isinstance(rule, Rule) and rule.traits.rotates:
        return strongest_of(rule, f, reduced, positive)
    if isinstance(rule, Rule) and columns.applies(rule):
        known: Rule = rule
        seen = columns.sample(honest, mean, direction)
        sampled = bool(total(np.array([0.0 if seen.whole else 1.0]))[0])

        def estimated(etas: NDArray[np.float64]) -> NDArray[np.float64]:
            squares: NDArray[np.float64] = total(seen.squares(known, etas, f, reduced))
            return np.sqrt(squares)

        found = maximise(estimated, reduced.unit, CONFIRMED if sampled else 1, positive=positive)
        if len(found) == 1:
            return found[0]
        confirmed = [_confirmed(rule, honest, f, mean, direction, each, reduced, total) for each in found]
        return max(confirmed, key=lambda each: each.error)

    def directly(etas: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.array([error_at(rule, honest, f, mean, direction, float(eta), total) for eta in etas])

    return maximise(directly, reduced.unit, positive=positive)[0]


def candidates(
    rule: Rule, f: int, reduced: Reduced, seen: columns.Columns | None, positive: bool, search: str
) -> list[Trial]:
    """The most promising eta, of which the best is to be found on all coordinates, where nothing else can be looked at.

    That is one for a rule that commutes with rotations; ``seen`` are columns for a coordinate-wise one.
    """
    if not np.any(reduced.direction):
        return [Trial(0.0, 0.0)]

    def error(eta: float, number: int) -> float:
        return float(_errors(redrawn(rule, number), np.array([eta]), f, reduced, seen)[0])

    if search == LINE16:
        return [walk(error)]
    if not rule.traits.rotates:
        return maximise(lambda etas: _errors(rule, etas, f, reduced, seen), reduced.unit, CONFIRMED, positive=positive)
    return [strongest_of(rule, f, reduced, positive)]


def _errors(
    rule: Aggregation, etas: NDArray[np.float64], f: int, reduced: Reduced, seen: columns.Columns | None
) -> NDArray[np.float64]:
    assert isinstance(rule, Rule)
    if seen is None:
        return reduced.errors(rule, etas, f)
    return np.sqrt(seen.squares(rule, etas, f, reduced))


def strongest_of(known: Rule, f: int, reduced: Reduced, positive: bool) -> Trial:
    """The best eta against a rule that commutes with rotations."""
    level = ends_in_median(known)
    reach = LEVEL if level else MOST
    # the geometric median of vectors that move continuously does so too; whatever selects jumps
    effort = SMOOTH if is_minimiser(known) else JUMPING

    def exactly(etas: NDArray[np.float64]) -> NDArray[np.float64]:
        return reduced.errors(known, etas, f)

    # so many units, or so many times the direction if that is more
    far = max(1.0, reduced.unit) * FARTHEST if level else 0.0
    return maximise(exactly, reduced.unit, reach=reach, positive=positive, effort=effort, far=far)[0]


def walked(
    rule: Aggregation, honest: Array, f: int, mean: Array, direction: Array, total: Total, reduced: Reduced
) -> Trial:
    """What sixteen values of eta find, see ``kappaguard.search.attacks.walk``."""
    seen = None
    if isinstance(rule, Rule) and not rule.traits.rotates and columns.applies(rule):
        seen = columns.sample(honest, mean, direction, WALKED)

    def error(eta: float, number: int) -> float:
        drawn, at = redrawn(rule, number), np.array([eta])
        if isinstance(drawn, Rule) and drawn.traits.rotates:
            return float(reduced.errors(drawn, at, f)[0])
        if seen is not None and isinstance(drawn, Rule):
            return math.sqrt(float(total(seen.squares(drawn, at, f, reduced))[0]))
        return error_at(drawn, honest, f, mean, direction, eta, total)

    return walk(error)


def reduced_for(rule: Aggregation, honest: Array, mean: Array, direction: Array, total: Total = whole) -> Reduced:
    """All in few coordinates, with the origin if the rule can see it."""
    return reduce(honest, mean, direction, total, needs_origin(rule))


def needs_origin(rule: Aggregation) -> bool:
    """Whether the rule may tell vectors from the same vectors moved elsewhere."""
    return not traits_of(rule).translates


def error_at(
    rule: Aggregation, honest: Array, f: int, mean: Array, direction: Array, eta: float, total: Total = whole
) -> float:
    """||F(x) - mean|| by the rule itself on the vectors themselves, or on shards if it is a function of those."""
    room = _together(honest, f)
    room[honest.shape[0] :] = mean + eta * direction
    difference = in_double(rule(room)) - in_double(mean)
    length = namespace(difference).linalg.vector_norm(difference)
    return float(length) if total is whole else float(total(length * length)) ** 0.5


def _confirmed(
    rule: Rule,
    honest: Array,
    f: int,
    mean: Array,
    direction: Array,
    candidate: Trial,
    reduced: Reduced,
    total: Total,
) -> Trial:
    """The candidate with its error on all coordinates; the distances are known already."""
    room, back = enter(_together(honest, f))
    room[honest.shape[0] :] = enter(mean)[0] + candidate.eta * enter(direction)[0]
    pairs = reduced.clouds(np.array([candidate.eta]), f).distances[0]
    xp = namespace(room)
    cloud = Cloud.known(room, pairs if isinstance(room, np.ndarray) else xp.asarray(pairs, device=room.device))
    difference = in_double(back(rule.aggregate(cloud))) - in_double(mean)
    square = total(namespace(difference).sum(difference * difference))
    return Trial(candidate.eta, float(square) ** 0.5)


def _together(honest: Array, f: int) -> Array:
    """Room for all n vectors, the honest ones in place."""
    xp = namespace(honest)
    empty = xp.zeros((f, honest.shape[1]), dtype=honest.dtype, device=getattr(honest, "device", None))
    return xp.concat([honest, empty], axis=0)
