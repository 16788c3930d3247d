"""``kappaguard check``: does a rule keep its guarantee?"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kappaguard import __version__
from kappaguard.cli.options import AsJson, Jobs, Tolerance

if TYPE_CHECKING:
    from kappaguard.verify.guard.check import Job
    from kappaguard.verify.guard.verdict import Verdict

REFUTED = 1
UNFINISHED = 2
FAILED = 3
INTERRUPTED = 130
MOST_NAME = 200


def check(
    rule: Annotated[
        str | None, typer.Argument(metavar="[RULE]", help="A rule; without one, those in pyproject.toml.")
    ] = None,
    n: Annotated[int | None, typer.Option("-n", help="The number of vectors.")] = None,
    f: Annotated[int | None, typer.Option("-f", help="The number of Byzantine ones.")] = None,
    claim: Annotated[
        str | None, typer.Option("--claim", metavar="EXPR", help="Arithmetic in n and f; default: the paper's.")
    ] = None,
    requires: Annotated[
        str | None, typer.Option("--requires", metavar="CONDITION", help="The domain of the claim: 'n >= 4*f+3'.")
    ] = None,
    evaluations: Annotated[
        int | None,
        typer.Option(
            "--evaluations",
            metavar="K",
            help="Inputs that one search tries; the same on every machine. Default: 20000.",
        ),
    ] = None,
    seed: Annotated[int | None, typer.Option("--seed", help="The same seed gives the same result.")] = None,
    tolerance: Tolerance = None,
    rotates: Annotated[bool, typer.Option("--rotates", help="Ask for rotation equivariance as well.")] = False,
    strict: Annotated[bool, typer.Option("--strict", help="Exit code 1 for every finding.")] = False,
    suppress: Annotated[
        list[str] | None,
        typer.Option("--suppress", metavar="CHECK=REASON", help="Findings that are expected; several times."),
    ] = None,
    timeout: Annotated[
        float | None, typer.Option("--timeout", metavar="SECONDS", help="For one check; default: 120.")
    ] = None,
    memory: Annotated[int | None, typer.Option("--memory", metavar="MIB", help="For one check.")] = None,
    jobs: Jobs = None,
    witnesses: Annotated[
        Path | None, typer.Option("--witnesses", metavar="DIR", help="Default: .kappaguard/witnesses")
    ] = None,
    as_json: AsJson = False,
    junit: Annotated[Path | None, typer.Option("--junit", metavar="FILE", help="Write a JUnit file.")] = None,
    sarif: Annotated[Path | None, typer.Option("--sarif", metavar="FILE", help="Write a SARIF file.")] = None,
    badge: Annotated[
        Path | None, typer.Option("--badge", metavar="FILE", help="Write a badge: FILE.svg, or FILE.json for shields.")
    ] = None,
) -> int:
    """Check claims on kappa*: exit code 0 if they hold, 1 if one is refuted, 2 if the request or the rule's interface
    is wrong or a check was not finished, 3 if kappaguard failed. A RULE that is not ours is code, and is run.
    """
    from kappaguard.cli.options import relative_error
    from kappaguard.cli.output import show_trace
    from kappaguard.rules.base.checks import require_count
    from kappaguard.rules.base.errors import InputError
    from kappaguard.verify.guard.check import Job, run_jobs
    from kappaguard.verify.guard.claim_check import EVALUATIONS, ClaimCheck
    from kappaguard.verify.guard.claimed import require_domain
    from kappaguard.verify.guard.suppression import suppression
    from kappaguard.verify.guard.verdict import Verdict

    if rule is None and (rotates or any(value is not None for value in (n, f, claim, requires, tolerance))):
        raise InputError(
            "-n, -f, --claim, --requires, --tolerance and --rotates belong to a RULE: name one, or use pyproject.toml"
        )
    if evaluations is not None:
        require_count(evaluations, 1, "--evaluations")
    listed: int | None = 1
    if rule is None:
        checks, listed = _configured(evaluations, seed)
    elif n is None or f is None:
        raise InputError("a RULE needs -n and -f, as in: kappaguard check krum -n 17 -f 4")
    else:
        require_domain(requires, n, f)
        allowed, tried = relative_error(tolerance), EVALUATIONS if evaluations is None else evaluations
        checks = [Job(ClaimCheck(rule, n, f, claim, tried, seed or 0, allowed, rotates))]
    expected = suppression(dict(_reason(each) for each in suppress or ()))
    checks = [_limited(job, timeout, memory, witnesses, strict, expected) for job in checks]
    try:
        outcomes = run_jobs(checks, jobs or listed or cores())
    except KeyboardInterrupt:
        typer.echo("kappaguard: interrupted, nothing was decided", err=True)
        return INTERRUPTED
    verdicts = [outcome for outcome in outcomes if isinstance(outcome, Verdict)]
    traces = [outcome.trace for outcome in outcomes if isinstance(outcome, InputError) and outcome.trace]
    errors = [
        str(outcome)
        if str(job.claim_check.rule) in str(outcome)
        else f"{str(job.claim_check.rule)[:MOST_NAME]}: {outcome}"
        for job, outcome in zip(checks, outcomes, strict=True)
        if isinstance(outcome, InputError)
    ]
    _write(verdicts, errors, junit, sarif, badge)
    for trace in traces:
        show_trace(trace)
    _print(verdicts, errors, as_json, rule is not None)
    return _status(verdicts, errors)


def _configured(evaluations: int | None, seed: int | None) -> tuple[list[Job], int | None]:
    """The checks of the pyproject.toml of this folder, and how many at a time if it says so."""
    import os

    from kappaguard.rules.foreign.importing import PYTHONPATH
    from kappaguard.verify.guard.configuration import find, read

    configuration = read(find(Path.cwd()), evaluations, seed)
    if configuration.pythonpath:
        # processes of rules inherit it
        os.environ[PYTHONPATH] = os.pathsep.join(str(Path.cwd() / each) for each in configuration.pythonpath)
    return list(configuration.checks), configuration.jobs


def _reason(text: str) -> tuple[str, str]:
    """A check and the reason why it is suppressed."""
    name, _, reason = text.partition("=")
    return name.strip(), reason.strip()


def _limited(
    job: Job,
    timeout: float | None,
    memory: int | None,
    witnesses: Path | None,
    strict: bool,
    expected: tuple[tuple[str, str], ...],
) -> Job:
    from dataclasses import replace

    from kappaguard.rules.base.checks import require_seconds
    from kappaguard.verify.process.run import Limits, mebibytes

    if timeout is not None:
        require_seconds(timeout, "--timeout")
    limits = Limits(
        job.limits.seconds if timeout is None else timeout,
        job.limits.memory if memory is None else mebibytes(memory, "--memory"),
    )
    folder = job.witnesses if witnesses is None else witnesses
    suppress = tuple(dict(job.suppress + expected).items())
    return replace(job, limits=limits, witnesses=folder, strict=job.strict or strict, suppress=suppress)


def cores() -> int:
    """How many processes can run at a time."""
    import os

    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _write(
    verdicts: list[Verdict], errors: list[str], junit: Path | None, sarif: Path | None, badge: Path | None
) -> None:
    from kappaguard.reports.guard.badge import badge as as_badge
    from kappaguard.reports.guard.junit import junit as as_junit
    from kappaguard.reports.guard.sarif import sarif as as_sarif
    from kappaguard.rules.base.errors import InputError
    from kappaguard.rules.base.files import write

    as_told = partial(as_badge, shields=badge is not None and badge.suffix == ".json")
    files: list[tuple[Path | None, Callable[..., str]]] = [(junit, as_junit), (sarif, as_sarif), (badge, as_told)]
    for path, make in files:
        if path is not None:
            try:
                write(path, make(verdicts, errors))
            except OSError as error:
                raise InputError(f"cannot write {path}: {error.strerror or error}") from None


def _print(verdicts: list[Verdict], errors: list[str], as_json: bool, single: bool) -> None:
    import json
    import os

    from kappaguard.cli.output import print_table
    from kappaguard.reports.guard.entries import entry
    from kappaguard.reports.guard.explanation import explain
    from kappaguard.reports.guard.table import HEADINGS, row, warnings
    from kappaguard.reports.guard.workflow import commands, in_workflow
    from kappaguard.rules.base.text import printable

    if as_json:
        if verdicts or not single:
            listed = {"checks": [entry(each) for each in verdicts], "errors": list(map(printable, errors))}
            typer.echo(json.dumps(entry(verdicts[0]) if single else {**listed, "version": __version__}, indent=2))
    elif verdicts:
        print_table(HEADINGS, [row(verdict) for verdict in verdicts])
        for line in () if single else warnings(verdicts):
            typer.echo(line)
        for verdict in verdicts:
            if not verdict.holds or (
                single and (verdict.findings or verdict.suppressed or verdict.called or verdict.verdict == "open")
            ):
                typer.echo(f"\n{explain(verdict)}")
            if verdict.path is not None:
                typer.echo(f"witness: {verdict.path}")
            if verdict.unsaved is not None:
                typer.echo(f"kappaguard: no witness is saved: {printable(verdict.unsaved)}", err=True)
            for name in verdict.fixed:
                typer.echo(f"fixed: {name} no longer violates the claim")
            for text in verdict.rejected:
                typer.echo(f"rejected: {printable(text)}", err=True)
    if in_workflow(os.environ):
        # a workflow reads commands from both streams; on standard output they would spoil the JSON
        for line in commands(verdicts, errors):
            typer.echo(line, err=as_json)
    for text in errors:
        typer.echo(f"kappaguard: {printable(' '.join(text.split()))}", err=True)


def _status(verdicts: list[Verdict], errors: list[str]) -> int:
    from kappaguard.rules.base.text import printable

    unfinished = [verdict for verdict in verdicts if verdict.verdict == "unfinished"]
    for verdict in unfinished:
        typer.echo(f"kappaguard: {printable(f'{verdict.rule}: {verdict.trouble}')}", err=True)
    if any(verdict.verdict == "refuted" or (verdict.strict and verdict.findings) for verdict in verdicts):
        return REFUTED
    if any(verdict.failure for verdict in verdicts):
        return FAILED
    return UNFINISHED if errors or unfinished else 0
