"""What the guard says about one rule at one (n, f): proved, refuted with a witness, open with how hard it tried, or
unfinished."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Literal, get_args

from kappaguard.rules.base.errors import InputError
from kappaguard.rules.base.untrusted import fraction
from kappaguard.rules.witness import Bound, Witness, from_json
from kappaguard.verify.guard.finding import HealthFinding, finding_from_data

Word = Literal["proved", "refuted", "open", "unfinished"]
MOST_DIGITS = 20_000
"""Of a bound that another process tells us."""


@dataclass(frozen=True)
class Spent:
    """How hard a check tried: adversaries, evaluations and seconds."""

    seconds: float = 0.0
    evaluations: int = 0
    seed: int = 0
    adversaries: tuple[str, ...] = ()


@dataclass(frozen=True)
class Verdict:
    """The verdict on the claim kappa* <= bound, with everything that speaks for it.

    ``lower`` is the ratio of the witness, and ``output`` what the rule returned for it. While the claim is open and the
    rule runs in floats, ``lower`` is what remains of the ratio when rounding is allowed for. ``fixed`` names the known
    witnesses that no longer violate, ``violating`` the one that still does, ``rejected`` files that are no witnesses.
    ``trouble`` says why the check could not be finished: the verdict is then ``unfinished`` unless it was refuted
    before, and ``failure`` that the fault is ours. ``reproducible`` is False for a violation that a random rule shows
    in some calls only, and ``unsaved`` says why a witness was not saved. With ``strict`` every finding counts;
    ``suppressed`` has the checks whose findings were expected, and why;
    ``called`` says how somebody's code is called, if not with one array. For
    somebody's code ``traced`` says in a line what it does, or why it could not be traced; a proof then comes with its
    ``certificate`` and with its own ``about``: the recipe, the dimensions, what was assumed.
    """

    rule: str
    n: int
    f: int
    claim: str
    bound: Fraction
    verdict: Word
    reason: str
    lower: Bound = Fraction(0)
    upper: Bound | None = None
    witness: Witness | None = None
    output: tuple[float, ...] | None = None
    findings: tuple[HealthFinding, ...] = ()
    effort: Spent = field(default=Spent(), compare=False)
    fixed: tuple[str, ...] = ()
    violating: str | None = None
    trouble: str | None = None
    path: str | None = None
    rejected: tuple[str, ...] = ()
    failure: bool = False
    reproducible: bool = True
    unsaved: str | None = None
    strict: bool = False
    traced: str | None = None
    certificate: str | None = None
    about: str | None = None
    suppressed: tuple[tuple[str, str], ...] = ()
    called: str | None = None

    @property
    def holds(self) -> bool:
        """Whether the claim stands: it was proved, or not refuted by a check that was finished, and nothing was found
        if every finding counts."""
        return self.verdict in ("proved", "open") and not (self.strict and self.findings)

    def to_json(self) -> str:
        """For another process: exact numbers, the witness as its own text."""
        data = {
            "rule": self.rule,
            "n": self.n,
            "f": self.f,
            "claim": self.claim,
            "bound": str(self.bound),
            "verdict": self.verdict,
            "reason": self.reason,
            "lower": str(self.lower),
            "upper": None if self.upper is None else str(self.upper),
            "witness": None if self.witness is None else self.witness.to_json(),
            "output": None if self.output is None else list(self.output),
            "findings": [finding.to_data() for finding in self.findings],
            "effort": [
                self.effort.seconds,
                self.effort.evaluations,
                self.effort.seed,
                list(self.effort.adversaries),
            ],
            "fixed": list(self.fixed),
            "violating": self.violating,
            "trouble": self.trouble,
            "reproducible": self.reproducible,
            "traced": self.traced,
            "certificate": self.certificate,
            "about": self.about,
            "called": self.called,
        }
        return json.dumps(data, allow_nan=False)


def verdict_from_json(text: str) -> Verdict:
    """The verdict that ``to_json`` wrote; InputError if it is none."""
    try:
        data = json.loads(text)
        if data["verdict"] not in get_args(Word):
            raise ValueError(data["verdict"])
        seconds, evaluations, seed, adversaries = data["effort"]
        return Verdict(
            rule=str(data["rule"]),
            n=int(data["n"]),
            f=int(data["f"]),
            claim=str(data["claim"]),
            bound=fraction(data["bound"], "bound", MOST_DIGITS),
            verdict=data["verdict"],
            reason=str(data["reason"]),
            lower=_bound(data["lower"]),
            upper=None if data["upper"] is None else _bound(data["upper"]),
            witness=None if data["witness"] is None else from_json(data["witness"]),
            output=None if data["output"] is None else tuple(float(value) for value in data["output"]),
            findings=tuple(finding_from_data(finding) for finding in data["findings"]),
            effort=Spent(float(seconds), int(evaluations), int(seed), tuple(map(str, adversaries))),
            fixed=tuple(map(str, data["fixed"])),
            violating=None if data["violating"] is None else str(data["violating"]),
            trouble=None if data["trouble"] is None else str(data["trouble"])[:MOST_DIGITS],
            reproducible=data["reproducible"] is True,
            traced=None if data["traced"] is None else str(data["traced"])[:MOST_DIGITS],
            certificate=None if data["certificate"] is None else str(data["certificate"]),
            about=None if data["about"] is None else str(data["about"])[:MOST_DIGITS],
            called=None if data.get("called") is None else str(data["called"])[:MOST_DIGITS],
        )
    except (KeyError, TypeError, ValueError, RecursionError, OverflowError, ZeroDivisionError) as error:
        raise InputError(f"not a verdict: {type(error).__name__}") from None


def number(value: Any) -> float | str | None:
    """A number as JSON has it: a float, an infinite one as a text, None as null."""
    if value is None:
        return None
    try:
        seen = float(value)
    except OverflowError:
        seen = math.inf
    return seen if math.isfinite(seen) else str(seen)


def _bound(text: str) -> Bound:
    return math.inf if text == "inf" else fraction(text, "bound", MOST_DIGITS)
