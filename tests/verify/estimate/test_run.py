"""Streams against a naive loop, against themselves cut in pieces, and against what is proved."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
import torch

import kappaguard as kg
from kappaguard.rules.base.errors import InputError
from kappaguard.rules.bucketing import Bucketing
from kappaguard.search.attacks.names import attack_named
from kappaguard.training.sources.names import source_named
from kappaguard.training.sources.source import Source, StreamRound
from kappaguard.verify.estimate import part as parts
from kappaguard.verify.estimate.part import Look, Part, Question, measure
from kappaguard.verify.estimate.run import Engine, run

pytestmark = pytest.mark.solver

N, F = 9, 2
M = N - F


def naive_ratio(output, honest, criterion):
    """By the definition, in plain loops."""
    mean = sum(honest) / len(honest)
    error = float(np.sum((output - mean) ** 2))
    diameter = max(float(np.sum((a - b) ** 2)) for a in honest for b in honest)
    covariance = sum(np.outer(each - mean, each - mean) for each in honest) / len(honest)
    spread = {
        "trace": float(np.trace(covariance)),
        "spectral": float(np.linalg.eigvalsh(covariance)[-1]),
        "diameter": diameter,
        "pairwise": F / N * diameter,
    }[criterion]
    return error / spread


def naive_nearest_means(x):
    order = [sorted(range(N), key=lambda j, i=i: float(np.sum((x[i] - x[j]) ** 2)))[:M] for i in range(N)]
    return np.array([np.mean(x[rows], axis=0) for rows in order])


@pytest.mark.parametrize("criterion", ["trace", "spectral", "diameter", "pairwise"])
@pytest.mark.parametrize("attack", ["sf", "foe(eta=3)"])
def test_against_a_naive_loop(criterion, attack):
    source = source_named("heavy-tailed:d=3", N, F, seed=4)
    question = Question(("krum", "cwmed"), N, F, (attack,), criterion, 4)
    found = measure(question, source, 0, 30)
    expected = {"krum": [], "cwmed": [], "nnm+krum": [], "nnm+cwmed": []}
    terms, worse = [], 0
    for seen in source.rounds(0, 30):
        honest = seen.vectors
        x = np.concatenate([honest, attack_named(attack)(honest, F)])
        y = naive_nearest_means(x)
        for name in ("krum", "cwmed"):
            expected[name].append(naive_ratio(kg.rule(name, f=F)(x), honest, criterion))
            expected[f"nnm+{name}"].append(naive_ratio(kg.rule(name, f=F)(y), honest, criterion))
        worse += expected["nnm+krum"][-1] > expected["krum"][-1]
        variance = np.mean(np.sum((honest - honest.mean(axis=0)) ** 2, axis=1))
        after = np.mean(np.sum((y[:M] - y[:M].mean(axis=0)) ** 2, axis=1))
        bias = np.sum((y[:M].mean(axis=0) - honest.mean(axis=0)) ** 2)
        terms.append((after / variance, bias / variance))
    for name, ratios in expected.items():
        estimator = found.ratios[attack, name]
        assert estimator.sample == pytest.approx(sorted(ratios), rel=1e-9)
        assert estimator.where == int(np.argmax(ratios))
    effect = found.effects[attack, "nnm+krum"]
    assert effect.variance.sample == pytest.approx(sorted(first for first, _ in terms))
    assert effect.bias.sample == pytest.approx(sorted(second for _, second in terms))
    assert (effect.worse, effect.compared) == (worse, 30)
    quotients = np.array(expected["nnm+krum"]) / np.array(expected["krum"])
    assert effect.amplification.sample == pytest.approx(sorted(quotients))
    assert effect.crossed == 0


def test_the_terms_of_bucketing_are_those_of_the_clean_buckets():
    source = source_named("gaussian:d=4", N, F, seed=1)
    question = Question(("cwtm",), N, F, ("sf",), seed=1)
    found = measure(question, source, 0, 10).effects["sf", "bucketing+cwtm"]
    look = Look(question, source)
    subject = next(each for each in look.subjects if each.mixer == "bucketing")
    expected = []
    for number, seen in enumerate(source.rounds(0, 10)):
        honest = seen.vectors
        x = np.concatenate([honest, attack_named("sf")(honest, F)])
        stage = subject.at(1, 5, number).steps[0]
        assert isinstance(stage, Bucketing)
        order = np.random.default_rng(stage.seed).permutation(N)
        size = N // (2 * F)
        buckets = [order[start : start + size] for start in range(0, N, size)]
        clean = np.array([x[bucket].mean(axis=0) for bucket in buckets if all(place < M for place in bucket)])
        variance = np.mean(np.sum((honest - honest.mean(axis=0)) ** 2, axis=1))
        expected.append(np.mean(np.sum((clean - clean.mean(axis=0)) ** 2, axis=1)) / variance)
    assert found.variance.sample == pytest.approx(sorted(expected))


@pytest.mark.parametrize("source", ["gaussian:d=4", "one-dimensional", "clusters:d=3,k=3", "low-rank:d=6,rank=2"])
def test_no_ratio_exceeds_what_is_proved_and_nnm_keeps_its_lemma(source):
    rules = ("cwtm", "cwmed", "gm", "krum")
    results = run(Question(rules, N, F, ("alie", "sf", "mimic")), source_named(source, N, F), 30)
    for each in results:
        if each.worst_case.upper is not None:
            assert each.largest <= each.worst_case.upper * (1 + 1e-6), (each.rule, each.attack)
        if each.mixer == "nnm":
            assert each.effect is not None
            assert each.effect.crossed == 0
            assert each.effect.total.maximum <= 4 * F / M


def flat(part: Part):
    ratios = {key: (each.sample.tolist(), each.maximum, each.where, each.count) for key, each in part.ratios.items()}
    return ratios, {key: (each.worse, each.total.sample.tolist()) for key, each in part.effects.items()}


def test_merging_equals_one_stream():
    question = Question(("krum",), N, F, ("sf", "alie"))
    source = source_named("gaussian:d=3", N, F)
    whole = measure(question, source, 0, 40)
    pieces = [
        measure(question, source, begin, end, stream) for stream, (begin, end) in enumerate([(0, 7), (7, 8), (8, 40)])
    ]
    merged = pieces[0].merge(pieces[1]).merge(pieces[2])
    assert flat(merged) == flat(whole)
    written = Part.from_json(json.loads(json.dumps(pieces[0].to_json(), allow_nan=False)))
    assert flat(written.merge(pieces[1]).merge(pieces[2])) == flat(whole)


def numbers(results):
    return [(each.rule, each.attack, each.count, each.largest, each.where, each.median, each.high) for each in results]


def test_the_numbers_do_not_depend_on_the_number_of_processes(monkeypatch):
    question = Question(("cwtm",), N, F, ("mimic", "sf"), mixing=False, seed=3)
    source = source_named("gaussian:d=3", N, F, seed=3)
    monkeypatch.setattr(parts, "MOST_PART", 25)
    monkeypatch.setattr(parts, "LEAST_PART", 25)
    alone = numbers(run(question, source, 60))
    assert numbers(run(question, source, 60, engine=Engine(jobs=2))) == alone
    assert numbers(run(question, source, 60)) == alone


@pytest.mark.parametrize("engine", ["dask", "ray"])
@pytest.mark.filterwarnings("ignore")
def test_clusters_give_the_same_numbers(engine):
    pytest.importorskip("distributed" if engine == "dask" else "ray")
    question = Question(("cwtm",), N, F, ("sf",), mixing=False)
    source = source_named("gaussian:d=3", N, F)
    found = run(question, source, 30, engine=Engine(engine, 1), worst_case=False)
    assert numbers(found) == numbers(run(question, source, 30, worst_case=False))


def test_a_store_goes_on_where_it_was(tmp_path, monkeypatch):
    monkeypatch.setattr(parts, "MOST_PART", 25)
    question = Question(("cwtm",), N, F, ("sf",), mixing=False)
    source = source_named("gaussian:d=3", N, F)
    store = tmp_path / "parts.sqlite"
    run(question, source, 50, store=store, worst_case=False)
    calls = []
    plain = measure
    monkeypatch.setattr(
        "kappaguard.verify.estimate.run.measure", lambda *a, **b: (calls.append(a[2:4]), plain(*a, **b))[1]
    )
    longer = run(question, source, 75, store=store, worst_case=False)
    assert calls == [(50, 75)]
    assert numbers(longer) == numbers(run(question, source, 75, worst_case=False))
    run(Question(("cwtm",), N, F, ("sf",), mixing=False, seed=1), source, 25, store=store, worst_case=False)
    assert len(calls) > 1


def test_until_the_interval_is_narrow_enough():
    question = Question(("cwtm",), N, F, ("sf",), mixing=False)
    source = source_named("gaussian:d=3", N, F)
    (found,) = run(question, source, until_width=0.3)
    assert found.width <= 0.3
    assert found.count < 20_000
    (more,) = run(question, source, until_width=0.1)
    assert more.count > found.count
    (capped,) = run(question, source, 30, until_width=1e-9)
    assert capped.count == 30


def test_the_interval_covers_the_true_quantile_as_often_as_it_says():
    """On a line, with one honest vector apart from 0 by a normal number, the ratio is known in closed form.

    The average of vectors that are all honest: any fixed stream of independent ratios will do; here 95 % of the
    intervals for the median of a chi-squared number (1 degree of freedom, 0.4549...) must hold it.
    """
    generator = np.random.default_rng(5)
    covered = 0
    for _ in range(400):
        # S = {-1, 1}: mean 0, variance 1; an output of z has the ratio z^2
        outputs = iter(generator.standard_normal(60))
        rounds = [np.array([[-1.0], [1.0], [0.0]])] * 60
        found = kg.estimate(lambda x, z=outputs: np.array([next(z)]), rounds, f=1, honest=(0, 1), worst_case=False)
        interval = found.interval(0.5)
        covered += interval.low <= 0.454936 <= interval.high
    assert covered >= 380 - 4 * math.sqrt(400 * 0.95 * 0.05)
    assert covered < 400


def test_without_an_honest_set_the_worst_one_is_taken():
    x = np.random.default_rng(0).standard_normal((20, N, 3))
    found = kg.estimate("krum", x, f=F)
    assert found.subsets == "enumeration"
    from itertools import combinations

    outputs = [kg.rule("krum", f=F)(each) for each in x]
    worst = [
        max(naive_ratio(output, each[list(subset)], "trace") for subset in combinations(range(N), M))
        for output, each in zip(outputs, x, strict=True)
    ]
    assert found.largest == pytest.approx(max(worst))
    vectors, subset = found.kept
    assert naive_ratio(kg.rule("krum", f=F)(vectors), vectors[list(subset)], "trace") == pytest.approx(found.largest)
    many = np.random.default_rng(0).standard_normal((3, 40, 2))
    assert kg.estimate("cwtm", many, f=10, worst_case=False).subsets == "heuristic"


def test_streams_of_all_kinds_say_the_same():
    x = np.random.default_rng(1).standard_normal((30, N, 4))
    honest = tuple(range(M))
    listed = kg.estimate("krum", x, f=F, honest=honest)
    for stream in (
        (each for each in x),
        ((each, honest) for each in x),
        (torch.from_numpy(each) for each in x),
        [torch.from_numpy(each) for each in x],
        ([list(row) for row in each] for each in x),
    ):
        found = kg.estimate("krum", stream, f=F, honest=honest)
        assert (found.count, found.where) == (listed.count, listed.where)
        assert found.largest == pytest.approx(listed.largest)
        assert found.kept[0] == pytest.approx(listed.kept[0])
    single = kg.estimate("krum", x[0], f=F, honest=honest)
    assert single.count == 1


def test_the_honest_set_may_change_from_round_to_round():
    x = np.random.default_rng(2).standard_normal((12, N, 4))
    sets = [tuple(range(M)) if number % 3 else tuple(range(F, N)) for number in range(12)]
    expected = [
        naive_ratio(kg.rule("cwtm", f=F)(each), each[list(subset)], "trace")
        for each, subset in zip(x, sets, strict=True)
    ]
    for stream in (zip(x, sets, strict=True), list(zip(x, sets, strict=True))):
        assert kg.estimate("cwtm", stream, f=F).ratios.sample == pytest.approx(sorted(expected))


def test_given_and_attacking_vectors_side_by_side(tmp_path):
    """The honest ones stand elsewhere in the file than under an attack, which puts them first."""
    x = np.random.default_rng(3).standard_normal((6, N, 4))
    np.savez(tmp_path / "a.npz", x=x, honest=np.arange(F, N))
    given, attacked = kg.estimate("cwtm", tmp_path / "a.npz", n=N, f=F, attack="given,sf")
    rule = kg.rule("cwtm", f=F)
    assert given.ratios.sample == pytest.approx(sorted(naive_ratio(rule(each), each[F:], "trace") for each in x))
    together = [np.concatenate([each[F:], attack_named("sf")(each[F:], F)]) for each in x]
    assert attacked.ratios.sample == pytest.approx(
        sorted(naive_ratio(rule(each), each[:M], "trace") for each in together)
    )


def test_if_all_workers_are_honest_the_worst_set_counts():
    x = np.random.default_rng(4).standard_normal((5, N, 3))
    everybody, unknown = (kg.estimate("cwtm", x, f=F, honest=honest) for honest in (range(N), None))
    assert everybody.largest == unknown.largest
    with pytest.raises(InputError, match="an attack needs"):
        kg.estimate("cwtm", x, f=F, honest=range(N), attack="sf")


def test_rules_of_the_caller_and_several_at_once():
    x = np.random.default_rng(1).standard_normal((12, N, 4))
    mean, krum = kg.estimate([lambda v: v.mean(axis=0), "krum"], x, f=F, honest=range(M))
    assert krum.largest == kg.estimate("krum", x, f=F, honest=range(M)).largest
    assert mean.largest == pytest.approx(max(naive_ratio(each.mean(axis=0), each[:M], "trace") for each in x))
    assert krum.worst_case.upper is not None
    assert mean.worst_case.upper is None


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"rule": "krum", "stream": np.zeros((2, N, 1)), "f": 5}, "f < n/2"),
        ({"rule": "krum", "stream": [], "f": 1}, "no round"),
        ({"rule": "krum", "stream": iter(()), "f": 1}, "no round"),
        ({"rule": "krum", "stream": "gaussian", "f": 1}, "needs n"),
        ({"rule": "krum", "stream": np.full((1, N, 1), np.nan), "f": 1}, "NaN"),
        ({"rule": "krum", "stream": np.zeros((1, N, 1)), "f": 1, "n": 20}, "vectors a round"),
        ({"rule": "krum", "stream": np.zeros((1, N, 1)), "f": F, "honest": (0, 1)}, "honest"),
        ({"rule": "krum", "stream": np.zeros((1, N, 1)), "f": F, "attack": "sf"}, "who is honest"),
        ({"rule": "krum", "stream": np.zeros((1, N, 1)), "f": F, "attack": "lf"}, "labels"),
        ({"rule": "krum", "stream": np.zeros((1, N, 1)), "f": F, "criterion": "size"}, "criterion"),
        ({"rule": "krum", "stream": 7, "f": F}, "stream"),
        ({"rule": "krum", "stream": (each for each in np.zeros((3, N, 1))), "f": F, "jobs": 2}, "one process"),
        ({"rule": [], "stream": np.zeros((1, N, 1)), "f": F}, "no rule"),
        ({"rule": lambda x: np.full(1, np.nan), "stream": np.zeros((1, N, 1)), "f": F}, "NaN"),
    ],
)
def test_refusals(options, words):
    rule, stream = options.pop("rule"), options.pop("stream")
    with pytest.raises(InputError, match=words):
        kg.estimate(rule, stream, **options)


class Tensors(Source):
    """A family whose vectors are tensors: what lives on a device goes this way."""

    def __init__(self, plain):
        self.plain = plain

    label = property(lambda self: self.plain.label)
    workers = property(lambda self: self.plain.workers)
    dimension = property(lambda self: self.plain.dimension)
    fingerprint = property(lambda self: self.plain.fingerprint)

    def rounds(self, begin, end):
        for seen in self.plain.rounds(begin, end):
            yield StreamRound(torch.from_numpy(seen.vectors), seen.honest)


def test_tensors_say_what_arrays_say():
    plain = source_named("gaussian:d=6", N, F)
    question = Question(("krum", "cwtm", "gm"), N, F, ("sf", "mimic", "foe"))
    arrays, tensors = (measure(question, source, 0, 12) for source in (plain, Tensors(plain)))
    for key, each in arrays.ratios.items():
        assert tensors.ratios[key].sample == pytest.approx(each.sample, rel=1e-6, abs=1e-12), key
    for key, effect in arrays.effects.items():
        assert tensors.effects[key].total.sample == pytest.approx(effect.total.sample, rel=1e-6), key


@pytest.mark.parametrize("stream", [np.zeros(3), [np.zeros(3)], [1.0, 2.0], np.zeros((2, 2, 2, 2))])
def test_rounds_of_another_shape_are_refused_in_one_line(stream):
    with pytest.raises(InputError, match=r"vectors of shape \(n, d\) are needed") as refused:
        kg.estimate("krum", stream, f=1)
    assert "\n" not in str(refused.value)
