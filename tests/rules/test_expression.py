"""Coefficients as text: exact, and nothing but arithmetic."""

from __future__ import annotations

import time
import warnings
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kappaguard.rules.base.errors import InputError
from kappaguard.rules.base.expression import evaluate

FUZZ = settings(max_examples=300, deadline=None)


def refusal(expression, n=17, f=4):
    with pytest.raises(InputError) as caught:
        evaluate(expression, n=n, f=f)
    message = str(caught.value)
    assert message
    assert "\n" not in message
    return message


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("6*f/(n-2*f)*(1+f/(n-2*f))", Fraction(24, 9) * (1 + Fraction(4, 9))),
        ("4*(1+f/(n-2*f))**2", 4 * Fraction(13, 9) ** 2),
        ("8*f/(n-f)*(6*(1+f/(n-2*f))+1)", Fraction(32, 13) * (6 * Fraction(13, 9) + 1)),
        (" -f + +n ", 13),
        ("1_000", 1000),
        ("n**-2", Fraction(1, 289)),
        ("-n**2", -289),
        ("2**3**2", 512),
        ("n//f", 4),
        ("-n//f", -5),
        ("n/f/2", Fraction(17, 8)),
        ("floor(n/f)", 4),
        ("ceil(n/f)", 5),
        ("floor(-1/2)", -1),
        ("min(n, f, 3)", 3),
        ("max(n/2, f)", Fraction(17, 2)),
        ("sqrt(f)", 2),
        ("sqrt(f/9)", Fraction(2, 3)),
        ("sqrt(0)", 0),
        ("n\n", 17),
        ("(n\n+f)", 21),
    ],
)
def test_values_are_exact(expression, expected):
    value = evaluate(expression, n=17, f=4)
    assert isinstance(value, Fraction)
    assert value == expected


@pytest.mark.parametrize(
    ("literal", "expected"),
    [
        ("0.1", Fraction(1, 10)),
        (".5", Fraction(1, 2)),
        ("1.", Fraction(1)),
        ("1e-3", Fraction(1, 1000)),
        ("1_0.2_5", Fraction(41, 4)),
        ("2.5E+2", Fraction(250)),
        ("0.1000000000000000055511151231257827", Fraction("0.1000000000000000055511151231257827")),
        ("0.30000000000000000000000000000000001", Fraction("0.30000000000000000000000000000000001")),
        ("123456789012345678.9", Fraction("123456789012345678.9")),
        ("12345678901234567890", Fraction(12345678901234567890)),
    ],
)
def test_decimal_literals_are_the_decimals_that_were_written(literal, expected):
    assert evaluate(literal, n=17, f=4) == expected
    assert evaluate(f"1 + ({literal} * 2) # é", n=17, f=4) == 1 + 2 * expected


def test_a_tenth_three_times_is_three_tenths():
    assert evaluate("0.1+0.1+0.1-0.3", n=17, f=4) == 0


def test_irrational_roots_are_floats():
    value = evaluate("sqrt(2)", n=17, f=4)
    assert isinstance(value, float)
    assert value == 2**0.5


@pytest.mark.parametrize(
    "expression",
    [
        "",
        "   ",
        "n +",
        "m",
        "N",
        "f(n)",
        "n(1)",
        "__import__('os')",
        "n.real",
        "n.__class__",
        "[n]",
        "(n,)",
        "{n}",
        "n if f else 0",
        "n < f",
        "n == f",
        "n and f",
        "not n",
        "~n",
        "n % f",
        "n @ f",
        "n << f",
        "n | f",
        "True",
        "None",
        "...",
        "'n'",
        "b'n'",
        "f'{n}'",
        "1j",
        "lambda: n",
        "(x := n)",
        "[i for i in n]",
        "n[0]",
        "n; f",
        "n = 3",
        "import os",
        "sqrt",
        "sqrt()",
        "sqrt(n, f)",
        "sqrt(x=n)",
        "sqrt(*n)",
        "min(n)",
        "min()",
        "floor(1, 2)",
        "exp(1)",
        "abs(n)",
        "pow(n, 2)",
        "n" * 1001,
        "n\x00",
        "\ud800",
        "n\\",
    ],
)
def test_everything_else_is_refused(expression):
    refusal(expression)


@pytest.mark.parametrize(
    "expression",
    [
        "9**9**9",
        "9**65",
        "n**(n**n)",
        "2**64**2",
        "(2**64)**65",
        "((9**64)**64)**64",
        "1e999",
        "1e-999999999",
        "1e999999999",
        "1e9999999999999999999",
        "9" * 999 + "**64",
        "sqrt(2)**64**9",
        "(" * 400 + "n" + ")" * 400,
        "-" * 990 + "n",
        "+".join("n" * 400) + "**99",
        "*".join(["(9**64)"] * 40),
    ],
)
def test_large_and_deep_expressions_end_quickly(expression):
    start = time.monotonic()
    assert_number_or_refusal(expression)
    assert time.monotonic() - start < 2


@pytest.mark.parametrize("expression", ["9**9**9", "9**65", "2**-65", "1e999999999", "*".join(["(9**64)"] * 40)])
def test_numbers_have_a_limit(expression):
    refusal(expression)


@pytest.mark.parametrize("expression", ["2**0.5", "n**(1/2)", "2**sqrt(2)", "(-1)**0.5"])
def test_exponents_are_integers(expression):
    refusal(expression)


def test_a_long_expression_names_its_length():
    assert "1001" in refusal("n" * 1001)
    assert evaluate("n" + " " * 999, n=17, f=4) == 17


@pytest.mark.parametrize("expression", ["f/(n-2*f)", "f//(n-2*f)", "(n-2*f)**-1", "1/0.0", "n/sqrt(n-8)"])
def test_division_by_zero_names_the_numbers(expression):
    message = refusal(expression, n=8, f=4)
    assert "n = 8" in message
    assert "f = 4" in message


def test_a_root_of_a_negative_number_names_the_numbers():
    message = refusal("sqrt(f-n)", n=17, f=4)
    assert "n = 17" in message
    assert "f = 4" in message


@pytest.mark.parametrize("expression", ["(1/\n0)", "(sqrt(\n0-1))", "(n**\n0.5)", "(n +\n[1])", "n\n\nn", "max(\n1)"])
def test_a_refusal_is_one_line_even_if_the_expression_is_not(expression):
    refusal(expression)


@pytest.mark.parametrize("expression", ["'\\d'", "1if n else 2", "0x1for x in y", "n is 3", "1(2)"])
def test_no_warning_of_the_parser_escapes(expression):
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        refusal(expression)
    assert not seen


def assert_number_or_refusal(expression):
    try:
        value = evaluate(expression, n=17, f=4)
    except InputError:
        refusal(expression)
        return
    assert isinstance(value, Fraction | float)
    assert abs(value) < float("inf")


@FUZZ
@given(st.text(max_size=40))
def test_any_text_is_a_number_or_refused(expression):
    assert_number_or_refusal(expression)


PIECES = st.sampled_from(
    [
        "n",
        "f",
        "1",
        "2",
        "0",
        "0.5",
        "1e3",
        "1e300",
        "64",
        "+",
        "-",
        "*",
        "/",
        "//",
        "**",
        "%",
        "(",
        ")",
        ",",
        ".",
        "=",
        "<",
        "[",
        "]",
        "{",
        "}",
        ":",
        ";",
        "'",
        '"',
        "\n",
        "#",
        "\\",
        "@",
        "~",
        "not",
        "if",
        "else",
        "lambda",
        "sqrt(",
        "min(",
        "max(",
        "floor(",
        "ceil(",
        "sum(",
        "__import__(",
        "True",
        "None",
        "1j",
        "e",
        "_",
        "",
    ]
)


@settings(max_examples=1500, deadline=None)
@given(st.lists(PIECES, max_size=14))
def test_any_row_of_tokens_is_a_number_or_refused(pieces):
    assert_number_or_refusal(" ".join(pieces))


EXACT = st.recursive(
    st.sampled_from(["n", "f", "0", "1", "3", "0.25", "1e-2"]),
    lambda inner: st.builds("({} {} {})".format, inner, st.sampled_from(["+", "-", "*", "/"]), inner),
    max_leaves=12,
)


@FUZZ
@given(EXACT, st.integers(1, 50), st.integers(0, 25))
def test_arithmetic_agrees_with_fractions(expression, n, f):
    """The judge is Python's own arithmetic on names bound to fractions."""
    judged = expression.replace("0.25", "quarter").replace("1e-2", "hundredth")
    for digit in "013":
        judged = judged.replace(digit, f"number({digit})")
    names = {"n": Fraction(n), "f": Fraction(f), "number": Fraction}
    names |= {"quarter": Fraction(1, 4), "hundredth": Fraction(1, 100)}
    try:
        expected = eval(judged, {"__builtins__": {}}, names)
    except ZeroDivisionError:
        refusal(expression, n=n, f=f)
        return
    assert evaluate(expression, n=n, f=f) == expected
