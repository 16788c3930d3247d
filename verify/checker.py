"""Checks a certificate: a proof, in exact rational arithmetic, that kappa* of a rule is at most a number.

The file says which rule, n, f and upper bound, and for every cell the multipliers. The checker lists the cells
itself from the definition of the rule (a missing one is a gap in the proof, an extra one a sign of tampering) and
lets the rule's module in ``certified`` rebuild the inequalities and verify the multipliers. It imports no solver,
no search and no rule.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from kappaguard.verify.certified import gm, krum, mda, multikrum, nnm_mda, ordered
from kappaguard.verify.certified.rejected import Rejected, demand

SCHEMA = "kappaguard-certificate/1"
MOST_CHARACTERS = 50_000_000
MOST_WORKERS = 100_000
KEYS = {"schema", "rule", "n", "f", "criterion", "upper", "cells"}
_NUMBER = re.compile(r"-?\d{1,2000}(/\d{1,2000})?", re.ASCII)


@dataclass(frozen=True)
class Checked:
    """What was proved: kappa* of the rule at (n, f) is at most ``upper``."""

    rule: str
    n: int
    f: int
    upper: Fraction
    cells: int


def check(text: str) -> Checked:
    """What a certificate proves; ``Rejected`` if it proves nothing."""
    demand(len(text) <= MOST_CHARACTERS, "the file is too large")
    try:
        data = json.loads(text, object_pairs_hook=_once)
    except (ValueError, RecursionError):
        raise Rejected("not JSON") from None
    demand(isinstance(data, dict) and data.get("schema") == SCHEMA, f"not of the schema {SCHEMA}")
    demand(set(data) == KEYS, f"the keys must be {sorted(KEYS)}")
    demand(data.get("criterion") == "trace", "only the criterion trace is certified")
    n, f, rule, upper = (data.get(name) for name in ("n", "f", "rule", "upper"))
    demand(type(n) is int and type(f) is int and 0 < n <= MOST_WORKERS and 0 <= 2 * f < n, "n and f are out of range")
    kappa = number(upper)
    demand(kappa >= 0, "upper is negative")
    demand(isinstance(rule, str) and rule in RULES, f"no rule {rule!r} is certified")
    cells = data.get("cells")
    demand(isinstance(cells, list), "cells is not a list")
    return Checked(rule, n, f, kappa, RULES[rule](n, f, kappa, cells))


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object in which no key comes twice."""
    result = dict(pairs)
    demand(len(result) == len(pairs), "a key comes twice")
    return result


def number(text: Any) -> Fraction:
    """A fraction from its text."""
    demand(isinstance(text, str) and _NUMBER.fullmatch(text) is not None, f"not a fraction: {str(text)[:40]!r}")
    top, _, bottom = text.partition("/")
    demand(not bottom or int(bottom) != 0, "a fraction divides by zero")
    return Fraction(int(top), int(bottom or 1))


def _each(cells: list[Any], expected: set[Any], what: str, prove: Callable[[Any, Any], None]) -> int:
    """Every expected cell exactly once, each proved."""
    seen = set()
    for cell in cells:
        demand(isinstance(cell, dict) and set(cell) == {"cell", what}, f"a cell needs exactly cell and {what}")
        demand(isinstance(cell["cell"], list), "the key of a cell is not a list")
        demand(all(type(part) in (int, str) for part in cell["cell"]), "the key of a cell is malformed")
        key = tuple(cell["cell"])
        demand(key in expected and key not in seen, f"{key} is not a cell, or comes twice")
        seen.add(key)
        try:
            prove(key, cell[what])
        except Rejected as fault:
            raise Rejected(f"cell {key}: {fault}") from None
    demand(seen == expected, f"{len(expected - seen)} cells are missing, such as {next(iter(expected - seen), None)}")
    return len(seen)


def _multipliers(given: Any) -> dict[str, Fraction]:
    demand(isinstance(given, dict), "multipliers is not an object")
    return {name: number(value) for name, value in given.items()}


def _by_multipliers(module: Any, *covers: tuple[Any, Any]) -> Callable[[int, int, Fraction, list[Any]], int]:
    """Any of the covers, each a way to list all cells and to count them, will do."""

    def prove(n: int, f: int, kappa: Fraction, cells: list[Any]) -> int:
        def one(key: Any, given: Any) -> None:
            module.check(n, f, key, _multipliers(given), kappa)

        # counted before they are listed: a short file must not ask for a long list
        needed = {count(n, f): listed for listed, count in ((module.cells, module.count), *covers)}
        demand(len(cells) in needed, f"{' or '.join(map(str, needed))} cells are needed, {len(cells)} are given")
        return _each(cells, needed[len(cells)](n, f), "multipliers", one)

    return prove


def _by_order(rule: str) -> Callable[[int, int, Fraction, list[Any]], int]:
    def prove(n: int, f: int, kappa: Fraction, cells: list[Any]) -> int:
        def one(key: Any, given: Any) -> None:
            demand(isinstance(given, list), "runs is not a list")
            demand(
                all(isinstance(run, list) and len(run) == 2 and type(run[0]) is int for run in given), "a run is bad"
            )
            ordered.check(rule, n, f, key, [(count, number(value)) for count, value in given], kappa)

        return _each(cells, ordered.cells(rule, f), "runs", one)

    return prove


def _by_proof(n: int, f: int, kappa: Fraction, cells: list[Any]) -> int:
    demand(not cells, "the proof for gm has no cells")
    gm.check(n, f, kappa)
    return 0


RULES: dict[str, Callable[[int, int, Fraction, list[Any]], int]] = {
    "cwtm": _by_order("cwtm"),
    "cwmed": _by_order("cwmed"),
    "meamed": _by_order("meamed"),
    "gm": _by_proof,
    "krum": _by_multipliers(krum),
    "mda": _by_multipliers(mda),
    "multikrum": _by_multipliers(multikrum, (multikrum.divided_cells, multikrum.divided_count)),
    "nnm+mda": _by_multipliers(nnm_mda),
}
