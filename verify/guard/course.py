"""One check into one claim: known witnesses first, then health, then what is known already, then a search.

What is known: for a rule of ours a proof, if there is one; for others the worst inputs of rules that we know. A rule
that takes long sees these inputs before its health is looked at. One that takes NumPy arrays and torch tensors is
judged as both.

The first input that refutes the claim, and does so again when the rule is called again, ends it. Everything that is
told comes from the judge, not from the finder. How hard to try is counted in evaluations, so that the same request has
the same verdict on every machine; a clock only ends what takes too long, and then the verdict is ``unfinished``, with
all that was found by then.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from kappaguard.rules.base.errors import InputError, OutOfTime
from kappaguard.rules.foreign.adapted import Adapted
from kappaguard.rules.witness import Bound, Witness
from kappaguard.verify.guard.backends import on_tensors, tensors_differ
from kappaguard.verify.guard.claim_check import Begin, ClaimCheck, Finder, Keep, Known
from kappaguard.verify.guard.claimed import claimed
from kappaguard.verify.guard.finding import MOST_CHARACTERS, HealthFinding
from kappaguard.verify.guard.health import examine, zero_variance
from kappaguard.verify.guard.known import judgements
from kappaguard.verify.guard.verdict import Verdict
from kappaguard.verify.judge.judgement import Failed, Judgement
from kappaguard.verify.judge.repeated import repeated
from kappaguard.verify.judge.subject import HEADROOM, Subject, subject_of

NODES = 300
"""Of the tree of decisions of traced code: a few seconds; ``kappaguard exact`` takes more."""
WAVERING = ("determinism", "statelessness", "faults", "purity")
"""Findings with which code is no function of its input, and so has no recipe."""
MOVES, MOVE = 12, 1e-9
"""Small changes of a worst input, and how large they are: a float rule may break a tie the other way."""


def check_claim(
    claim_check: ClaimCheck,
    known: Known = (),
    begin: Begin = lambda phase: None,
    finder: Finder | None = None,
    keep: Keep = lambda draft: None,
) -> Verdict:
    """The verdict on a claim; ``begin`` is told each phase, ``keep`` what is found so far, ``finder`` is the search
    unless another is given."""
    start = time.perf_counter()
    begin("the first call")
    stated = claimed(claim_check.rule, claim_check.n, claim_check.f, claim_check.claim)
    name = claim_check.rule if isinstance(claim_check.rule, str) else "the rule"
    draft = Verdict(name, claim_check.n, claim_check.f, stated.expression, stated.bound, "open", "")
    course = None
    try:
        subject = subject_of(
            claim_check.rule, claim_check.n, claim_check.f, tolerance=claim_check.tolerance, rotates=claim_check.rotates
        )
        course = Course(
            claim_check,
            subject,
            replace(draft, rule=subject.name, called=subject.called),
            begin,
            keep,
            finder or _search(),
        )
        course.run(known)
    except OutOfTime:
        found = course.draft if course is not None else draft
        verdict = replace(found, verdict="unfinished", reason="the check was not finished", trouble="out of time")
    else:
        verdict = course.draft
    if course is not None and course.subject.inexact:
        verdict = _with(verdict, _exactness(course.subject, verdict.lower))
    effort = replace(verdict.effort, seconds=time.perf_counter() - start, seed=claim_check.seed)
    return replace(verdict, effort=effort)


class Course:
    """A check of a claim on its way: ``draft`` is what it has so far."""

    def __init__(
        self, claim_check: ClaimCheck, subject: Subject, draft: Verdict, begin: Begin, keep: Keep, finder: Finder
    ) -> None:
        self.claim_check, self.subject, self.begin, self.keep, self.finder = claim_check, subject, begin, keep, finder
        self.draft = draft

    def run(self, known: Known) -> None:
        """Phase after phase, until the claim is settled."""
        phases: list[Callable[[], None]] = [lambda: self._replay(known)]
        if self.subject.is_builtin:
            phases += [self._health, self._prove]
        else:
            phases += [self._known, self._health] if self.subject.brief else [self._health, self._known]
            phases += [self._tensors, self._traced]
        for phase in (*phases, self._search):
            phase()
            self.keep(self.draft)
            if self.draft.verdict != "open":
                return

    def _change(self, **changes: Any) -> None:
        self.draft = replace(self.draft, **changes)

    def _find(self, finding: HealthFinding) -> None:
        self.draft = _with(self.draft, finding)

    def _refute(self, judgement: Judgement, reason: str) -> bool:
        """Refute the claim if the violation repeats, and say so if it does not do so always."""
        again = repeated(judgement, self.subject, self.draft.bound)
        if again.words is not None:
            self._find(HealthFinding("determinism", False, again.words))
        if again.judgement is None:
            return False
        self._conclude(again.judgement, reason, again.words is None)
        return True

    def _conclude(self, judgement: Judgement, reason: str, reproducible: bool = True) -> None:
        found = {"lower": judgement.witness.lower, "witness": judgement.witness, "output": judgement.output}
        self._change(verdict="refuted", reason=reason, reproducible=reproducible, **found)

    def _spent(self, evaluations: int, *adversaries: str) -> None:
        effort = self.draft.effort
        both = (*effort.adversaries, *(name for name in adversaries if name not in effort.adversaries))
        self._change(effort=replace(effort, evaluations=effort.evaluations + evaluations, adversaries=both))

    def _replay(self, known: Known) -> None:
        """Every known witness judged again: the worst that still violates, or all of them fixed."""
        self.begin("the known witnesses")
        fixed: list[str] = []
        worst: tuple[Bound, str, Judgement] | None = None
        for name, witness in known:
            judgement = self.subject.judge(witness)
            if judgement.ratio <= self.draft.bound:
                fixed.append(name)
                continue
            again = repeated(judgement, self.subject, self.draft.bound)
            if again.words is not None:
                self._find(HealthFinding("determinism", False, again.words))
            if again.judgement is not None and (worst is None or again.judgement.ratio > worst[0]):
                worst = again.judgement.ratio, name, again.judgement
        self._change(fixed=tuple(fixed))
        if worst is not None:
            self._conclude(worst[2], f"the known witness {worst[1]} still violates it")
            self._change(violating=worst[1])

    def _health(self) -> None:
        def tell(finding: HealthFinding) -> None:
            self._find(finding)
            self.keep(self.draft)

        health = examine(self.subject, self.draft.bound, lambda check: self.begin(f"the health check {check}"), tell)
        for finding in health.findings:
            self._find(finding)
        if health.judgement is not None:
            check = next(finding.check for finding in health.findings if finding.refutes)
            self._conclude(health.judgement, f"the health check {check} refutes it", health.reproducible)

    def _prove(self) -> None:
        """What exact kappa* says; it has nothing to say about some rules."""
        from kappaguard.verify.judge.exact import exact

        self.begin("exact kappa*")
        try:
            result = exact(self.subject.name, self.claim_check.n, self.claim_check.f, brief=True)
        except InputError:
            return
        self._change(lower=result.lower, upper=result.upper, witness=result.witness)
        self._spent(result.stats.evaluations, "exact")
        if result.upper is not None and result.upper <= self.draft.bound:
            self._change(verdict="proved", reason=f"kappa* <= {float(result.upper):.6g} is certified")
        elif result.witness is not None and result.lower > self.draft.bound:
            self._conclude(self.subject.judge(result.witness), "exact kappa* exceeds it")

    def _traced(self) -> None:
        """What exact kappa* says about the recipe that can be traced from the code, if one can."""
        from kappaguard.rules.recipe.trace.code import trace
        from kappaguard.rules.recipe.trace.refusal import Untraceable
        from kappaguard.verify.guard.diff import resembles
        from kappaguard.verify.judge.traced import exact_of, said

        rule = self.subject.rule
        if not isinstance(rule, Adapted):
            return
        wavering = [finding.check for finding in self.draft.findings if finding.check in WAVERING]
        if wavering or self.subject.inexact:
            reason = (
                f"its health: {', '.join(sorted(set(wavering)))}" if wavering else "it is exact to a tolerance only"
            )
            self._change(traced=f"not traced: {reason}")
            return
        self.begin("tracing the code")
        try:
            traced = trace(rule, self.claim_check.n, brief=self.subject.brief)
            result = exact_of(traced, self.claim_check.f, nodes=NODES)
        except Untraceable as refused:
            alike = None if self.subject.brief else resembles(rule, self.claim_check.n, self.claim_check.f)
            self._change(traced=f"not traced: {refused}" + (f"; it {alike}" if alike is not None else ""))
            return
        self._change(traced=said(traced, self.claim_check.f), about=result.scope)
        self._spent(result.stats.evaluations, "exact")
        if result.witness is not None:
            for worst in self._on_code(result.witness):
                if self._settle(worst):
                    self._change(reason="a worst input of the recipe traced from it refutes it")
                    return
        if result.upper is not None and result.upper <= self.draft.bound:
            reason = f"kappa* <= {float(result.upper):.6g} is certified for {self.draft.traced}"
            self._change(verdict="proved", reason=reason, upper=result.upper, certificate=result.certificate)
        elif result.upper is not None:
            self._change(upper=result.upper, certificate=result.certificate)

    def _on_code(self, witness: Witness) -> Iterator[Judgement]:
        """A worst input of the recipe, judged on the code: as it is, and with ties moved a little."""
        x = np.array([[float(value) for value in row] for row in witness.x])
        size = float(np.max(np.abs(x))) or 1.0
        generator = np.random.default_rng(self.claim_check.seed)
        for place in range(MOVES):
            moved = x + (size * MOVE * generator.standard_normal(x.shape) if place else 0.0)
            try:
                yield self.subject.judge(self.subject.witness(moved, witness.subset, "exact program"))
            except InputError:
                return

    def _known(self) -> None:
        """The worst of the worst inputs of known rules; for a rule that takes long, the first beyond the claim."""
        self.begin("the worst inputs of known rules")
        found: list[Judgement] = []
        for judgement in judgements(self.subject):
            found.append(judgement)
            self._spent(1)
            if self.subject.brief and judgement.ratio > self.draft.lower:
                self._settle(judgement)
                self.keep(self.draft)
                if self.draft.verdict != "open":
                    return
        if found:
            self._spent(0, "known worst inputs")
        for worst in sorted(found, key=lambda judgement: judgement.ratio, reverse=True):
            if self._settle(worst) or worst.ratio <= self.draft.bound:
                return

    def _settle(self, judgement: Judgement) -> bool:
        """Take a judgement for what it is: a violation, or a lower bound."""
        if judgement.ratio > self.draft.bound:
            return self._refute(judgement, f"the input {judgement.witness.found_by!r} refutes it")
        if self.draft.witness is None or judgement.ratio > self.draft.lower:
            self._change(lower=judgement.ratio, witness=judgement.witness, output=judgement.output)
        return False

    def _tensors(self) -> None:
        """The same on torch tensors, if the rule takes these as well: health where it refutes, and known inputs."""
        self.begin("the same on torch tensors")
        other = on_tensors(self.subject)
        if other is None:
            return
        said = tensors_differ(self.subject, other)
        if said is not None:
            self._find(HealthFinding("backends", False, said))
        arrays, self.subject = self.subject, other
        try:
            look = zero_variance.CHECK.look(other)
            if look is not None and look.example is not None and look.example.subset is not None:
                witness = other.witness(look.example.array, look.example.subset, "health check zero-variance")
                self._settle(other.judge(witness))
            if self.draft.verdict == "open" and not other.brief:
                self._known()
        except Failed as failed:
            self._find(HealthFinding("backends", False, f"on torch tensors the rule {failed}"[:MOST_CHARACTERS]))
        finally:
            self.subject = arrays
        if self.draft.verdict == "refuted":
            self._change(reason=f"on torch tensors {self.draft.reason}")

    def _search(self) -> None:
        self.begin("the search")
        claim_check, subject = self.claim_check, self.subject
        result = self.finder(
            subject.rule if not isinstance(claim_check.rule, str) else claim_check.rule,
            claim_check.n,
            claim_check.f,
            evaluations=claim_check.evaluations,
            seed=claim_check.seed,
            target=self.draft.bound,
            **({} if claim_check.tolerance is None else {"tolerance": claim_check.tolerance}),
        )
        if result.stats.interrupted and not result.stats.timed_out:
            # the search keeps what it has; a check that the user stopped has no verdict
            raise KeyboardInterrupt
        self._spent(result.stats.evaluations, *result.stats.adversaries)
        if result.stats.fault is not None:
            said = f"the search met {result.stats.faults} inputs on which the rule {result.stats.fault}"
            self._find(HealthFinding("faults", False, said[:MOST_CHARACTERS]))
        if result.witness is not None:
            judgement = subject.judge(replace(result.witness, rule=subject.name))
            was_beyond = not subject.is_builtin and result.witness.lower > self.draft.bound
            if judgement.ratio > self.draft.bound or (was_beyond and judgement.witness.lower <= self.draft.bound):
                if self._refute(judgement, "the search found an input beyond it"):
                    return
            elif self.draft.witness is None or judgement.ratio > self.draft.lower:
                self._change(lower=judgement.ratio, witness=judgement.witness, output=judgement.output)
        if result.stats.timed_out:
            raise OutOfTime
        random = any(finding.message.startswith("not deterministic: the violation") for finding in self.draft.findings)
        said = "an input beyond it was found, and did not repeat" if random else "no input beyond it was found"
        self._change(reason=said)


def _with(draft: Verdict, finding: HealthFinding) -> Verdict:
    """With one more finding, unless it is there already."""
    return draft if finding in draft.findings else replace(draft, findings=(*draft.findings, finding))


def _exactness(subject: Subject, lower: Bound) -> HealthFinding:
    """What a rule that iterates is exact to, and what its kappa* is when that is allowed."""
    allowed = subject.inexact
    bound = "infinite" if lower == float("inf") else f">= {float(lower):.4g}"
    said = (
        f"exact to {allowed:.0e} relative; with that tolerance kappa* {'is ' if bound == 'infinite' else ''}{bound}; "
        f"--tolerance {HEADROOM * allowed:.0e} says that this is meant"
    )
    return HealthFinding("precision", False, said)


def _search() -> Finder:
    from kappaguard.verify.judge.search import search

    return search
