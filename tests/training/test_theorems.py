"""Both sides of the convergence theorems."""

from __future__ import annotations

import math

import numpy as np
import pytest

from kappaguard.rules.base.errors import InputError
from kappaguard.training.build import build
from kappaguard.training.configuration import Configuration, preset
from kappaguard.training.data.dataset import Dataset
from kappaguard.training.reproduce.experiments import cells_of
from kappaguard.training.run import run
from kappaguard.training.theorems.constants import Constants, claimed_kappa
from kappaguard.training.theorems.margins import line, margin
from kappaguard.training.theorems.rates import alpha_runs, fit, floors, gd_rate, share_runs, shb_rate
from kappaguard.training.theorems.regimes import floor, regime, without_heterogeneity
from kappaguard.training.theorems.summary import summary


def finished(configuration: Configuration):
    rows: list[dict] = []
    result = run(build(configuration), configuration, keep=rows.append)
    return margin(configuration, rows, result.to_json())


def test_the_constants_are_the_papers():
    given = Constants(2.0, 3.0, 5.0, 7.0, 0.5, 17, 4, 100)
    assert given.theorem_1() == pytest.approx(4 * 0.5 * 5 + 4 * 2 * 3 / 100)
    a_2, a_kappa = 6 * math.sqrt(3), math.sqrt(1728 * 2 * 0.5 + 288 * 2 / 13)
    rate = min(1 / 48, a_2 / (2 * a_kappa * math.sqrt(7) * 10))
    assert given.rate() == pytest.approx(rate)
    assert given.momentum() == pytest.approx(math.sqrt(1 - 48 * rate))
    right = 36 * 0.5 * 5 + a_2 * a_kappa * math.sqrt(7) / 10 + 6 * 2 * a_2**2 / 100
    right += a_2 * 288 * 2 * math.sqrt(7) / (17 * a_kappa * 1000)
    assert given.theorem_2() == pytest.approx(right)
    assert given.bound(4.5, 0.5) == pytest.approx(4.5 * 0.5 * 5 + (right - 36 * 0.5 * 5) / 2)
    without_noise = Constants(2.0, 3.0, 5.0, 0.0, 0.5, 17, 4, 100)
    assert (without_noise.rate(), without_noise.momentum()) == (1 / 48, 0.0)
    assert claimed_kappa("krum", 17, 4) == pytest.approx(6 * (1 + 4 / 9))
    with pytest.raises(InputError, match="mda"):
        claimed_kappa("mda", 17, 4)


@pytest.mark.parametrize("rule", ["cwmed", "nnm+krum", "multikrum"])
@pytest.mark.parametrize("attack", ["sf", "adaptive"])
def test_theorem_1_holds_on_quadratics(rule, attack):
    found = finished(preset("theorem1").with_values({"steps": 12, "rule": rule, "attack": attack}))
    assert 0 < found.left <= found.stated <= found.corrected
    assert found.holds
    if found.claimed is not None:
        assert found.stated <= found.claimed
    assert line(found)[-1] == "yes"


def test_theorem_2_on_a_network_takes_the_smoothness_that_is_assumed():
    """gamma and beta follow from it; a run on which the gradient was steeper says nothing."""
    generator = np.random.default_rng(0)
    images = 0.1 * generator.standard_normal((40, 1, 28, 28)).astype(np.float32)
    labels = generator.integers(0, 10, 40)
    images_and_labels = Dataset("noise", images, labels, images, labels, 10)
    (cell,) = cells_of("theorem2-cnn", 1, ["cwtm"], ["sf"], steps=3)
    given = cell.configuration.with_values({"n": 5, "f": 1, "samples": 0, "batch": 4})
    training = build(given, images_and_labels)
    rate, beta = training.settings.schedule(1), training.settings.momentum
    assert given.assumed_smoothness == 40
    assert 0 < rate <= 1 / 960
    assert beta == pytest.approx(math.sqrt(1 - 960 * rate))
    rows: list[dict] = []
    result = run(training, given, keep=rows.append).to_json()
    found = margin(given, rows, result)
    assert 0 < found.left < found.stated
    steepest = max(row.get("slope", 0.0) for row in rows)
    assert 0 < steepest < 40
    with pytest.raises(InputError, match="L is larger than"):
        margin(given.with_values({"assumed_smoothness": 0.9 * steepest}), rows, result)
    with pytest.raises(InputError, match="--assumed-smoothness"):
        build(given.with_values({"assumed_smoothness": None}), images_and_labels)


def test_a_slope_above_the_known_smoothness_is_no_crossing():
    """Curvatures above the L that is said to be known: both sides would be wrong, and nothing can be said."""
    configuration = preset("theorem1").with_values({"steps": 6, "attack": "sf", "rule": "cwtm"})
    training = build(configuration)
    rows: list[dict] = []
    result = run(training, configuration, keep=rows.append).to_json()
    assert max(row.get("slope", 0.0) for row in rows) <= 1 + 1e-9
    assert margin(configuration, rows, result).holds
    with pytest.raises(InputError, match=r"L is not 0\.5"):
        margin(configuration, rows, {**result, "smoothness": 0.5})


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_slopes_of_a_run_that_has_arrived_are_not_rounding(dtype):
    """Near the minimum the differences are rounding errors; of condition 1, every slope is L."""
    changes = {"steps": 60, "attack": "none", "f": 0, "rule": "average", "condition": 1.0, "dtype": dtype}
    configuration = preset("theorem1").with_values({**changes, "schedule": "constant", "learning_rate": 0.9})
    training = build(configuration)
    slopes = [training.step().get("slope", 0.0) for _ in range(60)]
    assert slopes[1] == pytest.approx(1.0, rel=1e-4)
    assert max(slopes) <= 1 + {"float32": 1e-4, "float64": 1e-9}[dtype]


def test_an_infinite_coefficient_times_no_variance_is_nothing():
    given = Constants(2.0, 3.0, 0.0, 0.0, math.inf, 17, 4, 100)
    assert given.theorem_1() == pytest.approx(4 * 2 * 3 / 100)
    assert given.theorem_2() == pytest.approx(216 * 2 * 3 / 100)
    assert Constants(2.0, 3.0, 1.0, 0.0, math.inf, 17, 4, 100).theorem_1() == math.inf


def test_both_theorems_hold_on_logistic_regression():
    changes = {"model": "logistic", "dataset": "digits", "l2": 0.05, "steps": 4, "rule": "nnm+cwtm", "attack": "foe"}
    assert finished(preset("theorem1").with_values(changes)).holds
    assert finished(preset("theorem2").with_values({**changes, "batch": 2})).holds


def test_the_noise_of_a_batch_is_the_same_in_the_step_size_and_in_the_bound():
    """The step size of Theorem 2 in closed form, from what the first step of the run recorded."""
    logistic = {"model": "logistic", "dataset": "digits", "l2": 0.05, "rule": "cwtm", "attack": "sf"}
    configuration = preset("theorem2").with_values({**logistic, "steps": 50, "batch": 4})
    training = build(configuration)
    row, known = training.step(), training.problem.known()
    kappa = claimed_kappa("cwtm", 17, 4)
    gap, noise = row["loss"] - known.infimum, row["noise_squared"] / 4
    wanted = Constants(known.smoothness, gap, 0.0, noise, kappa, 17, 4, 50)
    assert wanted.rate() < 1 / (24 * known.smoothness)
    assert row["rate"] == pytest.approx(wanted.rate(), rel=1e-6)


def test_a_left_side_is_that_of_the_output():
    configuration = preset("theorem1").with_values({"steps": 6, "attack": "sf"})
    training = build(configuration)
    gradients, lengths = [], []
    for _ in range(6):
        row = training.step()
        gradients.append(row["gradient_squared"])
        lengths.append(row["aggregate_squared"])
    assert finished(configuration).left == gradients[int(np.argmin(lengths))]
    shb = preset("theorem2").with_values({"steps": 5, "attack": "sf"})
    training = build(shb)
    assert finished(shb).left == pytest.approx(np.mean([training.step()["gradient_squared"] for _ in range(5)]))


def test_theorem_1_as_stated_is_broken_by_the_whole_slack_from_four_steps_on():
    """The sides are 9 and 4 + 18/T in units of kappa G^2; with 9 in place of 4 the bound holds."""

    def swing(steps, kappa=1.0):
        (cell,) = cells_of("theorem1-slack", 1, steps=steps, kappa=kappa, distance=2.999 * kappa**0.5)
        return finished(cell.configuration)

    assert swing(3).holds
    for steps in (4, 12, 50):
        for kappa in (1.0, 0.3):
            outcome = swing(steps, kappa)
            assert outcome.ratio == pytest.approx(kappa)
            assert outcome.left == pytest.approx(9 * kappa, rel=1e-2)
            assert outcome.stated == pytest.approx((4 + 18 / steps) * kappa, rel=1e-2)
            assert outcome.stated < outcome.left <= outcome.corrected


def test_fit_recovers_a_slope_and_is_sure_of_it():
    x = [10.0, 20.0, 40.0, 80.0, 160.0]
    exact = fit(x, [3 * value**-1.5 for value in x])
    assert exact.value == pytest.approx(-1.5)
    assert exact.high - exact.low < 1e-6
    noise = np.exp(0.3 * np.random.default_rng(0).standard_normal(5))
    noisy = fit(x, [value**-1.5 * factor for value, factor in zip(x, noise, strict=True)])
    assert noisy.low < -1.5 < noisy.high


def test_without_heterogeneity_algorithm_1_has_the_rate_1_over_t():
    slope, errors = gd_rate([8, 16, 32, 64, 128], "cwtm", "sf")
    assert errors == sorted(errors, reverse=True)
    assert -1.1 < slope.low <= slope.value <= slope.high < -0.95


def test_with_noise_algorithm_2_has_the_rate_1_over_the_root_of_t():
    slope, _ = shb_rate([150, 300, 600], "cwtm", "none", 1)
    assert -0.7 < slope.value < -0.35


def test_the_floor_is_kappa_g_squared():
    found = floors(share_runs(40, "cwtm", "foe", [(17, 1, 1.0), (17, 4, 1.0), (17, 4, 2.0)]))
    lefts = [each.left for each in found]
    assert lefts == sorted(lefts)
    assert [each.heterogeneity_squared for each in found] == pytest.approx([1.0, 1.0, 4.0])
    for each in found:
        level = each.ratio * each.heterogeneity_squared
        assert 0.3 * level < each.left < 4 * level


def test_the_floor_falls_with_alpha():
    low, high = floors(alpha_runs(6, "cwtm", "sf", [10.0, 0.1]))
    assert low.heterogeneity_squared < high.heterogeneity_squared
    assert low.left < high.left


def test_each_term_of_theorem_2_is_loose_by_the_factor_that_follows_by_hand():
    runs = {"decay": without_heterogeneity(300, 0.0), "noise": without_heterogeneity(800, 0.3), "floor": floor(600)}
    decay, noise, held = (regime(name, given, summary(given)) for name, given in runs.items())
    assert decay.ratio == pytest.approx(1 / 9, rel=0.03)
    assert noise.ratio == pytest.approx(1 / 18, rel=0.15)
    assert held.ratio == pytest.approx(1 / 36, rel=0.02)
    assert held.line()[-1] == "1/36 = 0.0278"
