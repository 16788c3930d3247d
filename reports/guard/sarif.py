"""Verdicts as SARIF 2.1.0, which code-scanning services read: violations are errors, health findings are warnings."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any
from urllib.parse import quote

import kappaguard
from kappaguard.reports.guard.explanation import decimal, stated
from kappaguard.reports.guard.place import line, place
from kappaguard.rules.base.text import printable
from kappaguard.verify.guard.health import CHECKS
from kappaguard.verify.guard.verdict import Verdict

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"


def sarif(outcomes: Sequence[Verdict], errors: Sequence[str] = ()) -> str:
    """Verdicts and errors in the format SARIF, as text."""
    results = [result for verdict in outcomes for result in _results(verdict)]
    results += [_result("kappa/request", "error", error, ("pyproject.toml", 1), {}) for error in errors]
    rules = [
        _rule("kappa/claim", "The worst case of the rule exceeds the claim."),
        _rule("kappa/unfinished", "The check could not be finished."),
        _rule("kappa/request", "The request itself is wrong."),
        _rule("kappa/health/faults", "The rule returns no vector for some inputs that the search tried."),
        _rule("kappa/health/conduct", "The rule does something besides returning a vector."),
        _rule("kappa/health/backends", "The rule does something else with torch tensors than with NumPy arrays."),
        _rule("kappa/health/precision", "The rule is exact to a tolerance only."),
        *(_rule(f"kappa/health/{check.name}", check.question) for check in CHECKS),
    ]
    driver = {
        "name": "kappaguard",
        "version": kappaguard.__version__,
        "semanticVersion": kappaguard.__version__,
        "rules": rules,
    }
    log = {"$schema": SCHEMA, "version": "2.1.0", "runs": [{"tool": {"driver": driver}, "results": results}]}
    return json.dumps(log, indent=2) + "\n"


def _rule(name: str, text: str) -> dict[str, Any]:
    return {"id": name, "shortDescription": {"text": text}}


def _results(verdict: Verdict) -> list[dict[str, Any]]:
    about = f"{verdict.rule} at n = {verdict.n}, f = {verdict.f}"
    where = place(verdict.rule), line(verdict.rule)
    properties: dict[str, Any] = {"n": verdict.n, "f": verdict.f, "rule": printable(verdict.rule)}
    results = []
    if verdict.verdict == "refuted":
        said = (
            f"{about}: kappa* >= {decimal(verdict.lower)} exceeds the claim {stated(verdict)}"
            f" ({verdict.reason}). Witness: {verdict.path or 'not saved'}"
        )
        results.append(_result("kappa/claim", "error", said, where, properties | {"witness": verdict.path}))
    elif verdict.verdict == "unfinished":
        results.append(_result("kappa/unfinished", "error", f"{about}: {verdict.trouble}", where, properties))
    for finding in verdict.findings:
        level = "error" if finding.refutes or verdict.strict else "warning"
        results.append(
            _result(f"kappa/health/{finding.check}", level, f"{about}: {finding.message}", where, properties)
        )
    return results


def _result(rule: str, level: str, text: str, where: tuple[str, int], properties: dict[str, Any]) -> dict[str, Any]:
    region = {"startLine": where[1]}
    location = {"physicalLocation": {"artifactLocation": {"uri": quote(where[0])}, "region": region}}
    return {
        "ruleId": rule,
        "level": level,
        "message": {"text": printable(text)},
        "locations": [location],
        "properties": properties,
    }
