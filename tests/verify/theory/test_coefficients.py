"""The closed forms against the rules that claim them, against values by hand, and against each other."""

from __future__ import annotations

import subprocess
import sys
from fractions import Fraction

import pytest
import sympy

from kappaguard.rules.base.errors import InputError
from kappaguard.rules.base.expression import evaluate
from kappaguard.rules.names import RULES, parse
from kappaguard.verify.theory import coefficients as c

pytestmark = pytest.mark.solver

N, F = sympy.symbols("n f", integer=True, positive=True)
KAPPA = sympy.Symbol("kappa", nonnegative=True)

# Typed from the paper, in sympy's own syntax: the judge of the strings.
STATED = {
    c.CWTM: 6 * F / (N - 2 * F) * (1 + F / (N - 2 * F)),
    c.KRUM: 6 * (1 + F / (N - 2 * F)),
    c.GM: 4 * (1 + F / (N - 2 * F)) ** 2,
    c.CWMED: 4 * (1 + F / (N - 2 * F)) ** 2,
    c.NNM: 8 * F / (N - F) * (KAPPA + 1),
    c.UNIVERSAL: F / (N - 2 * F),
    c.SPECIFIC_EVEN: sympy.Integer(1),
    c.SPECIFIC_ODD: (1 - 1 / (N - F)) ** 2 / (1 - (1 / (N - F)) ** 2),
    c.SPECIFIC_ANY: sympy.Rational(1, 3),
    c.LAMBDA: sympy.sqrt(KAPPA / 2),
    c.ARAGG: KAPPA * N / (2 * F),
    c.TABLE_GM: (1 + F / (N - 2 * F)) ** 2,
    c.TABLE_CWTM: F / (N - 2 * F) * (1 + F / (N - 2 * F)),
    c.TABLE_CWMED: (1 + F / (N - 2 * F)) ** 2,
    c.TABLE_KRUM: 1 + F / (N - 2 * F),
    c.TABLE_LOWER: F / (N - 2 * F),
}


def equal(a, b):
    return sympy.simplify(a - b) == 0


def test_every_form_is_judged():
    assert set(STATED) == set(c.ALL)


@pytest.mark.parametrize("form", c.ALL, ids=lambda form: f"{form.kind}-{form.name}")
def test_the_form_is_the_papers(form):
    assert equal(form.symbolic, STATED[form])
    assert form.source.startswith("Fixing by Mixing")
    assert form.latex
    assert form.domain in c.DOMAINS


def test_the_guard_sees_a_difference():
    assert not equal(c.KRUM.symbolic, STATED[c.CWTM])


@pytest.mark.parametrize("form", [c.CWTM, c.KRUM, c.GM, c.CWMED], ids=lambda form: form.name)
def test_the_rules_claim_it(form):
    for name in form.rules:
        behind = parse(f"nnm+{name}", f=1).claim
        assert behind is not None
        assert equal(c.to_sympy(behind.expression), c.NNM.symbolic.subs(KAPPA, form.symbolic))
        assert equal(c.to_sympy(c.amplified(form.expression)), c.NNM.symbolic.subs(KAPPA, form.symbolic))


def test_every_claim_of_a_rule_is_here():
    claimed = {name for name, rule in RULES.items() if rule.coefficient is not None}
    assert claimed == {name for form in c.APPENDIX if form.kind == "upper" for name in form.rules}


@pytest.mark.parametrize(
    ("form", "value"),
    [
        (c.CWTM, Fraction(6 * 4, 9) * Fraction(13, 9)),
        (c.KRUM, Fraction(6 * 13, 9)),
        (c.GM, 4 * Fraction(13, 9) ** 2),
        (c.UNIVERSAL, Fraction(4, 9)),
        (c.SPECIFIC_ODD, Fraction(12, 14)),
    ],
)
def test_values_at_17_and_4(form, value):
    assert form(17, 4) == value
    assert Fraction(*sympy.Rational(form.symbolic.subs({N: 17, F: 4})).as_numer_denom()) == value


def test_values_that_need_kappa():
    assert c.NNM(17, 4, Fraction(3)) == Fraction(32, 13) * 4
    assert c.LAMBDA(17, 4, Fraction(8)) == 2
    assert c.LAMBDA(17, 4, Fraction(1)) == pytest.approx(0.5**0.5)
    assert c.ARAGG(17, 4, Fraction(1, 2)) == Fraction(17, 16)


def test_domains():
    assert c.SPECIFIC_EVEN(5, 1) == 1
    with pytest.raises(InputError, match="n - f even"):
        c.SPECIFIC_EVEN(4, 1)
    with pytest.raises(InputError, match="stated for 0 <= f < n/2"):
        c.KRUM(4, 2)
    with pytest.raises(InputError, match="1 <= f"):
        c.ARAGG(4, 0, Fraction(1))
    with pytest.raises(InputError, match="needs kappa"):
        c.NNM(4, 1)
    with pytest.raises(InputError, match="does not take kappa"):
        c.KRUM(4, 1, Fraction(1))


def test_no_upper_bound_is_below_a_lower_one():
    for n in range(3, 30):
        for f in range(1, (n - 1) // 2 + 1):
            specific = (c.SPECIFIC_EVEN if (n - f) % 2 == 0 else c.SPECIFIC_ODD)(n, f)
            assert specific >= c.SPECIFIC_ANY(n, f)
            for form in (c.CWTM, c.KRUM, c.GM, c.CWMED):
                assert form(n, f) >= c.UNIVERSAL(n, f)
            for form in (c.KRUM, c.GM, c.CWMED):
                assert form(n, f) >= specific


def test_table_one_is_the_appendix_without_constants():
    rows = c.table_one()
    assert [row.name for row in rows] == ["GM", "CWTM", "CWMed", "Krum", "Lower bound"]
    assert [row.constant for row in rows] == [4, 6, 4, 6, 1]
    for row in rows:
        for n, f in ((17, 4), (5, 1), (100, 49)):
            assert row.appendix(n, f) == row.constant * row.table(n, f)
    text = c.table_one_latex()
    assert text.count("&") == 10
    assert "CWMed" in text


def test_a_wrong_table_is_not_generated():
    with pytest.raises(ValueError, match="not a constant"):
        c._constant(c.TABLE_KRUM, c.GM)


@pytest.mark.parametrize("text", ["__import__('os')", "n.real", "m", "n if f else 1", "n(", "sqrt", "True", "[n]"])
def test_only_arithmetic_becomes_symbolic(text):
    with pytest.raises(InputError):
        c.to_sympy(text)


@pytest.mark.parametrize(
    "text", ["n//f", "max(n, f)*2-1", "-f+sqrt(n)", "ceil(n/f)+floor(f/n)", "0.1*n", "min(1, f)**2"]
)
def test_symbolic_and_numeric_agree(text):
    for n, f in ((7, 2), (9, 4), (16, 3)):
        value = c.to_sympy(text).subs({N: n, F: f})
        assert float(value) == pytest.approx(float(evaluate(text, n, f)))


def test_sympy_is_not_imported_before_it_is_needed():
    code = "import sys, kappaguard.verify.theory.coefficients as c; c.KRUM(17, 4); print('sympy' in sys.modules)"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "False"


@pytest.mark.parametrize("rule", sorted(c.OURS))
def test_our_closed_forms_are_what_is_certified(rule):
    import kappaguard as kg

    form = c.OURS[rule]
    pairs = [(n, f) for n in range(3, 11) for f in range(1, (n + 1) // 2) if form.holds(n, f)]
    assert pairs
    for n, f in pairs:
        result = kg.exact(rule, n=n, f=f)
        assert float(form(n, f)) == pytest.approx(float(result.upper), rel=1e-6)
        assert float(form(n, f)) == pytest.approx(float(result.lower), rel=1e-6)
    assert "n" in form.latex


def test_what_the_paper_loses():
    assert c.lost("cwtm", 17, 4) == pytest.approx(6 * (1 + 4 / 9))
    assert c.lost("krum", 9, 3) == pytest.approx(4 / 3)
    with pytest.raises(InputError):
        c.lost("mda", 17, 4)
