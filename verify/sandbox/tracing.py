"""Tracing a rule by name, in a process of its own; an object is traced here."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from kappaguard.rules.errors import InputError
from kappaguard.rules.recipe.trace.code import TracedCode
from kappaguard.verify.sandbox.run import Limits, ask
from kappaguard.verify.traced import from_text, trace_here


def traced(rule: str | Callable[..., Any], n: int, f: int, limits: Limits | None = None) -> TracedCode:
    """The recipe of a rule that is code; ``Untraceable`` if there is none, InputError if the code does not run."""
    if not isinstance(rule, str):
        return trace_here(rule, n, f)
    limits = limits or Limits()
    request = json.dumps({"task": "trace", "rule": rule, "n": n, "f": f, "memory": limits.memory})
    report = ask(request, limits)
    if report.text is None:
        raise InputError(f"{rule}: {report.trouble}")
    return from_text(report.text, rule, n)
