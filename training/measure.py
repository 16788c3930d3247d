"""What is recorded of a step: how far the aggregate is off, and what the convergence theorems speak of."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kappaguard.training.problem import Problem

if TYPE_CHECKING:
    from torch import Tensor


def of_messages(honest: Tensor, aggregate: Tensor) -> dict[str, float]:
    """||R_t - mean||^2, the variance of the honest messages (the momentum drift), and their ratio kappa-hat_t."""
    mean = honest.mean(dim=0)
    variance = sum(_square(row - mean) for row in honest) / len(honest)
    error = _square(aggregate - mean)
    ratio = error / variance if variance > 0 else (float("inf") if error > 0 else 0.0)
    return {"error_squared": error, "drift": variance, "kappa_hat": ratio, "aggregate_squared": _square(aggregate)}


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


def _square(vector: Tensor) -> float:
    return float(vector @ vector)
