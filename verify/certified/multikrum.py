"""MultiKrum (m = n - f selected): what proves ||F - mean of S||^2 <= kappa V.

Let W be the selected vectors, q of them Byzantine; C the q honest vectors that are not selected; A the other honest
ones, all selected. Then F - mean = (1/m) (sum of the selected Byzantine vectors - sum over C).

The score of c in C is at most sum over S of ||x_c - x_s||^2, and at least the score of every selected vector. Among the
n - f vectors nearest to a selected Byzantine b, b included, at least h = n - 2f are honest; let H be h of those. Its
score is at least sum over H of ||b - x_s||^2. So b lies in the union U over all H of the balls

    U_H:  sum over H of ||b - x_s||^2 <= min over C of sum over S of ||x_c - x_s||^2 .

For fixed honest vectors let e be the direction of the error and b* the point of U with the largest <b, e>, in U_H* say.
A selected Byzantine vector enters the error only through <b, e>, and does not get less if it is moved to b*.

1. (q, i), i = |H* and C|: move all of them to b*. Roles: b; both, in H* and C; out, in C only; near, in H* only; far.
2. The cell q = f, H* = A (so that i = 0) may be divided by the n - f vectors nearest to each a in A. All Byzantine
   vectors are selected then, |A| = h, and A with them has n - f vectors.
   a. ("one", k, u): some a has k >= 1 Byzantine neighbours (ally), u in A (near; the others are far) and the rest in C
      (nearout; the others are out), and not just A and all the Byzantine ones. Its score is at least the sum over
      these. The Byzantine vectors that are not its allies are moved to b* (b).
   b. ("all",): for every a they are S. The Byzantine vectors are moved to b*.
   c. For s < h of the vectors in A they are S (whole), for the others A and all Byzantine vectors (mixed).
      ("together", s): every Byzantine vector is in U_A. ("stray", s): one (stray) is not; then its H has a member
      (guest) in C.

Every cell is a pattern: roles, and for roles of selected vectors the roles to which their score is at least the sum of
squared distances (near). The certificate gives u >= 0 for pairs of a role c left out and a selected one; with |c| and
|r| for the numbers of workers the cell is proved if

    kappa V - ||F - mean||^2 - sum over pairs u_cr ( |r| sum over c, S of ||x_c - x_s||^2
        - |c| sum over r, near of ||x_r - x_t||^2 )

is a non-negative form. (Other scores are not used; for n >= 3f nothing is lost by that.)
"""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple

from kappaguard.verify.certified.ledger import Ledger
from kappaguard.verify.certified.rejected import demand

Key = tuple[int | str, ...]
Multipliers = dict[str, Fraction]
Sizes = dict[str, int]


class Pattern(NamedTuple):
    """Honest roles kept and left out, Byzantine ones, who is near whom, and how often a Byzantine mean counts in F."""

    kept: Sizes
    out: Sizes
    byzantine: Sizes
    near: dict[str, tuple[str, ...]]
    counted: Sizes


def cells(n: int, f: int) -> set[Key]:
    """All cells: every input lies in one of them."""
    return {(q, i) for q in range(f + 1) for i in range(min(q, n - 2 * f) + 1)}


def count(n: int, f: int) -> int:
    """How many cells there are."""
    return sum(min(q, n - 2 * f) + 1 for q in range(f + 1))


def divided_cells(n: int, f: int) -> set[Key]:
    """All cells, with q = f and H* = A divided."""
    h = n - 2 * f
    ones: set[Key] = {("one", k, u) for k in range(1, f + 1) for u in range(h) if h <= k + u + 1 < n - f}
    pairs: set[Key] = {(kind, s) for kind in ("together", "stray") for s in range(h)}
    return (cells(n, f) - {(f, 0)}) | ones | pairs | {("all",)}


def divided_count(n: int, f: int) -> int:
    """How many of these there are."""
    h = n - 2 * f
    ones = sum(min(h, n - f - 1 - k) - max(0, h - 1 - k) for k in range(1, f + 1))
    return count(n, f) + ones + 2 * h


def pattern(n: int, f: int, key: Key) -> Pattern:
    """The roles of a cell."""
    h = n - 2 * f
    near: dict[str, tuple[str, ...]]
    match key:
        case ("one", int(k), int(u)):
            kept, out = {"a": 1, "near": u, "far": h - 1 - u}, {"nearout": n - f - 1 - k - u, "out": k + u + 1 - h}
            near = {"a": ("ally", "near", "nearout"), "b": ("a", "near", "far")}
            return Pattern(kept, out, {"ally": k, "b": int(k < f)}, near, {"ally": k, "b": f - k})
        case ("all",):
            return Pattern({"a": h}, {"out": f}, {"b": 1}, {"a": ("a", "out"), "b": ("a",)}, {"b": f})
        case ("together", int(s)):
            near = {"whole": ("whole", "mixed", "out"), "mixed": ("whole", "mixed", "b"), "b": ("whole", "mixed")}
            return Pattern({"whole": s, "mixed": h - s}, {"out": f}, {"b": f}, near, {"b": f})
        case ("stray", int(s)):
            honest, byzantine = ("whole", "mixed", "guest", "out"), {"stray": 1, "b": f - 1}
            near = {"whole": honest, "mixed": ("whole", "mixed", "stray", "b"), "stray": ("guest",)}
            return Pattern({"whole": s, "mixed": h - s}, {"guest": 1, "out": f - 1}, byzantine, near, byzantine)
        case (int(q), int(i)):
            kept, out = {"near": h - i, "far": n - f - q - (h - i)}, {"both": i, "out": q - i}
            return Pattern(kept, out, {"b": 1}, {"b": ("both", "near")}, {"b": q})
    raise AssertionError(f"{key} is not a cell")


def check(n: int, f: int, key: Key, multipliers: Multipliers, kappa: Fraction) -> None:
    """Reject unless the multipliers ``c>r`` prove kappa on the cell."""
    chosen = pattern(n, f, key)
    honest, m = {**chosen.kept, **chosen.out}, n - f
    ledger = Ledger({**honest, **chosen.byzantine})
    ledger.add_variance(kappa, set(honest))
    error = {role: Fraction(-size, m) for role, size in chosen.out.items()}
    error |= {role: Fraction(times, m) for role, times in chosen.counted.items()}
    ledger.add_square(Fraction(-1), error)
    for name, weight in multipliers.items():
        c, _, role = name.partition(">")
        demand(c in chosen.out and role in chosen.near, f"{name} is not a pair of roles with a comparison")
        demand(c in ledger.sizes and role in ledger.sizes, f"{name} names a role that has no worker")
        demand(weight >= 0, f"the multiplier of {name} is negative")
        for other in honest:
            ledger.add_distances(-weight * ledger.sizes[role], c, other)
        for other in chosen.near[role]:
            ledger.add_distances(weight * ledger.sizes[c], role, other)
    demand(ledger.is_nonnegative(), "the form is negative somewhere")
