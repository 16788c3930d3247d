"""Numbers of examples: what clients say that they have, and rules to which they say it.

The number is 1 for everybody unless ``num_examples`` (one number, or one per row) says otherwise: what an attacker
reports is the attacker's choice.
"""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from kappaguard.rules.base.errors import InputError
from kappaguard.rules.foreign.parameters import signature
from kappaguard.rules.grammar import parse

Counts = int | tuple[int, ...]

OPTION = "num_examples"
PARAMETERS = (OPTION, "weights")
"""What a parameter is called that takes the numbers of examples, one per row; filled in only if it has no default."""


def counted(value: int | Sequence[int]) -> Counts:
    """``num_examples`` as one whole number or a tuple of them."""
    try:
        counts = value if isinstance(value, int) else tuple(int(count) for count in value)
    except (TypeError, ValueError):
        raise InputError(f"num_examples is a whole number or one per row, not {value!r}") from None
    if min((counts,) if isinstance(counts, int) else counts, default=0) < 0:
        raise InputError(f"num_examples must not be negative, got {value!r}")
    return counts


def per_row(counts: Counts, rows: int) -> tuple[int, ...]:
    """The number of every row."""
    each = (counts,) * rows if isinstance(counts, int) else counts
    if len(each) != rows:
        raise InputError(f"num_examples has {len(each)} entries for n={rows} rows")
    return each


def parameters_for(function: Callable[..., Any], counts: Counts) -> dict[str, Callable[[int, int], Any]]:
    """The parameters of a function that take the numbers of examples, with their values by n and f."""
    described = signature(function)
    # the first one takes the vectors, whatever it is called
    given = [] if described is None else list(described.parameters.values())[1:]
    wanted = [each.name for each in given if each.name in PARAMETERS and each.default is inspect.Parameter.empty]
    return {name: lambda rows, f: np.array(per_row(counts, rows)) for name in wanted}


def takes_counts(rule: Callable[..., Any]) -> bool:
    """Whether an adapted rule is told numbers of examples."""
    run = getattr(rule, "run", None)
    return hasattr(run, "counts") and getattr(run, "tells_counts", True)


def with_counts(rule: Any, counts: Counts) -> Any:
    """The same rule, told other numbers of examples."""
    return dataclasses.replace(rule, run=dataclasses.replace(rule.run, counts=counts), recipe=None)


def named_with_counts(spec: str, counts: Sequence[int]) -> str:
    """The name of a rule with the numbers of examples among its options."""
    stage = parse(spec)
    options = {**stage.options, OPTION: tuple(counts)}
    return f"{stage.where}:{stage.attribute}({', '.join(f'{name}={value!r}' for name, value in options.items())})"
