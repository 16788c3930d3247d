"""A witness for the eye: honest rows, Byzantine rows, output, error, variance, ratio, claim, and how to redo it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction

from kappaguard.rules.base.text import printable
from kappaguard.rules.names import is_code
from kappaguard.rules.witness import Bound, Witness
from kappaguard.verify.guard.verdict import Verdict
from kappaguard.verify.judge.exact_numbers import inner, mean, minus

MOST_ROWS = 24
MOST_COLUMNS = 8
MOST_PASTED = 60
FEW_DIGITS = 6
MOST_DIGITS = 17


def decimal(value: Bound | float | None, digits: int = 6) -> str:
    """A number in short; infinite if it is."""
    if value is None:
        return "unknown"
    try:
        return f"{float(value):.{digits}g}"
    except OverflowError:
        return "1e308 or more"


def digits(verdict: Verdict) -> int:
    """How many it takes to tell the ratio of a refuted claim from the claim: six unless they are close."""
    if verdict.verdict != "refuted":
        return FEW_DIGITS
    for count in range(FEW_DIGITS, MOST_DIGITS):
        if decimal(verdict.lower, count) != decimal(verdict.bound, count):
            return count
    return MOST_DIGITS


def stated(verdict: Verdict) -> str:
    """The claim and its value, once if they are the same."""
    claim, value = printable(verdict.claim), decimal(verdict.bound, digits(verdict))
    return claim if claim == value else f"{claim} = {value}"


def explain(verdict: Verdict) -> str:
    """A verdict in several lines; for one that is refuted with the witness and the line to paste."""
    head = (
        f"{verdict.verdict}: kappa* <= {stated(verdict)} for {printable(verdict.rule)}"
        f" at n = {verdict.n}, f = {verdict.f}"
    )
    lines = [head, f"  {printable(verdict.trouble or verdict.reason)}"]
    if verdict.called is not None:
        lines.append(f"  {printable(verdict.called)}")
    if verdict.traced is not None and verdict.traced not in verdict.reason:
        lines.append(f"  {printable(verdict.traced)}")
    if verdict.verdict == "proved" and verdict.about is not None:
        lines.append(f"  scope: {printable(verdict.about)}")
    if verdict.verdict in ("open", "unfinished") and (verdict.trouble is None or verdict.effort.adversaries):
        effort = verdict.effort
        lines.append(
            f"  tried: {effort.evaluations} evaluations in {effort.seconds:.1f} s, seed {effort.seed};"
            f" largest ratio {decimal(verdict.lower)}; {', '.join(effort.adversaries)}"
        )
    if verdict.verdict == "refuted" and verdict.trouble is not None:
        lines[1] = f"  {printable(verdict.reason)}; after that {printable(verdict.trouble)}"
    if verdict.verdict == "refuted" and verdict.witness is not None:
        lines += ["", *matrix(verdict.witness, verdict.output), "", *_numbers(verdict, verdict.witness), ""]
        lines += [f"reproduce: {line}" for line in reproduce(verdict, verdict.witness)]
    findings = [
        f"  health, {'refutes' if each.refutes else 'warns'}: {each.check}: {printable(each.message)}"
        for each in verdict.findings
    ]
    findings += [f"  health, suppressed: {name}: {printable(reason)}" for name, reason in verdict.suppressed]
    return "\n".join([*lines, *([""] if findings else []), *findings])


def matrix(witness: Witness, output: Sequence[float] | None) -> list[str]:
    """The input as rows of decimals, honest ones first, equal neighbours as one row; then mean and output."""
    honest = set(witness.subset)
    others = [index for index in range(witness.n) if index not in honest]
    rows: list[tuple[str, str, list[str]]] = []
    for kind, indices in (("honest", list(witness.subset)), ("Byzantine", others)):
        groups = list(_groups(indices, witness))
        for place, (label, index) in enumerate(groups):
            if place == MOST_ROWS:
                rows.append(("", f"... {len(groups) - place} more rows", []))
                break
            rows.append((kind if place == 0 else "", label, [decimal(value) for value in witness.x[index]]))
    centre = mean([witness.x[index] for index in witness.subset])
    rows.append(("honest mean", "", [decimal(value) for value in centre]))
    shown = ["no vector"] if output is None else [decimal(value) for value in output]
    rows.append(("output", "", shown))
    cut = [(kind, label, _cut(cells)) for kind, label, cells in rows]
    widths = [max((len(cells[k]) for _, _, cells in cut if k < len(cells)), default=0) for k in range(MOST_COLUMNS + 1)]
    first, second = max(len(kind) for kind, _, _ in cut), max(len(label) for _, label, _ in cut)
    return [
        f"  {kind:<{first}}  {label:>{second}}  " + "  ".join(f"{cell:>{widths[k]}}" for k, cell in enumerate(cells))
        for kind, label, cells in cut
    ]


def _cut(cells: list[str]) -> list[str]:
    return cells if len(cells) <= MOST_COLUMNS else [*cells[:MOST_COLUMNS], f"... {len(cells) - MOST_COLUMNS} more"]


def _groups(indices: list[int], witness: Witness) -> Iterator[tuple[str, int]]:
    """Runs of equal vectors, as the label of the run and its first index."""
    start = 0
    for place in range(1, len(indices) + 1):
        if place < len(indices) and witness.x[indices[place]] == witness.x[indices[start]]:
            continue
        first, last = indices[start], indices[place - 1]
        count = place - start
        yield (str(first) if count == 1 else f"{first}-{last} ({count} times)"), first
        start = place


def _numbers(verdict: Verdict, witness: Witness) -> list[str]:
    honest = [witness.x[index] for index in witness.subset]
    centre = mean(honest)
    offsets = [minus(row, centre) for row in honest]
    variance = sum((inner(offset, offset) for offset in offsets), Fraction(0)) / len(honest)
    error: Bound = math.inf
    if verdict.output is not None:
        away = minus([Fraction(value) for value in verdict.output], centre)
        error = inner(away, away)
    count = digits(verdict)
    lines = [
        f"  error^2   {decimal(error, count)}",
        f"  variance  {decimal(variance, count)}",
        f"  ratio     {decimal(verdict.lower, count)}",
        f"  claim     {stated(verdict)}",
    ]
    if decimal(verdict.lower, count) == decimal(verdict.bound, count) and isinstance(verdict.lower, Fraction):
        lines.append(f"  beyond    {decimal(verdict.lower - verdict.bound)}")
    return lines


def reproduce(verdict: Verdict, witness: Witness) -> list[str]:
    """What to paste: the command if the rule has a name, and the call on the input if that is short."""
    lines = []
    named = not is_code(verdict.rule) or "<" not in verdict.rule
    if verdict.path is not None and named:
        code = " --run-code" if is_code(witness.rule) else ""
        lines.append(f"kappaguard replay{code} {verdict.path}")
    if witness.n * witness.d <= MOST_PASTED:
        rows = ", ".join("[" + ", ".join(repr(float(value)) for value in row) + "]" for row in witness.x)
        lines.append(f"rule(numpy.array([{rows}]))")
    elif verdict.path is not None:
        lines.append(f"rule(kappaguard.rules.witness.load({verdict.path!r}).array().astype(float))")
    return lines
