"""Every health check finds the fault that it is for, and healthy rules pass them all."""

from __future__ import annotations

import contextlib
import json
import math
import re
from fractions import Fraction

import numpy as np
import pytest

from kappaguard.rules.base.errors import InputError
from kappaguard.verify.guard.finding import finding_from_data
from kappaguard.verify.guard.health import CHECKS, examine
from kappaguard.verify.judge.subject import subject_of

from . import rules

CLAIM = Fraction(1000)


def found(rule, n=9, f=2, claim=CLAIM, **options):
    return examine(subject_of(rule, n, f, **options), claim)


def named(health, check):
    return next((finding for finding in health.findings if finding.check == check), None)


def test_names_differ_and_questions_are_questions():
    assert len({check.name for check in CHECKS}) == len(CHECKS)
    assert all(check.question.endswith("?") for check in CHECKS)


@pytest.mark.parametrize("rule", [rules.trimmed, rules.nearest_mean, rules.refuses_few])
@pytest.mark.parametrize(("n", "f"), [(9, 2), (5, 1), (17, 4), (7, 0)])
def test_healthy_rules_pass(rule, n, f):
    assert found(rule, n, f).findings == ()


@pytest.mark.parametrize("rule", ["cwmed", "cwtm", "gm", "krum", "multikrum", "meamed", "mda", "nnm+krum", "nnm+cwtm"])
@pytest.mark.parametrize(("n", "f"), [(11, 3), (6, 1)])
def test_our_own_rules_pass(rule, n, f):
    assert found(rule, n, f).findings == ()


@pytest.mark.parametrize(
    ("rule", "check"),
    [
        (rules.mean, "zero-variance"),
        (rules.mean_of_all_but_one, "zero-variance"),
        (rules.first, "zero-variance"),
        (rules.toward_origin, "zero-variance"),
        (rules.clipped, "zero-variance"),
        (rules.coordinate_two_only, "zero-variance"),
        (rules.none_at_equal, "zero-variance"),
        (rules.nan_at_equal, "zero-variance"),
        (rules.raises_at_equal, "zero-variance"),
        (rules.seldom_averages, "zero-variance"),
        (rules.huge_is_averaged, "scale"),
        ("average", "zero-variance"),
        ("monna", "zero-variance"),
    ],
)
def test_what_refutes(rule, check):
    health = found(rule)
    finding = named(health, check)
    assert finding is not None
    assert finding.refutes
    witness = health.witness
    assert witness.lower == math.inf
    # by hand: the honest vectors are equal, so the definition allows no error
    honest = [witness.x[index] for index in witness.subset]
    assert len(set(honest)) == 1
    assert len(witness.subset) == 7


@pytest.mark.parametrize(
    ("rule", "check"),
    [
        (rules.toward_origin, "translation"),
        (rules.clipped, "scale"),
        (rules.clipped, "translation"),
        (rules.first, "permutation"),
        (rules.with_offset, "permutation"),
        (rules.random_trim, "determinism"),
        (rules.fresh_randomness, "determinism"),
        (rules.in_place, "purity"),
        (rules.Remembering, "statelessness"),
        (rules.in_single, "output"),
        (rules.as_list, "output"),
        (rules.as_tuple, "output"),
        (rules.truncated, "output"),
        (rules.constant_is_contagious, "constant"),
        (rules.tiny_is_averaged, "scale"),
        (rules.constant_in_front_is_contagious, "constant"),
        (rules.single_inside, "output"),
        (rules.by_norms, "offset"),
        (rules.sums, "cancellation"),
        (rules.normalised, "dimension"),
        (rules.nan_is_contagious, "non-finite"),
        (rules.wants_many, "smallest"),
    ],
)
def test_what_is_warned_of(rule, check):
    finding = named(found(rule), check)
    assert finding is not None
    assert finding.example is not None
    assert repr(finding_from_data(json.loads(json.dumps(finding.to_data(), allow_nan=False)))) == repr(finding)


@pytest.mark.parametrize(
    "rule",
    [
        rules.in_place,
        rules.Remembering,
        rules.in_single,
        rules.as_list,
        rules.as_tuple,
        rules.by_norms,
        rules.nan_is_contagious,
    ],
)
def test_a_warning_does_not_refute(rule):
    health = found(rule)
    assert health.findings
    assert not any(finding.refutes for finding in health.findings)
    assert health.witness is None


def test_huge_vectors_that_drown_the_honest_ones_refute() -> None:
    finding = named(found(rules.sums), "cancellation")
    assert finding is not None
    assert finding.refutes


def test_what_happens_in_few_calls_is_said_with_confidence():
    messages = [finding.message for finding in found(rules.seldom_averages).findings]
    assert "2 different outputs in 100 calls, with every known seed fixed" in messages
    assert any("not deterministic: the violation repeated in 4 of 200 calls" in message for message in messages)


def test_an_offset_refutes_a_claim_that_the_judged_ratio_exceeds():
    finding = named(found(rules.by_norms, claim=Fraction(0)), "offset")
    assert finding.refutes
    assert not named(found(rules.by_norms, claim=Fraction(10**6)), "offset").refutes


def test_rotation_is_asked_where_it_is_claimed():
    assert named(found(rules.trimmed), "rotation") is None
    assert named(found(rules.trimmed, rotates=True), "rotation") is not None
    assert named(found(rules.nearest_mean, rotates=True), "rotation") is None


def test_the_seeds_are_told_from_entropy():
    assert "seeds" in named(found(rules.random_trim), "determinism").message
    assert "every known seed fixed" in named(found(rules.fresh_randomness), "determinism").message


def test_the_same_failure_is_told_once():
    def nothing(x):
        return np.full(x.shape[1], np.nan)

    messages = [finding.message for finding in found(nothing).findings]
    assert len([message for message in messages if "finite input" in message]) == 1


def test_a_rule_that_refuses_plain_input_is_a_wrong_request():
    with pytest.raises(InputError, match="does not run at n = 6 and f = 2: it raised ValueError: n >= 2f"):
        subject_of(rules.refuses_few, 6, 2)
    with pytest.raises(InputError, match="it returned None"):
        subject_of(lambda x: None, 6, 2)


@pytest.mark.parametrize(
    ("n", "f", "said"), [(4, 2, "f < n/2"), (0, 0, "n must"), (3, -1, "f must"), (True, 0, "n must")]
)
def test_wrong_numbers(n, f, said):
    with pytest.raises(InputError, match=said):
        subject_of(rules.trimmed, n, f)


def test_a_pre_aggregation_is_no_rule():
    with pytest.raises(InputError, match="pre-aggregation"):
        subject_of("nnm", 5, 1)


@pytest.mark.parametrize(
    ("rule", "said"),
    [
        (rules.texts, "returned list, not an array and not a list of numbers"),
        (rules.as_complex, "returned an array of complex128, not of floats"),
        (rules.with_weights, "returned tuple, not an array and not a list of numbers"),
        (rules.as_row, "returned shape (1, 3) for input of shape (5, 3)"),
        (rules.of_columns, "returned shape (5,) for input of shape (5, 3)"),
        (rules.squeezed, "returned shape () for input of shape (5, 1)"),
    ],
)
def test_a_mistake_of_the_interface_is_a_wrong_request(rule, said):
    with pytest.raises(InputError, match=re.escape(f"{said}; a rule takes an array of shape (n, d)")):
        subject_of(rule, 5, 1)


def test_a_rule_that_is_wrong_in_many_dimensions_is_refuted():
    health = found(rules.wide_is_averaged)
    assert named(health, "dimension").refutes
    assert health.witness.d >= 5000


def test_a_masked_array_hides_nothing():
    assert named(found(rules.masked), "output").refutes


def test_a_decomposition_is_not_asked_for_in_thousands_of_dimensions():
    rules.SEEN.clear()
    assert found(rules.decomposes).findings == ()
    assert 64 <= max(rules.SEEN) < 4096


def test_narrow_floats_are_not_refuted_by_their_range():
    """Half precision ends at 65504: inputs beyond say nothing about a rule of real numbers."""
    health = found(rules.in_half)
    assert not any(finding.refutes for finding in health.findings)
    assert named(health, "statelessness") is None


def test_a_rule_of_integers_is_judged_by_what_it_returns():
    under = subject_of(rules.truncated, 5, 1)
    judgement = under.judge(under.witness(np.array([[0.0], [0], [1], [1], [1]]), range(4), "by hand"))
    # the trimmed mean 2/3 becomes 0; the honest mean is 1/2 and the variance 1/4
    assert (judgement.output, judgement.witness.lower) == ((0.0,), 1)


def test_an_overflow_of_float32_refutes_nothing():
    health = found(rules.overflows)
    assert "returned" in named(health, "cancellation").message
    assert health.witness is None


@pytest.mark.parametrize("rule", [rules.raises_at_random, rules.raises_for_some_seeds])
def test_bad_luck_is_a_finding_and_no_crash(rule):
    for _ in range(5):
        # three times bad luck at the start, and it does not run at all
        with contextlib.suppress(InputError):
            assert any("bad luck" in finding.message for finding in found(rule).findings)
