"""A rule under examination at one (n, f): how it is called, and what an input proves about it.

A rule that returns no finite vector of the right length for a finite input satisfies no bound there: its ratio is
infinite, and the witness says in its note what was seen instead.
"""

from __future__ import annotations

import dataclasses
import math
import os
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kappaguard.rules.base.arrays import Array
from kappaguard.rules.base.checks import require_setting
from kappaguard.rules.base.errors import InputError, RuleFault
from kappaguard.rules.base.rule import Rule, Traits, trusted_by
from kappaguard.rules.foreign.adapted import Adapted, Guarded
from kappaguard.rules.foreign.callables import PlainCall
from kappaguard.rules.foreign.convert import as_numpy, in_form
from kappaguard.rules.foreign.forks import end_copy
from kappaguard.rules.foreign.parameters import one_line
from kappaguard.rules.foreign.seeding import seeded
from kappaguard.rules.foreign.single_object import reseeded, with_single_object
from kappaguard.rules.foreign.styles import PLAIN
from kappaguard.rules.names import rule as rule_named
from kappaguard.rules.witness import Witness, fractions
from kappaguard.verify.judge.judgement import Failed, Floats, Judgement
from kappaguard.verify.judge.median import Ball
from kappaguard.verify.judge.precision import RANGES, SLOW, Precision, measure
from kappaguard.verify.judge.replay import NO_VECTOR, bounds, evaluate, method_for
from kappaguard.verify.judge.rounding import LOST, ratio_beyond_rounding, tolerance_for

MOST_CHARACTERS = 500
HEADROOM = 2
"""How many times what a rule was measured to be exact to it may be off."""


@dataclass(frozen=True)
class Subject:
    """A rule, the (n, f) at hand, and how exactly it computes.

    ``precision`` is what was measured of its floats and its iterations; ``allowed`` is the relative error that the user
    allows instead.
    """

    spec: str | Callable[..., Any]
    rule: Callable[[Any], Any]
    n: int
    f: int
    precision: Precision = field(default_factory=Precision)
    allowed: Fraction | None = None
    rotates: bool = False

    @property
    def epsilon(self) -> float:
        """Of the floats that it computes in."""
        return self.precision.epsilon

    @property
    def inexact(self) -> float:
        """What the rule is exact to, relative to the largest entry, if that is more than rounding and not allowed."""
        return self.precision.inexact if self.allowed is None else 0.0

    @property
    def brief(self) -> bool:
        """Whether one call takes so long that only few can be asked for."""
        return self.precision.pace > SLOW

    @property
    def name(self) -> str:
        """What the rule is called in reports and witnesses."""
        if isinstance(self.rule, Rule):
            return self.rule.label
        return self.rule.name if isinstance(self.rule, Guarded) else str(self.spec)

    @property
    def called(self) -> str | None:
        """How somebody's code is called, in words, if not with one array."""
        run = self.rule.run if isinstance(self.rule, Guarded) else None
        unusual = isinstance(run, PlainCall) and (run.style not in PLAIN or run.method is not None)
        return run.describe() if unusual and isinstance(run, PlainCall) else None

    @property
    def is_builtin(self) -> bool:
        """Whether the rule is one of ours."""
        return isinstance(self.rule, Rule)

    @property
    def traits(self) -> Traits:
        """What is expected of the rule: its own traits if it has any, all but rotation otherwise."""
        if isinstance(self.rule, Rule):
            return self.rule.traits
        return Traits(rational=False, rotates=self.rotates)

    @property
    def trusted(self) -> int | None:
        """A worker that the adversary cannot be: only sets S with it count."""
        return trusted_by(self.rule)

    @property
    def in_floats(self) -> bool:
        """Whether only the rule's float output is known, rounding and all."""
        return method_for(self.rule) == "float"

    def __call__(self, x: Floats) -> Floats:
        """The output for one finite (n, d) matrix; ``Failed`` if it is not a finite vector."""
        try:
            return np.asarray(as_numpy(self.rule(x)), dtype=np.float64)
        except RuleFault as fault:
            raise Failed(x, fault.detail) from None

    def raw(self, x: Array, seed: int = 0) -> Any:
        """What the rule itself makes of x, which it may change; whatever it raises is raised."""
        with seeded(seed), warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            if not isinstance(self.rule, Guarded):
                return self.rule(x)
            process = os.getpid()
            try:
                return (reseeded(self.rule, seed) if seed else self.rule).run(x)
            finally:
                end_copy(process)

    def outcome(self, x: Floats, seed: int = 0) -> Floats:
        """``raw`` on a private copy, as a vector of floats; ``Failed`` if it is none."""
        try:
            output = np.asarray(as_numpy(self.raw(self.private(x), seed)), dtype=np.float64)
        except (Exception, SystemExit) as error:
            raise Failed(x, f"raised {one_line(error)}") from None
        if output.shape != x.shape[1:] or not np.all(np.isfinite(output)):
            raise Failed(x, "returned no finite vector of the right length")
        return output

    def private(self, x: Floats) -> Array:
        """A copy of x in the form that the rule is handed."""
        return in_form(x, self.rule.form) if isinstance(self.rule, Guarded) else x.copy()

    def lasting(self) -> Subject:
        """The same with one object for all calls."""
        return dataclasses.replace(self, rule=with_single_object(self.rule)) if isinstance(self.rule, Adapted) else self

    def at(self, n: int, f: int) -> Subject | None:
        """The same rule for another (n, f); None if it cannot be had: an object has its f built in."""
        if f != self.f and not isinstance(self.spec, str):
            return None
        rule = self.rule if f == self.f else rule_named(self.spec, f=f)
        return dataclasses.replace(self, rule=rule, n=n, f=f)

    def tolerance(self, d: int) -> Fraction:
        """The error that its float output is allowed, relative to the largest entry: rounding, what it was measured to
        be exact to, or what the user says."""
        if self.allowed is not None:
            return self.allowed
        return max(tolerance_for(self.n, d, self.epsilon), HEADROOM * Fraction(self.inexact))

    def comfortable(self, x: Floats) -> bool:
        """Whether no square or sum of entries leaves the range of the floats that the rule computes in."""
        return float(np.max(np.abs(x))) <= 2.0 ** RANGES[self.epsilon]

    def witness(self, x: NDArray[Any], subset: Sequence[int], found_by: str, note: str = "") -> Witness:
        """An input and a set, not judged yet."""
        return Witness(
            self.name, self.n, self.f, "trace", tuple(subset), fractions(x), Fraction(0), math.inf, found_by, note
        )

    def judge(self, witness: Witness, returned: Floats | None = None) -> Judgement:
        """What the input and the set of a witness prove, whatever is recorded in it; nothing without who is trusted.

        ``returned`` is what a rule on floats has made of the input already: one that draws may return something else
        if it is called again.
        """
        if self.trusted is not None and self.trusted not in witness.subset:
            return Judgement(Fraction(0), dataclasses.replace(witness, lower=Fraction(0), upper=math.inf))
        if not self.in_floats:
            lower, upper = evaluate(self.rule, witness)
            shown = self(np.array(witness.array(), dtype=np.float64))
            return Judgement(lower, dataclasses.replace(witness, lower=lower, upper=upper), tuple(shown.tolist()))
        try:
            x = np.array([[float(value) for value in row] for row in witness.x])
        except OverflowError:
            raise InputError("an entry of x is too large for a float, and this rule runs on floats only") from None
        try:
            returned = self(x) if returned is None else returned
        except Failed as failed:
            if not self.comfortable(x):
                # infinity from numbers too large for its floats says nothing about a rule of real numbers
                return Judgement(Fraction(0), dataclasses.replace(witness, lower=Fraction(0), upper=math.inf))
            note = f"{NO_VECTOR}the rule {failed}"[:MOST_CHARACTERS]
            return Judgement(math.inf, dataclasses.replace(witness, lower=math.inf, upper=math.inf, note=note))
        rows, output = fractions(x), fractions(returned[None])[0]
        lower, upper = bounds(Ball(output, Fraction(0)), rows, witness)
        tolerance = self.tolerance(witness.d)
        limit = max(LOST, tolerance) if self.allowed is None else None
        beyond = ratio_beyond_rounding(output, rows, witness.subset, tolerance, limit)
        settled = dataclasses.replace(witness, lower=lower, upper=upper)
        return Judgement(min(lower, beyond), settled, tuple(returned.tolist()))


def subject_of(
    spec: str | Callable[..., Any],
    n: int,
    f: int,
    *,
    tolerance: Fraction | None = None,
    rotates: bool = False,
) -> Subject:
    """The rule that ``spec`` names or is, ready to be examined; InputError if it does not run at (n, f) at all."""
    require_setting(n, f)
    if tolerance is not None and not 0 <= tolerance < 1:
        raise InputError(f"the tolerance must be at least 0 and less than 1, got {float(tolerance):g}")
    built = rule_named(spec, f=f)
    if isinstance(built, Guarded) and not isinstance(built, Adapted):
        raise InputError(f"{built.name} is a pre-aggregation: a rule must follow")
    return Subject(spec, built, n, f, measure(built, n, f), tolerance, rotates)
