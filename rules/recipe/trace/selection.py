"""From the output's expressions to the recipe of a selection rule.

The output is followed backwards: it is a mean of what stands at certain ranks; the ranks are those of scores; the
scores and the vectors that stand beside them are those of a pool; the pool is the inputs, or their mixed means, or what
an earlier selection left. Every step is compared with what the recipe says, expression for expression; up to a positive
factor, and up to one and the same addend, for scores.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from math import comb

from kappaguard.rules.recipe.recipe import MeanDistance, NearestSum, PivotDistance, Recipe, Round, Rounds, Score, Subset
from kappaguard.rules.recipe.trace.expression import Expression, constant
from kappaguard.rules.recipe.trace.reading import Atom, Reader, Unmatched, Vector, require

Members = tuple[int, ...]


@dataclass(frozen=True)
class Selection:
    """Scores, and beside each the vector that is taken if the score has the rank."""

    members: Members
    vectors: tuple[Vector, ...]


@dataclass(frozen=True)
class VectorPool:
    """Vectors, and how they came about: layers of mixing, then rounds that dropped some.

    ``workers`` says whose vectors they are, as long as none was dropped.
    """

    vectors: tuple[Vector, ...]
    workers: tuple[int, ...] = ()
    mixing: tuple[int, ...] = ()
    rounds: tuple[Round, ...] = ()
    dropped: tuple[tuple[Members, int], ...] = ()
    """For every round, the scores and the rank of what it dropped, if that was one."""


def selection_recipe(reader: Reader, output: Vector) -> Recipe:
    """The recipe of an output; gives up if there is none."""
    columns = [_without_inputs(reader, reader.linear(reader.unnamed(each))) for each in output]
    require(all(description[0] == "at" for column in columns for description in column))
    groups = _grouped(reader, columns)
    if len(groups) == 1:
        (members, ranks), *_ = groups.items()
        return _one_selection(reader, members, ranks)
    return _many_selections(reader, groups)


def _without_inputs(reader: Reader, column: dict[Atom, Fraction]) -> dict[Atom, Fraction]:
    """A column with the sum of all inputs, beside selections from them, as what stands at all ranks."""
    inputs = {description: value for description, value in column.items() if description[0] == "entry"}
    if not inputs or len(inputs) == len(column):
        return column
    members, beside = next((each[1], each[3]) for each in column if each[0] == "at")
    names = {reader.expression(key).single("entry") for key in beside}
    require(names == set(inputs) and len(names) == len(beside) and len(set(inputs.values())) == 1)
    found = {description: value for description, value in column.items() if description[0] != "entry"}
    for rank in range(len(members)):
        description = ("at", members, rank, beside)
        found[description] = found.get(description, Fraction(0)) + next(iter(inputs.values()))
    return {description: value for description, value in found.items() if value}


def _grouped(reader: Reader, columns: list[dict[Atom, Fraction]]) -> dict[Members, dict[int, list[Vector]]]:
    """For every family of scores and rank, the vector that each member contributes to the output."""
    found: dict[Members, dict[int, list[list[Expression]]]] = {}
    for k, column in enumerate(columns):
        for description, coefficient in column.items():
            require(description[0] == "at" and isinstance(description[2], int))
            _, members, rank, beside = description
            require(len(set(members)) == len(members))
            empty = [[constant(0, reader.symbols)] * reader.d for _ in members]
            rows = found.setdefault(members, {}).setdefault(rank, empty)
            for row, key in zip(rows, beside, strict=True):
                row[k] = row[k] + reader.expression(key)._scaled(*coefficient.as_integer_ratio())
    return {
        members: {rank: [tuple(row) for row in rows] for rank, rows in ranks.items()}
        for members, ranks in found.items()
    }


def _one_selection(reader: Reader, members: Members, ranks: dict[int, list[Vector]]) -> Recipe:
    count, size = len(ranks), len(members)
    keys = [[tuple(each.key for each in row) for row in rows] for rows in ranks.values()]
    require(all(rows == keys[0] for rows in keys))
    vectors = tuple(tuple(each._scaled(count, 1) for each in row) for row in next(iter(ranks.values())))
    try:
        pool = pool_of(reader, vectors)
    except Unmatched:
        require(set(ranks) == {0} or set(ranks) == {size - 1})
        return _subset(reader, members, vectors, 0 in ranks)
    try:
        score, sign = score_of(reader, members, pool)
    except Unmatched:
        return _around_centre(reader, members, pool, set(ranks))
    least = _end(set(ranks), size, sign)
    last = Round(score, count, greatest=not least)
    if isinstance(score, MeanDistance) and (count == size - 1 or (pool.rounds and count < size)):
        last = Round(score, size - count, greatest=least, keep=False)
    return Recipe(reader.n, Rounds((*pool.rounds, last)), pool.mixing)


def _around_centre(reader: Reader, members: Members, pool: VectorPool, ranks: set[int]) -> Recipe:
    """The nearest of all inputs to a centre by coordinates."""
    from kappaguard.rules.recipe.trace.centres import near_vector

    require(len(pool.workers) == reader.n and not pool.mixing and ranks == set(range(len(ranks))))
    scores = [reader.expression(member) for member in members]
    return Recipe(reader.n, near_vector(reader, scores, pool.vectors, len(ranks)))


def _end(ranks: set[int], size: int, sign: int) -> bool:
    """Whether these are the ranks of the least scores; gives up unless they are at one end."""
    least = ranks == set(range(len(ranks)))
    require(least or ranks == set(range(size - len(ranks), size)))
    return least if sign > 0 else not least


def _many_selections(reader: Reader, groups: dict[Members, dict[int, list[Vector]]]) -> Recipe:
    """One is kept in every round, and the pool shrinks: the output is the mean of all that were kept."""
    found = []
    for members, ranks in groups.items():
        require(len(ranks) == 1)
        ((rank, rows),) = ranks.items()
        vectors = tuple(tuple(each._scaled(len(groups), 1) for each in row) for row in rows)
        pool = pool_of(reader, vectors)
        score, sign = score_of(reader, members, pool)
        found.append(
            (len(pool.rounds), members, rank, pool, Round(score, 1, greatest=not _end({rank}, len(members), sign)))
        )
    found.sort(key=lambda each: each[0])
    _, _, _, pool, last = found[-1]
    kept = {(members, rank): one for _, members, rank, _, one in found[:-1]}
    require(len(kept) == len(found) - 1)
    rounds = []
    for each, dropped in zip(pool.rounds, pool.dropped, strict=True):
        rounds.append(kept.pop(dropped) if dropped in kept else each)
    require(not kept)
    return Recipe(reader.n, Rounds((*rounds, last)), pool.mixing)


def pool_of(reader: Reader, vectors: tuple[Vector, ...]) -> VectorPool:
    """How vectors came about; gives up if it cannot be seen."""
    firsts = [vector[0] for vector in vectors]
    if all(each.single("entry") is not None for each in firsts):
        return _inputs(reader, vectors)
    if all(each.single("at") is not None for each in firsts):
        return _kept(reader, vectors)
    if all(each.single("rest") is not None for each in firsts):
        return _without_one(reader, vectors)
    return _mixed(reader, vectors)


def _inputs(reader: Reader, vectors: tuple[Vector, ...]) -> VectorPool:
    workers = []
    for vector in vectors:
        found = [each.single("entry") for each in vector]
        for k, description in enumerate(found):
            require(description is not None and description[1:] == (found[0][1], k))  # type: ignore[index]
        workers.append(found[0][1])  # type: ignore[index]
    require(sorted(workers) == list(range(reader.n)))
    return VectorPool(vectors, tuple(workers))


def _behind(reader: Reader, vectors: tuple[Vector, ...], kind: str) -> tuple[Selection, list[Atom]]:
    """The one selection that vectors of a kind stand in, and the atom of each one's first coordinate."""
    atoms = [[each.single(kind) for each in vector] for vector in vectors]
    rows: list[Vector] = []
    first = atoms[0][0]
    if first is None:
        raise Unmatched
    for vector in atoms:
        require(all(each is not None and each[1] == first[1] for each in vector))
        require(all(each[2:-1] == vector[0][2:-1] for each in vector))  # type: ignore[index]
    for place in range(len(first[1])):
        rows.append(tuple(reader.expression(each[-1][place]) for each in atoms[0]))  # type: ignore[index]
    besides = [tuple(each[-1] for each in vector) for vector in atoms]  # type: ignore[index]
    require(all(beside == besides[0] for beside in besides))
    require(len(set(first[1])) == len(first[1]))
    return Selection(first[1], tuple(rows)), [vector[0] for vector in atoms]  # type: ignore[misc]


def _kept(reader: Reader, vectors: tuple[Vector, ...]) -> VectorPool:
    selection, atoms = _behind(reader, vectors, "at")
    ranks = {description[2] for description in atoms}
    require(len(ranks) == len(vectors) and all(isinstance(rank, int) for rank in ranks))
    before = pool_of(reader, selection.vectors)
    score, sign = score_of(reader, selection.members, before)
    size = len(selection.members)
    least = _end(ranks, size, sign)
    count = size - len(ranks)
    if count == 0:
        return VectorPool(vectors, (), before.mixing, before.rounds, before.dropped)
    gone = next(iter(set(range(size)) - ranks)) if count == 1 else -1
    each = Round(score, count, greatest=least, keep=False)
    return VectorPool(vectors, (), before.mixing, (*before.rounds, each), (*before.dropped, (selection.members, gone)))


def _without_one(reader: Reader, vectors: tuple[Vector, ...]) -> VectorPool:
    selection, atoms = _behind(reader, vectors, "rest")
    size = len(selection.members)
    removed = {description[2] for description in atoms}
    require(len(removed) == 1 and sorted(description[3] for description in atoms) == list(range(size - 1)))
    before = pool_of(reader, selection.vectors)
    score, sign = score_of(reader, selection.members, before)
    rank = removed.pop()
    each = Round(score, 1, greatest=not _end({rank}, size, sign), keep=False)
    return VectorPool(vectors, (), before.mixing, (*before.rounds, each), (*before.dropped, (selection.members, rank)))


def _mixed(reader: Reader, vectors: tuple[Vector, ...]) -> VectorPool:
    """Each vector is the mean of the nearest of one vector of the layer before, itself included."""
    require(len(vectors) == reader.n)
    layer: VectorPool | None = None
    counts, owners = set(), []
    for vector in vectors:
        columns = [reader.linear(reader.unnamed(each)) for each in vector]
        own = [{atom: c for atom, c in column.items() if atom[0] != "at"} for column in columns]
        chosen = [{atom: c for atom, c in column.items() if atom[0] == "at"} for column in columns]
        groups = _grouped(reader, chosen)
        require(len(groups) == 1)
        ((members, ranks),) = groups.items()
        count = len(ranks) + bool(own[0])
        require(set(ranks) == set(range(len(ranks))))
        keys = [[tuple(each.key for each in row) for row in rows] for rows in ranks.values()]
        require(all(rows == keys[0] for rows in keys))
        candidates = tuple(tuple(each._scaled(count, 1) for each in row) for row in ranks[0])
        itself: Vector | None = None
        if own[0]:
            itself = tuple(_single(reader, column, count) for column in own)
            candidates = (*candidates, itself)
        if layer is None:
            layer = pool_of(reader, candidates)
            require(not layer.rounds)
        places = {tuple(each.key for each in row): place for place, row in enumerate(layer.vectors)}
        rows = [places.get(tuple(each.key for each in row)) for row in candidates]
        require(None not in rows and sorted(rows) == list(range(reader.n)))  # type: ignore[type-var]
        scores = [reader.expression(member) for member in members]
        if itself is None:
            zero = [place for place, score in enumerate(scores) if score.is_zero]
            owner = rows[zero[0]] if len(zero) == 1 else _owner(reader, scores, candidates, layer)
        else:
            owner = rows[-1]
        if owner is None:
            raise Unmatched
        expected = [reader.distance(layer.vectors[owner], row) for row in candidates[: len(scores)]]
        require(reader.proportional(scores, expected) > 0)
        counts.add(count)
        owners.append(owner)
    if layer is None:
        raise Unmatched
    require(len(counts) == 1 and sorted(owners) == list(range(reader.n)))
    workers = tuple(layer.workers[owner] for owner in owners)
    return VectorPool(vectors, workers, (*layer.mixing, counts.pop()))


def _single(reader: Reader, column: dict[Atom, Fraction], count: int) -> Expression:
    require(len(column) == 1)
    ((description, coefficient),) = column.items()
    require(coefficient == Fraction(1, count))
    return Expression(reader.symbols, {(reader.symbols.atom(*description),): 1})


def _owner(reader: Reader, scores: list[Expression], candidates: tuple[Vector, ...], layer: VectorPool) -> int:
    """Whose distances these are, up to an addend."""
    for place, vector in enumerate(layer.vectors):
        try:
            if reader.proportional(scores, [reader.distance(vector, row) for row in candidates]) > 0:
                return place
        except Unmatched:
            continue
    raise Unmatched


def score_of(reader: Reader, members: Members, pool: VectorPool) -> tuple[Score, int]:
    """The score that these are, for a pool in the order of the members, and the sign that it has in them."""
    scores = [reader.expression(member) for member in members]
    for look in (_nearest_sum, _mean_distance, _pivot_distance):
        try:
            return look(reader, scores, pool)
        except Unmatched:
            continue
    raise Unmatched


def _nearest_sum(reader: Reader, scores: list[Expression], pool: VectorPool) -> tuple[Score, int]:
    found = set()
    zero = constant(0, reader.symbols).key
    for place, score in enumerate(scores):
        terms = reader.linear(score)
        require(bool(terms) and all(description[0] == "least" for description in terms))
        families = {description[1] for description in terms}
        require(len(families) == 1 and len(set(terms.values())) == 1)
        family, factor = families.pop(), next(iter(terms.values()))
        others = sorted(
            reader.distance(pool.vectors[place], vector).key
            for other, vector in enumerate(pool.vectors)
            if other != place
        )
        keys = [reader.expression(key).key for key in family]
        itself = keys.count(zero)
        # the least distance of all, to itself, is zero and was left out of the sum
        first = 1 if itself else 0
        require(itself <= 1 and sorted(key for key in keys if key != zero) == others)
        ranks = {description[2] for description in terms}
        require(ranks == set(range(first, first + len(ranks))))
        found.add((len(ranks), factor))
    require(len(found) == 1)
    count, factor = found.pop()
    return NearestSum(count), 1 if factor > 0 else -1


def _mean_distance(reader: Reader, scores: list[Expression], pool: VectorPool) -> tuple[Score, int]:
    centre = reader.mean(list(pool.vectors))
    return MeanDistance(), reader.proportional(scores, [reader.distance(row, centre) for row in pool.vectors])


def _pivot_distance(reader: Reader, scores: list[Expression], pool: VectorPool) -> tuple[Score, int]:
    require(bool(pool.workers))
    for worker, pivot in zip(pool.workers, pool.vectors, strict=True):
        try:
            return PivotDistance(worker), reader.proportional(
                scores, [reader.distance(row, pivot) for row in pool.vectors]
            )
        except Unmatched:
            continue
    raise Unmatched


def _subset(reader: Reader, members: Members, vectors: tuple[Vector, ...], least: bool) -> Recipe:
    """The subset of a size with the least diameter or variance: the vectors are means of all subsets of that size."""
    first = [reader.linear(vector[0]) for vector in vectors]
    size = len(first[0])
    found = _base(reader, vectors)
    require(len(found) == reader.n and len(vectors) == comb(reader.n, size))
    base = pool_of(reader, tuple(found.values()))
    require(bool(base.workers))
    place = {name: index for index, name in enumerate(found)}
    subsets = []
    for terms, vector in zip(first, vectors, strict=True):
        require(set(terms.values()) == {Fraction(1, size)})
        inside = tuple(sorted(place[whose(reader, name)] for name in terms))
        for k in range(1, reader.d):
            expected = reader.mean([base.vectors[index] for index in inside])[k]
            require(expected.key == vector[k].key)
        subsets.append(inside)
    require(len(set(subsets)) == len(subsets))
    scores = [reader.expression(member) for member in members]
    pairs = {(a, b): reader.distance(base.vectors[a], base.vectors[b]) for a, b in combinations(range(reader.n), 2)}
    zero = constant(0, reader.symbols).key
    if all(score.single("least") is not None for score in scores):
        for score, inside in zip(scores, subsets, strict=True):
            _, family, rank = score.single("least")  # type: ignore[misc]
            require(rank == len(family) - 1 and least)
            require({*family} - {zero} == {pairs[pair].key for pair in combinations(inside, 2)})
        return Recipe(reader.n, Subset(size, "diameter"), base.mixing)
    ratios = set()
    for score, inside in zip(scores, subsets, strict=True):
        total = constant(0, reader.symbols)
        for pair in combinations(inside, 2):
            total = total + pairs[pair]
        monomial, value = next(iter(total.coefficients().items()))
        ratio = score.coefficients().get(monomial, Fraction(0)) / value
        require(ratio != 0 and (score - total._scaled(*ratio.as_integer_ratio())).is_zero)
        ratios.add(ratio)
    require(len(ratios) == 1 and (ratios.pop() > 0) == least)
    return Recipe(reader.n, Subset(size, "variance"), base.mixing)


def whose(reader: Reader, description: Atom) -> object:
    """What the coordinates of one vector have in common: the worker, or the scores by which it was mixed."""
    if description[0] == "entry":
        return description[1]
    require(description[0] == "alias")
    terms = reader.linear(reader.expression(description[1]))
    return tuple(sorted({each[1] for each in terms if each[0] == "at"}))


def _base(reader: Reader, vectors: tuple[Vector, ...]) -> dict[object, Vector]:
    """The vectors that others are combinations of, by what their coordinates have in common."""
    found: dict[object, list[Expression | None]] = {}
    for vector in vectors:
        for k, each in enumerate(vector):
            for description in reader.linear(each):
                row = found.setdefault(whose(reader, description), [None] * reader.d)
                row[k] = Expression(reader.symbols, {(reader.symbols.atom(*description),): 1})
    require(all(None not in row for row in found.values()))
    return {name: tuple(each for each in row if each is not None) for name, row in found.items()}
