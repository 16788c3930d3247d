"""report.md: the results for a pull request, short enough for a comment there."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from kappaguard.reports.dossier.escape import escaped, table
from kappaguard.reports.highlights import highlights
from kappaguard.reports.page import shown, tables

MOST_CHARACTERS = 65_000
"""What GitHub takes as a comment."""
CLAIMS = ("claim", "statement", "verdict", "methods", "computed", "stated", "tightness")
NUMBERS = ("paper", "lower", "upper", "universal", "lost")
KAPPA = ("rule", "paper", "kappa* >=", "kappa* <=", "f/(n-2f)", "lost")


def markdown(results: Mapping[str, Any], changes: Sequence[str] | None = None) -> str:
    """The report; claims that are as recorded and proved lose their details first if it would be too long."""
    whole = _document(results, changes, details=True)
    return whole if len(whole) <= MOST_CHARACTERS else _document(results, changes, details=False)


def _document(results: Mapping[str, Any], changes: Sequence[str] | None, *, details: bool) -> str:
    claims, kappa = results["claims"], results.get("kappa", [])
    counts = Counter(each["verdict"] for each in claims)
    words = ", ".join(f"{counts[word]} {word}" for word in ("proved", "refuted", "open", "failed") if counts[word])
    lines = ["# kappaguard report", "", f"Version {results['version']}, effort {results['effort']}: {words}.", ""]
    if not results["complete"]:
        lines += ["The run was interrupted; the claims that follow are those that were finished.", ""]
    for each in highlights(claims, kappa):
        link = f" ([proof]({each['link']}))" if each["link"] else ""
        lines.append(f"- {escaped(str(each['text']))}{link}")
    if changes is not None:
        lines += ["", "## Since the last report", ""]
        lines += [f"- {escaped(each)}" for each in changes] or ["Nothing changed."]
    for name in results["changed"]:
        lines += ["", f"**Not as recorded: {escaped(name)}.**"]
    for caption, rows in tables(kappa):
        body = [[escaped(each["rule"]), *(shown(each[key]) for key in NUMBERS)] for each in rows]
        lines += ["", f"## {caption}", "", *table(list(KAPPA), body)]
    lines += ["", "## Claims", "", *table(list(CLAIMS), [_row(each) for each in claims])]
    for each in claims:
        if details or each["verdict"] != "proved" or not each["as_expected"]:
            lines += _section(each)
    return "\n".join(lines) + "\n"


def _row(claim: Mapping[str, Any]) -> list[str]:
    words = [claim["name"], claim["statement"], claim["verdict"], ", ".join(claim["methods"])]
    return [*map(escaped, words), *(shown(claim.get(key)) for key in ("computed", "stated", "tightness"))]


def _section(claim: Mapping[str, Any]) -> list[str]:
    lines = ["", f"### {escaped(claim['name'])}: {claim['verdict']}", "", f"Source: {escaped(claim['source'])}."]
    if claim.get("corrects"):
        lines[-1] += f" Corrects {escaped(claim['corrects'])}."
    if not claim["as_expected"]:
        lines[-1] += f" **Changed: the recorded verdict is {claim['expected']}.**"
    if claim.get("error"):
        lines += ["", f"The check failed: {escaped(claim['error'])}"]
    if claim.get("detail"):
        lines += ["", escaped(claim["detail"])]
    if claim["witness"]:
        lines += ["", f"Witness: [{escaped(claim['witness'])}]({claim['witness']})"]
    return lines
