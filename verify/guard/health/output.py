"""A vector of d floats of the input's precision comes back: not None, not a list, not fewer digits."""

from __future__ import annotations

from kappaguard.verify.guard.finding import Check, HealthFinding
from kappaguard.verify.guard.health.inputs import plain
from kappaguard.verify.judge.judgement import Floats
from kappaguard.verify.judge.rounding import DOUBLE
from kappaguard.verify.judge.subject import Subject

DTYPES = {2.0**-23: "float32", 2.0**-10: "float16", 2.0**-7: "bfloat16"}


def _look(subject: Subject) -> HealthFinding | None:
    x = plain(subject.n, 3)
    subject(x)
    if subject.epsilon > DOUBLE:
        dtype = DTYPES[subject.epsilon]
        what = f"what comes out has, or was decided in, the precision of {dtype}"
        return CHECK.warn(f"float64 goes in, and {what}: it is judged by that", x)
    return _other_type(subject, x)


def _other_type(subject: Subject, x: Floats) -> HealthFinding | None:
    """What is taken for a vector of floats, and is none."""
    try:
        returned = subject.raw(subject.private(x))
    except (Exception, SystemExit):
        # it returned a vector just before: another check asks for the same output twice
        return None
    if isinstance(returned, list | tuple):
        return CHECK.warn(f"a {type(returned).__name__} of numbers comes out, not an array: it is taken as float64", x)
    kind = str(getattr(returned, "dtype", "float64")).rpartition(".")[2]
    if "int" in kind:
        return CHECK.warn(f"float64 goes in and {kind} comes out: it is taken as float64", x)
    return None


CHECK = Check("output", "Does a vector of the right length and precision come back?", _look)
