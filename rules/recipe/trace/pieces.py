"""Coordinate-wise rules whose weights depend on comparisons: all ways through the comparisons, one after the other.

The output's expression is evaluated on a point; every comparison that the order of x leaves open is noted with its
answer there. The point's way is a list of such answers. Then the last answer is turned round, a point is looked for
where the answers before it are the same, and so on, until every other side was followed or proved empty. Comparisons by
a sort may be answered either way where values are equal; those by <, <= and == are not: their sides are strict or not.
"""

from __future__ import annotations

from fractions import Fraction

from kappaguard.rules.recipe.recipe import Fork, Nowhere, OrderStatistics, Pieces
from kappaguard.rules.recipe.trace.columns import Polynomial, SortedEvaluation, degree, scaled
from kappaguard.rules.recipe.trace.cone import Form, Side, Unsettled, gaps, inner_point
from kappaguard.rules.recipe.trace.expression import Expression
from kappaguard.rules.recipe.trace.reading import Reader
from kappaguard.rules.recipe.trace.refusal import Untraceable

MOST_PIECES = 100
Node = Fork | OrderStatistics | Nowhere
Answer = tuple[Form, bool, bool]
"""A form, whether the question was form > 0 (or form >= 0), and the answer."""


class PointEvaluation(SortedEvaluation):
    """SortedEvaluation at a point, with the answers to open comparisons noted."""

    def __init__(self, reader: Reader, names: list[int], point: list[Fraction]) -> None:
        super().__init__(reader, names)
        self.point = point
        self.answers: list[Answer] = []

    def sign(self, value: Polynomial) -> int:
        """The sign of a combination, at the point where the order does not decide it."""
        if self.never_negative(value):
            return 1
        if self.never_negative(scaled(value, -1)):
            return -1
        return 1 if self._ask(value, False) else -1

    def compare(self, kind: str, gap: Polynomial) -> bool:
        """Whether gap > 0 (for <), gap >= 0 (for <=) or gap = 0."""
        if kind == "==":
            return self.compare("<=", gap) and self.compare("<=", scaled(gap, -1))
        if kind == "<=" and self.never_negative(gap):
            return True
        if kind == "<" and self.never_negative(scaled(gap, -1)):
            return False
        return self._ask(gap, kind == "<")

    def _ask(self, value: Polynomial, strict: bool) -> bool:
        if degree(value) > 1:
            raise Untraceable("squares are compared that are no distances to a centre")
        form = primitive(tuple(value.get((place,), Fraction(0)) for place in range(self.reader.n)))
        at = sum((a * b for a, b in zip(form, self.point, strict=True)), Fraction(0))
        answer = at > 0 or (at == 0 and not strict)
        for known, was_strict, said in self.answers:
            if known == form and was_strict == strict:
                return said
        self.answers.append((form, strict, answer))
        return answer


def primitive(form: Form) -> Form:
    """The form by a positive factor with whole numbers without common divisor."""
    from math import gcd, lcm

    scale = lcm(*(value.denominator for value in form))
    whole = [int(value * scale) for value in form]
    common = gcd(*whole)
    return tuple(Fraction(value // common) for value in whole)


def pieces_of(reader: Reader, expression: Expression, names: list[int]) -> Pieces:
    """All ways through the comparisons of a symmetric expression on sorted values."""
    nodes: list[Node] = []
    count = 0

    def build(known: tuple[Answer, ...]) -> int:
        nonlocal count
        try:
            point = inner_point([*gaps(reader.n), *map(side_of, known)], reader.n)
        except Unsettled:
            raise Untraceable("whether some comparisons can come out together was not settled") from None
        if point is None:
            nodes.append(Nowhere())
            return len(nodes) - 1
        count += 1
        if count > MOST_PIECES:
            raise Untraceable(f"it has more than {MOST_PIECES} pieces", "sort, and take fixed places")
        evaluation = PointEvaluation(reader, names, point)
        weights = evaluation.weights(expression)
        if sum(weights) != 1:
            raise Untraceable(
                f"the weights of the sorted values add up to {sum(weights)}, not to 1", "a sum is no mean"
            )
        answers = evaluation.answers
        if tuple(answers[: len(known)]) != known:
            raise Untraceable("the comparisons of equal values do not repeat")
        nodes.append(OrderStatistics(tuple(weights)))
        found = len(nodes) - 1
        for place in range(len(answers) - 1, len(known) - 1, -1):
            form, strict, answer = answers[place]
            other = build((*answers[:place], (form, strict, not answer)))
            nodes.append(Fork(form, strict, found if answer else other, other if answer else found))
            found = len(nodes) - 1
        return found

    build(())
    # forks lead to later nodes: the last one made is the first
    last = len(nodes) - 1
    turned = [_moved(node, last) for node in reversed(nodes)]
    return Pieces(tuple(turned))


def _moved(node: Node, last: int) -> Node:
    return Fork(node.form, node.strict, last - node.holds, last - node.fails) if isinstance(node, Fork) else node


def side_of(answer: Answer) -> Side:
    """The inequality that an answer is."""
    form, strict, holds = answer
    return Side(form, strict) if holds else Side(tuple(-value for value in form), not strict)
