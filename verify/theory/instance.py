"""Instances: data that refute a statement which is not about one ratio.

    {"schema": "kappaguard-instance/1", "claim": "bucketing-variance", "s": 3, "x": ["0", "1", "5"]}

The claim knows how to compute both sides of its statement from the data alone (``Claim.sides``), in exact arithmetic;
``kappaguard replay`` does that and nothing else.
"""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

from kappaguard.rules.base.errors import InputError
from kappaguard.rules.base.untrusted import fraction, parse, read, short
from kappaguard.verify.theory.claim import Claim, Finding, Method, Sides

SCHEMA = "kappaguard-instance/1"
MOST_NUMBERS = 1000

Record = dict[str, Any]


def record(claim: str, **data: Any) -> Record:
    """An instance as a file holds it."""
    return {"schema": SCHEMA, "claim": claim, **data}


def refuted(methods: tuple[Method, ...], sides: Sides, detail: str, instance: Record) -> Finding:
    """The finding that an instance is one."""
    return Finding(
        "refuted", methods, float(sides.computed), float(sides.stated), detail, sides.relation, witness=instance
    )


def evaluate(path: Path | str) -> tuple[Claim, Sides]:
    """The claim that an instance in a file speaks of, and both sides of its statement there."""
    from kappaguard.verify.theory.registry import claims

    text = read(path, "instance")
    try:
        data = parse(text)
        if data.get("schema") != SCHEMA:
            raise InputError(f"its schema is not {SCHEMA!r} but {short(data.get('schema'))}")
        found = {claim.name: claim for claim in claims() if claim.sides is not None}
        claim = found.get(data["claim"]) if isinstance(data.get("claim"), str) else None
        if claim is None or claim.sides is None:
            raise InputError(f"no claim with instances is called {short(data.get('claim'))}")
        return claim, claim.sides(data)
    except InputError as error:
        raise InputError(f"{Path(path)} is not an instance: {error}") from None


def integer(data: Record, key: str, least: int, most: int = MOST_NUMBERS) -> int:
    """A whole number of an instance."""
    value = data.get(key)
    if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
        raise InputError(f"{key!r} must be an integer between {least} and {most}, got {short(value)}")
    return value


def numbers(data: Record, key: str) -> list[Fraction]:
    """A list of fractions of an instance."""
    values = data.get(key)
    if not isinstance(values, list) or not 1 <= len(values) <= MOST_NUMBERS:
        raise InputError(f"{key!r} must be a list of 1 to {MOST_NUMBERS} fractions")
    return [fraction(value, key) for value in values]
