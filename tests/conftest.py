"""What holds for all tests: they do not know whether a workflow runs them."""

from __future__ import annotations

import os

for name in ("GITHUB_ACTIONS", "KAPPAGUARD_BUDGET", "KAPPAGUARD_SEED", "CI", "BUILD_NUMBER"):
    os.environ.pop(name, None)
