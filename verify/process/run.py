"""The parent's side of the sandbox: start, watch, end, and read what came of it."""

from __future__ import annotations

import json
import secrets
import tempfile
import time
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path

import numpy as np

from kappaguard.rules.base.checks import shown
from kappaguard.rules.base.errors import InputError
from kappaguard.rules.names import is_code
from kappaguard.rules.recipe.recipe import Recipe
from kappaguard.rules.recipe.text import from_data
from kappaguard.rules.witness import Witness
from kappaguard.verify.guard.claim_check import ClaimCheck, Known, conduct
from kappaguard.verify.guard.claimed import claimed
from kappaguard.verify.guard.verdict import Verdict, verdict_from_json
from kappaguard.verify.judge.replay import Replay
from kappaguard.verify.judge.result import KappaResult
from kappaguard.verify.process.job import MEMORY, run_module
from kappaguard.verify.process.request import (
    DRAFT,
    ERROR,
    FAILURE,
    FORKS,
    PHASE,
    REQUEST,
    RESULT,
    TRACE,
    Request,
)
from kappaguard.verify.process.results import found_from_json, replay_from_json

TIMEOUT = 120.0
"""Seconds that a worker has unless something else is said: a check takes a few, also on a busy machine."""
LEAST_MEBIBYTES, MOST_MEBIBYTES = 64, 1 << 30
MOST_RESULT = 64 << 20


def mebibytes(value: int, what: str) -> int:
    """So many MiB in bytes; InputError unless a process can live in them and a limit can say them."""
    if isinstance(value, bool) or not isinstance(value, int) or not LEAST_MEBIBYTES <= value <= MOST_MEBIBYTES:
        raise InputError(f"{what} must be {LEAST_MEBIBYTES} to {MOST_MEBIBYTES} MiB, got {shown(value)}")
    return value << 20


@dataclass(frozen=True)
class Limits:
    """What a worker and all that it starts may use: wall-clock seconds, and bytes of memory."""

    seconds: float = TIMEOUT
    memory: int = MEMORY


@dataclass(frozen=True)
class Report:
    """What came of a request: the text of its result, or the trouble that there was instead, and whose fault it is.

    ``draft`` is what the worker had found before.
    """

    text: str | None
    trouble: str | None
    printed: str
    forks: int
    seconds: float
    draft: str | None = None
    failure: bool = False


def ask(request: str, limits: Limits) -> Report:
    """Have a worker carry out a request within limits; InputError if the worker says it is wrong."""
    start = time.perf_counter()
    with tempfile.TemporaryDirectory(prefix="kappaguard-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        (folder / REQUEST).write_text(request, encoding="utf-8")
        ended = run_module("kappaguard.verify.process.worker", folder, limits.seconds, limits.memory)
        taken = time.perf_counter() - start
        error, failure = _read(folder / ERROR), _read(folder / FAILURE)
        if error is not None:
            wrong = InputError(error)
            wrong.trace = (_read(folder / TRACE) or "")[:MOST_TRACE]
            raise wrong
        phase = _read(folder / PHASE) or "its import"
        text, trouble = _read(folder / RESULT), None
        if failure is not None:
            text, trouble = None, f"an error of kappaguard itself, not of the rule: {failure} ({phase})"
        elif ended.crossed == "time":
            # what hangs after its result was written has not ended in time either, but the result is there
            trouble = None if text else f"the rule did not return within {limits.seconds:g} s ({phase}); {RAISE}"
        elif ended.status is None:
            text, trouble = None, f"the process of the rule was ended: {ended.how} ({phase})"
        elif text is None:
            trouble = f"the process of the rule ended with {ended.how} ({phase})"
        forks = _read(folder / FORKS) or ""
        count = int(forks) if forks.isdecimal() and len(forks) < 12 else 0
        return Report(text, trouble, ended.printed, count, taken, _read(folder / DRAFT), failure is not None)


RAISE = "--timeout raises this limit, and fewer --evaluations need less"
MOST_TRACE = 20_000


def check_apart(claim_check: ClaimCheck, known: Known = (), limits: Limits = Limits()) -> Verdict:  # noqa: B008
    """The verdict on a claim by a worker; one that does not finish is told with what it had found.

    What the request says, the request says: rule, (n, f) and claim are ours and not what the worker makes of them. A
    worker that ran somebody else's code cannot have a proof.
    """
    request = Request(claim_check, tuple(known), limits.memory, limits.seconds, time.monotonic())
    report = ask(request.to_json(), limits)
    stated = claimed(claim_check.rule, claim_check.n, claim_check.f, claim_check.claim)
    text = report.text if report.text is not None else report.draft
    blank = Verdict(
        str(claim_check.rule), claim_check.n, claim_check.f, stated.expression, stated.bound, "unfinished", UNFINISHED
    )
    verdict, trouble = blank, report.trouble
    if text is not None:
        try:
            verdict = verdict_from_json(text)
        except InputError as error:
            trouble = trouble or f"the process of the rule left {error}"
    verdict = replace(verdict, n=claim_check.n, f=claim_check.f, claim=stated.expression, bound=stated.bound)
    if is_code(claim_check.rule):
        verdict, doubt = _proof_again(replace(verdict, rule=str(claim_check.rule)), limits)
        trouble = trouble or doubt
    if verdict.verdict == "refuted" and not (verdict.witness is not None and verdict.lower > verdict.bound):
        trouble = trouble or "the process of the rule claims a refutation without a witness"
        verdict = blank
    if verdict.trouble is not None and trouble is None:
        trouble = (
            f"{verdict.effort.evaluations:,} of {claim_check.evaluations:,} evaluations within the "
            f"{limits.seconds:g} s that there are; {RAISE}"
        )
    if trouble is not None and verdict.verdict != "refuted":
        verdict = replace(verdict, verdict="unfinished", reason=UNFINISHED)
    effort = verdict.effort if report.text is not None else replace(verdict.effort, seconds=report.seconds)
    findings = (*verdict.findings, *conduct(report.printed, report.forks))
    return replace(verdict, trouble=trouble, failure=report.failure, findings=findings, effort=effort)


def _proof_again(verdict: Verdict, limits: Limits) -> tuple[Verdict, str | None]:
    """An upper bound of a process that ran somebody's code is worth its certificate, which is checked here; and only if
    the code, asked again in a new process, returns what the certificate's recipe says."""
    proved, claims = _certified(verdict), "the process of the rule claims a proof"
    if verdict.verdict == "proved" and (proved is None or proved[0] > verdict.bound):
        return replace(verdict, upper=None), f"{claims}, and its certificate proves nothing"
    if proved is None:
        return replace(verdict, upper=None, certificate=None), None
    if not _as_certified(verdict, proved[1], limits):
        return replace(verdict, upper=None), f"{claims} about another function than the rule"
    return replace(verdict, upper=proved[0]), None


def _certified(verdict: Verdict) -> tuple[Fraction, Recipe] | None:
    """The bound that a certificate proves, and for which recipe.

    A certificate of a rule of ours proves, by the sharp form of Lemma 1 (claim lemma-1-nnm-sharp), a bound for
    the same recipe behind a layer of nnm.
    """
    if verdict.certificate is None:
        return None
    from kappaguard.verify.judge.checker import check
    from kappaguard.verify.judge.rejected import Rejected

    try:
        seen = check(verdict.certificate)
    except Rejected:
        return None
    n, f = verdict.n, verdict.f
    if (seen.n, seen.f) != (n, f):
        return None
    data = json.loads(verdict.certificate)
    if seen.rule == verdict.rule:
        return seen.upper, from_data(data["recipe"])
    if seen.origin is not None or "recipe" not in data:
        return None
    return Fraction(4 * f, n - f) * (seen.upper + 1), replace(from_data(data["recipe"]), mixing=(n - f,))


def _as_certified(verdict: Verdict, recipe: Recipe, limits: Limits) -> bool:
    """Whether the rule, in a process that knows nothing of a proof, agrees with the recipe on inputs drawn just now."""
    from kappaguard.rules.recipe.trace.compare import compared, inputs_for

    seed = secrets.randbits(40)
    few_ties = bool(recipe.mixing)
    inputs = [x.tolist() for x, _ in inputs_for(verdict.n, None, brief=True, seed=seed, few_ties=few_ties)]
    asked = {"task": "evaluate", "rule": verdict.rule, "f": verdict.f, "inputs": inputs, "memory": limits.memory}
    try:
        report = ask(json.dumps(asked), limits)
        outputs = iter(json.loads(report.text or "[]"))
        compared(recipe, lambda _: np.array(next(outputs), dtype=float), brief=True, seed=seed)
    except (StopIteration, ValueError, TypeError):
        return False
    return True


UNFINISHED = "the check was not finished"


def replay_apart(witness: Witness, limits: Limits = Limits()) -> Replay:  # noqa: B008
    """The replay of a witness by a worker; InputError if the rule hangs or takes the process along."""
    request = json.dumps({"task": "replay", "witness": witness.to_json(), "memory": limits.memory})
    return replay_from_json(_finished(witness.rule, ask(request, limits)), witness)


def search_apart(
    rule: str,
    n: int,
    f: int,
    *,
    d: int | None = None,
    budget: float | None = None,
    evaluations: int | None = None,
    seed: int = 0,
    tolerance: Fraction | None = None,
    limits: Limits = Limits(),  # noqa: B008
) -> KappaResult:
    """``kg.search`` by a worker; InputError if the rule hangs or takes the process along."""
    data = {"task": "search", "rule": rule, "n": n, "f": f, "d": d, "budget": budget, "evaluations": evaluations}
    data |= {"seed": seed, "memory": limits.memory, "tolerance": None if tolerance is None else str(tolerance)}
    # shrinking takes a quarter of the time of the search beyond it
    limits = replace(limits, seconds=limits.seconds + 1.25 * (budget or 0.0))
    return found_from_json(_finished(rule, ask(json.dumps(data), limits)))


def _finished(rule: str, report: Report) -> str:
    if report.text is None:
        raise InputError(f"{rule}: {report.trouble}")
    return report.text


def _read(path: Path) -> str | None:
    try:
        with path.open(encoding="utf-8", errors="replace") as stream:
            return stream.read(MOST_RESULT)
    except OSError:
        return None
