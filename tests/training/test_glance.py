"""Steps with one glance: the budgets of a GPU, and the same numbers as on the CPU."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from kappaguard.rules.names import rule as rule_named
from kappaguard.search.attacks.names import attack_named
from kappaguard.training import build as building
from kappaguard.training import device
from kappaguard.training.build import build, parts_of
from kappaguard.training.configuration import preset
from kappaguard.training.data.dataset import Dataset
from kappaguard.training.distributed.training import DistributedTraining
from kappaguard.training.messages import Diverged, send
from tests.training.elsewhere import DEVICE, counted, pretended
from tests.training.nccl import Nccl

RULES = ("nnm+cwtm", "nnm+krum", "gm")
ATTACKS = ("sf", "alie", "foe", "foe(search='line16')")
LAUNCHES = {"sf": 120}
OPTIMISED = 300
WAITS = 2


@pytest.fixture(scope="module")
def data():
    """Noise of MNIST's shape."""
    generator = np.random.default_rng(0)
    images = generator.standard_normal((420, 1, 28, 28)).astype(np.float32)
    labels = generator.integers(10, size=420)
    return Dataset("noise", images[:400], labels[:400], images[400:], labels[400:], 10)


def setting(rule, attack):
    values = {"rule": rule, "attack": attack, "batch": 3, "measure": "none", "evaluate_every": 0, "alpha": 1.0}
    return preset("mnist").with_values(values)


def within(tally, attack, n, d):
    """The budgets of a step."""
    assert tally.waits <= WAITS, tally.names
    assert tally.launches <= LAUNCHES.get(attack, OPTIMISED)
    # no tensor of n^2 d numbers; the convolutions' own are smaller than all messages here
    assert tally.largest <= 2 * n * d
    # no copy of all messages in float64: single vectors only
    assert tally.largest_double <= 2 * d


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("attack", ATTACKS)
def test_a_step_keeps_to_the_budgets_of_a_gpu(rule, attack, data, monkeypatch):
    with pretended():
        monkeypatch.setattr(building, "device_named", lambda name: DEVICE)
        training = build(setting(rule, attack), data)
        training.step()
        with counted() as tally:
            row = training.step()
        within(tally, attack, 17, training.problem.dimension)
        with counted() as inside:
            training.problem.stochastic(training.state.theta, 3, training._gradients, training._send)
        assert inside.waits == 0
    assert ("eta" in row) == (attack != "sf")


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("attack", ["lf", "lf(mean=True)", "none"])
def test_a_step_under_an_attack_that_searches_nothing_looks_twice_too(rule, attack, data, monkeypatch):
    with pretended():
        monkeypatch.setattr(building, "device_named", lambda name: DEVICE)
        training = build(setting(rule, attack), data)
        training.step()
        with counted() as tally:
            training.step()
        within(tally, attack, 17, training.problem.dimension)


@pytest.mark.parametrize("name", ["krum", "nnm+gm", "nnm+cwmed", "bucketing+cwtm", "cwtm", "arc+krum"])
def test_a_look_at_all_messages_gives_the_rules_own_output(name):
    generator = np.random.default_rng(6)
    sent = torch.as_tensor(generator.normal(size=(13, 5000)).astype(np.float32) + 0.1)
    sent[10:] = sent[4]
    rule = rule_named(name, f=3 if name != "bucketing+cwtm" else 2)
    found = device.aggregate(device.look(sent, None, rule, torch.zeros(2)), rule)
    assert float((found - rule(sent)).norm() / rule(sent).norm()) < 1e-4


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("attack", ["sf", "alie"])
def test_a_step_of_an_nccl_group_keeps_to_them_too(rule, attack, data, monkeypatch):
    monkeypatch.setattr(building, "device_named", lambda name: DEVICE)

    def work(group):
        training = DistributedTraining.of(*parts_of(setting(rule, attack), data), group)
        training.step()
        with counted() as tally:
            training.step()
        return tally, training.problem.dimension

    for tally, d in Nccl().run(work, monkeypatch):
        within(tally, attack, 17, d)


def test_the_counter_counts_what_a_gpu_would_do():
    with pretended() as there:
        x = torch.ones((3, 4), device=there)
        with counted() as tally:
            y = (x.view(4, 3).t() * 2).sum()
        assert (tally.launches, tally.waits) == (2, 0)
        with counted() as tally:
            float(y)
            y.cpu()
            x.double()
        assert tally.waits == 2
        assert tally.largest_double == 12


@pytest.mark.parametrize("name", ["krum", "nnm+krum", "gm", "nnm+gm", "gm(steps=3, nu=0.1)", "arc+krum", "mda"])
@pytest.mark.parametrize("attack", ["foe", "alie", "sf", "foe(eta=1.5)"])
def test_a_rule_seen_in_few_coordinates_gives_its_own_output(name, attack):
    generator = np.random.default_rng(3)
    honest = torch.as_tensor(generator.normal(size=(9, 5000)).astype(np.float32) + 0.3)
    rule, known = rule_named(name, f=3), attack_named(attack)
    glance = device.look(honest, known, rule, torch.tensor([5.0, 7.0]))
    assert glance.facts == [5.0, 7.0]
    found = device.answer(glance, known, rule, rule, 3)
    expected = known.act(honest, 3, rule)
    eta = 2.0 if expected.eta is None else expected.eta
    assert float(found.eta) == pytest.approx(eta, rel=1e-3)
    together = torch.cat([honest, found.vector.expand(3, -1)])
    assert float((found.aggregate - rule(together)).norm() / rule(together).norm()) < 1e-4


@pytest.mark.parametrize("name", ["cwtm", "cwmed", "nnm+cwtm", "nnm+cwmed", "bucketing+cwtm"])
@pytest.mark.parametrize("width", [300, 40_000])
def test_a_coordinate_wise_rule_gives_its_own_output_and_the_attack_is_as_strong(name, width):
    generator = np.random.default_rng(4)
    honest = generator.normal(size=(11, width)) * np.geomspace(1, 1e-3, width) + 0.01
    honest = torch.as_tensor(honest.astype(np.float32))
    rule, known = rule_named(name, f=2), attack_named("alie")
    found = device.answer(device.look(honest, known, rule, torch.zeros(2)), known, rule, rule, 2)
    together = torch.cat([honest, found.vector.expand(2, -1)])
    assert float((found.aggregate - rule(together)).norm() / rule(together).norm()) < 1e-4
    mean = honest.mean(dim=0)
    expected = rule(torch.cat([honest, known(honest, 2, rule)]))
    reached = float((found.aggregate - mean).norm())
    assert reached == pytest.approx(float((expected - mean).norm()), rel=0.03)


def test_messages_sent_together_are_those_sent_one_by_one():
    generator = torch.Generator().manual_seed(0)
    gradients = torch.randn((5, 40), generator=generator) * torch.tensor([[1e-3], [1.0], [1e25], [0.0], [5.0]])
    theta = torch.randn(40, generator=generator)
    for clip in (None, 2.0):
        given = gradients if clip else gradients[[0, 1, 3, 4]]
        before = torch.randn((len(given), 40), generator=generator)
        alone = before.double()
        for row, gradient in zip(alone, given.double() + 0.1 * theta.double(), strict=True):
            shrunk = 1.0 if clip is None else min(1.0, clip / float(gradient.norm()))
            row.mul_(0.9).add_(gradient, alpha=0.1 * shrunk)
        with pretended() as there:
            messages = before.to(there)
            square = send(messages, given.to(there), theta.to(there), 0.1, 0.9, clip)
            together, total = messages.cpu(), float(square)
        torch.testing.assert_close(together.double(), alone, rtol=1e-5, atol=1e-6)
        assert total == pytest.approx(float((alone**2).sum()), rel=1e-5)


def test_other_attacks_and_rules_go_the_other_way():
    krum = rule_named("krum", f=2)
    assert device.fits(attack_named("foe"), krum)
    assert not device.fits(attack_named("mimic"), krum)
    assert not device.fits(None, krum)
    assert not device.fits(attack_named("foe"), lambda x: x[0])
    assert not device.fits(attack_named("foe"), rule_named("meamed", f=2))


@pytest.mark.parametrize("attack", ["foe", "alie", "sf", "lf", "mimic", "none"])
@pytest.mark.parametrize("rule", ["nnm+cwtm", "gm"])
def test_a_run_that_leaves_the_range_of_numbers_diverges_there_too(attack, rule, data, monkeypatch):
    with pretended():
        monkeypatch.setattr(building, "device_named", lambda name: DEVICE)
        given = setting(rule, attack).with_values({"clip": None, "learning_rate": 1e15, "model": "logistic", "l2": 1.0})
        training = build(given, data)

        def steps():
            for _ in range(20):
                training.step()

        with pytest.raises(Diverged):
            steps()
