"""The sections of a dossier: each file has ``compute(plan)``, which returns what JSON can hold."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

from kappaguard.reports.dossier.plan import Plan

SECTIONS = ("health", "grid", "breakdown", "dimension", "mixing", "happens", "training", "cost")
"""In the order of the page; the last is timed, and runs when nothing else does."""
GRACE = 60.0


def section(name: str) -> tuple[Callable[[Plan], dict[str, Any]], Callable[[Plan], float]]:
    """What computes a section, and how many seconds it may take."""
    module = import_module(f"kappaguard.reports.dossier.sections.{name}")
    return module.compute, module.seconds
