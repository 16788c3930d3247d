"""``kappaguard replay``: a witness re-evaluated, or a certificate checked, in exact arithmetic."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kappaguard import __version__
from kappaguard.cli.options import AsJson

if TYPE_CHECKING:
    from kappaguard.rules.witness import Bound, Witness
    from kappaguard.verify.judge.replay import Replay

DIFFERS = 1
TIMEOUT = 30.0
CERTIFICATE = ".certificate.json"
BEGINNING = 2000
METHODS = {
    "exact": "exact arithmetic",
    "enclosed": "a rigorous enclosure: the rule's output is irrational",
    "float": "float64 on the rounded input: this rule has no exact arithmetic",
}


def replay(
    witness: Annotated[Path, typer.Argument(metavar="WITNESS", help="The file of the witness.", show_default=False)],
    run_code: Annotated[
        bool, typer.Option("--run-code", help="Import and run the code that a witness of a foreign rule names.")
    ] = False,
    timeout: Annotated[
        float, typer.Option("--timeout", metavar="SECONDS", help="How long it may take; a certificate takes its time.")
    ] = TIMEOUT,
    as_json: AsJson = False,
) -> int:
    """Re-evaluate a witness (or check a certificate) in exact arithmetic: exit code 0 if it holds, 1 if not. Only rules
    of our own are run, unless --run-code says otherwise.
    """
    from kappaguard.rules.base.checks import require_seconds
    from kappaguard.rules.witness import load

    require_seconds(timeout, "--timeout")
    kind = _kind(witness)
    if kind == "certificate":
        return _check(witness, as_json)
    if kind in ("run", "instance"):
        with _limited(timeout):
            return (_run if kind == "run" else _instance)(witness, as_json)
    result = _judged(load(witness), timeout, run_code)
    typer.echo(_json(result, witness) if as_json else _text(result))
    return 0 if result.reproduces else DIFFERS


@contextmanager
def _limited(seconds: float) -> Iterator[None]:
    """InputError if it takes longer: a small file can ask for more subsets than anybody can go through."""
    import time

    from kappaguard.rules.base.errors import InputError, OutOfTime
    from kappaguard.verify.process.deadline import deadline

    try:
        with deadline(seconds, time.monotonic()):
            yield
    except OutOfTime:
        raise InputError(f"the replay did not end within {seconds:g} s; --timeout raises this limit") from None


def _judged(witness: Witness, timeout: float, run_code: bool) -> Replay:
    """The replay, in a process of its own if the witness names somebody else's code and that may be run."""
    from kappaguard.rules.names import is_code

    if not is_code(witness.rule):
        from kappaguard.verify.judge.replay import replay

        with _limited(timeout):
            return replay(witness)
    from kappaguard.rules.base.errors import InputError
    from kappaguard.rules.base.text import printable
    from kappaguard.rules.grammar import parse, split_pipeline
    from kappaguard.verify.process.run import Limits, replay_apart

    named = [parse(stage) for stage in split_pipeline(witness.rule) if ":" in stage]
    code = ", ".join(f"{printable(each.where)} (to call {printable(each.attribute)})" for each in named)
    if not run_code:
        raise InputError(
            f"{witness.rule!r} is not a rule of ours: a replay imports {code} and runs it with your rights; look at "
            "the file first, then add --run-code"
        )
    typer.echo(f"kappaguard: importing {code}", err=True)
    return replay_apart(witness, Limits(timeout))


def _kind(path: Path) -> str:
    """What the file says it is; a witness unless it says otherwise."""
    from kappaguard.rules.base.files import is_file

    if not is_file(path):
        # a pipe that nobody writes to would be waited for; whoever reads the file says what is wrong
        return "witness"
    try:
        with path.open(errors="replace") as file:
            match = re.search(r'"schema":\s*"kappaguard-(\w+)/', file.read(BEGINNING))
    except OSError:
        match = None
    return match.group(1) if match else "certificate" if path.name.endswith(CERTIFICATE) else "witness"


def _run(path: Path, as_json: bool) -> int:
    """A whole run that crosses a bound: losses, messages and a rule, gone through again in exact arithmetic."""
    import json

    from kappaguard.rules.base.errors import InputError
    from kappaguard.rules.base.untrusted import parse, read
    from kappaguard.verify.guard.verdict import number
    from kappaguard.verify.judge.exact import exact
    from kappaguard.verify.theory.performance.run import from_json, replay

    text = read(path, "run")
    try:
        run = from_json(parse(text))
    except InputError as error:
        raise InputError(f"{path} is not a run: {error}") from None
    outcome = replay(run)
    # the record's kappa is not believed: the bound is stated for the rule's own, as certified
    kappa = exact(run.rule, run.n, run.f, brief=True).upper
    if kappa is None or kappa == float("inf"):
        raise InputError(f"no kappa of {run.rule} is certified at n = {run.n} and f = {run.f}")
    found, stated = outcome.gradient_squared, outcome.bound(Fraction(kappa), 4, 4)
    summary = {
        "rule": run.rule,
        "n": run.n,
        "f": run.f,
        "gradient": number(found),
        "stated": number(stated),
        "verdict": "refuted" if found > stated else "holds",
        "witness": str(path),
        "version": __version__,
    }
    text = (
        f"robust D-GD with {run.rule}, n = {run.n}, f = {run.f}, {outcome.steps} steps\n"
        f"||grad||^2 at the output {_decimal(found)}, bound of Theorem 1 {_decimal(stated)}: {summary['verdict']}"
    )
    typer.echo(json.dumps(summary, indent=2) if as_json else text)
    return 0 if found > stated else DIFFERS


def _instance(path: Path, as_json: bool) -> int:
    """Data that refute a statement which is not about one ratio: both sides again, in exact arithmetic."""
    import json

    from kappaguard.verify.theory.instance import evaluate

    claim, sides = evaluate(path)
    summary = {
        "claim": claim.name,
        "statement": claim.statement,
        "computed": str(sides.computed),
        "relation": sides.relation,
        "stated": str(sides.stated),
        "verdict": "holds" if sides.hold else "refuted",
        "witness": str(path),
        "version": __version__,
    }
    text = (
        f"{claim.name}: {claim.statement}\n"
        f"computed {sides.computed}, stated {sides.relation} {sides.stated}: {summary['verdict']}"
    )
    typer.echo(json.dumps(summary, indent=2) if as_json else text)
    return DIFFERS if sides.hold else 0


def _check(path: Path, as_json: bool) -> int:
    """Whether a certificate is a proof."""
    import json
    import time

    from kappaguard.rules.base.untrusted import read
    from kappaguard.verify.guard.verdict import number
    from kappaguard.verify.judge.checker import MOST_CHARACTERS, check
    from kappaguard.verify.judge.rejected import Rejected

    start = time.perf_counter()
    text = read(path, "certificate", MOST_CHARACTERS)
    try:
        seen, fault = check(text), None
    except Rejected as rejection:
        seen, fault = None, str(rejection)
    summary = {
        "rule": seen and seen.rule,
        "origin": seen and seen.origin,
        "n": seen and seen.n,
        "f": seen and seen.f,
        "lower": None,
        "upper": seen and number(seen.upper),
        "exact": seen and str(seen.upper),
        "verdict": "proved" if seen else "rejected",
        "fault": fault,
        "certificate": str(path),
        "witness": None,
        "seconds": time.perf_counter() - start,
        "evaluations": seen.cells if seen else 0,
        "seed": None,
        "version": __version__,
    }
    if as_json:
        typer.echo(json.dumps(summary, indent=2))
    elif seen:
        code = f"the recipe traced from {seen.rule} (sha256 {seen.origin[:12]})" if seen.origin else seen.rule
        typer.echo(f"proved: kappa* of {code} at n = {seen.n}, f = {seen.f} is at most {_decimal(seen.upper)}")
    else:
        typer.echo(f"rejected: {fault}")
    return 0 if seen else DIFFERS


def _json(result: Replay, path: Path) -> str:
    import json

    from kappaguard.verify.guard.verdict import number

    seen = result.witness
    return json.dumps(
        {
            "rule": seen.rule,
            "n": seen.n,
            "f": seen.f,
            "criterion": seen.criterion,
            "lower": number(result.lower),
            "upper": number(result.upper),
            "exact": {"lower": _digits(result.lower), "upper": _digits(result.upper)},
            "recorded": {"lower": _digits(seen.lower), "upper": _digits(seen.upper)},
            "verdict": result.verdict,
            "method": result.method,
            "reproduces": result.reproduces,
            "fault": result.fault,
            "witness": str(path),
            "seconds": result.seconds,
            "evaluations": result.evaluations,
            "seed": None,
            "version": __version__,
        },
        indent=2,
    )


def _text(result: Replay) -> str:
    from kappaguard.rules.base.text import printable

    seen = result.witness
    lines = {
        "rule": printable(seen.rule),
        "n, f, d": f"{seen.n}, {seen.f}, {seen.d}",
        "criterion": seen.criterion,
        "recorded ratio": _interval(seen.lower, seen.upper),
        "re-evaluated": printable(result.fault or "") or _interval(result.lower, result.upper),
        "by": METHODS[result.method],
        "verdict": "reproduced" if result.reproduces else "differs: the record is not what the rule does",
    }
    return "\n".join(f"{key:<15} {value}" for key, value in lines.items())


def _interval(lower: Bound | None, upper: Bound | None) -> str:
    if lower is None or upper is None:
        return "none"
    if lower == upper:
        return f"{_shortened(lower)} ≈ {_decimal(lower)}" if isinstance(lower, Fraction) else "infinite"
    return f"between {_decimal(lower)} and {_decimal(upper)}"


def _shortened(value: Fraction) -> str:
    text = str(value)
    return text if len(text) <= 80 else f"{text[:38]}...{text[-38:]}"


def _digits(value: Bound | None) -> str | None:
    return None if value is None else str(value)


def _float(value: Bound) -> float:
    try:
        return float(value)
    except OverflowError:
        return float("inf")


def _decimal(value: Bound) -> str:
    import decimal

    try:
        return f"{float(value):.12g}"
    except OverflowError:
        assert isinstance(value, Fraction)
        return f"{decimal.Decimal(value.numerator) / decimal.Decimal(value.denominator):.12g}"
