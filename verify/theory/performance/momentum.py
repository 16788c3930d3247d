"""The largest spread of the honest momentums, in closed form and as a run that attains it.

Problem. m honest workers hold m_0^(i) = 0 and update m_t^(i) = beta m_{t-1}^(i) + (1 - beta) g_t^(i), where
g_t^(i) = grad L_H + D_t^(i) + xi_t^(i): a deviation with sum_i D_t^(i) = 0 and (1/m) sum_i ||D_t^(i)||^2 <= G^2
(Assumption 1) that may depend on everything before step t, and noise, centred given the past, independent between
workers, E ||xi_t^(i)||^2 <= sigma^2 (Assumption 2). How large is P_t^2 = E (1/m) sum_i ||m_t^(i) - mean_t||^2?

Answer. Write p_t for the largest P_t and s = (1 - 1/m) sigma^2, the spread of the noise. Then

    p_t^2 = (beta p_{t-1} + (1 - beta) G)^2 + (1 - beta)^2 s,   p_0 = 0.

Above: given the past, the noise of step t is centred, so P_t^2 is the squared spread of beta (m_{t-1} - mean) +
(1 - beta) D_t, at most (beta P_{t-1} + (1 - beta) G)^2 by Minkowski's inequality in L^2, plus (1 - beta)^2 times the
spread of the noise, which is at most s because the workers are independent. Below: noise +-sigma along an axis that
is used by no other worker or step, and deviations D_t = G (m_{t-1} - mean) / P_{t-1}, aligned with the spread
(``aligned_run``); the spread is then deterministic and both inequalities are equalities.

The deviations of that run depend on past noise, as gradients do: the points theta_t differ between the finitely many
outcomes of the noise, and near each of them L_i = L_H + <D^(i), phi(theta - theta_t)>, phi(v) = v for small v and
otherwise radial, smooth, with compact support and slopes in [-1, 1], so that the Jacobian of phi is a contraction and
Assumption 1 holds everywhere.

As t grows p_t increases to the root p of p^2 = (1 - w) G^2 + w G p + r with w = 2 beta/(1 + beta) and
r = s (1 - beta)/(1 + beta), that is p = (beta G + sqrt(G^2 + (1 + beta)^2 r)) / (1 + beta).
"""

from __future__ import annotations

import math

import numpy as np


def largest_spread(beta: float, steps: int, deviation: float, noise: float) -> float:
    """p_t^2 by the recursion; ``deviation`` is G^2 and ``noise`` is s."""
    spread = 0.0
    for _ in range(steps):
        spread = math.hypot(beta * spread + (1 - beta) * math.sqrt(deviation), (1 - beta) * math.sqrt(noise))
    return spread**2


def limiting_spread(beta: float, deviation: float, noise: float) -> float:
    """p^2, the limit of p_t^2."""
    root = math.sqrt(deviation + (1 - beta**2) * noise)
    return ((beta * math.sqrt(deviation) + root) / (1 + beta)) ** 2


def aligned_run(beta: float, steps: int, honest: int, deviation: float, variance: float, seed: int = 0) -> float:
    """The spread of the honest momentums after a run that attains p_t^2, by running the workers one by one."""
    random = np.random.default_rng(seed)
    momentums = np.zeros((honest, honest * (steps + 1)))
    # At first there is no spread to align with: a direction that no noise ever takes.
    first = np.zeros_like(momentums)
    first[:, 0] = np.where(np.arange(honest) % 2 == 0, 1.0, -1.0)
    first[:, 0] -= first[:, 0].mean()
    for t in range(steps):
        apart = momentums - momentums.mean(axis=0) if t else first
        size = math.sqrt(np.mean(np.sum(apart**2, axis=1)))
        gradients = math.sqrt(deviation) * apart / size if size else np.zeros_like(apart)
        for i in range(honest):
            gradients[i, honest * (t + 1) + i] += random.choice([-1, 1]) * math.sqrt(variance)
        momentums = beta * momentums + (1 - beta) * gradients
    return float(np.mean(np.sum((momentums - momentums.mean(axis=0)) ** 2, axis=1)))
