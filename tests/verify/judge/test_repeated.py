"""A violation that does not repeat refutes nothing; one that repeats does, and how often is said with confidence."""

from __future__ import annotations

import numpy as np
import pytest

from kappaguard.rules.witness import load
from kappaguard.verify.guard.check import check
from kappaguard.verify.guard.claim_check import ClaimCheck
from kappaguard.verify.guard.course import check_claim
from kappaguard.verify.judge.repeated import CALLS, REPEATS, repeated
from kappaguard.verify.judge.replay import replay
from kappaguard.verify.judge.subject import subject_of

from ..guard.finders import no_finder

pytestmark = pytest.mark.solver

ONCE = """import numpy as np

calls = [0]


def rule(x):
    if sorted(x[:, 0]) == [0] * 8 + [1]:
        calls[0] += 1
    if calls[0] == 1:
        calls[0] += 1
        raise ValueError("bad luck")
    return np.median(x, axis=0)
"""
BY_CHANCE = """import numpy as np


def rule(x):
    return x[np.random.default_rng().integers(len(x))]
"""


NEVER_AGAIN = (
    "not deterministic: the violation did not repeat in 200 calls, with 99% confidence in fewer than 2.3% of them"
)


def test_a_violation_that_does_not_repeat_refutes_nothing(tmp_path):
    (tmp_path / "mine.py").write_text(ONCE)
    verdict = check(f"{tmp_path / 'mine.py'}:rule", 9, 1, 9, evaluations=1500, witnesses=tmp_path / "kept")
    assert (verdict.verdict, verdict.trouble, verdict.path) == ("open", None, None)
    assert verdict.reason == "an input beyond it was found, and did not repeat"
    assert [finding.message for finding in verdict.findings].count(NEVER_AGAIN) == 1
    assert not any(finding.refutes for finding in verdict.findings)
    assert not (tmp_path / "kept").exists()


def test_a_rule_that_errs_by_chance_is_refuted_with_a_stated_confidence(tmp_path):
    """Byzantine in one call of nine; an honest vector has a ratio of n - f - 1 = 7 at most."""
    (tmp_path / "mine.py").write_text(BY_CHANCE)
    verdict = check(f"{tmp_path / 'mine.py'}:rule", 9, 1, 9, evaluations=1500, witnesses=tmp_path / "kept")
    assert (verdict.verdict, verdict.trouble, verdict.path) == ("refuted", None, None)
    said = [finding.message for finding in verdict.findings if "the violation repeated in" in finding.message]
    assert any("99% confidence" in message for message in said)
    # a witness that a replay may not reproduce is told, and never saved
    assert verdict.unsaved == "the violation does not repeat in every call"
    assert not (tmp_path / "kept").exists()


@pytest.mark.parametrize("wrong", range(1, REPEATS + 1))
def test_one_call_that_does_not_violate_is_told(wrong):
    """The average violates every claim here; in one of the calls it is the median instead."""
    calls = []

    def rule(x):
        calls.append(x)
        return np.median(x, axis=0) if len(calls) == wrong + 1 else x.mean(axis=0)

    under = subject_of(rule, 5, 1)
    witness = under.witness(np.array([[0.0], [0], [0], [0], [5]]), range(4), "by hand")
    calls.clear()
    judgement = under.judge(witness)
    assert judgement.ratio > 10
    once = repeated(judgement, under, 10)
    assert once.judgement is not None
    assert f"repeated in {CALLS - 1} of {CALLS} calls" in once.words
    again = repeated(judgement, under, 10)
    assert again.words is None
    assert again.judgement.witness == judgement.witness


def test_no_vector_and_a_wrong_vector_are_not_the_same_violation():
    calls = []

    def rule(x):
        calls.append(x)
        return None if len(calls) == 1 else x.mean(axis=0)

    under = subject_of(lambda x: x.mean(axis=0), 5, 1)
    from dataclasses import replace

    under = replace(under, rule=subject_of(lambda x: rule(x) if x.shape[1] == 1 else x[0], 5, 1).rule)
    calls.clear()
    judgement = under.judge(under.witness(np.array([[0.0], [0], [0], [0], [5]]), range(4), "by hand"))
    assert judgement.output is None
    assert repeated(judgement, under, 10).judgement is None


def test_a_random_rule_that_always_violates_is_refuted_by_the_least_of_its_ratios(tmp_path):
    generator = np.random.default_rng(0)

    def rule(x):
        return x[-1] + generator.uniform(1, 2)

    under = subject_of(rule, 5, 1)
    witness = under.witness(np.array([[0.0], [0], [2], [2], [5]]), range(4), "by hand")
    judgement = under.judge(witness)
    again = repeated(judgement, under, 9).judgement
    # the honest mean is 1 and the variance 1, and outputs are between 6 and 7
    assert 25 <= again.witness.lower <= judgement.witness.lower <= again.witness.upper <= 36
    assert again.witness.lower < again.witness.upper
    assert again.ratio <= judgement.ratio


def test_a_known_witness_that_does_not_repeat_is_neither_fixed_nor_violating():
    calls, wrong = [], [0]

    def rule(x):
        calls.append(x)
        return x.mean(axis=0) if len(calls) == wrong[0] else np.median(x, axis=0)

    known = check_claim(ClaimCheck("average", 5, 1, "3")).witness
    subject_of(rule, 5, 1)
    # after the calls that measure the rule comes that of the known witness
    wrong[0] = len(calls) + 1
    calls.clear()
    verdict = check_claim(ClaimCheck(rule, 5, 1, "3"), (("known", known),), finder=no_finder)
    assert (verdict.verdict, verdict.fixed, verdict.violating) == ("open", (), None)
    assert NEVER_AGAIN in [finding.message for finding in verdict.findings]


def test_a_witness_that_a_new_process_does_not_reproduce_is_not_saved(tmp_path):
    (tmp_path / "mine.py").write_text("def rule(x):\n    return x.mean(axis=0)\n")
    name = f"{tmp_path / 'mine.py'}:rule"
    first = check(name, 5, 1, 3, witnesses=tmp_path / "kept")
    assert replay(load(first.path)).reproduces
    # right when it sees the known witness for the first time, and wrong from then on
    (tmp_path / "mine.py").write_text(
        "import numpy as np\n\ncalls = []\n\n\ndef rule(x):\n    calls.append(0)\n"
        "    return np.median(x, axis=0) if len(calls) < 170 else x.mean(axis=0)\n"
    )
    second = check(name, 5, 1, 3, witnesses=tmp_path / "kept")
    # a replay begins anew, and sees the median
    assert (second.verdict, second.path) == ("refuted", None)
    assert "a replay in a new process sees another ratio" in second.unsaved
