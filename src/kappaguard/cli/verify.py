"""``kappaguard verify``: every claim, its verdict, and a report."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kappaguard.cli.options import Baseline, Estimates, Rates, Runs
from kappaguard.cli.progress import counting, nested

if TYPE_CHECKING:
    from kappaguard.verify.theory.claim import Claim, Effort
    from kappaguard.verify.theory.run import CheckedClaim

CHANGED = 1
HEADINGS = ["claim", "statement", "verdict", "rests on", "computed", "stated", "tightness"]


def verify(
    out: Annotated[Path, typer.Option("--out", metavar="DIR", help="Where the report goes.")] = Path("kappa-report"),
    quick: Annotated[bool, typer.Option("--quick", help="Take less than a minute.")] = False,
    full: Annotated[bool, typer.Option("--full", help="Take as long as it needs.")] = False,
    fresh: Annotated[bool, typer.Option("--fresh", help="Compute finished claims again.")] = False,
    baseline: Baseline = None,
    runs: Runs = None,
    rates: Rates = None,
    estimates: Estimates = None,
    paper: Annotated[
        str | None,
        typer.Option(
            "--paper", metavar="NAME", help="Only the claims about this paper: fixing-by-mixing, adaptive-clipping, ..."
        ),
    ] = None,
    only: Annotated[
        list[str] | None,
        typer.Option("--only", metavar="CLAIM", help="Only this claim, computed anew, no report; several times."),
    ] = None,
) -> int:
    """Check every claim and write the report: exit code 0 if all verdicts are the recorded ones, 1 if one changed."""
    from kappaguard.reports.results import read
    from kappaguard.reports.training import with_training
    from kappaguard.reports.write import require_ours
    from kappaguard.rules.base.errors import InputError
    from kappaguard.verify.theory.claim import Effort
    from kappaguard.verify.theory.registry import claims
    from kappaguard.verify.theory.run import run

    if quick and full:
        raise InputError("--quick and --full exclude each other")
    before = None if baseline is None else read(baseline)
    effort = Effort.QUICK if quick else Effort.FULL if full else Effort.DEFAULT
    every = claims(paper)
    if only:
        return _some(every, only, effort)
    shown = with_training({}, runs or (), rates, estimates or ())
    outcomes: list[CheckedClaim] = []
    try:
        require_ours(out)
        out.mkdir(parents=True, exist_ok=True)
        with nested("claims", len(every)) as bar:
            try:
                for outcome in run(every, effort, out, fresh, lambda claim: bar.begin(claim.name)):
                    outcomes.append(outcome)
                    bar.done()
            except KeyboardInterrupt:
                with _without_interrupts():
                    _write(outcomes, effort, False, out, {}, None)
                typer.echo(
                    f"interrupted: {len(outcomes)} of {len(every)} claims are done; run again to go on", err=True
                )
                raise typer.Abort from None
        path = _write(outcomes, effort, True, out, shown, before)
    except OSError as error:
        raise InputError(f"cannot write to {out}: {error.strerror or error}") from None
    return _conclude(outcomes, f"Report: {path}")


def _some(every: Sequence[Claim], names: Sequence[str], effort: Effort) -> int:
    """The verdicts of some claims, computed anew."""
    from difflib import get_close_matches
    from tempfile import TemporaryDirectory

    from kappaguard.rules.base.errors import InputError
    from kappaguard.verify.theory.run import run

    known = {claim.name: claim for claim in every}
    for name in names:
        if name not in known:
            near = ", ".join(get_close_matches(name, known, 3, 0.3)) or "none"
            raise InputError(f"no claim is called {name!r}; of the {len(known)} that there are, {near} comes nearest")
    with TemporaryDirectory() as folder:
        outcomes = list(run([known[name] for name in names], effort, Path(folder)))
    return _conclude(outcomes, "\n".join(outcome.finding.detail for outcome in outcomes if outcome.finding))


@contextmanager
def _without_interrupts() -> Iterator[None]:
    """Ctrl-C does nothing in here: impatient people press it again while the report is written."""
    import signal
    import threading

    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _conclude(outcomes: Sequence[CheckedClaim], last: str) -> int:
    from kappaguard.cli.output import print_table

    print_table(HEADINGS, [_row(outcome) for outcome in outcomes])
    counts = {verdict: sum(each.verdict == verdict for each in outcomes) for verdict in ("proved", "refuted", "open")}
    listed = ", ".join(f"{count} {verdict}" for verdict, count in counts.items())
    again = sum(outcome.reused for outcome in outcomes)
    kept = f" ({again} from an earlier run; --fresh computes them again)" if again else ""
    typer.echo(f"{len(outcomes)} claims: {listed}{kept}\n{last}")
    changed = [outcome for outcome in outcomes if not outcome.as_expected]
    for outcome in changed:
        reason = f" ({outcome.error})" if outcome.error else ""
        expected = outcome.claim.expected
        typer.echo(f"changed: {outcome.claim.name} was {expected} and is {outcome.verdict}{reason}", err=True)
    return CHANGED if changed else 0


def _row(outcome: CheckedClaim) -> list[str]:
    claim, finding = outcome.claim, outcome.finding
    numbers = (finding.computed, finding.stated, finding.tightness) if finding else (None, None, None)
    return [claim.name, claim.statement, outcome.verdict, claim.grounds(finding), *map(_shown, numbers)]


def _shown(value: float | None) -> str:
    return "" if value is None else f"{value:.6g}"


def _write(
    outcomes: Sequence[CheckedClaim], effort: Effort, complete: bool, folder: Path, shown: dict[str, Any], before: Any
) -> Path:
    """The report; of an interrupted run only what is finished, without computing anything more."""
    from kappaguard.reports.collect import collect
    from kappaguard.reports.write import write_report
    from kappaguard.verify.theory.run import results, write_witnesses

    write_witnesses(outcomes, folder)
    found = results(outcomes, effort, complete)
    if complete:
        with counting("kappa*") as report:
            found = collect(found, folder, report) | shown
    return write_report(found, folder, before)
