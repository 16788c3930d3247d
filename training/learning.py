"""Learning a network from data that is split over the workers."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from kappaguard.search.attacks.base import Total, whole
from kappaguard.training.data.split import Shards
from kappaguard.training.messages import clipped_sum
from kappaguard.training.models.elementwise import Dropout
from kappaguard.training.models.layer import Pass
from kappaguard.training.models.linear import Linear
from kappaguard.training.models.network import Network, Statistics
from kappaguard.training.noise import noise_of
from kappaguard.training.problem import Evaluation, Finish, Known, Problem
from kappaguard.training.sampling import drawn, uniform_numbers
from kappaguard.training.threads import over_ranges

if TYPE_CHECKING:
    from torch import Tensor


CHUNK = 500
"""How many samples go through the network at once when there is no batch size."""
MOMENTUM_OF_STATISTICS = 0.1


@dataclass(eq=False)
class Learning(Problem):
    """L_i is the mean negative log-likelihood over worker i's data plus l2/2 ||theta||^2.

    Label flippers (the paper's LF attack) draw from the data of all honest workers and take label classes - 1 - l for
    l. Batches are drawn with replacement, from the seed and the step alone: a run can be continued from any step.
    """

    network: Network
    images: Tensor
    labels: Tensor
    test_images: Tensor
    test_labels: Tensor
    classes: int
    shards: Shards
    batch: int
    l2: float
    seed: int
    flips: bool = False
    flippers: int = 0
    statistics: Statistics = field(default_factory=list)

    def __post_init__(self) -> None:
        self.honest = len(self.shards)
        self.dimension = self.network.dimension
        everything = np.concatenate(self.shards)
        self._order = everything
        ends = np.cumsum([len(shard) for shard in self.shards])
        starts = ends - [len(shard) for shard in self.shards]
        self._hosted = range(self.honest + self.flippers)
        self._total: Total = whole
        self._ahead: tuple[int, Tensor, Tensor] | None = None
        self._few: tuple[Tensor, Tensor] | None = None
        self._drawn: tuple[int, Tensor, Tensor] | None = None
        self._starts = np.concatenate([starts, np.zeros(self.flippers, dtype=np.int64)])
        self._sizes = np.concatenate([ends - starts, np.full(self.flippers, len(everything))])
        if not self.statistics:
            self.statistics = self.network.statistics(self.images)

    def host(self, workers: range, total: Total) -> None:
        """Only these; ``total`` sums over all processes."""
        self._hosted, self._total, self._ahead = workers, total, None

    def start(self) -> Tensor:
        """The network's own initial parameters."""
        return self.network.initial(self.seed).to(self.images.dtype).to(self.images.device)

    def stochastic(self, theta: Tensor, step: int, out: Tensor, finish: Finish) -> Tensor:
        """Gradients on a batch per worker, ranges of workers in parallel."""
        import torch

        ahead, batch = self._ahead, self.batch
        images, labels = ahead[1:] if ahead is not None and ahead[0] == step else self._batches(step)
        self._drawn = step, images, labels

        def work(begin: int, end: int) -> tuple[Tensor, Statistics]:
            own, samples = self._hosted[begin:end], slice(begin * batch, end * batch)
            with torch.no_grad():
                run = Pass(end - begin, uniform=uniform_numbers((self.seed, 2, step), own, self.images))
                losses = self.network.gradients(theta, images[samples], labels[samples], out[begin:end], run)
                finish(begin, end, self.l2)
                return losses, run.seen

        def look_ahead() -> None:
            self._ahead = (step + 1, *self._batches(step + 1))

        parts = over_ranges(len(self._hosted), work, theta.device.type, look_ahead)
        self._remember([seen for _, seen in parts])
        return torch.cat([losses for losses, _ in parts])

    def _batches(self, step: int) -> tuple[Tensor, Tensor]:
        """Images and labels of all workers that are hosted here."""
        index, flipped = drawn(self._order, self._starts, self._sizes, self.batch, (self.seed, 1, step))
        own = slice(self._hosted.start, self._hosted.stop)
        return self.batch_of(index[own], flipped[own], max(0, self.honest - self._hosted.start))

    def batch_of(self, index: NDArray[np.int64], flipped: NDArray[np.bool_], clean: int) -> tuple[Tensor, Tensor]:
        """Images and labels of the samples in ``index``; from row number ``clean`` on, labels are the wrong ones."""
        import torch

        where = torch.from_numpy(index.reshape(-1)).to(self.images.device)
        images, labels = self.images[where], self.labels[where]
        if self.flips:
            turned = torch.from_numpy(flipped.reshape(-1, 1, 1, 1)).to(self.images.device)
            images = torch.where(turned, images.flip(-1), images)
        kept = clean * index.shape[1]
        if kept < len(labels):
            labels = torch.cat([labels[:kept], self.classes - 1 - labels[kept:]])
        return images, labels

    def _remember(self, parts: list[Statistics]) -> None:
        """Running statistics move towards the average over the honest workers."""
        import torch

        for place, (mean, variance) in enumerate(self.statistics):
            own = max(0, self.honest - self._hosted.start)
            width = len(mean)
            rows = [torch.cat([part[place][kind].view(-1, width) for part in parts])[:own] for kind in (0, 1)]
            new = tuple(self._total(each.sum(dim=0)) / self.honest for each in rows)
            (self.statistics[place],) = _mixed([(mean, variance)], [(new[0], new[1])], MOMENTUM_OF_STATISTICS)

    def exact(self, theta: Tensor, out: Tensor, learn: bool = False) -> Tensor:
        """Gradients on all of every worker's data; a label flipper's on all data, and so the same for each of them.

        Samples are normalised chunk by chunk; a worker's statistics are the mean over its chunks.
        """
        import torch

        losses = torch.zeros(len(self._hosted), dtype=theta.dtype, device=theta.device)
        shift = self._hosted.start
        seen = [self.network.statistics(theta) for _ in self._hosted]

        def work(begin: int, end: int) -> None:
            for place in range(begin, end):
                worker = place + shift
                losses[place], seen[place] = self._whole(theta, worker, worker < self.honest, out[place])

        alike = not any(isinstance(layer, Dropout) for layer in self.network.layers)
        different = min(len(self._hosted), max(0, self.honest - shift) + 1) if alike else len(self._hosted)
        over_ranges(different, work, theta.device.type)
        if different < len(self._hosted):
            out[different:], losses[different:] = out[different - 1], losses[different - 1]
        if learn:
            self._remember(seen)
        return losses + self.l2 / 2 * (theta * theta).sum()

    def _whole(self, theta: Tensor, worker: int, clean: bool, out: Tensor) -> tuple[Tensor, Statistics]:
        """Write the gradient on all of a worker's data, with flipped labels unless ``clean``; loss and statistics."""
        import torch

        own, seen = self.samples_of(worker), self.network.statistics(theta)
        with torch.no_grad():
            scratch = torch.empty((1, self.dimension), dtype=theta.dtype, device=theta.device)
            total = torch.zeros((), dtype=theta.dtype, device=theta.device)
            out.copy_(self.l2 * theta)
            for start in range(0, len(own), CHUNK):
                part = own[start : start + CHUNK][None]
                images, labels = self.batch_of(part, np.zeros(part.shape, dtype=bool), int(clean))
                numbers = uniform_numbers((self.seed, 2, 0), range(worker, worker + 1), self.images)
                run = Pass(1, uniform=numbers)
                loss = self.network.gradients(theta, images, labels, scratch, run)
                share = part.size / len(own)
                out += share * scratch[0]
                total += share * loss[0]
                seen = _mixed(seen, run.seen, part.size / (start + part.size))
        return total, seen

    def _batch_of_step(self, step: int) -> tuple[Tensor, Tensor]:
        """The batch that the honest gradients of this step were computed on."""
        if self._drawn is None or self._drawn[0] != step:
            raise RuntimeError(f"labels are flipped on the batch of step {step}, which was not drawn")
        return self._drawn[1:]

    def flipped(self, theta: Tensor, step: int | None, clip: float | None) -> Tensor:
        """The honest workers' own samples, each label l as classes - 1 - l."""
        import torch

        own = range(max(0, min(self.honest, self._hosted.stop) - self._hosted.start))

        def work(begin: int, end: int) -> Tensor:
            rows = torch.empty((end - begin, self.dimension), dtype=theta.dtype, device=theta.device)
            hosted = self._hosted[begin:end]
            with torch.no_grad():
                if step is None:
                    for place, worker in enumerate(hosted):
                        self._whole(theta, worker, False, rows[place])
                else:
                    images, labels = (each[begin * self.batch : end * self.batch] for each in self._batch_of_step(step))
                    run = Pass(end - begin, uniform=uniform_numbers((self.seed, 2, step), hosted, self.images))
                    self.network.gradients(theta, images, self.classes - 1 - labels, rows, run)
                    rows += self.l2 * theta
                return clipped_sum(rows, clip)

        parts = over_ranges(len(own), work, theta.device.type) if own else []
        total = torch.zeros_like(theta)
        for part in parts:
            total += part
        whole: Tensor = self._total(total)
        return whole / self.honest

    def noise(self, theta: Tensor) -> float:
        """From the gradients of single samples, see ``kappaguard.training.noise``."""
        import torch

        own = {worker: noise_of(self, worker, theta) for worker in self._hosted if worker < self.honest}
        if len(own) == self.honest:
            return max(own.values())
        everyone = torch.zeros(self.honest, dtype=torch.float64, device=theta.device)
        for worker, value in own.items():
            everyone[worker] = value
        return float(self._total(everyone).max())

    def samples_of(self, worker: int) -> NDArray[np.int64]:
        """Which samples a worker learns from."""
        start = self._starts[worker]
        return self._order[start : start + self._sizes[worker]]

    def evaluate(self, theta: Tensor, samples: int = 0) -> Evaluation:
        """On the test data, or on so many of them, evenly spread; with running statistics and without dropout."""
        import torch

        tested, known = self._tests(samples)
        count = len(known)

        def work(begin: int, end: int) -> tuple[int, float]:
            right, total = 0, 0.0
            with torch.no_grad():
                for start in range(begin * CHUNK, min(end * CHUNK, count), CHUNK):
                    labels = known[start : start + CHUNK]
                    run = Pass(1, training=False, running=self.statistics)
                    scores = self.network.scores(theta, tested[start : start + CHUNK], run)
                    right += int((scores.argmax(dim=1) == labels).sum())
                    total += float(torch.nn.functional.cross_entropy(scores, labels, reduction="sum"))
            return right, total

        parts = over_ranges(-(-count // CHUNK), work, theta.device.type)
        return Evaluation(sum(total for _, total in parts) / count, sum(right for right, _ in parts) / count)

    def _tests(self, samples: int) -> tuple[Tensor, Tensor]:
        """Images and labels of so many test samples, evenly spread over all of them; of all for 0."""
        import torch

        count = len(self.test_labels)
        if not 0 < samples < count:
            return self.test_images, self.test_labels
        if self._few is None or len(self._few[1]) != samples:
            where = torch.arange(samples, device=self.test_labels.device) * count // samples
            self._few = self.test_images[where], self.test_labels[where]
        return self._few

    def known(self) -> Known:
        """For logistic regression, see ``kappaguard.training.logistic``; nothing is known for deeper networks."""
        if len(self.network.layers) > 1 or not isinstance(self.network.layers[0], Linear):
            return Known(infimum=0.0)
        return self._logistic

    @cached_property
    def _logistic(self) -> Known:
        from kappaguard.training.logistic import constants

        return constants(self)


def _mixed(old: Statistics, new: Statistics, share: float) -> Statistics:
    """Old statistics moved towards new ones, by that share of the way."""
    return [
        (mean + share * (other.view(-1) - mean), variance + share * (another.view(-1) - variance))
        for (mean, variance), (other, another) in zip(old, new, strict=True)
    ]
