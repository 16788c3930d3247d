"""Checks a certificate: a proof, in exact rational arithmetic, that kappa* of a rule is at most a number.

A certificate of the second schema holds a recipe and a tree of decisions, see ``kappaguard.verify.judge``. Of the first
schema only that of gm is still made, whose proof needs no numbers; others were for tables of cells that are gone.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from kappaguard.rules.base.errors import InputError
from kappaguard.rules.names import parse, written
from kappaguard.rules.recipe.recipe import Recipe
from kappaguard.verify.judge import gm
from kappaguard.verify.judge.certificate import SCHEMA, check_tree
from kappaguard.verify.judge.numbers import number
from kappaguard.verify.judge.rejected import Rejected, demand

OLD_SCHEMA = "kappaguard-certificate/1"
MOST_CHARACTERS = 400_000_000
MOST_WORKERS = 100_000
KEYS = {"schema", "rule", "n", "f", "criterion", "upper", "cells"}


@dataclass(frozen=True)
class Checked:
    """What was proved: kappa* of the rule at (n, f) is at most ``upper``.

    For a rule that is somebody's code, kappa* of the recipe that was traced from it; ``origin`` is the code's hash.
    """

    rule: str
    n: int
    f: int
    upper: Fraction
    cells: int
    origin: str | None = None


def check(text: str) -> Checked:
    """What a certificate proves; ``Rejected`` if it proves nothing."""
    demand(len(text) <= MOST_CHARACTERS, "the file is too large")
    try:
        data = json.loads(text, object_pairs_hook=_once)
    except (ValueError, RecursionError):
        raise Rejected("not JSON") from None
    demand(isinstance(data, dict), "not an object")
    if data.get("schema") == SCHEMA:
        recipe, f, upper, leaves = check_tree(data)
        return Checked(data["rule"], recipe.n, f, upper, leaves, _origin(data, recipe, f))
    demand(data.get("schema") == OLD_SCHEMA, f"not of the schema {SCHEMA}")
    demand(set(data) == KEYS, f"the keys must be {sorted(KEYS)}")
    rule, n, f, upper = (data.get(name) for name in ("rule", "n", "f", "upper"))
    demand(
        rule == "gm", f"made by an older version; run kappaguard exact {str(rule)[:40]} -n {str(n)[:9]} -f {str(f)[:9]}"
    )
    demand(data.get("criterion") == "trace", "only the criterion trace is certified")
    demand(type(n) is int and type(f) is int and 0 < n <= MOST_WORKERS and 0 <= 2 * f < n, "n and f are out of range")
    demand(data.get("cells") == [], "the proof for gm has no cells")
    gm.check(n, f, number(upper))
    return Checked(rule, n, f, number(upper), 0)


def _origin(data: dict[str, Any], recipe: Recipe, f: int) -> str | None:
    """The hash of the code that a recipe was traced from; a recipe of our own must be that of the rule it names."""
    rule, origin = data["rule"], data["origin"]
    if origin is not None:
        demand(isinstance(origin, dict) and set(origin) == {"rule", "sha256"}, "origin has a rule and its sha256")
        demand(origin["rule"] == rule and isinstance(origin["sha256"], str), "the origin is another rule's")
        demand(re.fullmatch("[0-9a-f]{64}", origin["sha256"]) is not None, "the hash of the code is none")
        return str(origin["sha256"])
    try:
        named = written(rule) if rule.startswith("{") else parse(rule, f)
        own = named.recipe(recipe.n)
    except InputError:
        raise Rejected("no rule of ours has this name, and no code is named as the origin of the recipe") from None
    demand(own == recipe, f"the recipe is not that of {rule[:60]}")
    return None


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object in which no key comes twice."""
    result = dict(pairs)
    demand(len(result) == len(pairs), "a key comes twice")
    return result
