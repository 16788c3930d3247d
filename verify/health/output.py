"""A vector of d floats of the input's precision comes back: not None, not a list, not fewer digits."""

from __future__ import annotations

from kappaguard.verify.health.finding import Check, Finding
from kappaguard.verify.health.inputs import plain
from kappaguard.verify.rounding import DOUBLE
from kappaguard.verify.subject import Subject

DTYPES = {2.0**-23: "float32", 2.0**-10: "float16", 2.0**-7: "bfloat16"}


def _look(subject: Subject) -> Finding | None:
    x = plain(subject.n, 3)
    subject(x)
    if subject.epsilon > DOUBLE:
        dtype = DTYPES[subject.epsilon]
        return CHECK.warn(f"float64 goes in and {dtype} comes out: rounding is judged by {dtype}", x)
    return None


CHECK = Check("output", "Does a vector of the right length and precision come back?", _look)
