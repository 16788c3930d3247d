"""The smallest n for this f, and a single vector: the rule works or refuses. The claim is for another n: it warns."""

from __future__ import annotations

import numpy as np

from kappaguard.rules.base.errors import InputError
from kappaguard.verify.guard.finding import Check, HealthFinding
from kappaguard.verify.guard.health.inputs import gap
from kappaguard.verify.judge.judgement import Failed
from kappaguard.verify.judge.subject import Subject

FAR = 1000.0


def _look(subject: Subject) -> HealthFinding | None:
    if subject.trusted is not None:
        # the Byzantine vectors stand first or last, and one of them may be who is trusted
        return None
    for n, f in ((1, 0), (2 * subject.f + 1, subject.f)):
        try:
            other = subject.at(n, f)
        except InputError:
            continue
        if other is None:
            continue
        for first in (True,) if subject.brief else (True, False):
            x = np.ones((n, 1))
            x[:f] = 1 + FAR
            x = x if first else x[::-1].copy()
            try:
                output = other(x)
            except InputError:
                continue
            except Failed as failed:
                # an exception and None are ways to refuse
                if f and not any(word in str(failed) for word in ("raised", "None")):
                    return CHECK.warn(f"at n = {n}, f = {f} it {failed}", x)
                continue
            if gap(output, np.ones(1)) > float(other.tolerance(1)) * FAR * 2:
                honest = "the honest vectors are all 1" if f else "the only vector is 1"
                return CHECK.warn(f"at n = {n}, f = {f} {honest} and the result is {output[0]:.6g}", x)
    return None


CHECK = Check("smallest", "Does the smallest n for this f work, or get refused?", _look)
