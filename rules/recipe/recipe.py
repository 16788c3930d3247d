"""The recipe of a rule on n vectors, as frozen data.

    vectors     the inputs, or layer after layer the mean of each one's ``count`` nearest, itself included (``mixing``)
    choice      ``Rounds``: in every round the vectors with the least (or greatest) scores leave the pool, to be kept or
                dropped. ``Subset``: the subset of a size with the least diameter or variance.
                ``NearVector``: the nearest to a centre whose coordinates are order statistics.
    output      the mean of what was chosen: of the vectors kept, or of those left if none is ever kept.

or, coordinate by coordinate and after the same layers of mixing,

    OrderStatistics   a weight for every place in the sorted values
    NearCentre        the mean of the ``count`` values nearest to such a centre
    Pieces            such weights that depend on signs of combinations of the sorted values

Scores are squared distances or sums of them, so that every comparison is linear in the Gram matrix of the inputs as
soon as the earlier decisions are known. Ties go to the lower index (``NearCentre``: to the smaller value; ``Subset``:
to the lexicographically first). Workers are numbered from 0. A recipe is for one n; f is the adversary's business.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from kappaguard.rules.base.errors import InputError

MOST_NODES = 10_000


@dataclass(frozen=True)
class NearestSum:
    """The sum of the ``count`` least squared distances to other vectors of the pool."""

    count: int


@dataclass(frozen=True)
class MeanDistance:
    """The squared distance to the mean of the pool."""


@dataclass(frozen=True)
class PivotDistance:
    """The squared distance to the vector of one worker, whether it is in the pool or not."""

    pivot: int


Score = NearestSum | MeanDistance | PivotDistance


@dataclass(frozen=True)
class Round:
    """The ``count`` vectors of the pool with the least (greatest) scores leave it, to be kept or dropped."""

    score: Score
    count: int
    greatest: bool = False
    keep: bool = True


@dataclass(frozen=True)
class Rounds:
    """Rounds of selection from a shrinking pool."""

    rounds: tuple[Round, ...]

    @property
    def keeps(self) -> bool:
        """Whether the output is the mean of what was kept, and not of what is left."""
        return any(each.keep for each in self.rounds)


@dataclass(frozen=True)
class Subset:
    """The subset of ``size`` vectors with the least diameter, or the least variance."""

    size: int
    measure: Literal["diameter", "variance"]


@dataclass(frozen=True)
class NearVector:
    """The ``count`` vectors nearest to the centre that these weights on order statistics give, by coordinates."""

    weights: tuple[Fraction, ...]
    count: int


@dataclass(frozen=True)
class OrderStatistics:
    """Per coordinate, the sum of the sorted values times these weights."""

    weights: tuple[Fraction, ...]


@dataclass(frozen=True)
class NearCentre:
    """Per coordinate, the mean of the ``count`` values nearest to the centre that these weights give."""

    weights: tuple[Fraction, ...]
    count: int


@dataclass(frozen=True)
class Fork:
    """Which way: whether the sorted values times ``form`` are > 0 (``strict``) or >= 0. Then on at that node."""

    form: tuple[Fraction, ...]
    strict: bool
    holds: int
    fails: int


@dataclass(frozen=True)
class Nowhere:
    """The end of a way that no input goes."""


@dataclass(frozen=True)
class Pieces:
    """Per coordinate, from node 0 on along the forks to the weights that apply."""

    nodes: tuple[Fork | OrderStatistics | Nowhere, ...]

    def ways(self) -> list[tuple[tuple[tuple[Fork, bool], ...], OrderStatistics | Nowhere]]:
        """Every way from node 0 to its end: the forks and which side was taken."""
        found = []
        pending: list[tuple[int, tuple[tuple[Fork, bool], ...]]] = [(0, ())]
        while pending:
            place, taken = pending.pop()
            node = self.nodes[place]
            if isinstance(node, Fork):
                pending += [(node.fails, (*taken, (node, False))), (node.holds, (*taken, (node, True)))]
            else:
                found.append((taken, node))
        return found


Choice = Rounds | Subset | NearVector | OrderStatistics | NearCentre | Pieces


@dataclass(frozen=True)
class Recipe:
    """What a rule does with n vectors. ``trusted`` is a worker that the adversary cannot be."""

    n: int
    choice: Choice
    mixing: tuple[int, ...] = ()
    trusted: int | None = None

    def __post_init__(self) -> None:
        _check(self)

    @property
    def coordinatewise(self) -> bool:
        """Whether what follows the mixing works coordinate by coordinate."""
        return isinstance(self.choice, OrderStatistics | NearCentre | Pieces)


def _check(recipe: Recipe) -> None:
    n, choice = recipe.n, recipe.choice
    _require(_is_count(n, 1), f"a recipe needs n >= 1, got {n!r}")
    for count in recipe.mixing:
        _require(_is_count(count, 1) and count <= n, f"mixing takes 1 to n = {n} vectors, got {count!r}")
    trusted = recipe.trusted
    _require(trusted is None or (_is_count(trusted, 0) and trusted < n), f"no worker {trusted!r} among n = {n}")
    match choice:
        case Rounds(rounds):
            left = n
            _require(bool(rounds), "a recipe needs a round")
            for each in rounds:
                _check_round(each, n, left)
                left -= each.count
            _require(choice.keeps or left > 0, "nothing is left to be returned")
        case Subset(size, measure):
            _require(_is_count(size, 1) and size <= n, f"a subset has 1 to n = {n} vectors, got {size!r}")
            _require(
                measure in ("diameter", "variance"), f"a subset has the least diameter or variance, not {measure!r}"
            )
        case OrderStatistics(weights):
            _check_weights(weights, n)
        case NearCentre(weights, count) | NearVector(weights, count):
            _check_weights(weights, n)
            _require(_is_count(count, 1) and count <= n, f"1 to n = {n} are near a centre, got {count!r}")
        case Pieces(nodes):
            _require(0 < len(nodes) <= MOST_NODES, f"pieces have 1 to {MOST_NODES} nodes, got {len(nodes)}")
            for place, node in enumerate(nodes):
                _check_node(node, place, len(nodes), n)
        case _:
            raise InputError(f"a recipe chooses by rounds, subset or order, not by {type(choice).__name__}")


def _check_node(node: object, place: int, size: int, n: int) -> None:
    match node:
        case Fork(form, strict, holds, fails):
            _require(isinstance(strict, bool), "a fork is strict or not")
            _require(
                all(_is_count(child, place + 1) and child < size for child in (holds, fails)),
                "a fork leads to later nodes",
            )
            _require(
                len(form) == n and all(isinstance(each, Fraction) for each in form), f"a form has n = {n} fractions"
            )
            _require(sum(form) == 0 and any(form), "a form has sum zero and is not zero")
        case OrderStatistics(weights):
            _check_weights(weights, n)
        case Nowhere():
            pass
        case _:
            raise InputError(f"a node of pieces is a fork or has weights, and is no {type(node).__name__}")


def _check_round(each: Round, n: int, left: int) -> None:
    _require(_is_count(each.count, 1) and each.count <= left, f"a round takes 1 to {left} vectors, got {each.count!r}")
    match each.score:
        case NearestSum(count):
            _require(_is_count(count, 0) and count < left, f"there are {left - 1} other vectors, not {count!r}")
        case PivotDistance(pivot):
            _require(_is_count(pivot, 0) and pivot < n, f"no worker {pivot!r} among n = {n}")
        case MeanDistance():
            pass
        case _:
            raise InputError(f"no score is called {type(each.score).__name__}")


def _check_weights(weights: tuple[Fraction, ...], n: int) -> None:
    _require(len(weights) == n, f"order statistics need n = {n} weights, got {len(weights)}")
    _require(all(isinstance(weight, Fraction) for weight in weights), "the weights must be fractions")
    _require(sum(weights) == 1, f"the weights must add up to 1, not {sum(weights)}")


def _is_count(value: object, least: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= least


def _require(condition: bool, message: str) -> None:
    if not condition:
        raise InputError(message)
