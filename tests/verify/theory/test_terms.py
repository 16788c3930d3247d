"""A claim that says more than is true is noticed: every stated number is moved towards the stronger statement."""

from __future__ import annotations

from fractions import Fraction

import pytest
import sympy

from kappaguard.verify.theory.claim import KINDS, SCOPES, Effort
from kappaguard.verify.theory.registry import claims
from kappaguard.verify.theory.term import Term

MOVES = {-1: (Fraction(99, 100),), 1: (Fraction(101, 100),), 0: (Fraction(99, 100), Fraction(101, 100))}
ROUNDS = 8
"""A statement with several terms is tight in one of them only after a few moves."""
CASES = [
    pytest.param(claim, name, factor, id=f"{claim.name}-{name}-{factor}")
    for claim in claims()
    if claim.expected == "proved"
    for name, term in claim.terms.items()
    for factor in MOVES[term.stronger]
]


def outcome(claim):
    """The finding of a quick run, or None if a step of the check does not hold."""
    try:
        return claim.run(Effort.QUICK, lambda done, total: None)
    except (AssertionError, ValueError):
        return None


@pytest.mark.solver
@pytest.mark.parametrize(("claim", "name", "factor"), CASES)
def test_a_stronger_statement_is_not_proved(claim, name, factor):
    moved = factor
    for _ in range(ROUNDS):
        finding = outcome(claim.restated(name, moved))
        if finding is None or not finding.tightness:
            break
        # there is room: what is stated becomes as small as what is reached, and a little less
        moved *= factor * Fraction(finding.tightness)
    assert finding is None or finding.verdict != "proved"


def test_every_claim_says_what_its_verdict_rests_on():
    for claim in claims():
        assert (claim.scope in SCOPES) == (claim.expected != "refuted"), claim.name
        assert (claim.kind in KINDS) == (claim.expected == "refuted"), claim.name
        assert claim.basis


def test_the_prose_is_written_from_the_terms():
    for claim in claims():
        for name, term in claim.terms.items():
            assert term.text in claim.statement
            assert claim.restated(name, Fraction(1, 2)).statement != claim.statement


@pytest.mark.parametrize(
    ("expression", "text"),
    [("6*f/(n-2*f)", "6f/(n-2f)"), ("4*(1+f/(n-2*f))**2", "4(1+f/(n-2f))^2"), ("n**2/(f*(n-2*f))", "n^2/(f(n-2f))")],
)
def test_a_term_reads_as_people_write(expression, text):
    assert Term(expression).text == text


def test_a_term_is_the_same_number_in_both_arithmetics():
    term = Term("6*f/(n-2*f)*(1+f/(n-2*f))", -1, Fraction(99, 100))
    n, f = sympy.symbols("a b")
    value = term.symbolic(n, f).subs({n: 17, f: 4})
    assert Fraction(int(value.p), int(value.q)) == term(17, 4) == Fraction(99, 100) * Fraction(24, 9) * Fraction(13, 9)
