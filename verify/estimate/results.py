"""What ``kappaguard estimate`` stores and prints as JSON, and what the report reads again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import kappaguard
from kappaguard.verify.estimate.result import Estimate

SCHEMA = "kappaguard-estimate/1"


def as_results(results: Sequence[Estimate], command: str) -> dict[str, Any]:
    """One object: the request, and every rule under every attack."""
    first = results[0]
    return {
        "schema": SCHEMA,
        "version": kappaguard.__version__,
        "command": command,
        "source": first.source,
        "n": first.n,
        "f": first.f,
        "criterion": first.criterion,
        "seed": first.seed,
        "subsets": first.subsets,
        "independent": first.independent,
        "estimates": [each.to_json() for each in results],
    }
