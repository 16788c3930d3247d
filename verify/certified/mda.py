"""MDA: what proves ||mean of W - mean of S||^2 <= kappa V for the selected subset W.

Let q of the vectors of W be Byzantine. The diameter of W is at most that of S, which is attained by some pair of
honest vectors (first, second); so every squared distance within W is at most ||first - second||^2. A cell is
(q, where first is, where second is), each being ``in`` W or ``out`` of it. Its roles: byzantine, the q Byzantine
vectors in W; in, the honest ones in W; out, the honest ones outside; first and second apart. The certificate gives
u >= 0 for pairs of roles within W; the cell is proved if

    kappa V - ||mean of W - mean of S||^2 - sum over pairs of roles of u ( number of pairs ||first - second||^2
        - sum of squared distances over the pairs )

is a non-negative form.
"""

from __future__ import annotations

from fractions import Fraction

from kappaguard.verify.certified.ledger import Ledger, minus
from kappaguard.verify.certified.rejected import demand

HONEST = {"in", "out", "first", "second"}

Key = tuple[int, str, str]
Multipliers = dict[str, Fraction]


def cells(n: int, f: int) -> set[Key]:
    """All cells: every input lies in one of them, first and second being interchangeable."""
    places = [("in", "in"), ("in", "out"), ("out", "out")]
    return {
        (q, first, second)
        for q in range(f + 1)
        for first, second in places
        if [first, second].count("in") <= n - f - q and [first, second].count("out") <= q
    }


def count(n: int, f: int) -> int:
    """How many cells there are."""
    return sum((n - f - q >= 2) + (n - f - q >= 1 and q >= 1) + (q >= 2) for q in range(f + 1))


def sizes(n: int, f: int, key: Key) -> dict[str, int]:
    """The roles of a cell."""
    q, *places = key
    return {
        "byzantine": q,
        "in": n - f - q - places.count("in"),
        "out": q - places.count("out"),
        "first": 1,
        "second": 1,
    }


def inside(key: Key) -> set[str]:
    """The roles within W."""
    placed = {"byzantine": "in", "in": "in", "first": key[1], "second": key[2]}
    return {role for role, place in placed.items() if place == "in"}


def compare(ledger: Ledger, within: set[str], multipliers: Multipliers) -> None:
    """Take off what the multipliers say about pairs of roles within W."""
    for name, weight in multipliers.items():
        one, _, two = name.partition("-")
        demand(one in within and two in within, f"{name} is not a pair of roles within the subset")
        demand(weight >= 0, f"the multiplier of {name} is negative")
        pairs = ledger.sizes.get(one, 0) * (ledger.sizes.get(two, 0) - (one == two))
        ledger.add_distances(-weight * pairs, "first", "second")
        ledger.add_distances(weight, one, two)


def check(n: int, f: int, key: Key, multipliers: Multipliers, kappa: Fraction) -> None:
    """Reject unless the multipliers ``o-p`` prove kappa on the cell."""
    ledger, within = Ledger(sizes(n, f, key)), inside(key)
    ledger.add_variance(kappa, HONEST)
    ledger.add_square(Fraction(-1), minus(ledger.mean(within), ledger.mean(HONEST)))
    compare(ledger, within, multipliers)
    demand(ledger.is_nonnegative(), "the form is negative somewhere")
