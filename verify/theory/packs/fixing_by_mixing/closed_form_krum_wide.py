"""kappa* of Krum when n >= 3f.

Problem: the smallest kappa for which Krum (n - f neighbours, itself included) is (f, kappa)-robust, for n >= 3f.
Statement (ours): with k = n - 2f and m = n - f, kappa*(Krum) is the largest of the numbers R(x), x in [2(f-1)/(m-2),
    1], and Q(y), y in [2f/(m-2), 1], that follow: at least each of them for all n and f, at most the largest for
    every pair up to a size. R is largest at x = f (n-1) / (2 m f - m - 2f), if that lies in the interval, where it is
    (f k^2 + f (5f-2) k + 4 f^2 (f-1)) / (k (f k - 1)); else at an end: (n/k)^2 at x = 1, (m x + f)^2 / (f k) at the
    other one. Q is largest at y = (m k - k + f k - 2f) / ((m-1) (k-2) + m - 1 + (k-1) (m-2)), where it is (n^2 +
    (f-1) n - f (2f+3)) / (n^2 - (4f+1) n + 2f (2f+3)).
Proof of R(x), Krum selects a Byzantine vector. On a line f honest vectors C at -1 and k, A, at 0, these moved apart
    into a regular simplex in other dimensions, each by the squared distance t = ((m-2) x^2 - 2 (f-1) x) / m, which is
    not negative; one Byzantine vector s at x, f - 1 others, B, at 1. Ties are broken by a trifle: t is larger and x
    smaller. A score is the sum over the m - 1 = k + f - 1 nearest others.
    - s has A and B: at most k (x^2 + t) + (f-1) (1-x)^2.
    - One of A is at 2 t k/(k-1) from the k - 1 others, at x^2 + t from s, and at 1 + t from B and C. As t <= (k-f)/m,
      its value at x = 1, t (k+1) <= k - 1, so that its neighbours are the rest of A, s and f - 1 more: 2 k t + x^2 + t
      + (f-1) (1+t). That is the score of s, because m t = (m-2) x^2 - 2 (f-1) x.
    - One of C has C and A, as (1+x)^2 >= 1 + x^2 >= 1 + t: k (1+t). That is no less than the score of s, because
      k (1+x) >= (f-1) (1-x).
    - One of B has B, s and A: k (1+t) + (1-x)^2, which is no less for the same reason.
    So s is selected. The honest mean is -f/m, m V = f k/m + k t, and R(x) = (m x + f)^2 / (k (f + (m-2) x^2 - 2 (f-1)
    x)).
Proof of Q(y), Krum selects an honest vector. On a line f honest vectors C at -1, one, s, at y, k - 1, A, at 0, moved
    apart as before by t = ((m-2) y^2 - 2f y) / m, all f Byzantine ones, B, at 1. That 2f/(m-2) <= 1 means k >= f + 2.
    - s has A and B: at most (k-1) (y^2 + t) + f (1-y)^2.
    - One of A has the rest of A, s and f of B and C, as t k <= k - 2 by t <= (k-f-2)/m: 2 (k-1) t + y^2 + t + f (1+t).
      That is the score of s again.
    - One of C has C, A and s: (k-1) (1+t) + (1+y)^2; one of B has B, A and s: (k-1) (1+t) + (1-y)^2. Both are no less,
      because (k-1) (1+y) >= (f-1) (1-y).
    So s is selected. The honest mean is (y - f)/m, m V = y^2 + f + (k-1) t - (y-f)^2/m, and the ratio Q(y) is
    ((m-1) y + f)^2 / (f k - 2f (k-2) y + (m - 1 + (k-1) (m-2)) y^2).
Proof that there is nothing larger: ``verify/theory/krum_upper.py``. A Byzantine s is at most at the largest of R, an
    honest one at most at Q(y) where y is a place of an input; where it is none, other multipliers show, pair by pair,
    that it is below the largest of R.
Computed: the algebra with sympy, that of the multipliers, too; the inputs in exact arithmetic; the multipliers in
    fractions at every pair up to a size; certificates, which know nothing of them, at small ones.
Reference: kappaguard.
"""

from __future__ import annotations

from fractions import Fraction
from math import isqrt

from kappaguard.rules.witness import Witness
from kappaguard.verify.theory.algebra import demand, equal, nonnegative, symbols
from kappaguard.verify.theory.claim import Claim, Effort, Finding, Report
from kappaguard.verify.theory.closed_form import AGREES
from kappaguard.verify.theory.krum_upper import Shares, bounded, matrix
from kappaguard.verify.theory.term import Term
from kappaguard.verify.theory.worst import kappa_star, settled

TRIFLE = Fraction(1, 10**8)
SCALE = 10**12
EDGE = "(2*(f-1)*(n-f)/(n-f-2)+f)**2/(f*(n-2*f))"
MIDDLE = "(f*(n-2*f)**2+f*(5*f-2)*(n-2*f)+4*f**2*(f-1))/((n-2*f)*(f*(n-2*f)-1))"
HONEST = "(n**2+(f-1)*n-f*(2*f+3))/(n**2-(4*f+1)*n+2*f*(2*f+3))"


def places(n: int, f: int) -> dict[str, Fraction]:
    """Where each of the four inputs has the vector that is selected, for those that there are."""
    m, k = n - f, n - 2 * f
    found = {"wide": Fraction(1)}
    if m == 2:
        return found
    lowest = found["edge"] = Fraction(2 * (f - 1), m - 2)
    over = 2 * m * f - m - 2 * f
    if over > 0 and lowest <= Fraction(f * (n - 1), over) <= 1:
        found["middle"] = Fraction(f * (n - 1), over)
    over = (m - 1) * (k - 2) + m - 1 + (k - 1) * (m - 2)
    if over > 0 and k >= f + 2 and Fraction(2 * f, m - 2) <= (y := Fraction((m - 1) * k + f * (k - 2), over)) <= 1:
        found["honest"] = y
    return found


def worst_input(n: int, f: int, place: Fraction, honest: bool) -> list[list[Fraction]]:
    """The input of the proof, the selected vector first; it is honest, or Byzantine."""
    m = n - f
    corners, low = (n - 2 * f - 1, f) if honest else (n - 2 * f, f - 1)
    width = corners if corners > 1 else 0
    square = max(Fraction(0), ((m - 2) * place**2 - 2 * low * place) / m)
    # the squared distance of a corner from the centre is side^2 (corners-1)/corners: side is rounded up
    side = Fraction(isqrt(int(square * corners / max(1, corners - 1) * SCALE**2)) + 1, SCALE) if width else Fraction(0)
    none = [Fraction(0)] * width
    simplex = [
        [Fraction(0), *(side * (int(corner == each) - Fraction(1, corners)) for each in range(width))]
        for corner in range(corners)
    ]
    selected = [[place * (1 - TRIFLE), *none]]
    away = [[Fraction(1) - (0 if honest else TRIFLE**2), *none]] * low
    return selected + away + simplex + [[Fraction(-1), *none]] * f


def witness(n: int, f: int, kind: str) -> Witness:
    """The input of a kind, in exact arithmetic."""
    honest = kind == "honest"
    x = worst_input(n, f, places(n, f)[kind], honest)
    subset = [0, *range(1 + f, n)] if honest else list(range(f, n))
    return settled("krum", f, x, subset, found_by=f"simplex ({kind})")


def _algebra(wide: Term, edge: Term, middle: Term, honest: Term) -> None:
    """Scores, ratios and where they are largest, for all n and f."""
    f, more, x = symbols("f more x")
    one = symbols("one")
    k = f + more
    m, n = k + f, k + 2 * f
    t = ((m - 2) * x**2 - 2 * (f - 1) * x) / m
    score = k * (x**2 + t) + (f - 1) * (1 - x) ** 2
    demand(
        equal(2 * k * t + x**2 + t + (f - 1) * (1 + t), score), "the corners' scores are that of the Byzantine vector"
    )
    demand(equal(k * (1 + t) - score, (1 - x) * (k * (1 + x) - (f - 1) * (1 - x))), "the score of C")
    apart = (k - 1) * m - (k + 1) * more
    demand(nonnegative(apart.subs({f: one + 1})), "the corners are near to each other")
    ratio = (x + f / m) ** 2 / ((f * k / m + k * t) / m)
    demand(equal(ratio, (m * x + f) ** 2 / (k * (f + (m - 2) * x**2 - 2 * (f - 1) * x))), "R")
    demand(equal(ratio.subs(x, 1), wide.symbolic(n, f)), "R at 1")
    demand(equal(ratio.subs(x, 2 * (f - 1) / (m - 2)), edge.symbolic(n, f)), "R at the lower end")
    best = f * (n - 1) / (2 * m * f - m - 2 * f)
    demand(equal(ratio.subs(x, best), middle.symbolic(n, f)), "R between")
    demand(equal(ratio.diff(x).subs(x, best), 0), "R is stationary there")

    k = f + 2 + more
    m, n = k + f, k + 2 * f
    t = ((m - 2) * x**2 - 2 * f * x) / m
    score = (k - 1) * (x**2 + t) + f * (1 - x) ** 2
    demand(equal(2 * (k - 1) * t + x**2 + t + f * (1 + t), score), "a corner's score is that of the honest vector")
    low = (k - 1) * (1 + t) + (1 - x) ** 2 - score
    demand(equal(low, (1 - x) * ((k - 1) * (1 + x) - (f - 1) * (1 - x))), "the score of B")
    demand(nonnegative(((k - 2) * m - k * more).subs({f: one + 1})), "the corners are near to each other, once more")
    spread = x**2 + f + (k - 1) * t - (x - f) ** 2 / m
    ratio = (x - (x - f) / m) ** 2 / (spread / m)
    square = m - 1 + (k - 1) * (m - 2)
    demand(equal(ratio, ((m - 1) * x + f) ** 2 / (f * k - 2 * f * (k - 2) * x + square * x**2)), "Q")
    best = ((m - 1) * k + f * (k - 2)) / ((m - 1) * (k - 2) + square)
    demand(equal(ratio.subs(x, best), honest.symbolic(n, f)), "Q at its best")
    demand(equal(ratio.diff(x).subs(x, best), 0), "Q is stationary there")


def _multipliers(wide: Term, edge: Term, middle: Term, honest: Term) -> None:
    """With the multipliers in closed form the determinant is zero at the stated numbers, for all n and f."""
    f, more = symbols("f more")
    k = f + more
    m, n = k + f, k + 2 * f
    best, least = f * (n - 1) / (2 * m * f - m - 2 * f), 2 * (f - 1) / (m - 2)
    place = ((m - 1) * k + f * (k - 2)) / ((m - 1) * (k - 2) + m - 1 + (k - 1) * (m - 2))
    first, third, fourth = (term.symbolic(n, f) for term in (wide, middle, honest))
    cases = {
        "wide": (first, Shares(first * k / m**2, f * k / n, 0), False),
        "middle": (third, Shares(third * k / m**2, 1, 1 - best), False),
        "edge": (edge.symbolic(n, f), Shares(2 * (1 + f / (m * least)) / (m - 2), 1, 1 - least), False),
        "honest": (fourth, Shares(fourth * (k - 1) / m**2, 1, 1 - place), True),
    }
    for name, (kappa, shares, chosen) in cases.items():
        corner, mixed, other = matrix(m, f if chosen else f - 1, kappa, shares, chosen)
        demand(equal(corner * other, mixed**2), f"nothing is left of {name}")


def check(effort: Effort, report: Report, **terms: Term) -> Finding:
    """The algebra, the inputs at several sizes, the multipliers, and certificates."""
    _algebra(**terms)
    sizes = [(3, 1), (6, 2), (4, 1), (7, 2), (10, 1), (10, 2), (17, 4), (16, 5), (19, 3), (40, 3)]
    for n, f in sizes + effort.choose([], [(25, 8)], [(25, 8), (60, 15)]):
        for kind in places(n, f):
            bound = terms[kind](n, f)
            demand(bound * (1 - AGREES) <= witness(n, f, kind).lower <= bound, f"the input {kind} at n = {n}, f = {f}")
    _multipliers(**terms)
    far = effort.choose(25, 50, 130)
    for n in range(3, far + 1):
        for f in range(1, n // 3 + 1):
            bound = max(terms[kind](n, f) for kind in places(n, f))
            demand(bounded(n, f, bound), f"the multipliers at n = {n}, f = {f}")
    most = effort.choose(8, 13, 25)
    pairs = [(n, f) for n in range(3, most + 1) for f in range(1, n // 3 + 1)]
    pairs += [pair for pair in ((16, 5), (19, 3)) if pair not in pairs]
    for done, (n, f) in enumerate(pairs):
        bound = max(terms[kind](n, f) for kind in places(n, f))
        result = kappa_star("krum", n, f)
        assert result.upper is not None
        demand(result.upper <= bound * (1 + AGREES), f"the certificate at n = {n}, f = {f}")
        demand(result.lower >= bound * (1 - AGREES), f"the witness at n = {n}, f = {f}")
        report(done + 1, len(pairs))
    shown = witness(17, 4, "middle")
    return Finding(
        "proved",
        ("symbolic", "exact"),
        float(shown.lower),
        float(terms["middle"](17, 4)),
        f"Multipliers in closed form prove it at all pairs with n >= 3f and n <= {far}; certificates agree at all "
        f"{len(pairs)} pairs with n <= {most} and at (16, 5) and (19, 3). Shown: n = 17, f = 4.",
        witness=shown,
        reach=f"n <= {far}",
    )


CLAIM = Claim(
    "closed-form-krum-wide",
    "kappa*(Krum) for n >= 3f is the largest of {wide}, {edge}, {middle} and {honest}, of those that there are",
    "kappaguard",
    "proved",
    check,
    scope="certified",
    terms={
        "wide": Term("n**2/(n-2*f)**2", 0),
        "edge": Term(EDGE, 0),
        "middle": Term(MIDDLE, 0),
        "honest": Term(HONEST, 0),
    },
)
