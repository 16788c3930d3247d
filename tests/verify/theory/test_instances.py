"""Instances, the witnesses of statements that are not about one ratio: replayed from their data alone."""

from __future__ import annotations

import contextlib
import json
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kappaguard.cli import main
from kappaguard.rules.base.errors import InputError
from kappaguard.verify.theory.claim import Effort
from kappaguard.verify.theory.instance import SCHEMA, evaluate, record
from kappaguard.verify.theory.registry import claims

pytestmark = pytest.mark.solver

WITH_INSTANCES = {claim.name: claim for claim in claims() if claim.sides is not None}
BY_HAND = {
    # k (1 + k) for the entry and k for kappa* at n = 2k + 1, f = k
    "table-1-caption": (Fraction(51), Fraction(50)),
    "trimmed-mean-injection": (Fraction(1), Fraction(2)),
    # x = (0, 6, 9): NNM turns 0 and 6 into 3 and 15/2, the mean of S is 3
    "bias-variance-equation": (Fraction(81, 8), Fraction(9, 4)),
    "bucketing-variance": (Fraction(0), Fraction(14, 3)),
    # eight times 1 and once 1/2: (1/4) (8/81)
    "bucketing-same-variance-any-n": (Fraction(2, 81), Fraction(0)),
    # three buckets, each with one of four Byzantine vectors: 1 is 9/4 of 4/9, not three times
    "nnm-gm-above-96": (Fraction("94.23"), Fraction(96)),
    "bucketing-fraction": (Fraction(9, 4), Fraction(3)),
    # from 4/13 to -4/13 * 99/100, and to 0, over a variance of 36/169
    "kappa-hat-curves": (Fraction(199, 25) ** 2 / 36, Fraction(4, 9)),
}


def test_every_refuted_claim_has_a_witness_that_can_be_replayed():
    assert set(BY_HAND) == set(WITH_INSTANCES)
    assert all(claim.expected == "refuted" for claim in WITH_INSTANCES.values())


@pytest.mark.parametrize("name", sorted(BY_HAND))
def test_replayed_from_the_file(name, tmp_path, capsys):
    finding = WITH_INSTANCES[name].run(Effort.QUICK, lambda done, total: None)
    path = tmp_path / "instance.json"
    path.write_text(json.dumps(finding.witness))
    claim, sides = evaluate(path)
    assert claim.name == name
    assert (sides.computed, sides.stated) == BY_HAND[name]
    assert not sides.hold
    assert main(["replay", str(path)]) == 0
    assert "refuted" in capsys.readouterr().out
    assert main(["replay", str(path), "--json"]) == 0
    seen = json.loads(capsys.readouterr().out)
    assert (Fraction(seen["computed"]), Fraction(seen["stated"]), seen["verdict"]) == (*BY_HAND[name], "refuted")


def test_an_instance_that_shows_nothing(tmp_path, capsys):
    path = tmp_path / "instance.json"
    path.write_text(json.dumps(record("bucketing-fraction", n=16, f=4, s=2)))
    assert main(["replay", str(path)]) == 1
    assert "holds" in capsys.readouterr().out


@pytest.mark.parametrize(
    "data",
    [
        {"schema": SCHEMA},
        {"schema": SCHEMA, "claim": "table-1"},
        {"schema": SCHEMA, "claim": ["table-1-caption"]},
        {"schema": "kappaguard-instance/2", "claim": "table-1-caption", "constant": 3},
        record("table-1-caption", constant=0),
        record("table-1-caption", constant=10**6),
        record("table-1-caption", constant=True),
        record("bucketing-variance", s=2, x=["0", "1", "5"]),
        record("bucketing-variance", s=3, x=[0, 1, 5]),
        record("bucketing-same-variance-any-n", s=2, x=["1", "2", "3"]),
        record("bias-variance-equation", f=2, x=["1", "2", "3"]),
        record("trimmed-mean-injection", x=["0", "1"], subset=[0, 5], psi=[[0, 1, 1]]),
        record("trimmed-mean-injection", x=["0", "1"], subset=[0, 1], psi=[[0, 0, 1], [1, 0, 1]]),
        record("trimmed-mean-injection", x=["0", "1", "2"], subset=[0, 1], psi=[[2, 0, 1]]),
        record("trimmed-mean-injection", x=["0"], subset=[], psi=[]),
    ],
    ids=str,
)
def test_what_is_no_instance(data, tmp_path):
    path = tmp_path / "instance.json"
    path.write_text(json.dumps(data))
    with pytest.raises(InputError, match="is not an instance"):
        evaluate(path)


VALUES = st.none() | st.booleans() | st.integers() | st.text(max_size=5) | st.lists(st.integers() | st.text(max_size=3))


@settings(max_examples=100, deadline=None)
@given(st.sampled_from(sorted(BY_HAND)), st.dictionaries(st.sampled_from("nfsx") | st.just("psi"), VALUES))
def test_any_data_give_two_sides_or_a_refusal(tmp_path_factory, name, data):
    path = tmp_path_factory.mktemp("fuzz") / "instance.json"
    path.write_text(json.dumps(record(name, **data)))
    with contextlib.suppress(InputError):
        evaluate(path)
