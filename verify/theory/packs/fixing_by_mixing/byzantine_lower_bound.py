"""No algorithm does better than the order of f/n G^2 (Proposition 1).

Problem: 1 <= f < n/2; an algorithm that is (f, epsilon)-Byzantine resilient for all smooth losses with heterogeneity G.
Statement: epsilon = Omega(f/n G^2); the proof gives epsilon >= 1/4 f/(n - 2f) G^2 >= 1/4 f/n G^2.
    Ours: epsilon >= f/(n - 2f) G^2.
Computed: two worlds that the algorithm cannot tell apart, as the gradients that the workers send at every theta. The
    loss of worker i is ||theta - z_i||^2/2, so that grad L_H = theta - mean over H of z_i, and the heterogeneity is the
    variance of the z_i. Whatever is returned, one of the two squared gradients is at least a quarter of the squared
    distance of the two means, and the point halfway attains it. All numbers are rational: z is along a line and its
    square is taken out.
    Paper: z = 0 for n - f workers and z for f of them; honest are the first, or the last, n - f.
    Ours: -z for f workers, 0 for n - 2f, z for f; honest are all but the last f, or all but the first f. Both worlds
    have the variance f (n - 2f)/(n - f)^2 ||z||^2, as the second one of the paper has, but their means are twice as far
    apart.
    Ours is attained for every n and f: CWTM has kappa* = f/(n - 2f) (claim closed-form-cwtm), and eq:7 of the paper
    bounds the mean squared gradient of D-GD by kappa G^2 + 2 L Delta/T, in expectation over an output drawn at random.
Reference: Proposition 1 (prop:lower-bound), after Theorem III of Karimireddy, He, Jaggi, "Byzantine-robust learning on
    heterogeneous datasets via bucketing", ICLR 2022.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from kappaguard.verify.theory.claim import Claim, Effort, Finding, Report
from kappaguard.verify.theory.term import Term


@dataclass(frozen=True)
class TwoWorlds:
    """The minimisers z_i of the losses on a line, and who is honest in either world."""

    minimisers: tuple[Fraction, ...]
    honest: tuple[tuple[int, ...], tuple[int, ...]]

    def heterogeneity(self, world: int) -> Fraction:
        """G^2 in one world, the same at every theta."""
        return _variance([self.minimisers[i] for i in self.honest[world]])

    def least_epsilon(self) -> Fraction:
        """The smallest epsilon over G^2: half of the distance of the two means, squared, over the larger G^2."""
        first, second = (_mean([self.minimisers[i] for i in world]) for world in self.honest)
        return ((first - second) / 2) ** 2 / max(self.heterogeneity(0), self.heterogeneity(1))


def worlds_of_the_paper(n: int, f: int) -> TwoWorlds:
    """n - f minimisers at 0 and f at 1."""
    return TwoWorlds((Fraction(0),) * (n - f) + (Fraction(1),) * f, (tuple(range(n - f)), tuple(range(f, n))))


def worlds_of_ours(n: int, f: int) -> TwoWorlds:
    """f minimisers at -1, n - 2f at 0 and f at 1."""
    minimisers = (Fraction(-1),) * f + (Fraction(0),) * (n - 2 * f) + (Fraction(1),) * f
    return TwoWorlds(minimisers, (tuple(range(n - f)), tuple(range(f, n))))


def _mean(values: Sequence[Fraction]) -> Fraction:
    return sum(values, Fraction(0)) / len(values)


def _variance(values: Sequence[Fraction]) -> Fraction:
    centre = _mean(values)
    return _mean([(value - centre) ** 2 for value in values])


def _sizes(effort: Effort) -> list[tuple[int, int]]:
    largest = effort.choose(17, 40, 120)
    return [(n, f) for n in range(3, largest + 1) for f in range(1, (n + 1) // 2)]


def check(effort: Effort, report: Report, bound: Term) -> Finding:
    """The paper's worlds for every (n, f) up to a size, and for symbolic n and f."""
    import sympy

    from kappaguard.verify.theory.algebra import StepFails, require_equal

    n, f = sympy.symbols("n f", positive=True)
    spread = (n - 2 * f) / (n - f) * (f / (n - f)) ** 2 + f / (n - f) * ((n - 2 * f) / (n - f)) ** 2
    require_equal("heterogeneity", spread, f * (n - 2 * f) / (n - f) ** 2)
    require_equal("constant", (f / (n - f)) ** 2 / 4 / spread, f / (4 * (n - 2 * f)))
    # the paper gives 2f away: n - 2f <= n, and no more than that for small f/n
    require_equal("what is stated", sympy.limit(f / (4 * (n - 2 * f)) / bound.symbolic(n, f), n, sympy.oo), 1)
    for size, byzantine in _sizes(effort):
        least = worlds_of_the_paper(size, byzantine).least_epsilon()
        if least != Fraction(byzantine, 4 * (size - 2 * byzantine)) or least < bound(size, byzantine):
            raise StepFails(f"n = {size}, f = {byzantine}: the worlds give {least}")
    report(1, 1)
    return Finding(
        "proved",
        ("symbolic", "exact"),
        float(worlds_of_the_paper(17, 4).least_epsilon()),
        float(bound(17, 4)),
        "Least epsilon/G^2 of the paper's two worlds, f/(4(n-2f)), against f/(4n), at n = 17, f = 4.",
        ">=",
    )


def check_improved(effort: Effort, report: Report, bound: Term) -> Finding:
    """The two worlds that give four times the paper's bound."""
    import sympy

    from kappaguard.verify.theory.algebra import StepFails, require_equal

    n, f = sympy.symbols("n f", positive=True)
    spread = f / (n - f) - (f / (n - f)) ** 2
    require_equal("constant", (2 * f / (n - f)) ** 2 / 4 / spread, bound.symbolic(n, f))
    for size, byzantine in _sizes(effort):
        worlds = worlds_of_ours(size, byzantine)
        if worlds.least_epsilon() != bound(size, byzantine):
            raise StepFails(f"n = {size}, f = {byzantine}: the worlds give {worlds.least_epsilon()}")
        if worlds.heterogeneity(0) != worlds.heterogeneity(1):
            raise StepFails(f"n = {size}, f = {byzantine}: the worlds differ in heterogeneity")
    report(1, 1)
    return Finding(
        "proved",
        ("symbolic", "exact"),
        float(worlds_of_ours(17, 4).least_epsilon()),
        float(bound(17, 4)),
        "Least epsilon/G^2 of our two worlds, at n = 17, f = 4: four times that of the paper.",
        ">=",
    )


CLAIMS = (
    Claim(
        "proposition-1",
        "epsilon >= {bound} G^2 for every (f, epsilon)-Byzantine resilient algorithm, 1 <= f < n/2",
        "Proposition 1 (prop:lower-bound)",
        "proved",
        check,
        scope="algebra",
        terms={"bound": Term("f/(4*n)", 1)},
    ),
    Claim(
        "proposition-1-improved",
        "epsilon >= {bound} G^2 for every (f, epsilon)-Byzantine resilient algorithm, 1 <= f < n/2",
        "kappaguard",
        "proved",
        check_improved,
        scope="algebra",
        terms={"bound": Term("f/(n-2*f)", 1)},
    ),
)
