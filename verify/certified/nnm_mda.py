"""MDA after NNM: what proves ||mean of W - mean of S||^2 <= kappa V for the selected subset W of the mixed vectors y.

Let m = n - f, c the mean and V the variance of the honest inputs x_i, and y_i the mean of the m inputs N_i nearest to
x_i. Two facts about the y_i of S:

(1) (1/m) sum over S of ||y_i - c||^2 <= 4f/m V. See the claim lemma-1-nnm-sharp.
(2) ||y_i - y_k||^2 <= 4 (f+1)^2/m V for all i, k in S. Proof: let R_i = N_i \\ S and T_i = S \\ N_i, both of the same
    size, likewise for k, and p = |R_i \\ R_k|, q = |R_k \\ R_i|, r = |R_i and R_k|, so that p + q + r <= f. Then

        m (y_i - y_k) = sum over R_i \\ R_k of (b - x_i) - sum over R_k \\ R_i of (b - x_k) + h,
        h = p x_i - q x_k - sum over T_i \\ T_k of x + sum over T_k \\ T_i of x.

    A b in R_i is no farther from x_i than any x_j with j in T_i, so ||b - x_i||^2 is at most the mean over T_i of
    ||x_i - x_j||^2. The largest eigenvalue of the Laplacian of a star with t leaves is t + 1, so the sum over T_i is at
    most (|T_i| + 1) m V, and ||b - x_i||^2 <= (1 + 1/(p+r)) m V. So the first two sums are at most
    (p^2 + p)^(1/2) + (q^2 + q)^(1/2) times (mV)^(1/2), and the roots are at most p + 1/2 and q + 1/2 (0 if p or q is).
    The coefficients of h sum to 0, so ||h||^2 is at most mV times the sum of their squares, at most
    p^2 + q^2 + 3p + 3q + 2r (x_i may be in T_k, and x_k in T_i).
    - If p, q >= 1: pq >= p + q - 1, so with s = p + q the squares are at most s^2 + s + 2 + 2r <= f^2 + f + 2, at most
      (f+1)^2; the sum is at most (s + 1) + (f + 1) <= 2f + 2.
    - If q = 0: r = 0 (then T_k is empty: p^2 + p) or p^2 + 3p + 2r with p <= f - r and r >= 1; both are at most
      f^2 + f. The sum is at most (f + 1/2) + (f + 1).

MDA selects W with q Byzantine ones among y; its diameter is at most that of the y of S, attained by some (first,
second). Cells and roles are those of ``mda``, and center, which is c. The certificate gives v, w >= 0, v + w <= kappa,
called spread and widest, and u >= 0 for pairs of roles within W; the cell is proved if

    v m/(4f) (1/m) sum over S of ||y_i - c||^2 + w m/(4 (f+1)^2) ||first - second||^2 - ||mean of W - c||^2
        - sum over pairs of roles of u ( number of pairs ||first - second||^2 - sum of squared distances )

is a non-negative form.
"""

from __future__ import annotations

from fractions import Fraction

from kappaguard.verify.certified.ledger import Ledger, minus
from kappaguard.verify.certified.mda import HONEST, Key, Multipliers, cells, compare, count, inside, sizes
from kappaguard.verify.certified.rejected import demand

__all__ = ["cells", "check", "count"]


def check(n: int, f: int, key: Key, multipliers: Multipliers, kappa: Fraction) -> None:
    """Reject unless the multipliers ``spread``, ``widest`` and ``o-p`` prove kappa on the cell."""
    demand(f >= 1, "without Byzantine vectors there is nothing to prove")
    ledger, within = Ledger({**sizes(n, f, key), "center": 1}), inside(key)
    spread, widest = (multipliers.pop(name, Fraction(0)) for name in ("spread", "widest"))
    demand(spread >= 0 and widest >= 0 and spread + widest <= kappa, "spread and widest do not fit kappa")
    for role in HONEST:
        ledger.add_distances(spread / (4 * f), role, "center")
    ledger.add_distances(widest * (n - f) / (4 * (f + 1) ** 2), "first", "second")
    ledger.add_square(Fraction(-1), minus(ledger.mean(within), {"center": Fraction(1)}))
    compare(ledger, within, multipliers)
    demand(ledger.is_nonnegative(), "the form is negative somewhere")
