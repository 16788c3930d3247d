"""GM: the proof of kappa* = floor(n/2) / (ceil(n/2) - f), with its one arithmetic step checked.

Let y be the geometric median, the honest mean 0, |y| = t > 0, e = y/t, m = n - f. Write z_j = (y - x_j)/t and let
c_j in [-1, 1] be the part of the subgradient of honest j along e: c_j = <z_j, e>/|z_j| if x_j != y, anything
otherwise. The Byzantine vectors pull with at most f, so sum_j c_j <= f over the honest. With w_j = <z_j, e>:

1. sum_j w_j = m, because the honest mean is 0.
2. sum_j ||x_j||^2 / t^2 = sum_j (1 - 2 w_j + |z_j|^2) = sum_j |z_j|^2 - m.
3. Let P be the j with w_j > 0, so c_j = w_j/|z_j| in (0, 1]. By Cauchy's inequality
   m^2 <= (sum_P w_j)^2 <= sum_P c_j^2 sum_P |z_j|^2, hence sum_j |z_j|^2 >= m^2 / sum_P c_j^2.
4. The k = m - |P| others have c_j >= -1, so sum_P c_j^2 <= sum_P c_j <= f + k; and sum_P c_j^2 <= |P| = m - k.
   The two integers f + k and m - k sum to n: the smaller is at most p = floor(n/2).
5. V = (1/m) sum ||x_j||^2 >= t^2 (m/p - 1), that is t^2 / V <= p / (m - p).

Attained: p honest vectors at one point, the others and all Byzantine ones at another, for odd n; for even n the p
vectors are taken apart by a trifle across the line, so that their pull is below n/2.
"""

from __future__ import annotations

from fractions import Fraction

from kappaguard.verify.judge.rejected import demand


def check(n: int, f: int, kappa: Fraction) -> None:
    """Reject unless the proof gives kappa: step 4 is run through for every k."""
    m = n - f
    p = max(min(f + k, m - k) for k in range(m + 1))
    demand(0 <= p < m, "the bound of step 4 does not separate the vectors")
    demand(kappa * (m - p) >= p, f"the proof gives {Fraction(p, m - p)}, which is more than {kappa}")
