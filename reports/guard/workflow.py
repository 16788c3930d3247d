"""Verdicts as workflow commands of GitHub Actions: an error for each violation, a warning for each health finding."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from kappaguard.reports.guard.explanation import decimal, stated
from kappaguard.reports.guard.place import line, place
from kappaguard.rules.base.text import printable
from kappaguard.verify.guard.verdict import Verdict


def in_workflow(environment: Mapping[str, str]) -> bool:
    """Whether this is a workflow of GitHub Actions."""
    return environment.get("GITHUB_ACTIONS") == "true"


def commands(outcomes: Sequence[Verdict], errors: Sequence[str] = ()) -> list[str]:
    """Commands that GitHub Actions shows as annotations, a line for each verdict and error."""
    lines = []
    for verdict in outcomes:
        title = f"{verdict.rule} at n={verdict.n}, f={verdict.f}"
        where = place(verdict.rule), line(verdict.rule)
        if verdict.verdict == "refuted":
            said = f"kappa* >= {decimal(verdict.lower)} > {stated(verdict)}; {verdict.reason}"
            lines.append(_command("error", where, title, f"{said}; witness: {verdict.path or 'not saved'}"))
        elif verdict.verdict == "unfinished":
            lines.append(_command("error", where, title, verdict.trouble or verdict.reason))
        lines += [
            _command("error" if verdict.strict else "warning", where, title, f"{finding.check}: {finding.message}")
            for finding in verdict.findings
            if not finding.refutes
        ]
        lines += [_command("notice", where, title, f"fixed: {name} no longer violates") for name in verdict.fixed]
        lines += [_command("warning", where, title, text) for text in verdict.rejected]
    return lines + [_command("error", ("pyproject.toml", 1), "wrong request", error) for error in errors]


def _command(kind: str, where: tuple[str, int], title: str, message: str) -> str:
    return f"::{kind} file={_property(where[0])},line={where[1]},title={_property(title)}::{_data(message)}"


def _data(text: str) -> str:
    return printable(text).replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
