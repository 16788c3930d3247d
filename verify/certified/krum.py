"""Krum: what proves ||y - mean||^2 <= kappa V for the selected vector y.

Let N be the n - f vectors nearest to y, y included: q honest and p Byzantine ones besides y. Score = sum over N of
||y - x_i||^2 is the least score of all, so for every vector j and all weights t in [0, 1] of the vectors other than
j with sum n - f - 1,

    Score  <=  score of j  <=  sum_i t_i ||x_j - x_i||^2 .

A cell is (who y is, q, p). Its roles: y; near, the q honest vectors in N; far, the other honest ones; ally, the p
Byzantine ones in N besides y. Byzantine vectors outside N get weight zero. The certificate gives u_ji >= 0 for
pairs of roles; with lambda_j = sum_i (number of i's) u_ji / (n - f - 1) and u_ji <= lambda_j, the weights
t_ji = u_ji / lambda_j are legal, and the cell is proved if

    kappa V - ||y - mean||^2 - sum_j ( sum_i u_ji ||x_j - x_i||^2 - lambda_j Score )

is a non-negative form.
"""

from __future__ import annotations

from fractions import Fraction

from kappaguard.verify.certified.ledger import Ledger, minus
from kappaguard.verify.certified.rejected import demand

OTHERS = ("near", "far", "ally")

Key = tuple[str, int, int]
Multipliers = dict[str, Fraction]


def cells(n: int, f: int) -> set[Key]:
    """All cells: every input lies in one of them."""
    byzantine = {("byzantine", n - f - 1 - p, p) for p in range(f) if n - f - 1 - p >= 0}
    honest = {("honest", n - f - 1 - p, p) for p in range(f + 1) if n - f - 1 - p >= 0}
    return byzantine | honest


def count(n: int, f: int) -> int:
    """How many cells there are: one for each number of Byzantine vectors in N, for either kind of y."""
    return f + min(f, n - f - 1) + 1


def check(n: int, f: int, key: Key, multipliers: Multipliers, kappa: Fraction) -> None:
    """Reject unless the multipliers ``j>i`` prove kappa on the cell."""
    selected, q, p = key
    sizes = {"y": 1, "near": q, "far": n - f - q - (selected == "honest"), "ally": p}
    honest = {"near", "far", "y"} if selected == "honest" else {"near", "far"}
    ledger = Ledger(sizes)
    ledger.add_variance(kappa, honest)
    ledger.add_square(Fraction(-1), minus({"y": Fraction(1)}, ledger.mean(honest)))
    total = Fraction(0)
    for j in OTHERS:
        weights = {i: multipliers.pop(f"{j}>{i}", Fraction(0)) for i in ("y", *OTHERS)}
        if sizes[j] == 0:
            demand(not any(weights.values()), f"{j} has no worker")
            continue
        numbers = {i: sizes[i] - (i == j) for i in weights}
        share = sum((numbers[i] * weight for i, weight in weights.items()), Fraction(0)) / (n - f - 1)
        for i, weight in weights.items():
            demand(numbers[i] > 0 or weight == 0, f"{j}>{i} names a role that has no worker")
            demand(0 <= weight <= share, f"the weight of {j}>{i} is not in [0, 1]")
            ledger.add_distances(-weight, j, i)
        total += share * sizes[j]
    demand(not multipliers, f"unknown multipliers {sorted(multipliers)}")
    ledger.add_distances(total, "y", "near")
    ledger.add_distances(total, "y", "ally")
    demand(ledger.is_nonnegative(), "the form is negative somewhere")
