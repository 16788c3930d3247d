"""What the broken rules are made of, and what they claim."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

Rule = Callable[[np.ndarray, int], np.ndarray]


@dataclass(frozen=True)
class Broken:
    """A broken rule with the claim that it does not satisfy."""

    rule: Rule
    n: int
    f: int
    claim: Fraction


Claim = Callable[[int, int], Fraction]


def collect(*listed: tuple[Rule, int, int, Claim]) -> dict[str, Broken]:
    """The rules by name."""
    return {rule.__name__: Broken(rule, n, f, claim(n, f)) for rule, n, f, claim in listed}


def squared(x: np.ndarray) -> np.ndarray:
    return np.sum((x[:, None, :] - x[None, :, :]) ** 2, axis=2)


def nearest(x: np.ndarray, count: int) -> np.ndarray:
    return np.argsort(squared(x), axis=1, kind="stable")[:, :count]


def scores(distances: np.ndarray, count: int) -> np.ndarray:
    return np.sum(np.sort(distances, axis=1)[:, :count], axis=1)


def trimmed(x: np.ndarray, low: int, high: int) -> np.ndarray:
    return np.sort(x, axis=0)[low : len(x) - high].mean(axis=0)


def claim_of_cwtm(n: int, f: int) -> Fraction:
    return Fraction(f, n - 2 * f)


def claim_of_cwmed(n: int, f: int) -> Fraction:
    k = n // 2 + 1 - f
    return Fraction(n - f - k, k)


def claim_of_krum(n: int, f: int) -> Fraction:
    return 6 * (1 + Fraction(f, n - 2 * f))


def claim_of_exact_krum(n: int, f: int) -> Fraction:
    """Krum's kappa* for n <= 3f."""
    return Fraction(n * n, f * (n - 2 * f))


def claim_of_gm(n: int, f: int) -> Fraction:
    return Fraction(n // 2, -(-n // 2) - f)


def claim_of_nnm(n: int, f: int) -> Fraction:
    return Fraction(4 * f, n - 2 * f)


def claim_of_paper_gm(n: int, f: int) -> Fraction:
    return 4 * (1 + Fraction(f, n - 2 * f)) ** 2
