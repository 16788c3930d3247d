"""What NNM costs.

Problem: n vectors of dimension d; NNM replaces each by the mean of its n-f nearest.
Statement: O(d n^2) in the worst case.
Proof. Squared distances of the n(n-1)/2 pairs: d subtractions, d squares and d-1 additions each. Choosing the n-f
    nearest of every vector: O(n) comparisons each with selection in linear time, O(n log n) by sorting. Means:
    (n-f-1) d additions and d divisions for every vector. Without the choice that is (3d-1) n(n-1)/2 + n (n-f) d, less
    than 5/2 d n^2; the choice adds O(n^2), or O(n^2 log n) by sorting, which is more than d n^2 if d < log n.
Computed: the number of operations of the definition, run on numbers that count them, for n up to 24 and d up to 8; the
    bound with sympy. Measured times of the programs that are used are in docs/scaling.md: seconds are no proof.
Reference: the remark after Algorithm 2 (NNM).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kappaguard.verify.theory.claim import Claim, Effort, Finding, Report
from kappaguard.verify.theory.term import Term


@dataclass
class Tally:
    """How many operations there were."""

    arithmetic: int = 0
    comparisons: int = 0


class Counting:
    """A number that counts what is done with it."""

    def __init__(self, value: float, tally: Tally) -> None:
        self.value, self.tally = value, tally

    def _new(self, value: float) -> Counting:
        self.tally.arithmetic += 1
        return Counting(value, self.tally)

    def __add__(self, other: Counting) -> Counting:
        return self._new(self.value + other.value)

    def __sub__(self, other: Counting) -> Counting:
        return self._new(self.value - other.value)

    def __mul__(self, other: Counting) -> Counting:
        return self._new(self.value * other.value)

    def __truediv__(self, other: int) -> Counting:
        return self._new(self.value / other)

    def __lt__(self, other: Counting) -> bool:
        self.tally.comparisons += 1
        return self.value < other.value


def mixed(x: Sequence[Sequence[Counting]], f: int) -> list[list[Counting]]:
    """NNM as it is defined."""
    n, zero = len(x), Counting(0.0, x[0][0].tally)
    apart = [[zero] * n for _ in x]
    for i in range(n):
        for j in range(i):
            steps = [a - b for a, b in zip(x[i], x[j], strict=True)]
            apart[i][j] = apart[j][i] = _sum([step * step for step in steps])
    found = []
    for i in range(n):
        nearest = sorted(range(n), key=lambda j: apart[i][j])[: n - f]
        found.append([_sum([x[j][column] for j in nearest]) / (n - f) for column in range(len(x[0]))])
    return found


def _sum(values: Sequence[Counting]) -> Counting:
    total = values[0]
    for value in values[1:]:
        total = total + value
    return total


def check(effort: Effort, report: Report, constant: Term) -> Finding:
    """The count of operations against the formula, and the formula against the bound."""
    import sympy

    from kappaguard.verify.theory.algebra import demand, nonnegative

    f, d, n, more, honest = sympy.symbols("f d n more honest", nonnegative=True)
    formula = (3 * d - 1) * n * (n - 1) / 2 + n * (n - f) * d
    slack = constant.symbolic() * d * n**2 - formula
    demand(nonnegative(slack.subs(d, 1 + more).subs(n, 1 + f + honest)), "the bound for all n >= f + 1 and d >= 1")
    sizes = [(n, f, d) for n in effort.choose((3, 8), (3, 8, 16), (3, 8, 16, 24)) for f in (1, n // 3) for d in (1, 8)]
    for done, (count, faulty, columns) in enumerate(sizes, start=1):
        tally = Tally()
        mixed([[Counting((7 * i + j * j) % 11, tally) for j in range(columns)] for i in range(count)], faulty)
        stated = formula.subs({n: count, f: faulty, d: columns}, simultaneous=True)
        demand(tally.arithmetic == stated, f"the count at n = {count}, f = {faulty}, d = {columns}")
        demand(tally.comparisons <= count**2 * count.bit_length(), "n log n comparisons for every vector")
        report(done, len(sizes))
    large = {n: 10**4, f: 1, d: 10**4}
    return Finding(
        "proved",
        ("symbolic", "exact"),
        float(formula.subs(large, simultaneous=True)),
        float(constant() * 10**12),
        "Besides choosing the nearest: n^2 comparisons in linear time each, or log n times that by sorting. Shown: "
        "n = d = 10,000, f = 1.",
    )


CLAIM = Claim(
    "nnm-cost",
    "NNM takes at most {constant} d n^2 additions, multiplications and divisions, besides comparisons",
    "the remark after the algorithm of NNM, which says O(d n^2)",
    "proved",
    check,
    scope="algebra",
    terms={"constant": Term("5/2")},
)
