"""Ways to the gradients of all honest workers, in one process, interleaved: ``python benchmarks/gradients.py``.

13 workers with batches of 25 images of the shape of MNIST's, the paper's network (d = 176,050), float32 on the CPU:

- ours: one pass for the samples of all workers, gradients of parameters per worker (``kappaguard.training.models``);
- vmap: ``torch.func.vmap`` of ``torch.func.grad`` over the workers;
- loop: ``torch.autograd`` worker by worker, with all of torch's threads.

All three give the same gradients to 1e-3 of their length, which is checked. Times are medians over interleaved rounds.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable

import torch
from rich.console import Console
from rich.table import Table
from torch import Tensor
from torch.nn import functional

from kappaguard.training.models.architectures import network
from kappaguard.training.models.layer import Pass
from kappaguard.training.threads import over_ranges, undivided

WORKERS, BATCH = 13, 25
SHAPES = [(20, 1, 5, 5), (20,), (20, 20, 5, 5), (20,), (500, 320), (500,), (10, 500), (10,)]


def loss(theta: Tensor, images: Tensor, labels: Tensor) -> Tensor:
    """The mean loss of one worker, in torch's own operations."""
    sizes = [torch.Size(shape).numel() for shape in SHAPES]
    parts = [part.view(shape) for part, shape in zip(theta.split(sizes), SHAPES, strict=True)]
    x = functional.max_pool2d(functional.conv2d(images, *parts[:2]).relu(), 2)
    x = functional.max_pool2d(functional.conv2d(x, *parts[2:4]).relu(), 2).flatten(1)
    return functional.cross_entropy(functional.linear(functional.linear(x, *parts[4:6]).relu(), *parts[6:]), labels)


def main() -> None:
    """Measures and prints the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=20)
    rounds = parser.parse_args().rounds
    ours = network("cnn-mnist", (1, 28, 28), 10)
    theta = ours.initial(1).float()
    generator = torch.Generator().manual_seed(0)
    images = torch.rand((WORKERS, BATCH, 1, 28, 28), generator=generator)
    labels = torch.randint(10, (WORKERS, BATCH), generator=generator)
    out = torch.empty((WORKERS, ours.dimension))

    def by_ours() -> Tensor:
        def work(begin: int, end: int) -> None:
            with torch.no_grad():
                samples = images[begin:end].flatten(0, 1), labels[begin:end].flatten()
                ours.gradients(theta, *samples, out[begin:end], Pass(end - begin))

        with undivided("cpu"):
            over_ranges(WORKERS, work, "cpu")
        return out

    batched = torch.func.vmap(torch.func.grad(loss), in_dims=(None, 0, 0))

    def by_vmap() -> Tensor:
        found: Tensor = batched(theta, images, labels)
        return found

    def by_loop() -> Tensor:
        leaf = theta.clone().requires_grad_()
        rows = [torch.autograd.grad(loss(leaf, *each), leaf)[0] for each in zip(images, labels, strict=True)]
        return torch.stack(rows)

    ways: dict[str, Callable[[], Tensor]] = {"ours": by_ours, "vmap": by_vmap, "loop": by_loop}
    right = by_loop()
    times: dict[str, list[float]] = {name: [] for name in ways}
    for way in ways.values():
        # rounding may make another of two nearly equal places win its pooling window
        assert float((way() - right).norm()) <= 1e-3 * float(right.norm())
    for _ in range(rounds):
        for name, way in ways.items():
            way()
            start = time.perf_counter()
            way()
            times[name].append(time.perf_counter() - start)
    table = Table("way", "ms", "times ours", title=f"gradients of {WORKERS} workers, {BATCH} images each")
    for name, seconds in times.items():
        middle = statistics.median(seconds)
        table.add_row(name, f"{1e3 * middle:.1f}", f"{middle / statistics.median(times['ours']):.1f}")
    Console().print(table)


if __name__ == "__main__":
    main()
