"""One inquiry into one claim: known witnesses first, then health, then what is known already, then a search.

What is known: for a rule of ours a proof, if there is one; for others the inputs of known lower bounds.

The first input that refutes the claim, and does so again when the rule is called again, ends it. Everything that is
told comes from the judge, not from the finder.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from kappaguard.rules.errors import InputError
from kappaguard.rules.witness import Bound, Witness
from kappaguard.search.result import KappaResult
from kappaguard.verify.claimed import Claimed, claimed
from kappaguard.verify.health import examine
from kappaguard.verify.health.finding import MOST_CHARACTERS, Finding
from kappaguard.verify.judgement import Judgement
from kappaguard.verify.repeated import NOT_REPEATED, repeated
from kappaguard.verify.subject import Subject, subject
from kappaguard.verify.verdict import Effort, Verdict

BUDGET = 3.0
"""Seconds of search; with it a grid of 8 rules and 3 (n, f) takes under two minutes on two cores."""

Finder = Callable[..., KappaResult]
Known = Sequence[tuple[str, Witness]]
Begin = Callable[[str], None]


@dataclass(frozen=True)
class Inquiry:
    """What is to be found out, and how hard to try."""

    rule: str | Callable[..., Any]
    n: int
    f: int
    claim: str | float | Fraction | None = None
    budget: float = BUDGET
    seed: int = 0
    tolerance: Fraction | None = None
    rotates: bool = False


def inquire(
    inquiry: Inquiry, known: Known = (), begin: Begin = lambda phase: None, finder: Finder | None = None
) -> Verdict:
    """The verdict on a claim; ``begin`` is told each phase, ``finder`` is the search unless another is given."""
    start = time.perf_counter()
    begin("the first call")
    stated = claimed(inquiry.rule, inquiry.n, inquiry.f, inquiry.claim)
    under = subject(inquiry.rule, inquiry.n, inquiry.f, tolerance=inquiry.tolerance, rotates=inquiry.rotates)
    draft = Verdict(under.name, inquiry.n, inquiry.f, stated.expression, stated.bound, "open", "")
    verdict = _phases(inquiry, under, stated, draft, known, begin, finder)
    effort = replace(verdict.effort, seconds=time.perf_counter() - start, seed=inquiry.seed)
    return replace(verdict, effort=effort)


def _phases(
    inquiry: Inquiry,
    under: Subject,
    stated: Claimed,
    draft: Verdict,
    known: Known,
    begin: Begin,
    finder: Finder | None,
) -> Verdict:
    begin("the known witnesses")
    draft = _replayed(under, draft, known)
    if draft.verdict == "refuted":
        return draft
    health = examine(under, stated.bound, lambda check: begin(f"the health check {check}"))
    for finding in health.findings:
        draft = _with(draft, finding)
    if health.judgement is not None:
        check = next(finding.check for finding in health.findings if finding.refutes)
        return _refuted(draft, health.judgement, f"the health check {check} refutes it")
    if under.is_builtin:
        begin("exact kappa*")
        draft = _proved(inquiry, under, draft)
        if draft.verdict != "open":
            return draft
    else:
        begin("the inputs of known lower bounds")
        draft = _extremal(under, draft)
        if draft.verdict != "open":
            return draft
    begin("the search")
    return _searched(inquiry, under, draft, finder)


def _with(draft: Verdict, finding: Finding) -> Verdict:
    """With one more finding, unless it is there already."""
    return draft if finding in draft.findings else replace(draft, findings=(*draft.findings, finding))


def _unrepeated(draft: Verdict) -> Verdict:
    return _with(draft, Finding("determinism", False, NOT_REPEATED))


def _refuted(draft: Verdict, judgement: Judgement, reason: str) -> Verdict:
    found = replace(draft, lower=judgement.witness.lower, witness=judgement.witness, output=judgement.output)
    return replace(found, verdict="refuted", reason=reason)


def _replayed(under: Subject, draft: Verdict, known: Known) -> Verdict:
    """Every known witness judged again: the worst that still violates, or all of them fixed."""
    fixed: list[str] = []
    worst: tuple[Bound, str, Judgement] | None = None
    for name, witness in known:
        judgement = under.judge(witness)
        if judgement.ratio <= draft.bound:
            fixed.append(name)
            continue
        again = repeated(judgement, under, draft.bound)
        if again is None:
            draft = _unrepeated(draft)
        elif worst is None or again.ratio > worst[0]:
            worst = again.ratio, name, again
    draft = replace(draft, fixed=tuple(fixed))
    if worst is None:
        return draft
    refuted = _refuted(draft, worst[2], f"the known witness {worst[1]} still violates it")
    return replace(refuted, violating=worst[1])


def _proved(inquiry: Inquiry, under: Subject, draft: Verdict) -> Verdict:
    """What exact kappa* says; it has nothing to say about some rules."""
    from kappaguard.verify.exact import exact

    try:
        result = exact(under.name, inquiry.n, inquiry.f)
    except InputError:
        return draft
    draft = replace(draft, lower=result.lower, upper=result.upper, witness=result.witness)
    draft = replace(draft, effort=Effort(evaluations=result.stats.evaluations, adversaries=("exact",)))
    if result.upper is not None and result.upper <= draft.bound:
        return replace(draft, verdict="proved", reason=f"kappa* <= {float(result.upper):.6g} is certified")
    if result.witness is not None and result.lower > draft.bound:
        return _refuted(draft, under.judge(result.witness), "exact kappa* exceeds it")
    return draft


def _extremal(under: Subject, draft: Verdict) -> Verdict:
    """The worst of the inputs of known lower bounds."""
    from kappaguard.verify.known import judged

    found = judged(under)
    if not found:
        return draft
    draft = replace(draft, effort=Effort(evaluations=len(found), adversaries=("known lower bounds",)))
    for worst in sorted(found, key=lambda judgement: judgement.ratio, reverse=True):
        if worst.ratio <= draft.bound:
            return replace(draft, lower=worst.ratio, witness=worst.witness, output=worst.output)
        again = repeated(worst, under, draft.bound)
        if again is not None:
            return _refuted(draft, again, f"the input {worst.witness.found_by!r} refutes it")
        draft = _unrepeated(draft)
    return draft


def _searched(inquiry: Inquiry, under: Subject, draft: Verdict, finder: Finder | None) -> Verdict:
    result = (finder or _search())(
        under.rule if not isinstance(inquiry.rule, str) else inquiry.rule,
        inquiry.n,
        inquiry.f,
        budget=inquiry.budget,
        seed=inquiry.seed,
        target=draft.bound,
        **({} if inquiry.tolerance is None else {"tolerance": inquiry.tolerance}),
    )
    if result.stats.interrupted:
        # the search keeps what it has; a check that the user stopped has no verdict
        raise KeyboardInterrupt
    effort = Effort(
        evaluations=draft.effort.evaluations + result.stats.evaluations,
        adversaries=(*draft.effort.adversaries, *result.stats.adversaries),
    )
    draft = replace(draft, effort=effort)
    if result.stats.fault is not None:
        said = f"the search met {result.stats.faults} inputs on which the rule {result.stats.fault}"
        draft = replace(draft, findings=(*draft.findings, Finding("faults", False, said[:MOST_CHARACTERS])))
    if result.witness is not None:
        judgement = under.judge(replace(result.witness, rule=under.name))
        if judgement.ratio > draft.bound:
            again = repeated(judgement, under, draft.bound)
            if again is not None:
                return _refuted(draft, again, "the search found an input beyond it")
            draft = _unrepeated(draft)
        elif not under.is_builtin and result.witness.lower > draft.bound >= judgement.witness.lower:
            # it was beyond the claim when the search called the rule
            draft = _unrepeated(draft)
        elif draft.witness is None or judgement.ratio > draft.lower:
            draft = replace(draft, lower=judgement.ratio, witness=judgement.witness, output=judgement.output)
    if any(finding.message == NOT_REPEATED for finding in draft.findings):
        return replace(draft, reason="an input beyond it was found, and did not repeat")
    return replace(draft, reason="no input beyond it was found")


def _search() -> Finder:
    from kappaguard.verify.lower import search

    return search


def conduct(printed: str, forks: int) -> tuple[Finding, ...]:
    """What a rule did besides returning a vector."""
    found = []
    lines = [line for line in printed.splitlines() if line.strip()]
    if lines:
        found.append(Finding("conduct", False, f"it printed {len(lines)} lines, the first: {lines[0].strip()[:200]}"))
    if forks:
        found.append(Finding("conduct", False, f"it forked {forks} times"))
    return tuple(found)
