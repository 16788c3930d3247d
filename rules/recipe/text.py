"""A recipe as JSON and as lines for people."""

from __future__ import annotations

import json
from fractions import Fraction
from typing import Any

from kappaguard.rules.base.errors import InputError
from kappaguard.rules.base.untrusted import fraction, parse, short
from kappaguard.rules.recipe.recipe import (
    Fork,
    MeanDistance,
    NearCentre,
    NearestSum,
    NearVector,
    Nowhere,
    OrderStatistics,
    Pieces,
    PivotDistance,
    Recipe,
    Round,
    Rounds,
    Score,
    Subset,
)

SCHEMA = "kappaguard-recipe/1"
MOST_WORKERS = 100_000
KINDS = ("rounds", "subset", "around", "order", "near", "pieces")


def to_data(recipe: Recipe) -> dict[str, Any]:
    """The recipe as plain data for JSON."""
    data: dict[str, Any] = {"schema": SCHEMA, "n": recipe.n}
    if recipe.mixing:
        data["mixing"] = list(recipe.mixing)
    if recipe.trusted is not None:
        data["trusted"] = recipe.trusted
    match recipe.choice:
        case Rounds(rounds):
            data["rounds"] = [_round_data(each) for each in rounds]
        case Subset(size, measure):
            data["subset"] = {"size": size, "least": measure}
        case OrderStatistics(weights):
            data["order"] = [str(weight) for weight in weights]
        case NearVector(weights, count):
            data["around"] = {"centre": [str(weight) for weight in weights], "count": count}
        case NearCentre(weights, count):
            data["near"] = {"centre": [str(weight) for weight in weights], "count": count}
        case Pieces(nodes):
            data["pieces"] = [_node_data(node) for node in nodes]
    return data


def _node_data(node: Fork | OrderStatistics | Nowhere) -> dict[str, Any]:
    match node:
        case Fork(form, strict, holds, fails):
            return {"form": [str(each) for each in form], "strict": strict, "holds": holds, "fails": fails}
        case OrderStatistics(weights):
            return {"order": [str(weight) for weight in weights]}
        case Nowhere():
            return {"nowhere": True}


def _node(data: Any) -> Fork | OrderStatistics | Nowhere:
    given = _object(data, "a node")
    if set(given) == {"order"}:
        return OrderStatistics(_weights(given["order"]))
    if given == {"nowhere": True}:
        return Nowhere()
    fields = _fields(given, "a node", {"form", "strict", "holds", "fails"})
    sides = _count(fields["holds"], "holds"), _count(fields["fails"], "fails")
    return Fork(_weights(fields["form"]), fields["strict"], *sides)


def to_json(recipe: Recipe) -> str:
    """The recipe as JSON."""
    return json.dumps(to_data(recipe))


def from_json(text: str) -> Recipe:
    """The recipe that a JSON text describes."""
    return from_data(parse(text))


def from_data(data: Any) -> Recipe:
    """The recipe of plain data, whoever wrote it."""
    given = dict(_object(data, "a recipe"))
    if given.pop("schema", None) != SCHEMA:
        raise InputError(f"the schema of a recipe is {SCHEMA!r}")
    n = _count(given.pop("n", None), "n")
    mixing = tuple(_count(count, "mixing") for count in _list(given.pop("mixing", []), "mixing"))
    trusted = given.pop("trusted", None)
    kinds = [kind for kind in KINDS if kind in given]
    if len(kinds) != 1 or len(given) != 1:
        raise InputError(f"a recipe has one of {', '.join(KINDS)}, and not {short(sorted(given))}")
    kind, value = kinds[0], given[kinds[0]]
    match kind:
        case "rounds":
            choice: Any = Rounds(tuple(_round(each) for each in _list(value, "rounds")))
        case "subset":
            fields = _fields(value, "subset", {"size", "least"})
            choice = Subset(_count(fields["size"], "size"), fields["least"])
        case "order":
            choice = OrderStatistics(_weights(value))
        case "pieces":
            choice = Pieces(tuple(_node(each) for each in _list(value, "pieces")))
        case _:
            fields = _fields(value, kind, {"centre", "count"})
            made = NearCentre if kind == "near" else NearVector
            choice = made(_weights(fields["centre"]), _count(fields["count"], "count"))
    return Recipe(n, choice, mixing, None if trusted is None else _count(trusted, "trusted"))


def describe(recipe: Recipe) -> list[str]:
    """The recipe in sentences."""
    lines = [f"{recipe.n} vectors" + ("" if recipe.trusted is None else f"; worker {recipe.trusted} is trusted")]
    lines += [f"each becomes the mean of its {count} nearest, itself included" for count in recipe.mixing]
    match recipe.choice:
        case Rounds(rounds) as choice:
            lines += _told_rounds(rounds)
            lines.append(f"output: the mean of {'what was kept' if choice.keeps else 'what is left'}")
        case Subset(size, measure):
            lines.append(f"output: the mean of the {size} vectors with the least {measure}")
        case OrderStatistics(weights):
            lines.append(f"output, per coordinate: {_told_weights(weights)}")
        case NearVector(weights, count):
            lines.append(f"centre, per coordinate: {_told_weights(weights)}")
            lines.append(f"output: the mean of the {count} vectors nearest to the centre")
        case NearCentre(weights, count):
            lines.append(f"centre, per coordinate: {_told_weights(weights)}")
            lines.append(f"output, per coordinate: the mean of the {count} values nearest to the centre")
        case Pieces(nodes) as choice:
            ends = sum(isinstance(node, OrderStatistics) for node in nodes)
            forks = sum(isinstance(node, Fork) for node in nodes)
            lines.append(
                f"output, per coordinate: one of {ends} combinations of the sorted values, by {forks} comparisons"
            )
    return lines


def _told_rounds(rounds: tuple[Round, ...]) -> list[str]:
    lines: list[str] = []
    repeated = 1
    for index, each in enumerate(rounds):
        if index + 1 < len(rounds) and rounds[index + 1] == each:
            repeated += 1
            continue
        match each.score:
            case NearestSum(count):
                score = f"sum of the {count} least squared distances to others"
            case MeanDistance():
                score = "squared distance to the mean of the pool"
            case PivotDistance(pivot):
                score = f"squared distance to worker {pivot}"
        times = f"{repeated} times: " if repeated > 1 else ""
        verb, kind = "keep" if each.keep else "drop", "greatest" if each.greatest else "least"
        lines.append(f"{times}{verb} the {each.count} with the {kind} {score}")
        repeated = 1
    return lines


def _told_weights(weights: tuple[Fraction, ...]) -> str:
    """Equal weights in a row as one run: ``1/9 of places 4-12``."""
    runs: list[tuple[int, int]] = []
    for place, weight in enumerate(weights):
        if runs and weights[runs[-1][0]] == weight:
            runs[-1] = (runs[-1][0], place)
        else:
            runs.append((place, place))
    told = [(weights[a], f"place {a}" if a == b else f"places {a}-{b}") for a, b in runs if weights[a]]
    return " + ".join(f"{weight} of {where}" for weight, where in told) + " in sorted order"


def _round_data(each: Round) -> dict[str, Any]:
    match each.score:
        case NearestSum(count):
            score: Any = {"nearest": count}
        case PivotDistance(pivot):
            score = {"pivot": pivot}
        case MeanDistance():
            score = "mean"
    extreme = "greatest" if each.greatest else "least"
    return {"keep" if each.keep else "drop": each.count, extreme: score}


def _round(data: Any) -> Round:
    given = _object(data, "a round")
    verb = "keep" if "keep" in given else "drop"
    extreme = "greatest" if "greatest" in given else "least"
    fields = _fields(given, "a round", {verb, extreme})
    return Round(_score(fields[extreme]), _count(fields[verb], verb), extreme == "greatest", verb == "keep")


def _score(data: Any) -> Score:
    if data == "mean":
        return MeanDistance()
    given = _object(data, "a score")
    if set(given) == {"nearest"}:
        return NearestSum(_count(given["nearest"], "nearest"))
    if set(given) == {"pivot"}:
        return PivotDistance(_count(given["pivot"], "pivot"))
    raise InputError(f'a score is "mean", {{"nearest": count}} or {{"pivot": worker}}, not {short(data)}')


def _weights(data: Any) -> tuple[Fraction, ...]:
    return tuple(fraction(weight, "weights") for weight in _list(data, "weights"))


def _object(data: Any, what: str) -> dict[str, Any]:
    if not isinstance(data, dict):
        raise InputError(f"{what} is a JSON object, not {short(data)}")
    return data


def _fields(data: Any, what: str, names: set[str]) -> dict[str, Any]:
    given = _object(data, what)
    if set(given) != names:
        raise InputError(f"{what} has the fields {', '.join(sorted(names))}, not {short(sorted(given))}")
    return given


def _list(data: Any, what: str) -> list[Any]:
    if not isinstance(data, list) or len(data) > MOST_WORKERS:
        raise InputError(f"{what} is a list of at most {MOST_WORKERS} items, not {short(data)}")
    return data


def _count(value: Any, what: str) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= MOST_WORKERS:
        raise InputError(f"{what} is a count up to {MOST_WORKERS}, not {short(value)}")
    return value
