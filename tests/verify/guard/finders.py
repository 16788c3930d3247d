"""Stand-ins for the search, slow and simple: what the guard makes of what it is handed is what is tested."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from kappaguard.rules.names import rule as rule_named
from kappaguard.rules.ratio import ratio
from kappaguard.rules.witness import Witness, fractions
from kappaguard.search.stats import Stats
from kappaguard.verify.judge.result import KappaResult


def random_finder(rule, n, f, *, evaluations, seed, target, tolerance=None):
    """The worst of some random small integers."""
    generator = np.random.default_rng(seed)
    built = rule_named(rule, f=f)
    best, worst = -1.0, None
    for _ in range(300):
        x = generator.integers(-3, 4, (n, 1)).astype(float)
        value = float(ratio(np.asarray(built(x)), x, range(n - f)))
        if value > best:
            best, worst = value, x
        if best > target:
            break
    witness = Witness("?", n, f, "trace", tuple(range(n - f)), fractions(worst), Fraction(0), Fraction(0), "random")
    return KappaResult("?", n, f, Fraction(best), None, witness, None, None, Stats(0.1, 300))


def lying_finder(rule, n, f, *, evaluations, seed, target, tolerance=None):
    """A harmless input, said to be terrible."""
    x = [[Fraction(k)] for k in range(n)]
    witness = Witness("?", n, f, "trace", tuple(range(n - f)), tuple(map(tuple, x)), Fraction(10**6), Fraction(10**6))
    return KappaResult("?", n, f, Fraction(10**6), None, witness, None, None, Stats(0.1, 7))


def no_finder(rule, n, f, *, evaluations, seed, target, tolerance=None):
    """Finds nothing at all."""
    return KappaResult("?", n, f, Fraction(0), None, None, None, None, Stats(0.1, 5))


def forbidden_finder(*_, **__):
    raise AssertionError("there was no need to search")
