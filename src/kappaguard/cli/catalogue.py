"""The built-in rules and pre-aggregations, as the commands show them."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from dataclasses import MISSING, Field, dataclass, fields
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from kappaguard.rules.base.rule import PreAggregation, Rule


@dataclass(frozen=True)
class RuleEntry:
    """One rule or pre-aggregation: its definition in one line and, for a rule, the coefficient that is claimed."""

    name: str
    kind: Literal["rule", "pre"]
    parameters: tuple[str, ...]
    coefficient: str | None
    source: str | None
    definition: str


def entries() -> Iterator[RuleEntry]:
    """Rules first, then pre-aggregations, each in the order in which they are registered."""
    from kappaguard.rules.names import PRE_AGGREGATIONS, RULES

    for name, rule in RULES.items():
        claimed = rule.coefficient
        expression, source = (claimed.expression, claimed.source) if claimed is not None else (None, None)
        yield RuleEntry(name, "rule", _parameters(rule), expression, source, _definition(rule))
    for name, pre in PRE_AGGREGATIONS.items():
        yield RuleEntry(name, "pre", _parameters(pre), None, None, _definition(pre))


def _parameters(kind: type[Rule] | type[PreAggregation]) -> tuple[str, ...]:
    # Both are abstract in their types and dataclasses in every instance, which the type checker cannot know.
    return tuple(_parameter(field) for field in fields(kind) if field.init)  # type: ignore[arg-type]


def _parameter(field: Field[object]) -> str:
    return field.name if field.default is MISSING else f"{field.name}={field.default!r}"


def _definition(kind: type) -> str:
    return (inspect.getdoc(kind) or "").partition("\n")[0]
