"""Algorithms 1 and 2 against a literal second implementation, and what a run keeps."""

from __future__ import annotations

import json

import numpy as np
import pytest
import torch

from kappaguard.rules.base.errors import InputError
from kappaguard.rules.names import rule
from kappaguard.search.attacks.names import attack_named
from kappaguard.training.build import build, device_named, problem_of
from kappaguard.training.configuration import Configuration, preset, presets
from kappaguard.training.folder import Folder
from kappaguard.training.learning import Learning
from kappaguard.training.measure import errors
from kappaguard.training.messages import Diverged
from kappaguard.training.quadratic import Quadratic
from kappaguard.training.run import run
from kappaguard.training.schedule import schedule_named
from tests.training.stopping import stop_after

SMALL = Configuration(n=7, f=2, steps=12, batch=5, evaluate_every=0, dtype="float64", l2=1e-3, clip=1.0, seed=4)


def naive_run(configuration: Configuration) -> tuple[np.ndarray, list[np.ndarray], list[np.ndarray]]:
    """Algorithm 2 (or 1) on logistic regression with loops and torch's automatic differentiation."""
    problem = problem_of(configuration)
    assert isinstance(problem, Learning)
    images, labels = problem.images.reshape(len(problem.images), -1), problem.labels
    under_attack, attack = rule(configuration.rule, f=configuration.f), attack_named(configuration.attack)
    theta = problem.start().clone()
    exact = configuration.algorithm == "gd"
    beta = 0.0 if exact else configuration.momentum
    momenta = [np.zeros(problem.dimension) for _ in range(configuration.honest)]
    iterates, aggregates = [], []
    for t in range(1, configuration.steps + 1):
        drawn = np.random.default_rng((configuration.seed, 1, t)).random((configuration.honest, configuration.batch))
        for worker, shard in enumerate(problem.shards):
            own = shard if exact else shard[(drawn[worker] * len(shard)).astype(int)]
            point = theta.clone().requires_grad_()
            scores = images[own] @ point[: 10 * 64].view(10, 64).t() + point[10 * 64 :]
            loss = torch.nn.functional.cross_entropy(scores, labels[own]) + configuration.l2 / 2 * (point @ point)
            (gradient,) = torch.autograd.grad(loss, point)
            g = gradient.numpy()
            if configuration.clip is not None:
                g = g * min(1.0, configuration.clip / np.linalg.norm(g))
            momenta[worker] = beta * momenta[worker] + (1 - beta) * g
        honest = np.stack(momenta)
        sent = attack(honest, configuration.f, under_attack)
        aggregate = under_attack(np.concatenate([honest, sent]))
        iterates.append(theta.numpy().copy())
        aggregates.append(aggregate)
        theta = theta - configuration.learning_rate * torch.from_numpy(aggregate)
    return theta.numpy(), iterates, aggregates


@pytest.mark.parametrize("algorithm", ["shb", "gd"])
@pytest.mark.parametrize("attack", ["sf", "alie"])
def test_a_run_is_the_papers_algorithm(algorithm, attack):
    configuration = SMALL.with_values({"algorithm": algorithm, "attack": attack})
    theta, iterates, aggregates = naive_run(configuration)
    training = build(configuration)
    for _ in range(configuration.steps):
        training.step()
    np.testing.assert_allclose(training.state.theta.numpy(), theta, rtol=1e-6, atol=1e-9)
    smallest = int(np.argmin([np.linalg.norm(each) for each in aggregates]))
    tau = smallest if algorithm == "gd" else training.drawn
    assert training.state.output_step == tau
    np.testing.assert_allclose(training.state.output.numpy(), iterates[tau], rtol=1e-6, atol=1e-9)


def test_the_output_of_algorithm_2_is_drawn_uniformly():
    configuration = SMALL.with_values({"model": "quadratic", "steps": 4})
    drawn = [build(configuration.with_values({"seed": seed})).drawn for seed in range(400)]
    assert set(drawn) == {0, 1, 2, 3}
    assert np.bincount(drawn).min() > 60


def test_the_same_seed_gives_the_same_run_and_another_does_not():
    def final(seed: int) -> torch.Tensor:
        training = build(SMALL.with_values({"seed": seed, "steps": 4, "dtype": "float32"}))
        for _ in range(4):
            training.step()
        return training.state.theta

    assert torch.equal(final(1), final(1))
    assert not torch.equal(final(1), final(2))


@pytest.mark.parametrize("attack", ["mimic", "lf", "none"])
def test_a_run_goes_on_where_it_stopped(tmp_path, attack):
    configuration = SMALL.with_values({"attack": attack, "rule": "bucketing+gm", "evaluate_every": 3})
    whole = build(configuration)
    complete = Folder.create(tmp_path, "whole", configuration)
    expected = run(whole, configuration, complete)
    folder = Folder.create(tmp_path, "part", configuration)
    with pytest.raises(KeyboardInterrupt):
        run(build(configuration), configuration, folder, stop_after(7))
    folder.log({"step": 9, "after_the_checkpoint": 1})
    folder.close()
    again, read = Folder.existing(folder.path)
    assert read == configuration
    training = build(read)
    result = run(training, read, again)
    assert torch.equal(training.state.theta, whole.state.theta)
    assert result.best_accuracy == expected.best_accuracy
    assert again.rows() == complete.rows()
    assert json.loads((again.path / "result.json").read_text())["status"] == "finished"


def test_label_flippers_compute_gradients_on_the_opposite_labels():
    problem = problem_of(SMALL.with_values({"attack": "lf", "l2": 0.0}))
    assert isinstance(problem, Learning)
    theta = torch.zeros(problem.dimension, dtype=torch.float64)
    out = torch.empty((problem.workers, problem.dimension), dtype=torch.float64)
    problem.exact(theta, out)
    everything = np.concatenate(problem.shards)
    flipped = 9 - problem.labels[everything]
    # at theta = 0 the gradient of the biases is 1/10 minus the frequency of each label
    frequency = torch.bincount(flipped, minlength=10) / len(everything)
    torch.testing.assert_close(out[-1, -10:], 0.1 - frequency.double())
    own = torch.bincount(problem.labels[problem.shards[0]], minlength=10) / len(problem.shards[0])
    torch.testing.assert_close(out[0, -10:], 0.1 - own.double(), rtol=1e-6, atol=1e-7)


def test_noise_is_the_variance_of_single_gradients():
    problem = problem_of(SMALL.with_values({"l2": 0.0}))
    theta = problem.start()
    worst = 0.0
    out = torch.empty((problem.honest, problem.dimension), dtype=torch.float64)
    problem.exact(theta, out)
    for worker, shard in enumerate(problem.shards):
        squares = []
        for sample in shard:
            x = torch.cat([problem.images[sample].reshape(-1), torch.ones(1, dtype=torch.float64)])
            scores = x[:-1] @ theta[:640].view(10, 64).t() + theta[640:]
            residual = torch.softmax(scores, 0) - torch.eye(10, dtype=torch.float64)[problem.labels[sample]]
            gradient = torch.cat([torch.outer(residual, x[:-1]).reshape(-1), residual])
            squares.append(float(((gradient - out[worker]) ** 2).sum()))
        worst = max(worst, float(np.mean(squares)))
    assert problem.noise(theta) == pytest.approx(worst, rel=1e-6)


def test_constants_of_logistic_regression_hold():
    problem = problem_of(SMALL)
    known = problem.known()
    out = torch.empty((problem.honest, problem.dimension), dtype=torch.float64)
    generator = torch.Generator().manual_seed(0)
    points = [torch.randn(problem.dimension, generator=generator, dtype=torch.float64) for _ in range(4)]
    gradients, losses = [], []
    for point in points:
        losses.append(float(problem.exact(point, out).mean()))
        gradients.append(out.mean(dim=0).clone())
    assert all(loss > known.infimum for loss in losses)
    assert 0 < known.infimum < losses[0]
    for one in range(4):
        for other in range(one):
            slope = (gradients[one] - gradients[other]).norm() / (points[one] - points[other]).norm()
            assert float(slope) <= known.smoothness


def test_quadratics_have_the_constants_they_are_given():
    like = torch.empty(0, dtype=torch.float64)
    problem = Quadratic(5, 6, 2.0, 10.0, 3.0, 0.5, 4.0, 1, like)
    theta = problem.start()
    out = torch.empty((5, 6), dtype=torch.float64)
    problem.exact(theta, out)
    assert float(theta.norm()) == pytest.approx(4.0)
    assert float(((out - out.mean(dim=0)) ** 2).sum() / 5) == pytest.approx(9.0)
    noisy = torch.empty_like(out)
    problem.stochastic(theta, 3, noisy, lambda begin, end, decay: None)
    assert (noisy - out).norm(dim=1).tolist() == pytest.approx([0.5] * 5)
    mean = torch.stack([_noise(problem, theta, out, step) for step in range(2000)]).mean(dim=0)
    assert float(mean.abs().max()) < 0.03
    assert problem.evaluate(torch.zeros(6, dtype=torch.float64)).loss == 0.0


def _noise(problem: Quadratic, theta: torch.Tensor, exact: torch.Tensor, step: int) -> torch.Tensor:
    noisy = torch.empty_like(exact)
    problem.stochastic(theta, step, noisy, lambda begin, end, decay: None)
    return noisy - exact


def test_the_papers_schedules():
    mnist = schedule_named("harmonic:50", 0.75)
    assert [mnist(t) for t in (1, 49, 50, 99, 100, 800)] == [0.75, 0.75, 0.375, 0.375, 0.25, 0.75 / 17]
    cifar = schedule_named("drop:1500:0.1", 0.25)
    assert [cifar(t) for t in (1, 1500, 1501)] == pytest.approx([0.25, 0.25, 0.025])
    for wrong in ("harmonic", "harmonic:0", "drop:1", "linear", "drop:x:1"):
        with pytest.raises(InputError, match="schedule"):
            schedule_named(wrong, 1.0)


def test_a_run_that_leaves_the_numbers_has_diverged():
    configuration = SMALL.with_values({"learning_rate": 1e300, "rule": "average", "attack": "none", "clip": None})
    training = build(configuration)
    training.state.theta.fill_(1e200)
    with pytest.raises(Diverged):
        training.step()
    assert run(build(configuration), configuration).status == "diverged"


def test_every_preset_is_whole():
    assert {"digits", "mnist", "fashion-mnist", "cifar-10", "theorem1", "theorem2"} <= set(presets())
    mnist = preset("mnist")
    assert (mnist.n, mnist.f, mnist.batch, mnist.steps, mnist.momentum) == (17, 4, 25, 800, 0.9)
    assert (mnist.clip, mnist.l2, mnist.alpha, mnist.schedule) == (2.0, 1e-4, 0.1, "harmonic:50")
    cifar = preset("cifar-10")
    assert (cifar.clip, cifar.l2, cifar.batch, cifar.steps, cifar.schedule) == (5.0, 1e-2, 50, 2000, "drop:1500:0.1")


@pytest.mark.parametrize(
    ("values", "named"),
    [
        ({"f": 4, "n": 8}, "f < n/2"),
        ({"stepps": 3}, "did you mean steps"),
        ({"steps": 0}, "steps"),
        ({"steps": "many"}, "steps must be of type int"),
        ({"momentum": 1.0}, "momentum"),
        ({"algorithm": "adam"}, "gd"),
        ({"dtype": "float16"}, "float32"),
        ({"alpha": -1.0}, "alpha"),
        ({"condition": 0.99}, "condition"),
        ({"seed": 2**63}, "seed"),
        ({"model": "quadratic", "attack": "lf"}, "labels"),
    ],
)
def test_wrong_settings_are_told_in_one_line(values, named):
    with pytest.raises(InputError, match=named):
        Configuration().with_values(values)


def test_a_device_that_is_not_there_is_refused():
    assert device_named("cpu").type == "cpu"
    with pytest.raises(InputError, match="no device"):
        device_named("gpu")


def test_folders_are_never_used_twice(tmp_path):
    paths = {Folder.create(tmp_path, "name", SMALL).path for _ in range(3)}
    assert len(paths) == 3
    with pytest.raises(InputError, match="not the folder of a run"):
        Folder.existing(tmp_path)
    (tmp_path / "name-1" / "checkpoint.pt").write_bytes(b"nonsense")
    with pytest.raises(InputError, match="is damaged"):
        run(build(SMALL), SMALL, Folder.existing(tmp_path / "name-1")[0])


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_an_error_of_rounding_s_size_is_no_ratio(dtype):
    """Nor is it an infinite one if the honest vectors are equal; a larger error is."""
    eps = torch.finfo(dtype).eps
    for error, variance, ratio in (
        ((10 * eps) ** 2, 0.0, 0.0),
        ((10 * eps) ** 2, eps**2, 0.0),
        ((1000 * eps) ** 2, 0.0, float("inf")),
        ((1000 * eps) ** 2, eps**2, 1e6),
        (0.0, 1.0, 0.0),
    ):
        assert errors(error, variance, 1.0, dtype)["ratio"] == pytest.approx(ratio)
