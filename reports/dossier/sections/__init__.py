"""The sections of a dossier: each file has ``compute(plan)``, which returns what JSON can hold."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

from kappaguard.reports.dossier.plan import Plan

SECTIONS = ("health", "recipe", "grid", "breakdown", "dimension", "mixing", "happens", "training", "cost")
"""In the order of the page; the last is timed, and runs when nothing else does."""
TOGETHER = ("training", "recipe", "grid", "dimension", "mixing", "breakdown")
"""Those that may run at the same time, the longest first."""


def section(name: str) -> Callable[[Plan], dict[str, Any]]:
    """What computes a section."""
    compute: Callable[[Plan], dict[str, Any]] = import_module(f"kappaguard.reports.dossier.sections.{name}").compute
    return compute
