"""The sorting lemma behind the trimmed mean, and the gap in its proof.

Problem: x_1 <= ... <= x_n, S of size n - f with mean y, I = {f+1, ..., n-f} the places that the trimmed mean keeps.
Statement: sum over I \\ S of (x_i - y)^2 <= sum over S \\ I of (x_i - y)^2.
The paper's proof: with q = |I \\ S|, the low places I- and the high places I+ hold at least q elements of S each, so
    there is an injection psi of I \\ S into the pairs (I- and S) x (I+ and S), and phi(i), the one of the two that is
    farther from y, is said to be an injection into S \\ I. That does not follow: an injection into pairs may use one
    low place twice, and then phi may send two places to it. ``trimmed-mean-injection`` is that step, read literally,
    and is refuted at n = 6, f = 2.
Repair: choose psi one to one in each component, which is possible because both sides have at least q elements. If
    phi(i) = phi(j), both lie in I- or both in I+ (they are disjoint), so a component of psi agrees and i = j. So the
    lemma holds, for every real y and not only for the mean.
Computed: the counts and the repaired injection for every S of every n up to a size; the inequality on all small
    integer inputs in exact arithmetic; and the tight constant on the family x = -f (n - 2f times), n - 2f (2f times,
    half of them outside S): (n-2f)^2 / ((n-2f)^2 + f^2), which tends to 1.
Reference: appendix A.1 (lem:tmean-main).
"""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations, combinations_with_replacement

from kappaguard.rules.base.errors import InputError
from kappaguard.verify.theory.algebra import demand
from kappaguard.verify.theory.claim import Claim, Effort, Finding, Report, Sides
from kappaguard.verify.theory.instance import Record, numbers, record, refuted
from kappaguard.verify.theory.worst import text


def sides(x: tuple[int, ...], subset: tuple[int, ...], f: int) -> tuple[Fraction, Fraction]:
    """Both sides of the inequality for sorted x, places counted from 0."""
    n = len(x)
    inside = set(range(f, n - f))
    mean = Fraction(sum(x[i] for i in subset), len(subset))

    def total(places: set[int]) -> Fraction:
        return sum(((x[i] - mean) ** 2 for i in places), Fraction(0))

    return total(inside - set(subset)), total(set(subset) - inside)


def _sets(n: int, f: int) -> list[tuple[int, ...]]:
    return list(combinations(range(n), n - f))


def check_lemma(effort: Effort, report: Report) -> Finding:
    """The counting argument for every S, the inequality on small integers, and the extremal family."""
    most = effort.choose(9, 11, 13)
    for n in range(1, most + 1):
        for f in range((n + 1) // 2):
            for subset in _sets(n, f):
                outside = set(range(f, n - f)) - set(subset)
                low, high = set(subset) & set(range(f)), set(subset) & set(range(n - f, n))
                # one to one in each component: the k-th place goes to the k-th of either side
                demand(min(len(low), len(high)) >= len(outside), "either side has q elements of S")
        report(n, most + 2)
    for n, f, values in effort.choose([(5, 2, 4)], [(5, 2, 5), (6, 2, 4)], [(5, 2, 7), (6, 2, 6), (7, 3, 5)]):
        for x in combinations_with_replacement(range(values), n):
            for subset in _sets(n, f):
                left, right = sides(x, subset, f)
                demand(left <= right, f"the lemma at x = {x}, S = {subset}")
    report(most + 1, most + 2)
    n, f = 1000, 1
    family = (-f,) * (n - 2 * f) + (n - 2 * f,) * (2 * f)
    left, right = sides(family, (*range(n - 2 * f), *range(n - f, n)), f)
    demand(left / right == Fraction((n - 2 * f) ** 2, (n - 2 * f) ** 2 + f**2), "the constant of the family")
    report(most + 2, most + 2)
    return Finding(
        "proved",
        ("exact", "symbolic"),
        float(left / right),
        1.0,
        "The lemma holds (for any centre y), but the paper's proof needs psi to be one to one in each component; see "
        "trimmed-mean-injection. The constant 1 is approached for large n/f.",
    )


def images(data: Record) -> Sides:
    """How many images phi has, and how many places; psi is a list of (place, lower, higher)."""
    x, psi, subset = numbers(data, "x"), data.get("psi"), data.get("subset")
    for name, value in (("psi", psi), ("subset", subset)):
        if not isinstance(value, list) or not value:
            raise InputError(f"{name!r} must be a list that is not empty")
    assert isinstance(psi, list)
    assert isinstance(subset, list)
    places = [row for row in psi if isinstance(row, list) and len(row) == 3]
    indices = [*subset, *(index for row in places for index in row)]
    if len(places) < len(psi) or any(type(index) is not int or not 0 <= index < len(x) for index in indices):
        raise InputError("'psi' must hold triples of indices, and 'subset' indices, of x")
    if len({tuple(pair) for _, *pair in places}) < len(places) or len({place for place, *_ in places}) < len(places):
        raise InputError("'psi' is not an injection into the pairs")
    if not all({low, high} <= set(subset) and x[low] <= x[i] <= x[high] for i, low, high in places):
        raise InputError("a pair of 'psi' is not in the subset or does not enclose its x_i")
    mean = sum((x[i] for i in subset), Fraction(0)) / len(subset)
    farther = {max(pair, key=lambda j: abs(x[j] - mean)) for _, *pair in places}
    return Sides(Fraction(len(farther)), "==", Fraction(len(places)))


def check_injection(_effort: Effort, _report: Report) -> Finding:
    """An injection into pairs for which phi is not one."""
    shown = record(
        "trimmed-mean-injection",
        x=["-10", "0", "0", "0", "1", "1"],
        subset=[0, 1, 4, 5],
        psi=[[2, 0, 4], [3, 0, 5]],
    )
    return refuted(
        ("exact",),
        images(shown),
        f"With x = (-10, 0, 0, 0, 1, 1), S = {1, 2, 5, 6}, psi(3) = (1, 5) and psi(4) = (1, 6), phi(3) = phi(4) = "
        "1: two places have one image.",
        shown,
    )


def check_repaired(effort: Effort, report: Report) -> Finding:
    """phi from a psi that is one to one in each component, for every S and every choice of the farther side."""
    from itertools import product

    tried = 0
    most = effort.choose(8, 10, 12)
    for n in range(3, most + 1):
        for f in range(1, (n + 1) // 2):
            for subset in _sets(n, f):
                outside = sorted(set(range(f, n - f)) - set(subset))
                low, high = [i for i in subset if i < f], [i for i in subset if i >= n - f]
                for sides_taken in product((low, high), repeat=len(outside)):
                    image = {side[place] for place, side in enumerate(sides_taken)}
                    demand(len(image) == len(outside), "phi is an injection")
                    tried += 1
        report(n, most)
    return Finding(
        "proved",
        ("exact", "symbolic"),
        1.0,
        1.0,
        f"phi is one to one for all {text(tried)} choices of S and of the farther side up to n = {most}; in "
        "general, equal images lie on one side, where psi is one to one.",
        "==",
    )


CLAIMS = (
    Claim(
        "trimmed-mean-sorting",
        "sum over I minus S of |x_i - mean_S|^2 <= sum over S minus I of |x_i - mean_S|^2",
        "appendix A.1 (lem:tmean-main)",
        "proved",
        check_lemma,
        scope="instances",
    ),
    Claim(
        "trimmed-mean-injection",
        "proof step: any injection psi into pairs makes phi, the farther of the two, an injection",
        "appendix A.1, proof of lem:tmean-main",
        "refuted",
        check_injection,
        sides=images,
        kind="proof step",
    ),
    Claim(
        "trimmed-mean-injection-repaired",
        "phi is an injection if psi is one to one in each component, and such a psi exists",
        "kappaguard",
        "proved",
        check_repaired,
        corrects="trimmed-mean-injection",
        scope="instances",
    ),
)
