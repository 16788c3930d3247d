"""A rule that forks comes back twice: the copy must not go on as if it were the caller."""

from __future__ import annotations

import os


def end_copy(process: int) -> None:
    """End this process if it is not the one that called the rule."""
    if os.getpid() != process:
        os._exit(0)
