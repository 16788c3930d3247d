"""Training on worst inputs: the rule, the trainer and the certificate meet in one number."""

import json
import math
from fractions import Fraction

import numpy as np
import pytest
import torch
from typer.testing import CliRunner

from kappaguard.cli import app
from kappaguard.reports.pictures.trained import worst_inputs
from kappaguard.reports.trained import read_trained, trained_tables
from kappaguard.rules.base.errors import InputError
from kappaguard.rules.names import rule as rule_named
from kappaguard.training.theorems.witnessed import Displaced, Ordered, course, displaced
from kappaguard.verify.judge.exact import exact
from kappaguard.verify.theory.trained import owned_slack, trained

pytestmark = pytest.mark.solver


@pytest.mark.parametrize("rule", ["cwtm", "cwmed", "gm", "meamed", "krum", "nnm+cwtm", "nnm+krum", "nna"])
@pytest.mark.parametrize("f", [2, 3])
def test_both_algorithms_end_at_kappa_star_times_the_spread(rule, f):
    found = trained(rule, 9, f)
    kappa = float(exact(rule, 9, f).lower)
    assert found["kappa"] == kappa
    assert found["gd"] == pytest.approx(kappa, rel=1e-5)
    assert found["shb"] == pytest.approx(kappa, rel=1e-5)
    assert found["output"] == pytest.approx(kappa, rel=1e-5)
    assert found["random"] <= found["bound_random"] * (1 + 1e-9)


def test_a_plain_loop_ends_at_the_same_place():
    """Heavy balls in NumPy, with the witness of cwmed written out by hand: kappa* = 1.6 at n = 17, f = 4."""
    found = exact("cwmed", 17, 4)
    x = np.array([[float(value) for value in row] for row in found.witness.x])
    own = list(found.witness.subset)
    theta, messages = np.zeros(x.shape[1]), np.zeros_like(x)
    for _ in range(400):
        messages = 0.9 * messages + 0.1 * (theta + x)
        theta = theta - 0.1 * np.median(messages, axis=0)
    spread = np.sum((x[own] - x[own].mean(axis=0)) ** 2) / len(own)
    assert np.sum((theta + x[own].mean(axis=0)) ** 2) / spread == pytest.approx(1.6, rel=1e-6)
    assert trained("cwmed", 17, 4)["shb"] == pytest.approx(1.6, rel=1e-6)


def test_a_rule_that_is_better_than_its_witness_says_ends_elsewhere():
    """The witness of krum does not bring the trimmed mean to krum's kappa*."""
    found = exact("krum", 9, 2)
    rows = [[float(value) for value in row] for row in found.witness.x]
    problem, order = displaced(rows, found.witness.subset)
    end = course(rule_named("cwtm", f=2), problem, order, 30, None).end
    assert end < 0.9 * float(found.lower)


def test_vectors_come_in_the_order_of_the_witness():
    rows = np.arange(10.0).reshape(5, 2) ** 2
    problem, order = displaced(rows, (4, 1, 2))
    assert problem.honest == 3
    sent = Ordered(lambda messages: messages, order)(torch.as_tensor(problem.shifts))
    own = rows[[4, 1, 2]]
    spread = math.sqrt(np.sum((own - own.mean(axis=0)) ** 2) / 3)
    assert sent.numpy() == pytest.approx((rows - own.mean(axis=0)) / spread)
    assert problem.heterogeneity == pytest.approx(1)


def test_gradients_gap_and_infimum_are_those_of_the_losses():
    generator = np.random.default_rng(0)
    problem = Displaced(generator.normal(size=(5, 3)), 3, extra=4, condition=100.0, distance=2.0)
    theta = torch.as_tensor(generator.normal(size=7)).requires_grad_()
    curvature = torch.as_tensor([1.0, 1, 1, 0.01, 100 ** (-2 / 3), 100 ** (-1 / 3), 1.0])
    shifts = torch.as_tensor(np.pad(problem.shifts, ((0, 0), (0, 4))))
    losses = (curvature * theta * theta).sum() / 2 + shifts @ theta
    out = torch.empty((5, 7), dtype=torch.float64)
    assert torch.allclose(problem.exact(theta.detach(), out), losses)
    for row in range(5):
        (expected,) = torch.autograd.grad(losses[row], theta, retain_graph=True)
        assert torch.allclose(out[row], expected)
    mean = losses[:3].mean()
    (gradient,) = torch.autograd.grad(mean, theta)
    assert problem.gradient_squared(theta.detach()) == pytest.approx(float(gradient @ gradient))
    least = -float((shifts[:3].mean(dim=0) ** 2 / curvature).sum() / 2)
    assert problem.known().infimum == pytest.approx(least)
    assert problem.gap() == pytest.approx(problem.evaluate(problem.start()).loss - least)
    assert float((problem.start()[3:] ** 2).sum()) == pytest.approx(4.0)


def test_noise_has_the_stated_variance_and_is_shared_if_asked_for():
    rows = np.random.default_rng(1).normal(size=(6, 2))
    out = torch.empty((6, 12), dtype=torch.float64)
    theta = torch.zeros(12, dtype=torch.float64)
    for shared in (False, True):
        problem = Displaced(rows, 4, extra=10, sigma=0.5, shared=shared)
        exactly = torch.empty_like(out)
        problem.exact(theta, exactly)
        problem.stochastic(theta, 3, out, lambda begin, end, decay: None)
        noise = out - exactly
        lengths = (noise**2).sum(dim=1)
        assert lengths[:4].tolist() == pytest.approx([0.25] * 4)
        assert lengths[4:].tolist() == pytest.approx([0.25 if shared else 0.0] * 2)
        assert bool((noise == noise[0]).all()) == shared


def test_rates_above_the_floor_are_those_of_the_theorems(monkeypatch):
    monkeypatch.setattr("kappaguard.verify.theory.trained.SHB_HORIZONS", (200, 400, 800, 1600))
    entry = trained("cwtm", 7, 2, seeds=1, rates=True)
    gd, shb = entry["rates"]
    assert gd["low"] < -1 < gd["high"] or gd["slope"] == pytest.approx(-1, abs=0.05)
    assert shb["slope"] == pytest.approx(-0.5, abs=0.1)
    assert entry["noisy"] is not None


@pytest.mark.parametrize("steps", [12, 100])
def test_a_random_output_is_nine_times_as_good_as_the_least_aggregate(steps):
    found = owned_slack(steps)
    assert found["output"] == pytest.approx(9, rel=1e-3)
    assert found["random"] <= found["bound"]


def test_the_command_keeps_what_is_done_and_the_report_shows_it(tmp_path, monkeypatch):
    monkeypatch.setattr("kappaguard.verify.theory.trained.SHARES", (1, 2))
    monkeypatch.setattr("kappaguard.verify.theory.trained.RATES_AT", 0)
    given = ["reproduce", "witnesses", "--rule", "cwmed", "--rule", "nnm+cwmed", "--out", str(tmp_path)]
    first = CliRunner().invoke(app, given)
    assert first.exit_code == 0, first.output
    stored = read_trained(tmp_path)
    assert [(each["rule"], each["f"]) for each in stored["runs"]] == [
        *(("cwmed", 1), ("cwmed", 2), ("nnm+cwmed", 1), ("nnm+cwmed", 2))
    ]
    assert stored["runs"][1]["gd"] == pytest.approx(float(Fraction(8, 7)))

    def again(*_, **__):
        raise AssertionError("run again")

    monkeypatch.setattr("kappaguard.verify.theory.trained.trained", again)
    assert CliRunner().invoke(app, given).exit_code == 0
    drawn = worst_inputs(stored)
    assert drawn is not None
    assert "nnm" in drawn.svg
    assert len(drawn.csv.splitlines()) == 3
    assert len(trained_tables(stored)[0][1]) == 4
    (tmp_path / "witnesses.json").write_text(json.dumps({**stored, "runs": [{"rule": "x"}]}))
    with pytest.raises(InputError, match="damaged"):
        read_trained(tmp_path)


def test_other_settings_do_not_write_over_it(tmp_path):
    (tmp_path / "witnesses.json").write_text(
        json.dumps({"command": "other", "code": "", "runs": [trained("cwtm", 5, 1)], "slack": []})
    )
    result = CliRunner().invoke(app, ["reproduce", "witnesses", "--rule", "cwtm", "--out", str(tmp_path)])
    assert result.exit_code == 2 or isinstance(result.exception, InputError)
    assert CliRunner().invoke(app, ["reproduce", "witnesses", "--attack", "sf"]).exit_code != 0
