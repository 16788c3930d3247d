"""report.md: the results for a pull request, short enough for a comment there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from kappaguard.reports.bounds import lower_shown, upper_shown
from kappaguard.reports.dossier.markdown_text import code, escaped, table
from kappaguard.reports.estimate import HEADINGS, row
from kappaguard.reports.glossary import AUTHORS, TITLE, VENUE
from kappaguard.reports.highlights import highlights
from kappaguard.reports.page import shown, tables
from kappaguard.reports.rates import FLOORS, SLOPES, floor_rows, slope_rows
from kappaguard.reports.summary import groups, told, verdicts_seen, verify_command
from kappaguard.reports.trained import trained_tables
from kappaguard.reports.typesetting import typeset

MOST_CHARACTERS = 65_000
"""What GitHub takes as a comment."""
MANY_CHANGES, FEW_CHANGES = 60, 10
CLAIMS = ("claim", "statement", "verdict", "rests on", "computed", "stated", "tightness")
KAPPA = ("rule", "paper", "kappa* ≥", "kappa* ≤", "fraction", "f/(n-2f)", "lost", "again")


def markdown(results: Mapping[str, Any], changes: Sequence[str] | None = None) -> str:
    """The report; if it would be too long, it loses details of claims that are as recorded and proved, then changes."""
    for details, most in ((True, MANY_CHANGES), (False, MANY_CHANGES), (False, FEW_CHANGES)):
        text = _document(results, changes, details=details, most=most)
        if len(text) <= MOST_CHARACTERS:
            break
    return text


def _document(results: Mapping[str, Any], changes: Sequence[str] | None, *, details: bool, most: int) -> str:
    claims, kappa = told(results), results.get("kappa", [])
    command = verify_command(results["effort"])
    lines = ["# kappaguard report", "", f"Version {escaped(results['version'])}, {code(command)}."]
    lines[-1] += f" The paper: *{escaped(TITLE)}* ({AUTHORS}, {VENUE})."
    if not results["complete"]:
        lines[-1] += " **The run was interrupted; the claims that follow are those that were finished.**"
    lines += ["", *_summary(claims)]
    for name in results["changed"]:
        lines += ["", f"**Not as recorded: {escaped(name)}.**"]
    if changes is not None:
        lines += ["", "## Since the last report", ""]
        lines += [f"- {escaped(each)}" for each in changes[:most]] or ["Nothing changed."]
        if len(changes) > most:
            lines += [f"- and {len(changes) - most} more, which are in index.html"]
    lines += ["", "## What stands out", "", *(_highlight(each) for each in highlights(claims, kappa))]
    for caption, rows in tables(kappa):
        lines += ["", f"## {caption}", "", *table(list(KAPPA), [_kappa(each) for each in rows])]
    for each in results.get("estimates", []):
        lines += _happens(each)
    lines += _rates(results.get("rates"))
    lines += _trained(results.get("trained"))
    lines += ["", "## Claims", "", f"One of them again: {code(verify_command(results['effort'], 'NAME'))}.", ""]
    lines += table(list(CLAIMS), [_claim(each) for each in claims])
    for each in claims:
        if details or each["verdict"] != "proved" or not each["as_expected"]:
            lines += _section(each)
    return "\n".join(lines) + "\n"


def _summary(claims: Sequence[Mapping[str, Any]]) -> list[str]:
    verdicts = verdicts_seen(claims)
    rows = [[group.origin, *(str(group.counts[verdict]) for verdict in verdicts)] for group in groups(claims)]
    return table(["statements", *verdicts], rows)


def _highlight(finding: Mapping[str, Any]) -> str:
    instead = f" Holds instead: {escaped(finding['instead'])}." if finding["instead"] else ""
    link = f" [{finding['proof']}]({finding['link']})" if finding["link"] else ""
    command = f" {code(finding['command'])}" if finding["command"] else ""
    return f"- {escaped(typeset(finding['text']))}{instead}{link}{command}"


def _kappa(entry: Mapping[str, Any]) -> list[str]:
    return [
        escaped(entry["rule"]),
        shown(entry["paper"]),
        _linked(lower_shown(entry["lower"]), entry["witness"]),
        _linked(upper_shown(entry["upper"]), entry["certificate"]),
        entry.get("fraction") or "",
        shown(entry["universal"]),
        shown(entry["lost"]),
        code(entry["command"]),
    ]


def _linked(text: str, file: str | None) -> str:
    return f"[{text}]({file})" if file and text else text


def _claim(claim: Mapping[str, Any]) -> list[str]:
    words = [claim["name"], typeset(claim["statement"]), claim["verdict"], typeset(claim["grounds"] or "")]
    computed = _linked(shown(claim["computed"]), claim["witness"])
    return [*map(escaped, words), computed, shown(claim["stated"]), shown(claim["tightness"])]


def _rates(rates: Mapping[str, Any] | None) -> list[str]:
    if rates is None:
        return []
    found = ["", "## Rates of training", "", code(rates["command"]), ""]
    for headings, rows in ((SLOPES, slope_rows(rates)), (FLOORS, floor_rows(rates))):
        found += [*table(list(headings), [list(map(escaped, row)) for row in rows]), ""]
    return found[:-1]


def _trained(stored: Mapping[str, Any] | None) -> list[str]:
    if stored is None:
        return []
    found = ["", "## Training on worst inputs", "", code(stored["command"]), ""]
    for headings, rows in trained_tables(stored):
        found += [*table(list(map(escaped, headings)), [list(map(escaped, row)) for row in rows]), ""]
    return found[:-1]


def _happens(data: Mapping[str, Any]) -> list[str]:
    """The rules themselves, under the attack that reaches most; all is in index.html."""
    best: dict[str, Mapping[str, Any]] = {}
    for each in data["estimates"]:
        if each["rule"] not in best or float(each["largest"]) > float(best[each["rule"]]["largest"]):
            best[each["rule"]] = each
    title = f"## What happens on {escaped(data['source'])}, n = {data['n']}, f = {data['f']}"
    rows = [list(map(escaped, row(each))) for each in best.values()]
    about = f"{code(data['command'])}, the attack that reaches most."
    return ["", title, "", about, "", *table(list(map(escaped, HEADINGS)), rows)]


def _section(claim: Mapping[str, Any]) -> list[str]:
    lines = ["", f"### {escaped(claim['name'])}: {claim['verdict']}", "", f"Source: {escaped(claim['source'])}."]
    if claim["methods"]:
        lines[-1] += f" Method: {', '.join(claim['methods'])}."
    if claim["basis"]:
        lines[-1] += f" {'Refuted' if claim['verdict'] == 'refuted' else 'Rests on'}: {escaped(claim['basis'])}."
    if claim["corrects"]:
        lines[-1] += f" Corrects {escaped(claim['corrects'])}."
    if not claim["as_expected"]:
        lines[-1] += f" **Changed: the recorded verdict is {claim['expected']}.**"
    if claim["error"]:
        lines += ["", f"The check failed: {escaped(claim['error'])}"]
    if claim["detail"]:
        lines += ["", escaped(typeset(claim["detail"]))]
    lines += ["", ", ".join(code(command) for command in (claim["command"], claim["replay"]) if command)]
    return lines
