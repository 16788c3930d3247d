"""The search refutes rules that are wrong, and never one that is right."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import kappaguard as kg
from kappaguard.verify.judge.median import Ball
from kappaguard.verify.judge.replay import bounds

from .broken import BROKEN
from .broken.tools import Broken, nearest, scores, squared, trimmed

pytestmark = pytest.mark.solver

SECONDS = 60.0
SEEDS = 30


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_rule_is_refuted(name: str) -> None:
    case: Broken = BROKEN[name]
    result = kg.search(case.rule, n=case.n, f=case.f, budget=SECONDS, target=case.claim, seed=0)
    assert result.lower > case.claim
    witness = result.witness
    assert witness is not None
    # judged once more, by the rule itself on the witness's own numbers
    x = np.array([[float(value) for value in row] for row in witness.x])
    rows = [[Fraction(value) for value in row] for row in x.tolist()]
    output = tuple(Fraction(value) for value in np.asarray(case.rule(x.copy(), case.f)).tolist())
    assert bounds(Ball(output, Fraction(0)), rows, witness)[0] > case.claim


def test_there_are_enough_of_them() -> None:
    assert len(BROKEN) >= 40


def _trimmed_mean(x: np.ndarray, f: int) -> np.ndarray:
    return trimmed(x, f, f)


def _median(x: np.ndarray, f: int) -> np.ndarray:
    return np.median(x, axis=0)


def _krum(x: np.ndarray, f: int) -> np.ndarray:
    return x[np.argmin(scores(squared(x), len(x) - f))]


def _meamed(x: np.ndarray, f: int) -> np.ndarray:
    order = np.argsort(np.abs(x - np.median(x, axis=0)), axis=0, kind="stable")
    return np.take_along_axis(x, order[: len(x) - f], axis=0).mean(axis=0)


def _multikrum(x: np.ndarray, f: int) -> np.ndarray:
    order = np.argsort(scores(squared(x), len(x) - f), kind="stable")
    return x[order[: len(x) - f]].mean(axis=0)


def _mixed_trimmed_mean(x: np.ndarray, f: int) -> np.ndarray:
    return trimmed(x[nearest(x, len(x) - f)].mean(axis=1), f, f)


# kappa* itself: no claim is tighter and true
CORRECT = {
    "cwtm": (_trimmed_mean, 7, 2, Fraction(2, 3)),
    "cwmed": (_median, 7, 2, Fraction(3, 2)),
    "krum": (_krum, 9, 3, Fraction(9)),
    "gm": ("gm", 7, 2, Fraction(3, 2)),
    "meamed": (_meamed, 7, 2, Fraction(16, 5)),
    "multikrum": (_multikrum, 7, 2, Fraction(8, 3)),
    "mda": ("mda", 7, 2, Fraction(16, 5)),
    "nnm+cwtm": (_mixed_trimmed_mean, 7, 2, Fraction(8, 3)),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", CORRECT)
def test_a_correct_rule_passes_with_every_seed(name: str) -> None:
    rule, n, f, claim = CORRECT[name]
    for seed in range(SEEDS):
        assert kg.search(rule, n=n, f=f, evaluations=300, seed=seed, target=claim).lower <= claim, seed
    # the claim is tight, and a longer search does come near it
    result = kg.search(rule, n=n, f=f, evaluations=8000, target=claim)
    assert Fraction(99, 100) * claim < result.lower <= claim
