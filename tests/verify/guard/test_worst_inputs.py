"""Copies of known rules, written anew here and under other names, get kappa* of the rule without any search."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import kappaguard as kg
from kappaguard.search import worst_inputs
from kappaguard.verify.guard.claim_check import ClaimCheck
from kappaguard.verify.guard.course import check_claim
from kappaguard.verify.guard.known import judgements
from kappaguard.verify.judge.subject import subject_of

from .finders import forbidden_finder, no_finder

pytestmark = pytest.mark.solver


def sums(x, count):
    """Per vector, the sum of its least squared distances, its own zero included."""
    return [float(np.sort(((x - each) ** 2).sum(axis=1))[:count].sum()) for each in x]


def krum(x, f, fewer=1):
    """The vector with the least sum of squared distances to its n - f - fewer nearest others."""
    scores = sums(x, len(x) - f - fewer + 1)
    return x[scores.index(min(scores))]


def last_of_equals(x, f):
    """Krum that breaks ties the other way round."""
    return krum(x[::-1], f)


def multikrum(x, f):
    return x[np.argsort(sums(x, len(x) - f), kind="stable")[: len(x) - f]].mean(axis=0)


def smallest_diameter(x, f):
    def diameter(chosen):
        return max(float(((x[i] - x[j]) ** 2).sum()) for i in chosen for j in chosen)

    return x[list(min(itertools.combinations(range(len(x)), len(x) - f), key=diameter))].mean(axis=0)


def middle(x, f):
    return np.median(x, axis=0)


def trimmed(x, f):
    return np.sort(x, axis=0)[f : len(x) - f].mean(axis=0)


COPIES = {krum: "krum", last_of_equals: "krum", multikrum: "multikrum", smallest_diameter: "mda"}
COPIES |= {middle: "cwmed", trimmed: "cwtm"}


@pytest.mark.parametrize(
    ("copy", "n", "f"),
    [(copy, n, f) for copy in COPIES for n, f in ((5, 1), (7, 3), (10, 2), (9, 4)) if copy is not smallest_diameter]
    + [(smallest_diameter, 5, 1), (smallest_diameter, 6, 2)],
)
def test_a_copy_of_a_known_rule_gets_its_kappa(copy, n, f):
    known = kg.exact(COPIES[copy], n=n, f=f)
    below, above = float(known.lower) * (1 - 1e-4), float(known.upper) * (1 + 1e-4)
    verdict = check_claim(ClaimCheck(copy, n, f, below), finder=forbidden_finder)
    assert verdict.verdict == "refuted"
    assert below < float(verdict.lower) <= above
    assert check_claim(ClaimCheck(copy, n, f, above), finder=no_finder).verdict == "proved"


def test_the_copy_of_the_issue():
    """krum at (10, 2) against the false claim 2 was open on a busy machine; no search is needed."""
    assert check_claim(ClaimCheck(krum, 10, 2, 2), finder=forbidden_finder).verdict == "refuted"


@pytest.mark.parametrize(("n", "f", "fewer"), [(7, 2, 2), (10, 2, 2), (17, 4, 2), (10, 3, 0), (11, 3, 3)])
def test_krum_with_other_numbers_of_neighbours(n, f, fewer):
    """At least as bad as what a long search finds in the variant, and its own input is among those that are tried."""

    def variant(x, f):
        return krum(x, f, fewer)

    under = subject_of(variant, n, f)
    found = [(float(judged.ratio), judged.witness.found_by) for judged in judgements(under)]
    ratio, name = max(found)
    assert name == f"extremal for krum(neighbours={n - f - fewer})"
    searched = kg.search(variant, n=n, f=f, evaluations=2000)
    assert ratio >= float(searched.lower) * (1 - 1e-4)


def test_krum_with_so_few_neighbours_that_it_breaks():
    """Flower's number at n = 2f + 1: the Byzantine vectors are each other's nearest."""
    under = subject_of(lambda x, f: krum(x, f, 2), 5, 2)
    assert max(judged.ratio for judged in judgements(under)) > 10**6


def test_a_source_can_be_added(monkeypatch):
    """Whoever derives worst inputs of another rule lists a function of (n, f)."""
    given = next(worst_inputs.closed_forms(5, 1))
    monkeypatch.setattr(worst_inputs, "SOURCES", [lambda n, f: iter([given])])
    assert list(worst_inputs.worst_inputs(5, 1)) == [given]
    assert list(worst_inputs.worst_inputs(5, 0)) == []
