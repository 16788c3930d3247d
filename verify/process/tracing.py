"""Tracing a rule by name, in a process of its own; an object is traced here."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from kappaguard.rules.base.checks import require_seconds
from kappaguard.rules.base.errors import InputError
from kappaguard.rules.recipe.trace.code import TracedCode
from kappaguard.verify.judge.traced import from_text, trace_here
from kappaguard.verify.process.run import RAISE, Limits, ask


def limits_of(timeout: float | None) -> Limits:
    """The limits of a trace that may take so many seconds; the usual ones without a number."""
    if timeout is None:
        return Limits()
    require_seconds(timeout, "--timeout")
    return Limits(seconds=timeout)


def traced(rule: str | Callable[..., Any], n: int, f: int, limits: Limits | None = None) -> TracedCode:
    """The recipe of a rule that is code; ``Untraceable`` if there is none, InputError if the code does not run."""
    if not isinstance(rule, str):
        return trace_here(rule, n, f)
    limits = limits or Limits()
    request = json.dumps({"task": "trace", "rule": rule, "n": n, "f": f, "memory": limits.memory})
    report = ask(request, limits)
    if report.text is None:
        raise InputError(f"{rule}: {report.trouble}".replace(RAISE, "--timeout raises this limit"))
    return from_text(report.text, rule, n)
