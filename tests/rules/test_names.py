"""Rules by name: parsing, labels, composition, claims, and one clear line for everything else."""

from __future__ import annotations

from dataclasses import FrozenInstanceError
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import kappaguard as kg
from kappaguard.rules.arc import AdaptiveClipping
from kappaguard.rules.base.errors import InputError
from kappaguard.rules.base.expression import evaluate
from kappaguard.rules.base.rule import Coefficient, Rule
from kappaguard.rules.bucketing import Bucketing
from kappaguard.rules.centered_clipping import CenteredClipping
from kappaguard.rules.clipping import Clipping
from kappaguard.rules.cwmed import Median
from kappaguard.rules.cwtm import TrimmedMean
from kappaguard.rules.gm import GeometricMedian
from kappaguard.rules.krum import Krum
from kappaguard.rules.monna import MoNNA
from kappaguard.rules.multikrum import MultiKrum
from kappaguard.rules.names import PRE_AGGREGATIONS, RULES, parse, rule
from kappaguard.rules.nnm import NNM
from kappaguard.rules.pipeline import Chain, Pipeline

from . import inputs


def refusal(action, *parts):
    with pytest.raises(InputError) as caught:
        action()
    message = str(caught.value)
    assert "\n" not in message
    for part in parts:
        assert part in message


def test_the_built_in_names():
    promised = "average cwmed cwtm gm krum multikrum mda meamed centered_clipping monna smea caf"
    promised += " mva faba nna phocas winsorised bulyan chebyshev"
    promised += " medoid aksel ctma cge median_clipping dnc filterl2"
    assert list(RULES) == promised.split()
    assert list(PRE_AGGREGATIONS) == ["nnm", "bucketing", "clipping", "arc"]


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ("krum", Krum(f=2)),
        ("  krum ", Krum(f=2)),
        ("krum()", Krum(f=2)),
        ("krum(f=1)", Krum(f=1)),
        ("krum ( f = 1 )", Krum(f=1)),
        ("gm", GeometricMedian()),
        ("multikrum(m=3)", MultiKrum(f=2, select=3)),
        ("monna(index=1,)", MoNNA(f=2, index=1)),
        ("centered_clipping(tau=0.5, iterations=3)", CenteredClipping(tau=0.5, iterations=3)),
        ("nnm+krum", Pipeline((NNM(f=2),), Krum(f=2))),
        (" nnm\t+\n krum", Pipeline((NNM(f=2),), Krum(f=2))),
        ("nnm+bucketing(s=2)+cwmed", Pipeline((NNM(f=2), Bucketing(f=2, s=2)), Median())),
        ("nnm(f=1)+krum", Pipeline((NNM(f=1),), Krum(f=2))),
        ("bucketing(permutation=(1, 0))+gm", Pipeline((Bucketing(f=2, permutation=(1, 0)),), GeometricMedian())),
        ("clipping(c=+1.5)+arc+cwtm", Pipeline((Clipping(c=1.5), AdaptiveClipping(f=2)), TrimmedMean(f=2))),
    ],
)
def test_parsing(spec, expected):
    assert parse(spec, f=2) == expected


def test_parameters_in_code_go_to_the_last_part():
    assert parse("nnm+multikrum", f=2, m=3) == Pipeline((NNM(f=2),), MultiKrum(f=2, select=3))
    assert kg.rule("nnm+krum", f=4) == parse("nnm+krum", f=4)
    assert rule(Krum(f=3)) == Krum(f=3)


@pytest.mark.parametrize("name", inputs.RULES)
@pytest.mark.parametrize("f", [0, 3])
def test_labels_of_the_plain_names_are_the_names(name, f):
    built = parse(name, f=f)
    assert built.label == name
    assert parse(built.label, f=f) == built


@pytest.mark.parametrize(
    "spec",
    [
        "multikrum(select=3)",
        "krum(neighbours='n-f-2')",
        "monna(index=1)",
        "centered_clipping(tau=0.1, iterations=3)",
        "centered_clipping(tau=1e-07)",
        "bucketing(s=2)+gm",
        "bucketing(s=2, seed=5)+nnm+multikrum(select=1)",
        "bucketing(permutation=(2, 0, 1))+cwmed",
        "clipping(c=0.30000000000000004)+arc+cwtm",
    ],
)
def test_labels_parse_back(spec):
    built = parse(spec, f=1)
    assert built.label == spec
    assert parse(built.label, f=1) == built


def test_labels_of_numpy_numbers_parse_back():
    built = MultiKrum(f=1, select=np.int64(2))
    assert parse(built.label, f=1) == built
    clipped = Clipping(c=np.float64(2.5)) + Median()
    assert parse(clipped.label, f=1) == clipped


@pytest.mark.parametrize(
    ("spec", "parts"),
    [
        ("krumm", ("krumm", "krum")),
        ("cwmedd", ("cwmed",)),
        ("xyzzy", ("xyzzy", "average", "krum", "caf")),
        ("nmm+krum", ("nmm", "nnm")),
        ("krum+nnm", ("nnm",)),
        ("krum+krum", ("pre-aggregation", "krum")),
        ("xyzzy+krum", ("nnm, bucketing, clipping, arc",)),
        ("", ("rule",)),
        ("+", ("rule",)),
        ("nnm+", ("rule",)),
        ("+krum", ("pre-aggregation",)),
        ("nnm++krum", ("pre-aggregation",)),
        ("Krum", ("Krum",)),
        ("krum krum", ("krum krum",)),
        ("krum(", ("krum(",)),
        ("krum)", ("krum)",)),
        ("krum(f=2))", ("f=2)",)),
        ("krum(2)", ("name=number",)),
        ("krum(f)", ("name=number",)),
        ("krum(**{})", ("name=number",)),
        ("krum(*[1])", ("name=number",)),
        ("krum(f=n)", ("name=number",)),
        ("krum(f=__import__('os'))", ("name=number",)),
        ("krum(f=2 f=3)", ("name=number",)),
        ("krum(m=3)", ("krum", "'m'", "f")),
        ("gm(tolerance=1)", ("gm", "'tolerance'", "nu, steps")),
        ("cwmed(tolerance=1)", ("cwmed", "'tolerance'", "none")),
        ("nnm(s=2)+krum", ("nnm", "'s'")),
        ("krum(name='x')", ("'name'",)),
        ("krum(coefficient=1)", ("'coefficient'",)),
        ("krum(f=1)+(f=2)", ("(f=2)",)),
    ],
)
def test_wrong_names(spec, parts):
    refusal(lambda: parse(spec, f=2), *parts)


@pytest.mark.parametrize("spec", ["krum(f=2, f=3)", "krum(f=1)(f=2)", "krum(f=1).other(f=2)", "krum(f=1)[0](f=2)"])
def test_parameters_are_given_once(spec):
    refusal(lambda: parse(spec), "krum")


def test_f_is_needed_where_there_is_one():
    refusal(lambda: parse("krum"), "krum", "f")
    refusal(lambda: parse("nnm+gm"), "nnm", "f")
    refusal(lambda: rule("package.module:thing"), "needs f")
    assert parse("gm") == GeometricMedian()
    assert parse("nnm(f=1)+gm") == NNM(f=1) + GeometricMedian()


def test_composition_in_code_equals_composition_by_name():
    x = np.random.default_rng(0).standard_normal((13, 4))
    in_code = NNM(f=2) + Bucketing(f=2, s=2) + Krum(f=2)
    assert in_code == parse("nnm+bucketing(s=2)+krum", f=2)
    assert in_code == NNM(f=2) + (Bucketing(f=2, s=2) + Krum(f=2))
    chain = NNM(f=2) + Bucketing(f=2, s=2)
    assert isinstance(chain, Chain)
    assert chain.label == "nnm+bucketing(s=2)"
    assert (Clipping() + chain).steps == (Clipping(), *chain.steps)
    assert (chain + chain).steps == chain.steps * 2
    assert np.array_equal(in_code(x), parse("nnm+bucketing(s=2)+krum", f=2)(x))
    assert np.allclose(in_code(x), Krum(f=2)(Bucketing(f=2, s=2)(NNM(f=2)(x))), atol=1e-12)
    assert np.allclose(chain(x), Bucketing(f=2, s=2)(NNM(f=2)(x)), atol=1e-12)


def test_a_rule_comes_last():
    with pytest.raises(TypeError):
        NNM(f=2) + 3
    with pytest.raises(TypeError):
        Krum(f=2) + NNM(f=2)


@pytest.mark.parametrize("name", inputs.RULES)
def test_rules_are_frozen_and_hashable(name):
    built = parse(name, f=1)
    assert hash(built) == hash(parse(name, f=1))
    assert len({built, parse(name, f=1), Krum(f=9)}) == 2
    with pytest.raises(FrozenInstanceError):
        built.f = 3


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("krum", 6 * Fraction(13, 9)),
        ("cwtm", 6 * Fraction(4, 9) * Fraction(13, 9)),
        ("cwmed", 4 * Fraction(13, 9) ** 2),
        ("gm", 4 * Fraction(13, 9) ** 2),
        ("nnm+krum", Fraction(8 * 4, 13) * (6 * Fraction(13, 9) + 1)),
        ("nnm+cwtm", Fraction(8 * 4, 13) * (6 * Fraction(4, 9) * Fraction(13, 9) + 1)),
        ("nnm+nnm+gm", Fraction(32, 13) * (Fraction(32, 13) * (4 * Fraction(13, 9) ** 2 + 1) + 1)),
    ],
)
def test_claims_at_seventeen_and_four(name, expected):
    claim = parse(name, f=4).claim
    assert isinstance(claim, Coefficient)
    assert evaluate(claim.expression, n=17, f=4) == expected
    assert claim.source


@pytest.mark.parametrize("name", ["average", "mda", "nnm+mda", "bucketing+krum", "nnm+bucketing+krum", "clipping+krum"])
def test_no_claim_where_none_is_stated(name):
    assert parse(name, f=4).claim is None


def test_lemma_one_applies_from_the_rule_outwards():
    assert NNM(f=1).amplify(None) is None
    chain = NNM(f=1) + NNM(f=1)
    once = NNM(f=1).amplify(Coefficient("n", "here"))
    assert evaluate(once.expression, n=9, f=1) == Fraction(8, 8) * 10
    assert evaluate(chain.amplify(Coefficient("n", "here")).expression, n=9, f=1) == 11


def assert_rule_or_refusal(spec):
    try:
        built = parse(spec, f=1)
    except InputError:
        refusal(lambda: parse(spec, f=1))
        return
    assert isinstance(built, Rule)
    assert parse(built.label, f=1).label == built.label


@settings(max_examples=300, deadline=None)
@given(st.text(max_size=30))
def test_any_text_is_a_rule_or_refused(spec):
    assert_rule_or_refusal(spec)


PIECES = st.sampled_from(
    [
        *RULES,
        *PRE_AGGREGATIONS,
        *[
            "+",
            "+",
            "(",
            ")",
            "(",
            ")",
            "=",
            ",",
            "f",
            "s",
            "m",
            "c",
            "tau",
            "seed",
            "index",
            "permutation",
            "1",
            "2",
            "-1",
            "0.5",
            "True",
            "None",
            "[]",
            "\n",
            "'",
            "#",
            ":",
            "\\d",
        ],
    ]
)


@settings(max_examples=1500, deadline=None)
@given(st.lists(PIECES, max_size=10))
def test_any_row_of_tokens_is_a_rule_or_refused(pieces):
    assert_rule_or_refusal("".join(pieces))
