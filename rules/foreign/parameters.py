"""Which arguments a foreign function or constructor wants: found in its signature, filled from n and f."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from kappaguard.rules.base.errors import InputError

BYZANTINE_COUNT = frozenset(
    {
        "f",
        "n_byzantine",
        "nb_byzantine",
        "num_byzantine",
        "number_of_byzantine",
        "n_malicious",
        "num_malicious",
        "num_malicious_clients",
        "num_malicious_nodes",
        "n_byz",
        "nbyz",
        "num_byz",
        "byzantine_count",
        "n_adversaries",
        "num_adversaries",
        "n_attackers",
        "num_attackers",
        "n_faulty",
        "num_faulty",
        "trim_number",
    }
)
"""What other libraries call f."""

ROW_COUNT = frozenset({"n", "n_clients", "n_workers", "nb_workers", "num_clients", "num_nodes", "num_workers"})
"""What other libraries call n; filled in only where the parameter has no default, since `n` may mean much else."""

Derived = Mapping[str, Callable[[int, int], Any]]
"""Parameters of a peer that follow from (n, f)."""

NO_DERIVED: Derived = {}


@dataclass(frozen=True)
class Wanted:
    """What was asked for: the name to report, f, n if known, the seed, options, and whether a pre-aggregation."""

    name: str
    f: int
    n: int | None = None
    seed: int = 0
    options: Mapping[str, Any] = field(default_factory=dict)
    pre: bool = False

    def without(self, *names: str) -> dict[str, Any]:
        """The options meant for the peer: all but those ``names`` that the adapter itself takes."""
        return {key: value for key, value in self.options.items() if key not in names}

    @property
    def trial_rows(self) -> int:
        """A number of rows for which the rule ought to be constructible: n, or one that every known rule allows."""
        return self.n if self.n is not None else 4 * self.f + 3


def one_line(error: BaseException) -> str:
    """The type of an error and the first line of its message, if it has one that can be had."""
    try:
        message = str(error).strip().splitlines()
    except Exception:
        message = []
    return f"{type(error).__name__}: {message[0]}" if message else type(error).__name__


def signature(target: Callable[..., Any]) -> inspect.Signature | None:
    """The signature of ``target``; None for compiled functions that do not tell."""
    return _signature_of_function(target) if inspect.isfunction(target) else _signature(target)


def _signature(target: Callable[..., Any]) -> inspect.Signature | None:
    try:
        return inspect.signature(target)
    except (TypeError, ValueError):
        return None


_signature_of_function = functools.lru_cache(maxsize=64)(_signature)


def bind(
    target: Callable[..., Any],
    name: str,
    rows: int,
    f: int,
    options: Mapping[str, Any],
    *,
    derived: Derived = NO_DERIVED,
    vectors: int = 0,
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The arguments of ``target`` after its first ``vectors`` ones, as positional and keyword arguments.

    A parameter is filled from ``options``, else from ``derived``, else with f or n if it is called so, else left at
    its default. One that stays empty, and an option that nobody takes, are errors of the request.
    """
    described = signature(target)
    if described is None:
        return (), dict(options)
    parameters = list(described.parameters.values())[vectors:]
    named = [parameter for parameter in parameters if parameter.kind not in VARIADIC]
    takes_any = any(parameter.kind is inspect.Parameter.VAR_KEYWORD for parameter in parameters)
    unknown = sorted(set(options) - {parameter.name for parameter in named})
    if unknown and not takes_any:
        known = ", ".join(parameter.name for parameter in named) or "none"
        raise InputError(f"{name} does not take the option {', '.join(unknown)}; its parameters: {known}")
    positional: list[Any] = []
    keywords = {key: options[key] for key in unknown}
    missing = []
    for parameter in named:
        value = _value(parameter, rows, f, options, derived)
        if value is inspect.Parameter.empty:
            missing.append(parameter.name)
        elif parameter.kind is inspect.Parameter.POSITIONAL_ONLY:
            positional.append(value)
        elif value is not parameter.default:
            keywords[parameter.name] = value
    if missing:
        example = ", ".join(f"{parameter}=..." for parameter in missing)
        counted = (
            f", or {name}(f={missing[0]!r}) if that is the number of Byzantine vectors" if len(missing) == 1 else ""
        )
        raise InputError(f"{name} needs a value for {', '.join(missing)}: write {name}({example}){counted}")
    return tuple(positional), keywords


VARIADIC = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)


def _value(parameter: inspect.Parameter, rows: int, f: int, options: Mapping[str, Any], derived: Derived) -> Any:
    if parameter.name in options:
        return options[parameter.name]
    if parameter.name in derived:
        return derived[parameter.name](rows, f)
    if parameter.name in BYZANTINE_COUNT:
        return f
    if parameter.name in ROW_COUNT and parameter.default is inspect.Parameter.empty:
        return rows
    return parameter.default


def listed(names: Iterable[str], limit: int = 30) -> str:
    """Names for a message, cut off where it would become unreadable."""
    ordered = sorted(names)
    return ", ".join(ordered[:limit]) + (", ..." if len(ordered) > limit else "") if ordered else "nothing"
