"""The gradients of many workers at once against torch's own modules and automatic differentiation, worker by worker."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import nn

from kappaguard.rules.base.errors import InputError
from kappaguard.rules.names import rule
from kappaguard.training.algorithm import Settings, Training
from kappaguard.training.learning import Learning
from kappaguard.training.models.architectures import network
from kappaguard.training.models.layer import Pass
from kappaguard.training.models.network import Network
from kappaguard.training.sampling import uniform_numbers

WORKERS, BATCH = 3, 4


class Drop(nn.Module):
    """Dropout with given masks."""

    def __init__(self, masks: list[torch.Tensor]) -> None:
        super().__init__()
        self.masks = masks

    def forward(self, x):
        return x * self.masks.pop(0) if self.training else x


def reference(name: str, shape: tuple[int, ...], masks: list[torch.Tensor]) -> nn.Sequential:
    """The paper's table of architectures, written with torch's modules."""
    if name == "cnn-mnist":
        layers = [nn.Conv2d(1, 20, 5), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(20, 20, 5), nn.ReLU(), nn.MaxPool2d(2)]
        layers += [nn.Flatten(), nn.Linear(320, 500), nn.ReLU(), nn.Linear(500, 10)]
    elif name == "cnn-cifar":
        layers = []
        for inputs, outputs in ((3, 64), (64, 128)):
            layers += [nn.Conv2d(inputs, outputs, 5), nn.ReLU(), nn.BatchNorm2d(outputs)]
            layers += [nn.Conv2d(outputs, outputs, 5), nn.ReLU(), nn.BatchNorm2d(outputs), nn.MaxPool2d(2), Drop(masks)]
        layers += [nn.Flatten(), nn.Linear(512, 128), nn.ReLU(), Drop(masks), nn.Linear(128, 10)]
    else:
        layers = [nn.Flatten(), nn.Linear(int(np.prod(shape)), 10)]
    return nn.Sequential(*layers).double()


def put(module: nn.Module, theta: torch.Tensor) -> None:
    nn.utils.vector_to_parameters(theta, module.parameters())


def images(shape: tuple[int, ...], count: int, seed: int = 0) -> tuple[torch.Tensor, torch.Tensor]:
    generator = torch.Generator().manual_seed(seed)
    x = torch.randn((count, *shape), generator=generator, dtype=torch.float64)
    # a constant background, as in MNIST: the largest of four equal values must be the same one as in torch
    x[..., : shape[-1] // 2] = -0.5
    return x, torch.randint(0, 10, (count,), generator=generator)


CASES = [("cnn-mnist", (1, 28, 28)), ("cnn-cifar", (3, 32, 32)), ("logistic", (1, 8, 8))]


@pytest.mark.parametrize(("name", "shape"), CASES)
def test_every_workers_gradient_is_that_of_its_own_samples(name, shape):
    ours = network(name, shape, 10)
    theta = ours.initial(seed=1)
    x, labels = images(shape, WORKERS * BATCH)
    drawn: list[torch.Tensor] = []

    def uniform(size):
        drawn.append(torch.rand(size, generator=torch.Generator().manual_seed(len(drawn)), dtype=torch.float64))
        return drawn[-1]

    out = torch.empty((WORKERS, ours.dimension), dtype=torch.float64)
    losses = ours.gradients(theta, x, labels, out, Pass(WORKERS, uniform=uniform))
    for worker in range(WORKERS):
        own = slice(worker * BATCH, (worker + 1) * BATCH)
        module = reference(name, shape, [(mask[own] >= 0.25).double() / 0.75 for mask in drawn])
        put(module, theta)
        loss = nn.functional.cross_entropy(module(x[own]), labels[own])
        loss.backward()
        expected = torch.cat([parameter.grad.reshape(-1) for parameter in module.parameters()])
        assert float(losses[worker]) == pytest.approx(float(loss.detach()), rel=1e-12)
        torch.testing.assert_close(out[worker], expected, rtol=1e-9, atol=1e-11)


def test_the_papers_network_for_mnist_has_its_number_of_parameters():
    assert network("cnn-mnist", (1, 28, 28), 10).dimension == 176_050


@pytest.mark.parametrize(("name", "shape"), CASES)
def test_evaluation_uses_running_statistics_and_drops_nothing(name, shape):
    ours = network(name, shape, 10)
    theta = ours.initial(seed=2)
    x, _ = images(shape, 7)
    module = reference(name, shape, []).eval()
    put(module, theta)
    running = []
    for layer in module:
        if isinstance(layer, nn.BatchNorm2d):
            layer.running_mean.uniform_(-1, 1, generator=torch.Generator().manual_seed(3))
            layer.running_var.uniform_(0.5, 2, generator=torch.Generator().manual_seed(4))
            running.append((layer.running_mean, layer.running_var))
    scores = ours.scores(theta, x, Pass(1, training=False, running=running))
    torch.testing.assert_close(scores, module(x).detach(), rtol=1e-9, atol=1e-10)


def test_batch_statistics_are_those_that_torch_keeps():
    ours: Network = network("cnn-cifar", (3, 32, 32), 10)
    theta = ours.initial(seed=1)
    x, labels = images((3, 32, 32), 2 * BATCH)
    run = Pass(2, uniform=lambda size: torch.ones(size, dtype=torch.float64))
    ours.gradients(theta, x, labels, torch.empty((2, ours.dimension), dtype=torch.float64), run)
    for worker in range(2):
        module = reference("cnn-cifar", (3, 32, 32), [torch.ones((), dtype=torch.float64) / 0.75] * 3)
        put(module, theta)
        module(x[worker * BATCH : (worker + 1) * BATCH])
        norms = [layer for layer in module if isinstance(layer, nn.BatchNorm2d)]
        for (mean, variance), layer in zip(run.seen, norms, strict=True):
            torch.testing.assert_close(0.1 * mean[worker], layer.running_mean, rtol=1e-9, atol=1e-11)
            torch.testing.assert_close(0.9 + 0.1 * variance[worker], layer.running_var, rtol=1e-9, atol=1e-11)


def test_algorithm_1_keeps_running_statistics_and_measuring_does_not():
    """After one step of D-GD: 0.9 of the start and 0.1 of the mean over the workers of what torch's own layers see."""
    ours = network("cnn-cifar", (3, 32, 32), 10)
    x, labels = images((3, 32, 32), 10)
    shards = [np.arange(0, 4), np.arange(4, 10)]
    problem = Learning(ours, x, labels, x, labels, 10, shards, 2, 0.0, 1)
    settings = Settings(2, 0, 2, lambda t: 0.0, 0.0, True, None, 1, "full", 1)
    training = Training(problem, rule("average"), None, settings)
    before = problem.statistics.copy()
    problem.exact(training.state.theta, torch.empty((2, ours.dimension), dtype=torch.float64))
    assert all(new is old for new, old in zip(problem.statistics, before, strict=True))
    training.step()
    seen = []
    for worker, shard in enumerate(shards):
        run = Pass(1, uniform=uniform_numbers((1, 2, 0), range(worker, worker + 1), x))
        masks: list[torch.Tensor] = []

        def uniform(size, draw=run.uniform, masks=masks):
            masks.append(draw(size))
            return masks[-1]

        ours.scores(training.state.theta, x[shard], Pass(1, uniform=uniform))
        module = reference("cnn-cifar", (3, 32, 32), [(mask >= 0.25).double() / 0.75 for mask in masks])
        put(module, training.state.theta)
        module(x[shard])
        seen.append([layer for layer in module if isinstance(layer, nn.BatchNorm2d)])
    for place, (mean, variance) in enumerate(problem.statistics):
        one, other = (layers[place] for layers in seen)
        torch.testing.assert_close(mean, (one.running_mean + other.running_mean) / 2, rtol=1e-6, atol=1e-9)
        torch.testing.assert_close(variance, (one.running_var + other.running_var) / 2, rtol=1e-6, atol=1e-9)


def test_the_start_is_torchs_and_the_same_for_a_seed():
    ours = network("cnn-mnist", (1, 28, 28), 10)
    theta = ours.initial(seed=5)
    assert torch.equal(theta, ours.initial(seed=5))
    assert not torch.equal(theta, ours.initial(seed=6))
    first, last = theta[:500], theta[-5010:]
    assert 0.19 < float(first.abs().max()) <= 0.2  # 1/sqrt(25)
    assert 0.04 < float(last.abs().max()) <= 500**-0.5


@pytest.mark.parametrize(
    ("name", "shape"), [("cnn-mnist", (1, 8, 8)), ("cnn-cifar", (3, 16, 16)), ("resnet", (1, 28, 28))]
)
def test_a_network_that_does_not_fit_is_refused(name, shape):
    with pytest.raises(InputError):
        network(name, shape, 10)
