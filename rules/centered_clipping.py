"""Centered clipping."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from kappaguard.rules.base.arrays import Array, namespace
from kappaguard.rules.base.checks import require_count, require_inexact, require_positive
from kappaguard.rules.base.rule import Rule, Traits
from kappaguard.rules.clip import clip, shrinkage
from kappaguard.rules.cloud import Cloud


@dataclass(frozen=True)
class CenteredClipping(Rule):
    """The centre plus the mean of the differences to it, clipped to length tau; repeated.

    Definition (Karimireddy et al. 2021): v <- v + (1/n) sum_i (x_i - v) min(1, tau/||x_i - v||), ``iterations``
    times from v = 0. In training the authors start from the last aggregate; here nothing is remembered, so pass
    ``x - last`` and add ``last`` for that. With a fixed tau it is not equivariant, and no kappa holds.
    """

    tau: float = 100.0
    iterations: int = 1
    name: ClassVar[str] = "centered_clipping"
    _traits: ClassVar[Traits] = Traits(rational=False, translates=False, scales=False)

    def __post_init__(self) -> None:
        require_positive(self.tau, "centered_clipping: tau")
        require_count(self.iterations, 1, "centered_clipping: iterations")

    def aggregate(self, cloud: Cloud) -> Array:
        """The centre after the last iteration."""
        require_inexact(self.name, cloud.base)
        center = _mean_clipped(cloud, self.tau)
        for _ in range(self.iterations - 1):
            center = center + _mean_clipped(cloud.replaced(cloud.points - center[..., None, :]), self.tau)
        return center


def _mean_clipped(cloud: Cloud, tau: float) -> Array:
    """The mean of the vectors clipped to length tau: a product with weights, unless some are infinite."""
    x, norm = cloud.points, cloud.lengths
    xp = namespace(x)
    if bool(xp.any(xp.isinf(norm))):
        return xp.mean(clip(x, norm, tau), axis=-2)
    weights = shrinkage(norm, tau) / x.shape[-2]
    return xp.matmul(xp.astype(weights, x.dtype)[..., None, :], x)[..., 0, :]
