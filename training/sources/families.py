"""Random families of honest vectors, each round an independent draw.

gaussian          independent standard normal entries
heavy-tailed      independent entries of Student's t with ``tail`` degrees of freedom
clusters          normal vectors about one of ``k`` centres, each at ``distance`` from the origin
one-dimensional   standard normal numbers
heterogeneous     worker i has a mean of its own, normal with standard deviation ``spread`` and the same in all
                  rounds, plus standard normal noise: what workers with different data send
low-rank          normal vectors in a random subspace of dimension ``rank``, the same in all rounds, plus noise of
                  standard deviation ``noise``
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from kappaguard.rules.base.checks import require_count, require_positive
from kappaguard.rules.base.errors import InputError
from kappaguard.training.sources.source import Source, StreamRound

Floats = NDArray[np.float64]
Draw = Callable[["Family", np.random.Generator], Floats]

DIMENSION = 10


@dataclass(frozen=True)
class Family(Source):
    """Vectors of m honest workers, from (seed, number of the round)."""

    name: str
    m: int
    seed: int
    parameters: dict[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        defaults = FAMILIES[self.name][1]
        for key, value in self.parameters.items():
            if key not in defaults:
                raise InputError(f"{self.name} has no parameter {key!r}; it has {', '.join(defaults) or 'none'}")
            if isinstance(defaults[key], int):
                require_count(value, 1, f"{self.name}: {key}")  # type: ignore[arg-type]
            elif key != "noise" or value != 0:
                require_positive(value, f"{self.name}: {key}")

    def __getitem__(self, key: str) -> float:
        return self.parameters.get(key, FAMILIES[self.name][1][key])

    @property
    def label(self) -> str:
        """The name with the parameters that were given."""
        given = ",".join(f"{key}={value:g}" for key, value in sorted(self.parameters.items()))
        return f"{self.name}:{given}" if given else self.name

    @property
    def workers(self) -> int:
        """How many honest workers there are."""
        return self.m

    @property
    def dimension(self) -> int:
        """The dimension as given, or one."""
        return 1 if self.name == "one-dimensional" else int(self["d"])

    @property
    def fingerprint(self) -> str:
        """Name, parameters, workers and seed."""
        return f"{self.label} {self.m} {self.seed}"

    def rounds(self, begin: int, end: int) -> Iterator[StreamRound]:
        """Each from a generator of its own."""
        draw = FAMILIES[self.name][0]
        for number in range(begin, end):
            vectors = draw(self, np.random.default_rng((self.seed, 1, number)))
            yield StreamRound(vectors, tuple(range(self.m)))

    def lasting(self, *shape: int) -> Floats:
        """Normal numbers that are the same in all rounds."""
        return np.random.default_rng((self.seed, 0)).standard_normal(shape)


def _gaussian(family: Family, generator: np.random.Generator) -> Floats:
    return generator.standard_normal((family.m, family.dimension))


def _heavy(family: Family, generator: np.random.Generator) -> Floats:
    return generator.standard_t(family["tail"], (family.m, family.dimension))


def _clusters(family: Family, generator: np.random.Generator) -> Floats:
    centres = family.lasting(int(family["k"]), family.dimension)
    centres *= family["distance"] / np.linalg.norm(centres, axis=1, keepdims=True)
    return np.asarray(centres[generator.integers(len(centres), size=family.m)] + _gaussian(family, generator))


def _heterogeneous(family: Family, generator: np.random.Generator) -> Floats:
    return family["spread"] * family.lasting(family.m, family.dimension) + _gaussian(family, generator)


def _low_rank(family: Family, generator: np.random.Generator) -> Floats:
    rank = int(family["rank"])
    if rank > family.dimension:
        raise InputError(f"low-rank: the rank is at most d = {family.dimension}, got {rank}")
    basis = np.linalg.qr(family.lasting(family.dimension, rank))[0]
    return np.asarray(
        generator.standard_normal((family.m, rank)) @ basis.T + family["noise"] * _gaussian(family, generator)
    )


FAMILIES: dict[str, tuple[Draw, dict[str, float]]] = {
    "gaussian": (_gaussian, {"d": DIMENSION}),
    "heavy-tailed": (_heavy, {"d": DIMENSION, "tail": 2.5}),
    "clusters": (_clusters, {"d": DIMENSION, "k": 2, "distance": 5.0}),
    "one-dimensional": (_gaussian, {}),
    "heterogeneous": (_heterogeneous, {"d": DIMENSION, "spread": 1.0}),
    "low-rank": (_low_rank, {"d": DIMENSION, "rank": 2, "noise": 0.0}),
}
"""How a round is drawn, and the parameters with their defaults; a whole number for those that are counts."""
