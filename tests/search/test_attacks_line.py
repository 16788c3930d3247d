"""The optimised eta against a fine grid that evaluates the rule itself on the vectors themselves."""

from __future__ import annotations

import numpy as np
import pytest

from kappaguard.rules.names import RULES, parse
from kappaguard.search.attacks import columns, line
from kappaguard.search.attacks.fall_of_empires import FallOfEmpires
from kappaguard.search.attacks.line import error_at, strongest
from kappaguard.search.attacks.little_is_enough import LittleIsEnough
from kappaguard.search.attacks.maximise import JUMPING, SMOOTH, Grids, maximise

NAMES = [name for name in RULES if name not in ("average", "bulyan", "chebyshev")]
"""bulyan needs n >= 4f + 3, which most of these clouds have not; chebyshev goes through all sets and asks a solver at
each of hundreds of points."""
SLOW = ("mda", "smea", "caf")
GRID = np.concatenate([np.geomspace(0.03, 30, 280), np.geomspace(31, 1e3, 12)])


def honest_vectors(kind: str, m: int, d: int, seed: int) -> np.ndarray:
    generator = np.random.default_rng(seed)
    if kind == "gaussian":
        return generator.standard_normal((m, d)) + generator.standard_normal(d)
    if kind == "clusters":
        return (
            generator.integers(0, 3, m)[:, None] * generator.standard_normal(d) * 2
            + 0.3 * generator.standard_normal((m, d))
            + 1
        )
    if kind == "heavy":
        return generator.standard_t(1.5, (m, d))
    if kind == "offset":
        return 1e4 + generator.standard_normal((m, d))
    scales = generator.random(d) ** 6
    return scales * (generator.standard_normal((m, d)) + generator.standard_normal(d))


def grid_best(rule, x: np.ndarray, f: int, direction: np.ndarray, unit: float) -> float:
    """The largest error over the fine grid and both signs."""
    mean = x.mean(axis=0)
    best = 0.0
    for etas in np.array_split(unit * np.concatenate([-GRID, GRID]), 8):
        sent = (mean + etas[:, None] * direction)[:, None, :]
        batch = np.concatenate(
            [np.broadcast_to(x, (len(etas), *x.shape)), np.broadcast_to(sent, (len(etas), f, x.shape[1]))], axis=1
        )
        best = max(best, float(np.linalg.norm(rule(batch) - mean, axis=-1).max()))
    return best


@pytest.mark.parametrize(
    "name", [*NAMES, *(f"nnm+{name}" for name in NAMES), "bucketing+krum", "bucketing+cwmed", "arc+cwtm"]
)
@pytest.mark.parametrize(
    ("kind", "n", "f", "d"),
    [("gaussian", 7, 2, 3), ("clusters", 10, 3, 20), ("heavy", 9, 2, 15), ("offset", 11, 4, 6), ("scales", 17, 4, 60)],
)
def test_the_optimum_is_within_a_percent_of_a_fine_grid(name, kind, n, f, d):
    if n > 7 and name.rpartition("+")[2] in SLOW:
        n, f = 7, 2
    rule = parse(name, f=f)
    x = honest_vectors(kind, n - f, d, seed=n)
    mean = x.mean(axis=0)
    for direction in (-mean, x.std(axis=0, ddof=1)):
        unit = ((x - mean) ** 2).sum() ** 0.5 / (n - f) ** 0.5 / np.linalg.norm(direction)
        found = strongest(rule, x, f, mean, direction)
        reached = error_at(rule, x, f, mean, direction, found.eta)
        assert reached == pytest.approx(found.error, rel=1e-5)
        assert reached >= 0.99 * grid_best(rule, x, f, direction, unit)


@pytest.mark.parametrize("name", ["cwmed", "cwtm", "meamed", "nnm+cwtm", "nnm+cwmed", "nnm+meamed"])
def test_a_sample_of_the_coordinates_finds_the_optimum_of_all(name):
    """Gradients have coordinates of very different size; the sample is a fiftieth of them."""
    n, f, d = 17, 4, 40_000
    rule = parse(name, f=f)
    x = honest_vectors("scales", n - f, d, seed=1).astype(np.float32)
    mean = x.mean(axis=0)
    assert not columns.sample(x, mean, -mean).whole
    for direction in (-mean, x.std(axis=0)):
        found = strongest(rule, x, f, mean, direction)
        unit = float(np.linalg.norm(x - mean) / (n - f) ** 0.5 / np.linalg.norm(direction))
        every = [error_at(rule, x, f, mean, direction, sign * eta * unit) for eta in GRID[100::14] for sign in (-1, 1)]
        assert error_at(rule, x, f, mean, direction, found.eta) >= 0.99 * max(every)


def test_another_librarys_rule_is_searched_on_the_vectors_themselves():
    x = honest_vectors("gaussian", 6, 4, seed=0)
    mean = x.mean(axis=0)
    calls = []

    def rule(vectors):
        calls.append(vectors.shape)
        return np.median(vectors, axis=0)

    found = strongest(rule, x, 2, mean, x.std(axis=0))
    assert set(calls) == {(8, 4)}
    assert found.error == pytest.approx(strongest(parse("cwmed"), x, 2, mean, x.std(axis=0)).error, rel=1e-3)


def test_equal_honest_vectors_have_nothing_to_attack_along():
    x = np.tile(np.arange(4.0), (5, 1))
    found = strongest(parse("krum", f=2), x, 2, x.mean(axis=0), x.std(axis=0))
    assert found.eta == found.error == 0.0


def test_a_peak_right_before_a_jump_is_found_and_kept():
    """The error grows until 1.7 and then vanishes; a far lower hill lies on the other side."""
    (found,) = maximise(lambda etas: np.where((etas > 0) & (etas < 1.7), etas, np.where(etas < 0, 0.4, 0.0)), 1.0)
    assert 1.69 < found.eta < 1.7
    assert found.error == pytest.approx(found.eta)


def test_not_a_number_never_wins():
    (found,) = maximise(lambda etas: np.where(etas > 3, np.nan, np.abs(etas)), 1.0)
    assert found.eta < -9_000


@pytest.mark.parametrize("name", ["krum", "cwtm", "nnm+cwmed"])
def test_without_negative_eta_it_is_the_best_of_the_others(name):
    x = honest_vectors("gaussian", 7, 12, seed=6)
    mean, direction = x.mean(axis=0), -x.std(axis=0)
    rule = parse(name, f=2)
    found = strongest(rule, x, 2, mean, direction, positive=True)
    assert found.eta >= 0
    every = [error_at(rule, x, 2, mean, direction, eta) for eta in GRID]
    assert found.error >= 0.99 * max(every)
    assert strongest(rule, x, 2, mean, direction).error >= 0.999 * found.error


@pytest.mark.parametrize("seed", range(6))
def test_few_points_suffice_against_the_geometric_median(seed, monkeypatch):
    """It moves continuously, so the coarse grid finds what one of 900 points finds."""
    generator = np.random.default_rng(seed)
    m, d = int(generator.integers(5, 15)), int(generator.integers(2, 40))
    f = int(generator.integers(1, m))
    honest = generator.standard_normal((m, d)) * np.exp(2 * generator.standard_normal(d))
    honest[: m // 2] += 5 * generator.standard_normal(d)
    mean = honest.mean(axis=0)
    for direction in (-mean, honest.std(axis=0), generator.standard_normal(d)):
        coarse = line.strongest(parse("gm", f=f), honest, f, mean, direction).error
        with monkeypatch.context() as finer:
            finer.setattr(line, "SMOOTH", Grids(400, 20, 40, (10, 4, 2), 1e-5, 0.0))
            assert coarse >= (1 - 1e-4) * line.strongest(parse("gm", f=f), honest, f, mean, direction).error


@pytest.mark.parametrize("name", ["gm", "nnm+gm"])
@pytest.mark.parametrize("positive", [False, True])
def test_against_the_geometric_median_one_goes_far(name, positive):
    """The error that is promised far away is that of the rule itself there, and no eta up to a million beats it."""
    x = honest_vectors("gaussian", 9, 40, 2)
    mean, rule = x.mean(axis=0), parse(name, f=3)
    far = strongest(rule, x, 3, mean, -mean, positive=positive)
    assert far.error == pytest.approx(error_at(rule, x, 3, mean, -mean, far.eta), rel=1e-9)
    signs = (1,) if positive else (1, -1)
    beyond = [error_at(rule, x, 3, mean, -mean, sign * eta) for sign in signs for eta in (2, 2e2, 5e4, 1e6)]
    assert far.error >= (1 - 1e-9) * max(beyond)
    if name == "gm":
        assert abs(far.eta) > 1e5


def test_of_two_that_rounding_alone_tells_apart_the_positive_one_is_taken():
    """A function that is the same on both sides, but for its last digits."""
    for seed in range(20):
        noise = np.random.default_rng(seed)

        def errors(etas, noise=noise):
            return np.exp(-((np.abs(etas) - 2) ** 2)) * (1 + 1e-15 * noise.standard_normal(len(etas)))

        (found,) = maximise(errors, 1.0)
        assert found.eta == pytest.approx(2, rel=0.02)


@pytest.mark.parametrize("attack", [FallOfEmpires(), LittleIsEnough()])
@pytest.mark.parametrize("value", [np.nan, np.inf, 1e200])
@pytest.mark.filterwarnings("ignore:overflow")
def test_a_rule_that_returns_no_reasonable_numbers_does_not_end_the_search(attack, value):
    x = honest_vectors("gaussian", 5, 3, 1)
    action = attack.act(x, 2, lambda vectors: value * np.abs(vectors).max(axis=0))
    assert np.isfinite(action.vectors).all()


def test_an_infinite_error_is_the_largest():
    (found,) = maximise(lambda etas: np.where(etas > 3, np.inf, np.abs(etas)), 1.0)
    assert found.eta > 3
    assert found.error == np.inf


def test_nothing_is_refined_where_far_away_is_plainly_better():
    """A hill at 2 and a rise for ever: of half the height it is left alone, almost as high it is climbed."""
    for height, rounds in ((0.5, 1), (0.95, 5)):
        calls = []

        def errors(etas, height=height, calls=calls):
            calls.append(etas)
            return height * np.exp(-((etas - 2) ** 2)) + np.abs(etas) / (50 + np.abs(etas)) * (np.abs(etas) > 5)

        (found,) = maximise(errors, 1.0, reach=50.0, effort=SMOOTH, far=1e6)
        assert abs(found.eta) == 1e6
        assert len(calls) == rounds


def test_what_jumps_is_always_refined():
    calls = []
    (found,) = maximise(lambda etas: calls.append(etas) or np.abs(etas), 1.0, effort=JUMPING, far=1e6)
    assert found.eta == 1e6
    assert len(calls) > 1


@pytest.mark.parametrize("name", ["gm", "nnm+gm", "krum", "clipping+krum"])
@pytest.mark.parametrize("scale", [1e-9, 1e-4, 1e4, 1e9])
def test_the_length_of_the_direction_does_not_matter(name, scale):
    """Nor does the distance of the origin: the honest vectors keep their digits beside a very long direction."""
    x = honest_vectors("gaussian", 7, 12, seed=3)
    mean, direction, rule = x.mean(axis=0), x.std(axis=0), parse(name, f=2)
    known = strongest(rule, x, 2, mean, direction)
    found = strongest(rule, x, 2, mean, scale * direction)
    assert found.error == pytest.approx(error_at(rule, x, 2, mean, scale * direction, found.eta), rel=1e-6)
    assert found.error == pytest.approx(known.error, rel=1e-3)


@pytest.mark.parametrize("attack", [FallOfEmpires(), LittleIsEnough()], ids=lambda each: each.name)
@pytest.mark.parametrize("name", ["gm", "nnm+cwtm", "krum"])
def test_what_is_sent_is_on_the_line(attack, name):
    """Also with two equal vectors, and with few entries."""
    x = honest_vectors("gaussian", 13, 3000, 4)
    for honest in (np.concatenate([x[:-1], x[:1]]), x[:, :5]):
        mean = honest.mean(axis=0)
        action = attack.act(honest, 4, parse(name, f=4))
        sent = mean + action.eta * attack.direction(honest, mean)
        np.testing.assert_allclose(action.vectors[0], sent, rtol=1e-9, atol=1e-9 * np.abs(sent).max())


@pytest.mark.parametrize("attack", [FallOfEmpires(), LittleIsEnough()], ids=lambda each: each.name)
def test_the_rule_s_own_word_agrees_with_what_the_attack_expects(attack):
    """The vectors are on the line, and the rule errs as far as was said."""
    x = honest_vectors("gaussian", 13, 3000, 5)
    for name in ("gm", "nnm+krum", "cwmed"):
        rule = parse(name, f=4)
        action = attack.act(x, 4, rule)
        mean = x.mean(axis=0)
        sent = mean + action.eta * attack.direction(x, mean)
        np.testing.assert_allclose(action.vectors, np.tile(sent, (4, 1)), rtol=1e-9, atol=1e-9 * np.abs(sent).max())
        error = np.linalg.norm(rule(np.concatenate([x, action.vectors])) - mean)
        assert error == pytest.approx(action.error, rel=1e-6)


def test_a_class_with_another_direction_goes_that_way():
    """However long the vectors are: what is known of its parent's says nothing about it."""

    class Ones(LittleIsEnough):
        def direction(self, honest, mean):
            return np.ones_like(mean)

    for d in (100, 3000):
        x = honest_vectors("gaussian", 9, d, 6)
        action = Ones().act(x, 2, parse("cwtm", f=2))
        np.testing.assert_allclose(action.vectors[0] - x.mean(axis=0), action.eta * np.ones(d), rtol=0, atol=1e-9)
