"""Rules with a mistake in them, as people make them: plain NumPy, one matrix (n, d) at a time, f as an argument.

Each stands in ``BROKEN`` with an (n, f) and the claim that the rule it meant to be satisfies. None of these is a
straw man only: most are one character away from a correct rule.
"""

from __future__ import annotations

from . import geometric_medians, krums, medians, mixing, others, trimmed_means

BROKEN = {
    **trimmed_means.BROKEN,
    **medians.BROKEN,
    **krums.BROKEN,
    **mixing.BROKEN,
    **geometric_medians.BROKEN,
    **others.BROKEN,
}
