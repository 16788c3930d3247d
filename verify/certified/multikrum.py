"""MultiKrum (m = n - f selected): what proves ||F - mean of S||^2 <= kappa V.

Let W be the selected vectors, q of them Byzantine; C the q honest vectors that are not selected. Then
F - mean = (1/m) (sum of the selected Byzantine vectors - sum over C).

1. Among the n - f vectors nearest to a Byzantine b, b included, at least h = n - 2f are honest; let H be h of those.
   Its score is at least sum over H of ||b - x_s||^2. The score of c in C is at most sum over S of ||x_c - x_s||^2,
   and at least that of b. So b lies in the union U over all H of the balls
   sum over H of ||b - x_s||^2 <= min over C of sum over S of ||x_c - x_s||^2.
2. For fixed honest vectors let e be the direction of the error. Each selected Byzantine vector enters only through
   <b, e>, which is at most its maximum over U; so the error is at most that of q copies of one point of U, which
   belongs to one H.

Hence it is enough to bound ||(q b - sum over C)/m||^2 for one b and one H. A cell is (q, i), i = |H and C|. Its
roles: b; both, in H and C; out, in C only; kept, in H only; rest, the other honest ones. The certificate gives
u >= 0 for both and out, and the cell is proved if

    kappa V - ||(q b - sum over C)/m||^2
        - sum over c in C of u_c ( sum over S of ||x_c - x_s||^2 - sum over H of ||b - x_s||^2 )

is a non-negative form. (The scores of other vectors are not used; for n >= 3f nothing is lost by that.)
"""

from __future__ import annotations

from fractions import Fraction

from kappaguard.verify.certified.ledger import Ledger
from kappaguard.verify.certified.rejected import demand

HONEST = ("both", "out", "kept", "rest")

Key = tuple[int, int]
Multipliers = dict[str, Fraction]


def cells(n: int, f: int) -> set[Key]:
    """All cells: every input lies in one of them."""
    return {(q, i) for q in range(f + 1) for i in range(min(q, n - 2 * f) + 1)}


def count(n: int, f: int) -> int:
    """How many cells there are."""
    return sum(min(q, n - 2 * f) + 1 for q in range(f + 1))


def check(n: int, f: int, key: Key, multipliers: Multipliers, kappa: Fraction) -> None:
    """Reject unless the multipliers ``both`` and ``out`` prove kappa on the cell."""
    q, i = key
    m, h = n - f, n - 2 * f
    sizes = {"b": 1, "both": i, "out": q - i, "kept": h - i, "rest": m - q - (h - i)}
    ledger = Ledger(sizes)
    ledger.add_variance(kappa, set(HONEST))
    ledger.add_square(Fraction(-1), {"b": Fraction(q, m), "both": Fraction(-i, m), "out": Fraction(i - q, m)})
    for role in ("both", "out"):
        weight = multipliers.pop(role, Fraction(0))
        demand(weight >= 0, f"the multiplier of {role} is negative")
        demand(sizes[role] > 0 or weight == 0, f"{role} has no worker")
        for other in HONEST:
            ledger.add_distances(-weight, role, other)
        for near in ("both", "kept"):
            ledger.add_distances(weight * sizes[role], "b", near)
    demand(not multipliers, f"unknown multipliers {sorted(multipliers)}")
    demand(ledger.is_nonnegative(), "the form is negative somewhere")
