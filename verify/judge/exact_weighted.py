"""kappa* of a weighted rule: workers that count several times, and a weight f that Byzantine ones hold at most.

By the two lemmas of ``kappaguard.rules.weighted`` a witness is one of the rule at n = sum of the weights whose
vectors repeat, and what is certified at (n, f) is an upper bound. For average, cwtm and cwmed it is compared with
what ``weighted`` proves over all orders of the workers, and the witness attains that. For other rules the levels of
the worst input without weights are dealt out to the workers in many ways, and the worst of these is the witness.
"""

from __future__ import annotations

import itertools
import math
import random
import time
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from kappaguard.rules.base.checks import require_count
from kappaguard.rules.base.errors import InputError
from kappaguard.rules.base.rule import Rule
from kappaguard.rules.names import is_code, is_recipe, parse
from kappaguard.rules.weighted import WeightedRule, weighted_ratio, whole, window
from kappaguard.rules.witness import Witness
from kappaguard.search.exact import weighted as finder
from kappaguard.search.exact.known import known_inputs
from kappaguard.search.stats import Stats
from kappaguard.verify.judge.exact import exact
from kappaguard.verify.judge.replay import settle
from kappaguard.verify.judge.result import KappaResult
from kappaguard.verify.judge.weighted import upper_over_orders

DEALT = 10_000
"""Ways of dealing out the levels of a worst input that are tried."""
LEAST = 500
SETTLED = 12
TRIFLE = 1e-9
LINE = (tuple((value + Fraction(away, 10**8),) for value in (-1, 0, 1, 2) for away in (0, 1)),) * 2
"""Levels for rules whose worst input without weights cannot be dealt out: small numbers, and such next to them."""

ORDERS = "every order of the honest workers was gone through, by verify/judge/weighted.py"
REPETITION = "a weighted input is one of the rule at n = the sum of the weights, whose kappa* is bounded there"


def exact_weighted(
    rule: str, weights: Sequence[int], f: int, *, nodes: int | None = None, progress: Any = None
) -> KappaResult:
    """Bounds on kappa* of a built-in rule whose workers have these weights; f is a weight, and n their sum."""
    start = time.perf_counter()
    counts = whole(weights)
    n = sum(counts)
    require_count(f, 0, "exact: f")
    if min(counts) < 1:
        raise InputError("exact needs weights of at least 1: leave out who has none")
    if 2 * f >= n:
        raise InputError(f"exact needs f less than half of the sum of the weights, {n}, got f = {f}")
    if is_code(rule) or is_recipe(rule):
        raise InputError(f"weights are for rules that are built in, not for {rule[:100]}")
    built = parse(rule, f)
    limits = window(built, n)
    scope = f"workers of weights {', '.join(map(str, counts))}, of which Byzantine ones weigh {f} at most; all d"
    if limits is None:
        plain = exact(rule, n, f, nodes=nodes, progress=progress)
        inputs = _dealt(built, counts, f, plain)
        upper, certificate, proof = plain.upper, plain.certificate, REPETITION
        if plain.proof is not None:
            proof = f"{REPETITION}: {plain.proof}"
    elif limits[0] < min((weight for weight in counts if weight <= f), default=0):
        inputs, upper, certificate, proof = _unbounded(counts, f), None, None, None
    else:
        found = finder.worst_input(counts, limits[0], f)
        inputs = [([[value] for value in found.values], list(found.honest), "worst order of the workers")]
        recipe = built.recipe(n)
        certificate, proof = None, ORDERS
        if recipe is None:
            # the average: whoever may be Byzantine has been dealt with above
            upper, proof = Fraction(0), "nobody may be Byzantine, and the output is the mean"
        else:
            upper = upper_over_orders(recipe, counts, f)
        if upper is None:
            plain = exact(rule, n, f)
            upper, certificate, proof = plain.upper, plain.certificate, REPETITION
    nothing = ([[Fraction(0)]] * len(counts), list(range(len(counts))), "nothing")
    best = max((_settled(built, counts, f, *given) for given in [*inputs, nothing]), key=lambda witness: witness.lower)
    infinite = best.lower == math.inf
    if upper == math.inf and not infinite:
        # without weights it is infinite; with them no input shows that
        upper = certificate = proof = None
    stats = Stats(time.perf_counter() - start, len(inputs))
    return KappaResult(
        built.label,
        n,
        f,
        best.lower,
        math.inf if infinite else upper,
        best,
        None if infinite else certificate,
        None if infinite else proof,
        stats,
        scope,
    )


def _unbounded(counts: list[int], f: int) -> list[tuple[list[list[Fraction]], list[int], str]]:
    """All honest workers at 0, and one that may be Byzantine far away."""
    byzantine = next(i for i, weight in enumerate(counts) if weight <= f)
    x = [[Fraction(int(i == byzantine))] for i in range(len(counts))]
    return [(x, [i for i in range(len(counts)) if i != byzantine], "one worker far away")]


def _settled(
    built: Rule, counts: list[int], f: int, x: Sequence[Sequence[Fraction]], honest: list[int], found_by: str
) -> Witness:
    """The witness of copies, judged in exact arithmetic."""
    held = sum(counts) - sum(counts[i] for i in honest)
    owners = [i for i, weight in enumerate(counts) for _ in range(weight)]
    rows = tuple(tuple(x[i]) for i in owners)
    subset = tuple(place for place, i in enumerate(owners) if i in set(honest))
    # fewer copies attack than the rule is built for: then its name says for how many it is
    name = built.label if held == f or not hasattr(built, "f") else _built_for(built, f)
    zero = Fraction(0)
    witness = Witness(name, len(rows), held, "trace", subset, rows, zero, zero, found_by)
    return settle(witness, built)


def _built_for(built: Rule, f: int) -> str:
    """The name of a rule with its f."""
    label = built.label
    return f"{label[:-1]}, f={f})" if label.endswith(")") else f"{label}(f={f})"


def _dealt(
    built: Rule, counts: list[int], f: int, plain: KappaResult
) -> list[tuple[list[list[Fraction]], list[int], str]]:
    """The worst ways to deal out levels of worst inputs without weights; floats rank them."""
    assert plain.witness is not None
    given = [(plain.witness.x, plain.witness.subset), *((x, honest) for x, honest, _ in known_inputs(plain.n, f))]
    levels = [LINE, *dict.fromkeys(_levels(x, set(honest)) for x, honest in given)]
    rule = WeightedRule(built)
    ranked: list[tuple[float, list[list[Fraction]], list[int]]] = []
    for inside, outside in levels:
        for row, honest in _deals(counts, f, len(inside), len(outside), max(LEAST, DEALT // len(levels))):
            members = set(honest)
            x = [list(inside[level] if i in members else outside[level]) for i, level in enumerate(row)]
            points = np.array([[float(value) for value in vector] for vector in x])
            output = rule(points, counts)
            offsets = points[honest] - output
            if np.abs(offsets).max() > TRIFLE * np.abs(points).max():
                # else all honest vectors are equal, and rounding over no spread would come first
                ranked.append((float(weighted_ratio(output, points, honest, counts)), x, honest))
    ranked.sort(key=lambda each: -each[0])
    # floats may decide a tie in another way: not all should be one input with its mirror images
    different = [next(same) for _, same in itertools.groupby(ranked, key=lambda each: f"{each[0]:.6g}")]
    return [(x, honest, "levels of a worst input without weights") for _, x, honest in different[:SETTLED]]


def _levels(x: Any, honest: set[int]) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    """The different honest vectors of an input, and the different Byzantine ones."""
    inside = tuple(dict.fromkeys(tuple(row) for place, row in enumerate(x) if place in honest))
    return inside, tuple(dict.fromkeys(tuple(row) for place, row in enumerate(x) if place not in honest)) or inside


def _deals(
    counts: list[int], f: int, inside: int, outside: int, most: int
) -> Iterator[tuple[tuple[int, ...], list[int]]]:
    """Workers on levels, by number, and who is honest: all ways, or so many at random, always the same.

    Ties go to the lower index: of workers of equal weight also the last ones are Byzantine.
    """
    last = len(counts) - 1
    mirrored = [tuple(last - i for i in chosen) for chosen in finder.byzantine_sets(counts[::-1], f)]
    sets = sorted({tuple(sorted(each)) for each in (*finder.byzantine_sets(counts, f), *mirrored)})
    ranges = [[range(outside if i in chosen else inside) for i in range(len(counts))] for chosen in sets]
    honest = [[i for i in range(len(counts)) if i not in chosen] for chosen in sets]
    if sum(math.prod(map(len, each)) for each in ranges) <= most:
        for members, each in zip(honest, ranges, strict=True):
            yield from ((row, members) for row in itertools.product(*each))
        return
    generator = random.Random(0)
    for _ in range(most):
        place = generator.randrange(len(sets))
        yield tuple(generator.randrange(len(each)) for each in ranges[place]), honest[place]
