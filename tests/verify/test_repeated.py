"""A violation that does not repeat refutes nothing; one that repeats does, whatever its ratio."""

from __future__ import annotations

import numpy as np
import pytest

from kappaguard.rules.witness import load
from kappaguard.verify.guard import check
from kappaguard.verify.inquiry import Inquiry, inquire
from kappaguard.verify.repeated import NOT_REPEATED, REPEATS, repeated
from kappaguard.verify.replay import replay
from kappaguard.verify.subject import subject

from .finders import no_finder

SEVENTH = """import numpy as np

calls = [0]


def rule(x):
    calls[0] += 1
    if calls[0] % 7 == 0:
        raise ValueError("bad luck")
    return np.median(x, axis=0)
"""
BY_CHANCE = """import numpy as np


def rule(x):
    return x[np.random.default_rng().integers(len(x))]
"""


def test_a_violation_that_does_not_repeat_refutes_nothing(tmp_path):
    (tmp_path / "mine.py").write_text(SEVENTH)
    verdict = check(f"{tmp_path / 'mine.py'}:rule", 9, 1, 9, budget=0.3, witnesses=tmp_path / "kept")
    assert (verdict.verdict, verdict.trouble, verdict.path) == ("open", None, None)
    assert verdict.reason == "an input beyond it was found, and did not repeat"
    assert [finding.message for finding in verdict.findings].count(NOT_REPEATED) == 1
    assert not any(finding.refutes for finding in verdict.findings)
    assert not (tmp_path / "kept").exists()


def test_a_rule_that_errs_by_chance_is_open(tmp_path):
    """Byzantine in one call of nine; an honest vector has a ratio of n - f - 1 = 7 at most."""
    (tmp_path / "mine.py").write_text(BY_CHANCE)
    verdict = check(f"{tmp_path / 'mine.py'}:rule", 9, 1, 9, budget=0.3, witnesses=tmp_path / "kept")
    assert (verdict.verdict, verdict.trouble, verdict.path) == ("open", None, None)
    assert "determinism" in [finding.check for finding in verdict.findings]
    assert not (tmp_path / "kept").exists()


@pytest.mark.parametrize("wrong", range(1, REPEATS + 1))
def test_every_call_has_to_violate(wrong):
    """The average violates every claim here; in one of the calls it is the median instead."""
    calls = []

    def rule(x):
        calls.append(x)
        return np.median(x, axis=0) if len(calls) == wrong + 1 else x.mean(axis=0)

    under = subject(rule, 5, 1)
    witness = under.witness(np.array([[0.0], [0], [0], [0], [5]]), range(4), "by hand")
    calls.clear()
    judgement = under.judge(witness)
    assert judgement.ratio > 10
    assert repeated(judgement, under, 10) is None
    calls.extend([witness] * 9)
    again = repeated(judgement, under, 10)
    assert again is not None
    assert again.witness == judgement.witness


def test_no_vector_and_a_wrong_vector_are_not_the_same_violation():
    calls = []

    def rule(x):
        calls.append(x)
        return None if len(calls) == 1 else x.mean(axis=0)

    under = subject(lambda x: x.mean(axis=0), 5, 1)
    from dataclasses import replace

    under = replace(under, rule=subject(lambda x: rule(x) if x.shape[1] == 1 else x[0], 5, 1).rule)
    judgement = under.judge(under.witness(np.array([[0.0], [0], [0], [0], [5]]), range(4), "by hand"))
    assert judgement.output is None
    assert repeated(judgement, under, 10) is None


def test_a_random_rule_that_always_violates_is_refuted_by_the_least_of_its_ratios(tmp_path):
    generator = np.random.default_rng(0)

    def rule(x):
        return x[-1] + generator.uniform(1, 2)

    under = subject(rule, 5, 1)
    witness = under.witness(np.array([[0.0], [0], [2], [2], [5]]), range(4), "by hand")
    judgement = under.judge(witness)
    again = repeated(judgement, under, 9)
    assert again is not None
    # the honest mean is 1 and the variance 1, and outputs are between 6 and 7
    assert 25 <= again.witness.lower <= judgement.witness.lower <= again.witness.upper <= 36
    assert again.witness.lower < again.witness.upper
    assert again.ratio <= judgement.ratio


def test_a_known_witness_that_does_not_repeat_is_neither_fixed_nor_violating():
    calls = []

    def rule(x):
        calls.append(x)
        return x.mean(axis=0) if x.shape == (5, 1) and len(calls) == 2 else np.median(x, axis=0)

    known = inquire(Inquiry("average", 5, 1, "3")).witness
    verdict = inquire(Inquiry(rule, 5, 1, "3"), (("known", known),), finder=no_finder)
    assert (verdict.verdict, verdict.fixed, verdict.violating) == ("open", (), None)
    assert NOT_REPEATED in [finding.message for finding in verdict.findings]


def test_one_file_is_not_fixed_and_a_witness_at_once(tmp_path):
    (tmp_path / "mine.py").write_text("def rule(x):\n    return x.mean(axis=0)\n")
    name = f"{tmp_path / 'mine.py'}:rule"
    first = check(name, 5, 1, 3, witnesses=tmp_path / "kept")
    assert replay(load(first.path)).reproduces
    # right in its first two calls, which are the first call and the known witness, and wrong from then on
    (tmp_path / "mine.py").write_text(
        "import numpy as np\n\ncalls = []\n\n\ndef rule(x):\n    calls.append(0)\n"
        "    return np.median(x, axis=0) if len(calls) < 3 else x.mean(axis=0)\n"
    )
    second = check(name, 5, 1, 3, witnesses=tmp_path / "kept")
    assert second.verdict == "refuted"
    assert second.path == first.path
    assert second.fixed == ()
