"""Coordinate-wise recipes behind nnm: how far the honest mixed vectors can go in directions of one's choice.

Let m = n - f, let mean and V be those of the honest x, y_i the mean of the m vectors nearest to x_i, and p_i any
vectors, one for each honest i. In every orthonormal basis, with A_c the sum of the positive entries p_ic and B_c that
of the negative ones, up to sign,

    m sum <p_i, y_i - mean>  <=  2 (f m V S)^(1/2),    S = f sum |p_i|^2 + sum over c of (A_c^2 + B_c^2).     (1)

By Cauchy and lemma 5 of the package the same holds with S = m sum |p_i|^2.                                       (2)

**What follows.** A coordinate-wise rule has F_c - mean_c <= sum over i of w_ic (y_ic - mean_c) where it is above the
mean, and the mirror image where it is below, with weights of sum one that depend on the order of the y_ic only; every
coordinate may have its own order, and they are one of a few lists w (``coordinates``). Let M = F - mean and p_ic =
M_c w_ic: then |M|^2 <= sum <p_i, y_i - mean>, and S <= |M|^2 s, where s is the largest f |w|^2 + (w+)^2 + (w-)^2 over
the lists for (1), w+ and w- the sums of their positive and negative entries, or the largest m |w|^2 for (2). So |M|^2
<= 4 f / m s V for both. For k weights 1/k that is 4 f (f + k) / (k m).

**Proof of (1).** Let Q_i be the honest workers that i's neighbourhood leaves out and R_i the Byzantine ones that it
takes in, both of size r_i <= f, q_i = p_i / r_i. Then m (y_i - mean) is 1/r_i times the sum of b - x_a over R_i x
Q_i, and |b - x_i| <= |x_a - x_i| for each. Fix b, and look at the i with b in R_i and their edges i -> a, a in Q_i.
Let l_a = |b - x_a| and e_a = (b - x_a) / l_a; edges with l_a = 0 are left out, for they add nothing (an i with x_i =
b has no edges to it). Let c_ia be the positive part of <q_i, e_a>, and t_a the sum of c_ia over the edges to a. The
share of b is at most

    T_b = sum over edges of <q_i, b - x_a>  <=  sum of l_a c_ia = sum over a of l_a t_a.

Two bounds on l_a by x_i - x_a. Always l_a <= 2 <x_i - x_a, e_a>, since b is no farther from x_i than x_a. And if the
edge is obtuse, <e_i, e_a> < 0 (or l_i = 0), then l_a = <x_i - x_a, e_a> - l_i |<e_i, e_a>|. Choose numbers s_a in [0,
1] and let

    k_i = sum over obtuse edges i -> a of s_a c_ia |<e_i, e_a>|,    s_i = max(0, 1 - k_i / t_i), or 1 if t_i = 0:

s -> k -> s is continuous from a cube to itself, so by Brouwer there are such numbers. As (1 - s_a) t_a <= k_a,

    T_b <= sum over a of s_a l_a t_a + sum over i of k_i l_i
         = sum over edges of s_a c_ia (l_a, + l_i |<e_i, e_a>| if obtuse)
        <= 2 sum over edges of h_ia s_a c_ia <x_i - x_a, e_a> = 2 sum over honest i of <x_i, G_i>,

h = 1/2 for obtuse edges and 1 for others, G_i = O_i - I_i, where O_i is the sum of h_ia s_a c_ia e_a over the edges
from i and I_i = s_i t' e_i with t' <= t_i, the sum of h_ji c_ji over those to i. First, |O_i| <= r_i |q_i| = |p_i|,
and O_i is 0 unless b is in R_i. Second, -<O_i, I_i> <= s_i t' k_i / 2, so if s_i > 0, where s_i t_i + k_i = t_i if
t_i > 0,

    |G_i|^2 <= |O_i|^2 + s_i t' (s_i t' + k_i) <= |O_i|^2 + t_i^2,

and if s_i = 0, |G_i| = |O_i|. Third, t_a^2 <= |sum of q_i|^2 over the edges to a with c_ia > 0; its entry c is at
most, squared, (sum of positive parts)^2 + (sum of negative parts)^2, and (sum of (p_ic)+ / r_i)^2 <= A_c sum of
(p_ic)+ / r_i^2 by Cauchy. Since there are r_i edges from i, the sum of t_a^2 over a is at most the sum over the i
with b in R_i of sum over c of (A_c (p_ic)+ + B_c (p_ic)-) / r_i. Each i has r_i vectors b, and r_i <= f. So the sum
of |G|^2 over i and b is at most S. The G of one b add up to 0, so T_b <= 2 (m V)^(1/2) |G|, and over f vectors b, by
Cauchy, 2 (m V f S)^(1/2).

Nothing was used of the honest workers but that they are m of the n.

An i that is left out of its own neighbourhood (there are m more vectors at x_i) changes nothing: then b = x_i = x_a.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

Runs = Sequence[tuple[int, Fraction]]


def factor_behind_nnm(n: int, f: int, lists: Sequence[Runs]) -> Fraction:
    """4 f / m s for the lists w = (p + 1) / m, each given as the runs of its p."""
    m = n - f
    with_directions, without = Fraction(0), Fraction(0)
    for runs in lists:
        weights = [(count, (value + 1) / m) for count, value in runs]
        square = sum((count * weight**2 for count, weight in weights), Fraction(0))
        positive = sum((count * weight for count, weight in weights if weight > 0), Fraction(0))
        negative = sum((count * weight for count, weight in weights if weight < 0), Fraction(0))
        with_directions = max(with_directions, f * square + positive**2 + negative**2)
        without = max(without, m * square)
    return Fraction(4 * f, m) * min(with_directions, without)
