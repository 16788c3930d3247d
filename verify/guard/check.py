"""The guard: is the claim on kappa* of a rule proved, refuted or open? For scripts, tests and the command line alike.

A rule of another library or of a file, given by name, is run in a process of its own with limits on time and memory.
An object (a closure, a fixture, an instance) cannot be sent there: it is run in this process, without these limits.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

from kappaguard.rules.base.checks import require_count, require_setting
from kappaguard.rules.base.errors import InputError
from kappaguard.rules.base.rule import Rule
from kappaguard.rules.foreign.adapted import Guarded
from kappaguard.rules.foreign.importing import require_file
from kappaguard.rules.foreign.resolve import label
from kappaguard.rules.grammar import parse as parse_spec
from kappaguard.rules.grammar import split_pipeline
from kappaguard.rules.names import is_code, is_recipe, parse, written
from kappaguard.rules.witness import Witness
from kappaguard.verify.guard.claim_check import EVALUATIONS, ClaimCheck, Finder
from kappaguard.verify.guard.claimed import require_domain
from kappaguard.verify.guard.store import FOLDER, keep, stored
from kappaguard.verify.guard.suppression import suppression, without
from kappaguard.verify.guard.verdict import Verdict
from kappaguard.verify.process.job import end_all
from kappaguard.verify.process.run import Limits, check_apart, replay_apart


@dataclass(frozen=True)
class Job:
    """A check of a claim, where its witnesses are kept, whether it runs apart (None: if that is needed), its limits,
    whether every finding counts, and which health checks are suppressed for what reason."""

    claim_check: ClaimCheck
    witnesses: Path | None = FOLDER
    apart: bool | None = None
    limits: Limits = field(default_factory=Limits)
    strict: bool = False
    suppress: tuple[tuple[str, str], ...] = ()


def check(
    rule: str | Callable[..., Any],
    n: int,
    f: int,
    claim: str | float | Fraction | None = None,
    *,
    requires: str | None = None,
    evaluations: int | None = None,
    seed: int | None = None,
    tolerance: float | Fraction | None = None,
    rotates: bool = False,
    strict: bool = False,
    suppress: Mapping[str, str] | None = None,
    witnesses: Path | str | None = FOLDER,
    apart: bool | None = None,
    limits: Limits | None = None,
) -> Verdict:
    """The verdict on the claim that kappa*(rule, n, f) <= claim.

    ``claim`` is an expression in n and f or a number; it may be left out for rules whose coefficient the paper states.
    A float stands for the simplest fraction that rounds to it (1/3 for 0.3333333333333333); texts and fractions are
    taken exactly. ``requires`` is the domain of the claim, as in ``n >= 4*f+3``: outside it nothing is claimed, and to
    ask is an error. ``evaluations`` is how many inputs the search tries (default: the environment's
    KAPPAGUARD_EVALUATIONS, or about 3 s of them; KAPPAGUARD_SEED likewise for ``seed``, or 0, and KAPPAGUARD_TOLERANCE
    for ``tolerance``). ``tolerance`` is the relative error allowed to a rule that iterates to a tolerance of its own;
    ``rotates`` asks for rotation equivariance as well; with ``strict`` every finding of a health check counts, but
    those of the checks that ``suppress`` names, each with a reason; what refutes the claim counts always. Violations
    are saved to, and replayed from, the folder ``witnesses`` (None: neither). ``apart`` says whether a process of its
    own is used, with ``limits`` on time and memory; by default that is so for rules by name that are not ours.
    """
    require_domain(requires, n, f)
    usual = defaults()
    claim_check = ClaimCheck(
        rule,
        n,
        f,
        claim,
        usual.evaluations if evaluations is None else evaluations,
        usual.seed if seed is None else seed,
        usual.tolerance if tolerance is None else _fraction(tolerance),
        rotates,
    )
    folder = None if witnesses is None else Path(witnesses)
    return run_job(Job(claim_check, folder, apart, limits or Limits(), strict, suppression(suppress or {})))


@dataclass(frozen=True)
class Defaults:
    """How hard to try, from where, and what to allow, unless something else is said."""

    evaluations: int = EVALUATIONS
    seed: int = 0
    tolerance: Fraction | None = None


def defaults() -> Defaults:
    """What the environment states, which is how pytest's options get here."""
    stated = {name: os.environ.get(f"KAPPAGUARD_{name.upper()}") for name in ("evaluations", "seed", "tolerance")}
    try:
        counts = {name: int(stated[name] or "") for name in ("evaluations", "seed") if stated[name] is not None}
        allowed = None if stated["tolerance"] is None else float(stated["tolerance"])
    except ValueError:
        raise InputError(
            "KAPPAGUARD_EVALUATIONS and KAPPAGUARD_SEED must be integers, and KAPPAGUARD_TOLERANCE a number"
        ) from None
    return Defaults(**counts, tolerance=_fraction(allowed))


def run_job(job: Job, finder: Finder | None = None) -> Verdict:
    """One job: known witnesses are looked up, the check is made, and a new violation is saved."""
    claim_check = job.claim_check
    validate(claim_check)
    apart = _foreign(claim_check.rule) if job.apart is None else job.apart
    known = (
        stored(job.witnesses, name_of(claim_check), claim_check.n, claim_check.f) if job.witnesses is not None else None
    )
    earlier = known.known if known is not None else ()
    if apart and finder is None:
        verdict = check_apart(claim_check, earlier, job.limits)
    else:
        from kappaguard.verify.guard.course import check_claim

        verdict = check_claim(claim_check, earlier, finder=finder)
    verdict = replace(verdict, strict=job.strict, rejected=known.rejected if known is not None else ())
    verdict = without(verdict, job.suppress)
    if job.witnesses is None or verdict.verdict != "refuted" or verdict.witness is None:
        return verdict
    if verdict.violating is not None and verdict.violating in {name for name, _ in earlier}:
        return replace(verdict, path=str(job.witnesses / verdict.violating))
    doubt = _doubt(verdict, verdict.witness, job.limits) if apart else None if verdict.reproducible else BY_CHANCE
    if doubt is not None:
        return replace(verdict, unsaved=doubt)
    try:
        path = keep(job.witnesses, verdict.witness, verdict.claim)
    except (OSError, InputError) as error:
        # the refutation stands, whatever the disk does
        said = getattr(error, "strerror", None) or error
        return replace(verdict, unsaved=f"cannot write to {job.witnesses}: {said}")
    # a rule that is not deterministic may pass a known witness first and fail it later
    return replace(verdict, path=str(path), fixed=tuple(name for name in verdict.fixed if name != path.name))


BY_CHANCE = "the violation does not repeat in every call"


def _doubt(verdict: Verdict, witness: Witness, limits: Limits) -> str | None:
    """Why a witness would not be reproduced by whoever replays it: a new process tries."""
    if not verdict.reproducible:
        return BY_CHANCE
    try:
        seen = replay_apart(witness, limits)
    except InputError as error:
        return f"a replay in a new process fails: {error}"
    if seen.reproduces:
        return None
    return "a replay in a new process sees another ratio: the rule keeps state, or draws at random"


def run_jobs(
    checks: Sequence[Job], jobs: int, done: Callable[[Verdict | InputError], None] = lambda outcome: None
) -> list[Verdict | InputError]:
    """All checks, ``jobs`` at a time, the results in their order; one that is wrong does not stop the others."""
    require_count(jobs, 1, "jobs")

    def one(job: Job) -> Verdict | InputError:
        try:
            outcome: Verdict | InputError = run_job(job)
        except InputError as error:
            outcome = error
        done(outcome)
        return outcome

    if jobs == 1 or len(checks) == 1:
        return [one(job) for job in checks]
    # a thread each that waits for a process each
    with ThreadPoolExecutor(jobs) as pool:
        try:
            return list(pool.map(one, [replace(job, apart=isinstance(job.claim_check.rule, str)) for job in checks]))
        except KeyboardInterrupt:
            pool.shutdown(wait=False, cancel_futures=True)
            end_all()
            raise


def name_of(claim_check: ClaimCheck) -> str:
    """What the rule of a check of a claim is called in witnesses."""
    rule = claim_check.rule
    if isinstance(rule, str):
        return rule if is_code(rule) else written(rule).label if is_recipe(rule) else parse(rule, f=claim_check.f).label
    if isinstance(rule, Rule):
        return rule.label
    return rule.name if isinstance(rule, Guarded) else label(rule)


def validate(claim_check: ClaimCheck) -> None:
    """InputError if a number of the check makes no sense."""
    require_setting(claim_check.n, claim_check.f)
    require_count(claim_check.seed, 0, "the seed")
    for stage in (
        split_pipeline(claim_check.rule) if isinstance(claim_check.rule, str) and is_code(claim_check.rule) else ()
    ):
        if ":" in stage and (where := parse_spec(stage).where).endswith(".py"):
            # before the claim, which nobody knows for a file that is not there
            require_file(Path(where))
    require_count(claim_check.evaluations, 1, "the number of evaluations")


def _foreign(rule: str | Callable[..., Any]) -> bool:
    return is_code(rule)


def _fraction(tolerance: float | Fraction | None) -> Fraction | None:
    if tolerance is None or isinstance(tolerance, Fraction):
        return tolerance
    if isinstance(tolerance, bool) or not isinstance(tolerance, int | float) or not 0 <= tolerance < 1:
        raise InputError(f"the tolerance must be at least 0 and less than 1, got {tolerance!r}")
    return Fraction(tolerance)
