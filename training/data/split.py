"""How the training data is split over the honest workers; none is ever left without data."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kappaguard.rules.base.checks import require_positive
from kappaguard.rules.base.errors import InputError

SPLITS = ("dirichlet", "dirichlet-workers", "iid", "extreme")

Shards = list[NDArray[np.int64]]


def split(kind: str, labels: NDArray[np.int64], workers: int, alpha: float, seed: int) -> Shards:
    """The indices of every worker's data; each sample belongs to exactly one, except with ``dirichlet-workers``."""
    if workers < 1 or len(labels) < workers:
        raise InputError(f"{len(labels)} samples cannot be split over {workers} workers")
    generator = np.random.default_rng((seed, 0))
    match kind:
        case "dirichlet":
            require_positive(alpha, "alpha")
            shards = _dirichlet(labels, workers, alpha, generator)
        case "dirichlet-workers":
            require_positive(alpha, "alpha")
            shards = _dirichlet_workers(labels, workers, alpha, generator)
        case "iid":
            shards = [part.astype(np.int64) for part in np.array_split(generator.permutation(len(labels)), workers)]
        case "extreme":
            shards = _extreme(labels, workers, generator)
        case _:
            raise InputError(f"no split is called {kind!r}; there are {', '.join(SPLITS)}")
    return _without_empty(shards)


def _dirichlet(labels: NDArray[np.int64], workers: int, alpha: float, generator: np.random.Generator) -> Shards:
    """Of every class, worker i gets a share p_i, p drawn from a Dirichlet distribution over the workers.

    Every sample is used once, and the sizes of the shards differ widely (Yurochkin et al. 2019 split so).
    """
    shards: list[list[NDArray[np.int64]]] = [[] for _ in range(workers)]
    for label in np.unique(labels):
        members = generator.permutation(np.flatnonzero(labels == label))
        shares = generator.dirichlet(np.full(workers, alpha))
        if not np.all(np.isfinite(shares)):
            # a tiny alpha underflows: in the limit one worker gets all
            shares = np.eye(workers)[generator.integers(workers)]
        cuts = np.round(np.cumsum(shares)[:-1] * len(members)).astype(np.int64)
        for own, part in zip(shards, np.split(members, cuts), strict=True):
            own.append(part)
    return [np.concatenate(own) for own in shards]


def _dirichlet_workers(labels: NDArray[np.int64], workers: int, alpha: float, generator: np.random.Generator) -> Shards:
    """Every worker draws its own shares q of the classes, and floor(q_c N/m) samples of class c, or all there are.

    q is drawn from a Dirichlet distribution over the classes (Hsu et al. 2019 draw it per client), N/m being the number
    of samples over that of workers, rounded down. A worker has a sample once; several workers may have the same one.
    """
    members = [np.flatnonzero(labels == label) for label in np.unique(labels)]
    shards = []
    for _ in range(workers):
        shares = generator.dirichlet(np.full(len(members), alpha))
        if not np.all(np.isfinite(shares)):
            # a tiny alpha underflows: in the limit one class is all
            shares = np.eye(len(members))[generator.integers(len(members))]
        wanted = np.floor(shares * (len(labels) // workers)).astype(np.int64)
        parts = [
            generator.choice(own, min(int(count), len(own)), replace=False)
            for own, count in zip(members, wanted, strict=True)
        ]
        shards.append(np.concatenate(parts).astype(np.int64))
    return shards


def _extreme(labels: NDArray[np.int64], workers: int, generator: np.random.Generator) -> Shards:
    """One class per worker, shared evenly among its workers; with fewer workers than classes, several classes each."""
    classes = np.unique(labels)
    shards: list[list[NDArray[np.int64]]] = [[] for _ in range(workers)]
    for place, label in enumerate(classes):
        owners = [worker for worker in range(workers) if worker % len(classes) == place] or [place % workers]
        members = generator.permutation(np.flatnonzero(labels == label))
        for owner, part in zip(owners, np.array_split(members, len(owners)), strict=True):
            shards[owner].append(part)
    return [np.concatenate(own) if own else np.empty(0, dtype=np.int64) for own in shards]


def _without_empty(shards: Shards) -> Shards:
    """Every empty shard gets one sample of the largest."""
    result = list(shards)
    for index, shard in enumerate(shards):
        if len(shard) == 0:
            largest = max(range(len(result)), key=lambda place: len(result[place]))
            result[index], result[largest] = result[largest][-1:], result[largest][:-1]
    return result


def counts(shards: Shards, labels: NDArray[np.int64], classes: int) -> NDArray[np.int64]:
    """How many samples of each class every worker has, (workers, classes)."""
    return np.stack([np.bincount(labels[shard], minlength=classes) for shard in shards]).astype(np.int64)
