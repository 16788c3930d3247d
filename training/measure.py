"""What is recorded of a step: how far the aggregate is off, and what the convergence theorems speak of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from kappaguard.training.problem import Problem

if TYPE_CHECKING:
    import torch
    from torch import Tensor

ROUNDINGS = 64
"""How many roundings, each of a vector's own size, the difference of two means or aggregates may consist of."""


@dataclass(frozen=True)
class Point:
    """Where the gradients were measured: theta, grad L_H(theta), and the length of the longest worker's gradient."""

    theta: Tensor
    gradient: Tensor
    longest: float


def due(measure: str, every: int, step: int, last: int) -> bool:
    """Whether a step is measured: the first, the last, and one of so many in between."""
    return measure != "none" and (step % every == 0 or step in (1, last))


def of_messages(honest: Tensor, aggregate: Tensor) -> dict[str, float]:
    """||R_t - mean||^2, the variance of the honest messages (the momentum drift), and their ratio."""
    mean = honest.mean(dim=0)
    variance = sum(_square(row - mean) for row in honest) / len(honest)
    error = _square(aggregate - mean)
    return errors(error, variance, _square(aggregate), honest.dtype)


def errors(error: float, variance: float, aggregate: float, dtype: torch.dtype) -> dict[str, float]:
    """||R_t - mean||^2 and the variance with their ratio, and ||R_t||^2.

    An error that rounding alone may have made is none: the ratio is 0.
    """
    import torch

    rounding = (ROUNDINGS * torch.finfo(dtype).eps) ** 2 * aggregate
    ratio = error / variance if variance > 0 else float("inf")
    ratio = ratio if error > rounding else 0.0
    return {"error_squared": error, "drift": variance, "ratio": ratio, "aggregate_squared": aggregate}


def of_gradients(problem: Problem, theta: Tensor, honest: Tensor, out: Tensor) -> dict[str, float]:
    """Loss, ||grad L_H||^2, G^2 and sigma^2 at theta, and the deviation ||mean of the messages - grad L_H||^2."""
    losses = problem.exact(theta, out)[: problem.honest]
    gradients = out[: problem.honest]
    mean = gradients.mean(dim=0)
    return {
        "loss": float(losses.mean()),
        "gradient_squared": _square(mean),
        "heterogeneity_squared": sum(_square(row - mean) for row in gradients) / problem.honest,
        "noise_squared": problem.noise(theta),
        "deviation": _square(honest.mean(dim=0) - mean),
    }


def slope(before: Point | None, now: Point) -> dict[str, float]:
    """||grad L_H(theta) - grad L_H(theta')|| / ||theta - theta'|| to the last measured point: at most L.

    What rounding can have added to the difference of the gradients is taken off it first.
    """
    import torch

    if before is None:
        return {}
    moved = float((now.theta - before.theta).norm())
    rounding = ROUNDINGS * torch.finfo(now.gradient.dtype).eps * max(now.longest, before.longest)
    rise = max(0.0, float((now.gradient - before.gradient).norm()) - rounding)
    return {"slope": rise / moved} if moved > 0 else {}


def _square(vector: Tensor) -> float:
    return float(vector @ vector)
