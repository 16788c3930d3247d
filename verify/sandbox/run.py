"""The parent's side of the sandbox: start, watch, end, and read what came of it."""

from __future__ import annotations

import json
import tempfile
import time
from dataclasses import dataclass, replace
from pathlib import Path

from kappaguard.rules.checks import shown
from kappaguard.rules.errors import InputError
from kappaguard.rules.witness import Witness
from kappaguard.search.result import KappaResult
from kappaguard.verify.claimed import claimed
from kappaguard.verify.inquiry import Inquiry, Known, conduct
from kappaguard.verify.replay import Replay
from kappaguard.verify.sandbox.process import run_module
from kappaguard.verify.sandbox.request import ERROR, FAILURE, FORKS, PHASE, REQUEST, RESULT, Request
from kappaguard.verify.sandbox.results import found_from_json, replay_from_json
from kappaguard.verify.verdict import Effort, Verdict, verdict_from_json

GRACE = 30.0
"""Seconds that an inquiry may take beyond the budget of its search."""
MEMORY = 4 << 30
LEAST_MEBIBYTES, MOST_MEBIBYTES = 64, 1 << 30
MOST_RESULT = 64 << 20


def mebibytes(value: int, what: str) -> int:
    """So many MiB in bytes; InputError unless a process can live in them and a limit can say them."""
    if isinstance(value, bool) or not isinstance(value, int) or not LEAST_MEBIBYTES <= value <= MOST_MEBIBYTES:
        raise InputError(f"{what} must be {LEAST_MEBIBYTES} to {MOST_MEBIBYTES} MiB, got {shown(value)}")
    return value << 20


@dataclass(frozen=True)
class Limits:
    """What a worker may use: wall-clock seconds in all (None: the budget and some grace), and bytes of memory."""

    seconds: float | None = None
    memory: int = MEMORY

    def deadline(self, inquiry: Inquiry) -> float:
        """Seconds until the worker is ended."""
        return self.within(inquiry.budget)

    def within(self, budget: float) -> float:
        """Seconds until a worker with this budget is ended."""
        return budget + GRACE if self.seconds is None else self.seconds


@dataclass(frozen=True)
class Report:
    """What came of a request: the text of its result, or the trouble that there was instead."""

    text: str | None
    trouble: str | None
    printed: str
    forks: int
    seconds: float


def ask(request: str, seconds: float) -> Report:
    """Have a worker carry out a request, for so many seconds at most; InputError if the worker says it is wrong."""
    start = time.perf_counter()
    with tempfile.TemporaryDirectory(prefix="kappaguard-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        (folder / REQUEST).write_text(request, encoding="utf-8")
        ended = run_module("kappaguard.verify.sandbox.worker", folder, seconds)
        taken = time.perf_counter() - start
        error, failure = _read(folder / ERROR), _read(folder / FAILURE)
        if error is not None:
            raise InputError(error)
        phase = _read(folder / PHASE) or "its import"
        text, trouble = _read(folder / RESULT), None
        if failure is not None:
            text, trouble = None, f"an error of kappaguard itself, not of the rule: {failure} ({phase})"
        elif text is None and ended.status is None:
            trouble = f"the rule did not return within {seconds:g} s ({phase})"
        elif text is None:
            trouble = f"the process of the rule ended with {ended.how} ({phase})"
        return Report(text, trouble, ended.printed, int(_read(folder / FORKS) or 0), taken)


def inquire_apart(inquiry: Inquiry, known: Known = (), limits: Limits = Limits()) -> Verdict:  # noqa: B008
    """The verdict of an inquiry carried out by a worker; a worker that does not finish is a trouble, not a verdict."""
    report = ask(Request(inquiry, tuple(known), limits.memory).to_json(), limits.deadline(inquiry))
    if report.text is None:
        return _unfinished(inquiry, report)
    verdict = verdict_from_json(report.text)
    return replace(verdict, findings=(*verdict.findings, *conduct(report.printed, report.forks)))


def replay_apart(witness: Witness, limits: Limits = Limits()) -> Replay:  # noqa: B008
    """The replay of a witness by a worker; InputError if the rule hangs or takes the process along."""
    request = json.dumps({"task": "replay", "witness": witness.to_json(), "memory": limits.memory})
    return replay_from_json(_finished(witness.rule, ask(request, limits.within(0.0))), witness)


def search_apart(
    rule: str,
    n: int,
    f: int,
    *,
    d: int | None = None,
    budget: float | None = None,
    evaluations: int | None = None,
    seed: int = 0,
    limits: Limits = Limits(),  # noqa: B008
) -> KappaResult:
    """``kappaguard.verify.lower.search`` by a worker; InputError if the rule hangs or takes the process along.

    A budget in evaluations alone has no time limit but that of ``limits``, or the grace.
    """
    data = {"task": "search", "rule": rule, "n": n, "f": f, "d": d, "budget": budget, "evaluations": evaluations}
    request = json.dumps(data | {"seed": seed, "memory": limits.memory})
    # shrinking takes a quarter of the time of the search beyond it
    return found_from_json(_finished(rule, ask(request, limits.within(1.25 * (10.0 if budget is None else budget)))))


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


def _unfinished(inquiry: Inquiry, report: Report) -> Verdict:
    stated = claimed(inquiry.rule, inquiry.n, inquiry.f, inquiry.claim)
    return Verdict(
        str(inquiry.rule),
        inquiry.n,
        inquiry.f,
        stated.expression,
        stated.bound,
        "open",
        "the check was not finished",
        findings=conduct(report.printed, 0),
        effort=Effort(seconds=report.seconds, seed=inquiry.seed),
        trouble=report.trouble,
    )
