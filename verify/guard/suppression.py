"""Findings that somebody expects: health checks suppressed by name, with a reason that stands beside the verdict.

What refutes a claim is never suppressed: that is no opinion about a rule, but an input on which the claim is false.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from kappaguard.rules.base.errors import InputError
from kappaguard.verify.guard.verdict import Verdict

OTHERS = ("precision", "faults", "conduct", "backends")
"""Findings of the measurement, the search, the process and the comparison with tensors, which are no checks."""
MOST_REASON = 500


def suppression(given: Any) -> tuple[tuple[str, str], ...]:
    """Pairs of check and reason, from ``{check = reason}``; InputError if there is no such check, or no reason."""
    if not isinstance(given, Mapping):
        raise InputError('suppress is a table of checks with reasons, as in suppress = { rotation = "by coordinates" }')
    if not given:
        return ()
    from kappaguard.verify.guard.health import CHECKS

    names = [*(check.name for check in CHECKS), *OTHERS]
    for name, reason in given.items():
        if name not in names:
            near = difflib.get_close_matches(str(name), names, 1)
            hint = f"did you mean {near[0]}?" if near else f"there are {', '.join(names)}"
            raise InputError(f"no health check is called {str(name)[:60]!r}; {hint}")
        if not isinstance(reason, str) or not reason.strip() or len(reason) > MOST_REASON:
            raise InputError(f"to suppress {name} takes a reason, in at most {MOST_REASON} characters")
    return tuple(given.items())


def without(verdict: Verdict, suppress: tuple[tuple[str, str], ...]) -> Verdict:
    """The verdict without the findings that are suppressed; what was suppressed and why stays in it."""
    reasons = dict(suppress)
    hidden = [each for each in verdict.findings if each.check in reasons and not each.refutes]
    if not hidden:
        return verdict
    left = tuple(each for each in verdict.findings if each not in hidden)
    names = dict.fromkeys(each.check for each in hidden)
    return replace(verdict, findings=left, suppressed=tuple((name, reasons[name]) for name in names))
