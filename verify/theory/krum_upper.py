"""Upper bounds on kappa* of Krum: multipliers in closed form, checked in fractions.

Let s be the selected vector, N its m - 1 nearest others, A the honest ones in N, k of them, q the number of Byzantine
ones in N, B, and C the other honest vectors besides s: q + 1 of them if s is Byzantine, q if it is honest. Take the
mean of A as the origin, a and c for the scatter (sum of squares) of A and C, and s, C, b for s, the mean of C and a
vector of B. For every vector of A the score of s is at most the sum of squares to any m - 1 others: to the rest of A,
s with a share pi, each of B with beta, each of C with gamma, all between 0 and 1, as many as m - 1 in all. On average
over A

    0 <= 2 a + pi (s^2 + a/k) + beta (q a/k + sum b^2) + gamma (|C| a/k + |C| C^2 + c) - (k s^2 + a + sum |s - b|^2),

where beta b^2 - |s - b|^2 <= beta/(1 - beta) s^2, and a has the factor m/k. Subtract rho times the right side from
kappa V - error: what is left is a form in a, c and (s, C). It is nowhere negative if rho m/k <= kappa/m, rho gamma <=
kappa/m, and a matrix of order two is positive semidefinite. For s Byzantine, with f = q + 1 = |C| and k = m - f,

    P = rho (k - pi - (f-1) beta/(1-beta)) - 1,   Q = kappa k f/m^2 - rho gamma f - f^2/m^2,   P Q >= f^2/m^2.

A smaller q is proved by the same multipliers. As pi >= beta (and pi = 1 for an honest s), gamma is no larger then; k,
P and Q/|C| are no smaller, |C|/m^2 is smaller; for an honest s the mixed entry over q stays, and q times its square
falls. So only f - 1 Byzantine neighbours of a Byzantine s, and f of an honest one, matter. With x and y the places of
the worst inputs (claim closed-form-krum-wide):

    wide     pi = f k/n, beta = 0, rho = kappa k/m^2                   if f k <= n
    middle   pi = 1, beta = 1 - x, rho = kappa k/m^2                   if x is not below 2(f-1)/(m-2)
    edge     the same with x = 2(f-1)/(m-2), rho = 2 (1 + f/(m x))/(m-2)
    honest   pi = 1, beta = 1 - y, rho = kappa k/m^2, k = m - 1 - f

The side conditions hold for all n and f: gamma k <= m, as gamma <= 2f/n (wide) or less than 1; P is f/m (wide) or
f/(m x), so Q = f x/m is positive; and at the edge rho <= kappa k/m^2 says that R falls there, which it does if the
place of the middle is not above it.

**Below 3f** these serve for |C| <= m/2, with floor(m/2) for f and m + floor(m/2) for n; they give at most (m +
|C|)^2/(|C| k) there. For more the score of a vector of C is used, to the rest of C and to A (and to an honest s): on
average 0 <= (2 + k/|C|) c + k (C^2 - s^2) for s Byzantine, and

    0 <= (m + q)/q c + k (C^2 - s^2) + (C - s)^2 for s honest.

tau = (m + |C|)/(m k) times the first proves (m + |C|)^2/(|C| k), which grows with |C| from m/3 on: n^2/(f (n-2f)) for
f. Of the second tau is searched for. Any honest vector has an error of at most m - 1 times V.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

STEPS = 24
"""So many places are tried for an honest s whose worst input does not exist."""


@dataclass(frozen=True)
class Shares:
    """The multiplier rho and the shares pi and beta."""

    rho: Any
    selected: Any
    byzantine: Any


def matrix(m: Any, q: Any, kappa: Any, shares: Shares, honest: bool) -> tuple[Any, Any, Any]:
    """The entries ss, sC and CC of the matrix of order two; numbers or symbols."""
    count = q if honest else q + 1
    k = m - count - int(honest)
    others = q + 1 - shares.selected - q * shares.byzantine
    inner = shares.rho * (k - shares.selected - q * shares.byzantine / (1 - shares.byzantine))
    if honest:
        spread = kappa / m
        return (
            spread * (1 - 1 / m) - (1 - 1 / m) ** 2 + inner,
            q * ((m - 1) / m**2 - spread / m),
            spread * (q - q**2 / m) - q**2 / m**2 - shares.rho * others,
        )
    return inner - 1, count / m, kappa * k * count / m**2 - shares.rho * others - count**2 / m**2


def proves(m: int, q: int, kappa: Fraction, shares: Shares, honest: bool) -> bool:
    """Whether the multipliers prove kappa for s with q Byzantine neighbours."""
    count = q if honest else q + 1
    k, others = m - count - int(honest), q + 1 - shares.selected - q * shares.byzantine
    inside = 0 <= shares.byzantine <= shares.selected <= 1 and shares.byzantine < 1 and 0 <= others <= count
    inside = inside and shares.rho >= 0 and (shares.selected == 1 or not honest)
    if not inside or shares.rho * m**2 > kappa * k or shares.rho * others * m > kappa * max(1, count):
        return False
    first, mixed, second = matrix(Fraction(m), Fraction(q), kappa, shares, honest)
    return bool(first >= 0 and second >= 0 and first * second >= mixed**2)


def byzantine_shares(m: int, f: int, kappa: Fraction) -> Shares:
    """The multipliers for a Byzantine s with f - 1 Byzantine neighbours."""
    k, n = m - f, m + f
    if f * k <= n:
        return Shares(kappa * k / m**2, Fraction(f * k, n), Fraction(0))
    place, least = Fraction(f * (n - 1), 2 * m * f - m - 2 * f), Fraction(2 * (f - 1), m - 2)
    if place >= least:
        return Shares(kappa * k / m**2, Fraction(1), 1 - place)
    return Shares(2 * (1 + f / (m * least)) / (m - 2), Fraction(1), 1 - least)


def honest_shares(m: int, f: int, kappa: Fraction) -> Iterator[Shares]:
    """Multipliers for an honest s with f Byzantine neighbours, to be tried one after the other."""
    k = m - f
    best = Fraction((m - 1) * k + f * (k - 2), (m - 1) * (k - 2) + m - 1 + (k - 1) * (m - 2))
    for place in (best, *(Fraction(j, STEPS) for j in range(STEPS, 0, -1))):
        for part in (4, 3, 2):
            yield Shares(kappa * (k - 1) / m**2 * Fraction(part, 4), Fraction(1), 1 - place)


def below(m: int, q: int, kappa: Fraction, share: Fraction) -> bool:
    """Whether the score of C, that times of the most that its scatter allows, proves kappa for an honest s."""
    k, tau = m - 1 - q, share * kappa * q / (m * (m + q))
    first = kappa / m * (1 - Fraction(1, m)) - (1 - Fraction(1, m)) ** 2 + tau * (k - 1)
    mixed = q * (m - 1 - kappa) / m**2 + tau
    second = kappa / m * (q - Fraction(q * q, m)) - Fraction(q * q, m * m) - tau * (k + 1)
    return bool(first >= 0 and second >= 0 and first * second >= mixed**2)


def bounded(n: int, f: int, kappa: Fraction) -> bool:
    """Whether kappa*(Krum) <= kappa, by these multipliers."""
    m = n - f
    near = min(f, m // 2)
    if not proves(m, near - 1, kappa, byzantine_shares(m, near, kappa), honest=False):
        return False
    return (near == f or kappa >= Fraction(n * n, f * (n - 2 * f))) and _honest(m, f, kappa)


def _honest(m: int, f: int, kappa: Fraction) -> bool:
    """The same for an honest s with f Byzantine neighbours or fewer."""
    if kappa >= m - 1:
        return True
    for q in range(min(f, m - 1), -1, -1):
        if q and any(below(m, q, kappa, Fraction(j, STEPS)) for j in range(STEPS, 0, -1)):
            continue
        # what proves it for q proves it for less
        return q < m - 1 and any(proves(m, q, kappa, shares, honest=True) for shares in honest_shares(m, q, kappa))
    return True
