"""What a witness is: an input x and a set S that prove kappa* >= ratio, in rational numbers, as a JSON file.

    {"schema": "kappaguard-witness/1", "rule": "krum", "n": 3, "f": 1, "criterion": "trace", "subset": [1, 2],
     "x": [["0"], ["1/2"], ["1"]], "lower": "1", "upper": "1", "found_by": "...", "note": "..."}

Vectors are numbered from 0. ``lower`` and ``upper`` enclose the ratio of x and S; they are equal if the rule's output
is rational. A ratio is infinite ("inf") if S has no spread and the rule is wrong nonetheless.

A file may come from anywhere: see ``kappaguard.rules.base.untrusted``.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kappaguard.rules.base.checks import MOST_VECTORS
from kappaguard.rules.base.errors import InputError
from kappaguard.rules.base.files import write
from kappaguard.rules.base.untrusted import MOST_DIGITS, fraction, parse, read, short
from kappaguard.rules.ratio import CRITERIA

SCHEMA = "kappaguard-witness/1"
MOST_ENTRIES = 200_000
MOST_BOUND_DIGITS = 2_000
BITS_OF_A_DIGIT = 3.32
MOST_RECIPE = 1_000_000
MOST_CHARACTERS = 1_000
MOST_NOTE = 10_000

Bound = Fraction | float
"""A fraction, or infinity."""

_KEYS = {"schema", "rule", "n", "f", "criterion", "subset", "x", "lower", "upper", "found_by", "note"}


@dataclass(frozen=True)
class Witness:
    """An input and a set whose ratio lies between ``lower`` and ``upper``: kappa*(rule, n, f) >= lower."""

    rule: str
    n: int
    f: int
    criterion: str
    subset: tuple[int, ...]
    x: tuple[tuple[Fraction, ...], ...]
    lower: Bound
    upper: Bound
    found_by: str = ""
    note: str = ""

    def __post_init__(self) -> None:
        _check(self)

    @property
    def d(self) -> int:
        """The dimension of the vectors."""
        return len(self.x[0])

    @property
    def ratio(self) -> Bound | None:
        """The ratio if it is known exactly."""
        return self.lower if self.lower == self.upper else None

    def array(self) -> NDArray[Any]:
        """x as an array of exact fractions, of shape (n, d)."""
        result = np.empty((self.n, self.d), dtype=object)
        result[:] = [list(row) for row in self.x]
        return result

    def to_json(self) -> str:
        """The witness as JSON, one vector a line."""
        rows = ",\n    ".join(json.dumps([str(value) for value in row]) for row in self.x)
        fields = {
            "schema": json.dumps(SCHEMA),
            "rule": json.dumps(self.rule),
            "n": json.dumps(self.n),
            "f": json.dumps(self.f),
            "criterion": json.dumps(self.criterion),
            "subset": json.dumps(list(self.subset)),
            "x": f"[\n    {rows}\n  ]",
            "lower": json.dumps(str(self.lower)),
            "upper": json.dumps(str(self.upper)),
            "found_by": json.dumps(self.found_by),
            "note": json.dumps(self.note),
        }
        return "{\n" + ",\n".join(f'  "{key}": {value}' for key, value in fields.items()) + "\n}\n"

    @property
    def file_name(self) -> str:
        """A short name that differs for different content: rule, n, f and a hash."""
        slug = re.sub(r"[^a-z0-9]+", "-", self.rule.lower()).strip("-")[:40].strip("-") or "rule"
        return f"{slug}-n{self.n}-f{self.f}-{hashlib.sha256(self.to_json().encode()).hexdigest()[:10]}.json"

    def save(self, where: Path | str) -> Path:
        """Write the witness to a file, or to a folder under its own name; a reader never sees half of it."""
        path = Path(where)
        if path.is_dir():
            path = path / self.file_name
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            write(path, self.to_json())
        except OSError as error:
            raise InputError(f"cannot write {path}: {error.strerror}") from None
        return path


def fractions(x: NDArray[Any] | Sequence[Sequence[Any]]) -> tuple[tuple[Fraction, ...], ...]:
    """A matrix of floats, integers or fractions as the fractions that they are."""
    try:
        rows = x.tolist() if isinstance(x, np.ndarray) else x
        return tuple(tuple(Fraction(value) for value in row) for row in rows)
    except (OverflowError, ValueError, TypeError):
        raise InputError("a witness must hold finite numbers") from None


def load(path: Path | str) -> Witness:
    """The witness in a file."""
    text = read(path, "witness")
    try:
        return from_json(text)
    except InputError as error:
        raise InputError(f"{Path(path)} is not a witness: {error}") from None


def from_json(text: str) -> Witness:
    """The witness that a JSON text describes."""
    data = parse(text)
    if data.get("schema") != SCHEMA:
        raise InputError(f"its schema is not {SCHEMA!r} but {short(data.get('schema'))}")
    for key in sorted(_KEYS - data.keys()):
        raise InputError(f"{key!r} is missing")
    for key in sorted(data.keys() - _KEYS):
        raise InputError(f"{short(key)} is not a part of a witness")
    return Witness(
        rule=data["rule"],
        n=data["n"],
        f=data["f"],
        criterion=data["criterion"],
        subset=tuple(_items(data["subset"], "subset")),
        x=_matrix(_items(data["x"], "x")),
        lower=_bound(data["lower"], "lower"),
        upper=_bound(data["upper"], "upper"),
        found_by=data["found_by"],
        note=data["note"],
    )


def _check(witness: Witness) -> None:
    longest = MOST_RECIPE if str(witness.rule).startswith("{") else MOST_CHARACTERS
    for name, limit in (("rule", longest), ("criterion", 100), ("found_by", MOST_NOTE), ("note", MOST_NOTE)):
        value = getattr(witness, name)
        if not isinstance(value, str) or len(value) > limit:
            raise InputError(f"{name!r} must be a text of at most {limit} characters")
    if not witness.rule.strip():
        raise InputError("'rule' is empty")
    if witness.criterion not in CRITERIA:
        raise InputError(f"no criterion is called {short(witness.criterion)}; there are {', '.join(CRITERIA)}")
    n, f = witness.n, witness.f
    for name, count in (("n", n), ("f", f)):
        if isinstance(count, bool) or not isinstance(count, int):
            raise InputError(f"{name!r} must be an integer, got {short(count)}")
    if not 1 <= n <= MOST_VECTORS or not 0 <= f < n:
        raise InputError(f"n must be between 1 and {MOST_VECTORS} and f between 0 and n - 1, got n = {n}, f = {f}")
    if len(witness.x) != n:
        raise InputError(f"x must have n = {n} vectors, it has {len(witness.x)}")
    if len({len(row) for row in witness.x}) != 1 or not witness.x[0]:
        raise InputError("the vectors of x must have the same number of coordinates, at least one")
    if n * witness.d > MOST_ENTRIES:
        raise InputError(f"x may have {MOST_ENTRIES} entries, it has {n * witness.d}")
    if not all(isinstance(value, Fraction) for row in witness.x for value in row):
        raise InputError("the entries of x must be fractions")
    if any(isinstance(index, bool) or not isinstance(index, int) for index in witness.subset):
        raise InputError("'subset' must hold indices")
    if sorted(set(witness.subset)) != list(witness.subset):
        raise InputError("'subset' must be in increasing order, without repetition")
    if len(witness.subset) != n - f or not 0 <= witness.subset[0] <= witness.subset[-1] < n:
        raise InputError(f"'subset' must hold n - f = {n - f} indices between 0 and {n - 1}")
    if any(_bits(value) > MOST_DIGITS * BITS_OF_A_DIGIT for row in witness.x for value in row):
        raise InputError(f"the entries of x may have {MOST_DIGITS} digits; round them")
    for bound in (witness.lower, witness.upper):
        if not isinstance(bound, Fraction) and bound != math.inf:
            raise InputError("a bound on the ratio must be a fraction or infinite")
        if _bits(bound) > MOST_BOUND_DIGITS * BITS_OF_A_DIGIT:
            raise InputError(f"a bound on the ratio may have {MOST_BOUND_DIGITS} digits; round the entries of x")
    if not 0 <= witness.lower <= witness.upper:
        raise InputError("the bounds on the ratio must satisfy 0 <= lower <= upper")


def _bits(value: Bound) -> int:
    return max(value.numerator.bit_length(), value.denominator.bit_length()) if isinstance(value, Fraction) else 0


def _items(value: object, name: str) -> list[Any]:
    if not isinstance(value, list) or len(value) > MOST_VECTORS:
        raise InputError(f"{name!r} must be a list of at most {MOST_VECTORS} items")
    return value


def _matrix(rows: list[Any]) -> tuple[tuple[Fraction, ...], ...]:
    if not all(isinstance(row, list) for row in rows):
        raise InputError("'x' must be a list of lists")
    if sum(len(row) for row in rows) > MOST_ENTRIES:
        raise InputError(f"x may have {MOST_ENTRIES} entries, it has {sum(len(row) for row in rows)}")
    return tuple(tuple(fraction(value, "x") for value in row) for row in rows)


def _bound(text: object, name: str) -> Bound:
    # the ratio has more digits than the entries, so a bound may have more as well
    if text == "inf":
        return math.inf
    try:
        return fraction(text, name, MOST_BOUND_DIGITS)
    except InputError:
        raise InputError(f'{name!r} must be a fraction as a text or "inf", got {short(text)}') from None
