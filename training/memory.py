"""Whether a run fits into the machine's memory: told before it begins, where the system would only kill it later."""

from __future__ import annotations

import os

from kappaguard.rules.base.errors import InputError


def require_memory(needed: float, what: str) -> None:
    """So many bytes must be less than all of this machine's memory, where the system tells how much that is."""
    try:
        total = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return
    if needed > total:
        raise InputError(f"not enough memory: {what} need {needed / 1e9:.3g} GB, and there are {total / 1e9:.3g}")
