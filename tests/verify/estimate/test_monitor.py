"""The guard at run time: alarms are true, broken servers are seen, sound ones are left alone."""

from __future__ import annotations

import logging
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
import torch

import kappaguard as kg
from kappaguard.rules.base.errors import InputError
from kappaguard.rules.ratio import ratio
from kappaguard.rules.witness import fractions
from kappaguard.verify.estimate.monitor import (
    SAMPLE,
    ClaimViolation,
    _climbed,
    _holds_for_every_set,
    beyond_rounding,
)
from kappaguard.verify.judge.rounding import LOST, ratio_beyond_rounding, tolerance_for

pytestmark = pytest.mark.solver

N, F = 9, 2
M = N - F


@pytest.fixture
def monitor(tmp_path):
    def made(claim, n=N, f=F, **options):
        return kg.Monitor(n, f, claim, folder=tmp_path / "alarms", **options)

    return made


def worst(output, x, m=M):
    """Over all sets, by the definition."""
    return max(float(ratio(output, x, subset)) for subset in combinations(range(len(x)), m))


@pytest.mark.parametrize("d", [1, 3, 50])
def test_it_alarms_exactly_where_some_set_contradicts_the_claim(monitor, d):
    generator = np.random.default_rng(d)
    alarms = 0
    for _ in range(60):
        x = generator.standard_normal((N, d)) * generator.choice([1.0, 5.0], (N, 1))
        output = x.mean(axis=0) + generator.standard_normal(d) * generator.choice([0.1, 1.0])
        level = worst(output, x)
        for claim in (level * 0.999, level * 1.001):
            found = monitor(claim)(x, output)
            assert found.violated == (level > claim)
            alarms += found.violated
            if found.violated:
                assert ratio(output, x, found.subset) == pytest.approx(found.ratio)
                assert found.ratio > claim
    assert alarms == 60


def test_the_proof_for_all_sets_is_one():
    """Whenever it says that no set contradicts kappa, none does; and it says so often enough to be of use."""
    generator = np.random.default_rng(0)
    proofs = 0
    for trial in range(300):
        x = generator.standard_normal((N, 4)) * generator.choice([1.0, 8.0], (N, 1))
        output = x[: trial % N + 1].mean(axis=0)
        kappa = generator.choice([0.3, 1.0, 4.0])
        level = worst(output, x)
        if _holds_for_every_set(x - output, M, kappa):
            assert level <= kappa * (1 + 1e-9)
            proofs += 1
        assert _climbed(x - output, M) <= level * (1 + 1e-9)
    assert proofs > 60


@pytest.mark.parametrize("rule", ["krum", "cwtm", "cwmed", "gm", "nnm+krum", "mda"])
def test_sound_servers_are_left_alone(monitor, rule):
    """At their own kappa*, on worst inputs and on any others, in single and in double precision."""
    known = kg.exact(rule, n=N, f=F)
    watch = monitor(float(known.upper))
    aggregate = kg.rule(rule, f=F)
    generator = np.random.default_rng(1)
    witness = np.array(known.witness.array(), dtype=np.float64)
    for dtype in (np.float32, np.float64):
        for x in (
            witness,
            1e6 + 1e-3 * witness,
            np.ones((N, 5)) * 0.1,
            np.concatenate([np.full((M, 3), 0.1), generator.standard_normal((F, 3))]),
            generator.standard_normal((N, 40)),
            np.concatenate([generator.standard_normal((M, 40)), np.full((F, 40), 1e12)]),
        ):
            vectors = x.astype(dtype)
            watch(vectors, aggregate(vectors))
    assert not watch.alarms


@pytest.mark.parametrize("d", [30, 20 * SAMPLE])
def test_a_broken_server_is_seen_with_long_vectors_too(monitor, d):
    generator = np.random.default_rng(2)
    watch = monitor("6*(1+f/(n-2*f))")
    x = generator.standard_normal((N, d)).astype(np.float32)
    x[M:] += 30
    assert not watch(x, kg.rule("krum", f=F)(x)).violated
    assert watch(x, x.mean(axis=0)).violated
    assert watch(torch.from_numpy(x), torch.from_numpy(x).mean(dim=0)).violated
    assert watch(x, np.full(d, np.nan, dtype=np.float32)).violated
    assert watch([torch.from_numpy(row) for row in x], torch.from_numpy(x.mean(axis=0))).violated
    assert watch(list(x), torch.from_numpy(x.mean(axis=0))).violated
    assert not watch([torch.from_numpy(row) for row in x], kg.rule("krum", f=F)(x)).violated
    assert (watch.rounds, len(watch.alarms)) == (7, 5)


def test_what_the_sample_does_not_see_is_no_alarm_and_what_it_suspects_is_looked_at(monitor):
    """An error in one coordinate of 80,000: the sample rarely holds it, everything always does."""
    d = 20 * SAMPLE
    x = np.random.default_rng(3).standard_normal((N, d)).astype(np.float32)
    output = x[:M].mean(axis=0)
    output[7] += 10 * d**0.5
    assert worst(output, x) > 20
    assert monitor(8.4, sample=None)(x, output).violated
    first = monitor(8.4)(x, output)
    assert not first.violated
    assert not first.whole


def test_infinite_and_missing_vectors(monitor):
    x = np.random.default_rng(4).standard_normal((N, 6))
    x[N - 1] = np.inf
    x[N - 2] = np.nan
    watch = monitor(1.0)
    assert not watch(x, x[:M].mean(axis=0)).violated
    assert watch(x, x[:M].mean(axis=0) + 100).violated
    x[0] = np.nan
    assert not watch(x, np.full(6, np.nan)).violated


def test_rounding_is_allowed_for_as_the_judge_allows_it():
    generator = np.random.default_rng(5)
    for dtype in (np.float32, np.float64):
        x = generator.standard_normal((N, 7)).astype(dtype)
        output = generator.standard_normal(7).astype(dtype)
        exact = ratio_beyond_rounding(
            fractions(output[None])[0], fractions(x), range(M), tolerance_for(N, 0, float(np.finfo(dtype).eps)), LOST
        )
        assert beyond_rounding(output, x, range(M)) == pytest.approx(float(exact), rel=1e-6)
    same = np.full((N, 3), 0.1, dtype=np.float32)
    assert beyond_rounding(np.nextafter(same[0], 1), same, range(M)) == 0
    assert beyond_rounding(same[0] + 1, same, range(M)) > 1e6


def test_a_witness_is_kept_and_tells_the_same(monitor, caplog, tmp_path):
    x = np.random.default_rng(6).standard_normal((N, 5))
    output = x.mean(axis=0) + 3
    watch = monitor("f/(n-2*f)", keep=2, name="my server")
    with caplog.at_level(logging.ERROR, logger="kappaguard.monitor"):
        found = watch(x, output)
    assert "my server: round 0: the output contradicts kappa <= 0.4" in caplog.text
    with np.load(found.witness) as kept:
        assert np.array_equal(kept["vectors"][0], x)
        assert ratio(kept["output"], kept["vectors"][0], kept["honest"].tolist()) == pytest.approx(found.ratio)
    again = kg.estimate("average", found.witness, n=N, f=F, worst_case=False)
    assert again.count == 1
    watch(x, output)
    third = watch(x, output)
    assert third.violated
    assert third.witness is None
    assert watch.largest == pytest.approx(found.ratio)


def test_it_raises_or_calls_if_asked(monitor):
    x = np.random.default_rng(7).standard_normal((N, 5))
    with pytest.raises(ClaimViolation, match="contradicts") as raised:
        monitor(0.5, on_violation="raise")(x, x[0] + 50)
    assert raised.value.observation.violated
    seen = []
    monitor(0.5, on_violation=seen.append)(x, x[0] + 50)
    assert [each.violated for each in seen] == [True]


def test_updates_in_the_forms_that_frameworks_have(monitor):
    generator = np.random.default_rng(8)
    layers = [[generator.standard_normal((3, 2)), generator.standard_normal(4)] for _ in range(N)]
    flat = np.array([np.concatenate([part.ravel() for part in each]) for each in layers])
    output = [np.mean([each[0] for each in layers], axis=0), np.mean([each[1] for each in layers], axis=0)]
    expected = monitor(0.01)(flat, flat.mean(axis=0))
    named = [{"weight": each[0], "bias": each[1]} for each in layers]
    tensors = [[torch.from_numpy(part) for part in each] for each in layers]
    for vectors, result in (
        (layers, output),
        (named, {"weight": output[0], "bias": output[1]}),
        (tensors, [torch.from_numpy(part) for part in output]),
        (flat.tolist(), flat.mean(axis=0).tolist()),
        (torch.from_numpy(flat).requires_grad_(), torch.from_numpy(flat.mean(axis=0))),
    ):
        found = monitor(0.01)(vectors, result)
        assert (found.ratio, found.subset) == (pytest.approx(expected.ratio), expected.subset)


@pytest.mark.parametrize(
    "call",
    [
        lambda folder: kg.Monitor(4, 2, 1.0),
        lambda folder: kg.Monitor(5, 1, "import os"),
        lambda folder: kg.Monitor(5, 1, "f/(n-5*f)"),
        lambda folder: kg.Monitor(5, 1, -1),
        lambda folder: kg.Monitor(5, 1, None),
        lambda folder: kg.Monitor(5, 1, 1.0, on_violation="shout"),
        lambda folder: kg.Monitor(5, 1, 1.0, sample=3),
        lambda folder: kg.Monitor(5, 1, 1.0)(np.zeros((4, 2)), np.zeros(2)),
        lambda folder: kg.Monitor(5, 1, 1.0)(np.zeros((5, 2)), np.zeros(3)),
        lambda folder: kg.Monitor(5, 1, 1.0)(np.zeros((5, 2), dtype=complex), np.zeros(2)),
        lambda folder: kg.Monitor(5, 1, 1.0)(np.zeros((5, 2)), 3),
        lambda folder: kg.Monitor(5, 1, 1.0)(3, np.zeros(2)),
        lambda folder: kg.Monitor(5, 1, 1.0)([np.zeros(2)] * 4 + [np.zeros(3)], np.zeros(2)),
    ],
)
def test_refusals(tmp_path, call):
    with pytest.raises(InputError):
        call(tmp_path)


def test_a_claim_may_be_a_fraction(monitor):
    assert monitor(Fraction(1, 2)).claim == 0.5
    assert monitor("f/(n-2*f)").claim == pytest.approx(0.4)
