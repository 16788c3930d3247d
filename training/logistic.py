"""Smoothness and infimum of logistic regression with l2-regularisation.

The loss of one sample is log sum_k exp(s_k) - s_y with scores s = W x + b. Its Hessian with respect to the scores,
diag(p) - p p^T, is at most 1/2 (Boehning 1992), and s is linear in the parameters with squared norm ||x||^2 + 1, so L_H
is L-smooth with L = 1/2 lambda_max(mean of (x, 1)(x, 1)^T over the honest losses) + l2. With l2 > 0 it is strongly
convex, and at any theta its infimum is at least L_H(theta) - ||grad L_H(theta)||^2/(2 l2).
Here all parameters of a class, weights and bias, stand in one row, which is only another order of the same numbers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from kappaguard.training.problem import Known
from kappaguard.training.threads import undivided

if TYPE_CHECKING:
    from kappaguard.training.learning import Learning

ITERATIONS = 2000


def constants(problem: Learning) -> Known:
    """L and, if l2 > 0, a lower bound on the infimum that is as good as the minimiser found."""
    import torch
    from scipy.optimize import minimize

    device = "cpu"
    images = problem.images.reshape(len(problem.images), -1).to(device, torch.float64)
    extended = torch.cat([images, torch.ones((len(images), 1), dtype=torch.float64)], dim=1)
    labels = problem.labels.to(device)
    share = torch.zeros(len(images), dtype=torch.float64)
    for shard in problem.shards:
        share[torch.from_numpy(shard)] = 1 / (problem.honest * len(shard))
    smoothness = float(torch.linalg.eigvalsh(extended.t() @ (share[:, None] * extended))[-1]) / 2 + problem.l2
    if problem.l2 <= 0:
        return Known(smoothness, 0.0)
    truth = torch.nn.functional.one_hot(labels, problem.classes).double()

    def value(point: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        weights = torch.from_numpy(point).view(problem.classes, -1)
        logs = torch.log_softmax(extended @ weights.t(), dim=1)
        loss = -(share @ (logs * truth).sum(dim=1)) + problem.l2 / 2 * (weights**2).sum()
        gradient = ((logs.exp() - truth) * share[:, None]).t() @ extended + problem.l2 * weights
        return float(loss), gradient.reshape(-1).numpy()

    with undivided(device):
        found = minimize(
            value,
            np.zeros(problem.dimension),
            jac=True,
            method="L-BFGS-B",
            options={"maxiter": ITERATIONS, "maxfun": 2 * ITERATIONS, "ftol": 1e-15, "gtol": 1e-9},
        )
    loss, gradient = value(found.x)
    return Known(smoothness, loss - float(gradient @ gradient) / (2 * problem.l2))
