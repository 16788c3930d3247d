"""The step sizes and the right-hand sides of Theorems 1 and 2."""

from __future__ import annotations

import math
from dataclasses import dataclass

from kappaguard.rules.base.errors import InputError
from kappaguard.training.configuration import Configuration
from kappaguard.training.problem import Problem
from kappaguard.training.schedule import Schedule


@dataclass(frozen=True)
class Constants:
    """What the bounds consist of: L, Delta = L_H(theta_0) - L*, G^2, sigma^2, kappa, n, f and T."""

    smoothness: float
    gap: float
    heterogeneity_squared: float
    noise_squared: float
    kappa: float
    n: int
    f: int
    steps: int

    def theorem_1(self, weight: float = 4.0) -> float:
        """4 kappa G^2 + 4 L Delta/T; as stated it fails for T >= 4, and holds with 9 in place of the first 4."""
        first = product(weight, self.kappa, self.heterogeneity_squared)
        return first + 4 * self.smoothness * self.gap / self.steps

    @property
    def a_2(self) -> float:
        """The constant a_2 = 6 sqrt(Delta) of Theorem 2."""
        return 6 * math.sqrt(self.gap)

    @property
    def a_kappa(self) -> float:
        """sqrt(1728 L kappa + 288 L/(n - f))."""
        return math.sqrt(self.smoothness * (1728 * self.kappa + 288 / (self.n - self.f)))

    def rate(self) -> float:
        """gamma of Theorem 2: min{1/(24 L), a_2/(2 a_kappa sigma sqrt(T))}."""
        sigma = math.sqrt(self.noise_squared)
        most = 1 / (24 * self.smoothness)
        return min(most, self.a_2 / (2 * self.a_kappa * sigma * math.sqrt(self.steps))) if sigma > 0 else most

    def momentum(self) -> float:
        """beta = sqrt(1 - 24 gamma L)."""
        return math.sqrt(max(0.0, 1 - 24 * self.rate() * self.smoothness))

    @property
    def vanishing(self) -> float:
        """a_2 a_kappa sigma/sqrt(T) + 216 L Delta/T + 288 L a_2 sigma/(n a_kappa T^(3/2)): what vanishes as T grows."""
        sigma = math.sqrt(self.noise_squared)
        first = product(self.a_2, self.a_kappa, sigma) / math.sqrt(self.steps)
        second = 216 * self.smoothness * self.gap / self.steps
        third = 288 * self.smoothness * self.a_2 * sigma / (self.n * self.a_kappa * self.steps**1.5)
        return float(first + second + third)

    def theorem_2(self) -> float:
        """36 kappa G^2 and all that vanishes, as stated."""
        return self.bound(36, 1)

    def bound(self, floor: float, rest: float) -> float:
        """floor kappa G^2 + rest times what vanishes: 36 and 1 in Theorem 2, 6/5 and 17/36 in ours."""
        return product(floor, self.kappa, self.heterogeneity_squared) + rest * self.vanishing


def product(*factors: float) -> float:
    """The product, where 0 times infinity is 0: an infinite kappa multiplies the variance, which is then 0 itself."""
    return 0.0 if 0 in factors else float(math.prod(factors))


def kappa_of(configuration: Configuration) -> float:
    """The coefficient that a run was given, else the one that is claimed for its rule."""
    if configuration.kappa is not None:
        return configuration.kappa
    return claimed_kappa(configuration.rule, configuration.n, configuration.f)


def claimed_kappa(rule: str, n: int, f: int) -> float:
    """The coefficient that is claimed for the rule; the sharpest that is known where no claim is made."""
    from kappaguard.rules.base.expression import evaluate
    from kappaguard.rules.names import parse

    claim = parse(rule, f=f).claim
    if claim is None:
        raise InputError(f"no coefficient is claimed for {rule}, and the step sizes of the theorem need one: --kappa")
    return float(evaluate(claim.expression, n, f))


def noise_of_batch(configuration: Configuration, noise_squared: float) -> float:
    """sigma^2 of the gradients that are sent: a batch of b samples has 1/b of that of one; quadratics draw one."""
    return noise_squared if configuration.model == "quadratic" else noise_squared / configuration.batch


def theorem_settings(configuration: Configuration, problem: Problem) -> tuple[Schedule, float]:
    """gamma and beta as the theorem of the algorithm demands, with sigma^2 as it is at the start."""
    import torch

    kappa = 0.0
    if configuration.algorithm == "shb":
        kappa = kappa_of(configuration)
    known = problem.known()
    if None not in (known.smoothness, configuration.assumed_smoothness):
        raise InputError(f"assumed_smoothness is for models whose L nobody knows; here it is {known.smoothness:.6g}")
    smoothness = configuration.assumed_smoothness if known.smoothness is None else known.smoothness
    if smoothness is None or known.infimum is None:
        raise InputError(
            f"the step sizes of the theorems need L, which is not known for {configuration.model}: --assumed-smoothness"
        )
    if configuration.algorithm == "gd":
        return lambda t: 1 / smoothness, 0.0
    theta = problem.start()
    out = torch.empty((problem.workers, problem.dimension), dtype=theta.dtype, device=theta.device)
    loss = float(problem.exact(theta, out)[: problem.honest].mean())
    constants = Constants(
        smoothness,
        max(0.0, loss - known.infimum),
        0.0,
        noise_of_batch(configuration, problem.noise(theta)),
        kappa,
        configuration.n,
        configuration.f,
        configuration.steps,
    )
    rate = constants.rate()
    return lambda t: rate, constants.momentum()
