"""The most interesting findings of a report, one sentence each, chosen by the numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from kappaguard.reports.bounds import lower_shown, upper_shown
from kappaguard.reports.table import F, N

COUNT = 3
SAYS = {"<=": "at most", ">=": "at least", "==": "exactly"}
KINDS = ("theorem", "corollary", "proposition", "lemma", "observation")
"""What weighs most when it falls comes first."""


def highlights(claims: Sequence[Mapping[str, Any]], kappa: Sequence[Mapping[str, Any]]) -> list[dict[str, str | None]]:
    """At most three: the gravest refutation, where mixing hurts, and the loosest coefficient; then what is next."""
    found = [*_refuted(claims), *_worsened(kappa), *_loosest(kappa)]
    kinds = [each["kind"] for each in found]
    first = [found[kinds.index(kind)] for kind in dict.fromkeys(kinds)]
    rest = [each for each in found if each not in first]
    return [*first, *rest][:COUNT]


def _refuted(claims: Sequence[Mapping[str, Any]]) -> list[dict[str, str | None]]:
    fallen = [each for each in claims if each["verdict"] == "refuted"]
    fallen.sort(key=lambda each: (_weight(each["name"]), -abs(_excess(each))))
    instead = {each["corrects"]: each["name"] for each in claims if each["verdict"] == "proved"}
    return [
        {
            "kind": "refuted",
            "text": f"{each['name']} is refuted: {_plain(each['statement'])}.{_numbers(each)}",
            "instead": instead.get(each["name"]),
            "link": each["witness"],
            "proof": "witness",
            "command": each["replay"] or each["command"],
        }
        for each in fallen
    ]


def _numbers(claim: Mapping[str, Any]) -> str:
    computed, stated = claim["computed"], claim["stated"]
    if computed is None or stated is None:
        return ""
    return f" The witness has {_short(computed)}; {SAYS[claim['relation'] or '<=']} {_short(stated)} is stated."


def _weight(name: str) -> int:
    return next((place for place, kind in enumerate(KINDS) if name.startswith(kind)), len(KINDS))


def _excess(claim: Mapping[str, Any]) -> float:
    computed, stated = claim["computed"], claim["stated"]
    if not isinstance(computed, int | float) or not isinstance(stated, int | float) or not stated:
        return 0.0
    return computed / stated - 1


def _worsened(kappa: Sequence[Mapping[str, Any]]) -> list[dict[str, str | None]]:
    """Rules whose kappa* is larger behind nnm, proved by its witness and the rule's certificate."""
    plain = {(each["rule"], each["n"], each["f"]): each for each in kappa if "+" not in each["rule"]}
    worse = []
    for each in kappa:
        before = plain.get((each["rule"].removeprefix("nnm+"), each["n"], each["f"]))
        if not each["rule"].startswith("nnm+") or before is None or not before["upper"]:
            continue
        if isinstance(each["lower"], int | float) and each["lower"] > before["upper"] * (1 + 1e-6):
            worse.append((each["lower"] / before["upper"], each, before))
    worse.sort(key=lambda triple: (-round(triple[0], 5), (triple[1]["n"], triple[1]["f"]) != (N, F)))
    return [
        {
            "kind": "worse behind nnm",
            "text": f"nnm in front of {before['rule']} makes its worst case {factor:.3g} times worse at "
            f"n = {each['n']}, f = {each['f']}: {lower_shown(each['lower'], 4)} instead of "
            f"{upper_shown(before['upper'], 4)}.",
            "instead": None,
            "link": each["witness"],
            "proof": "witness",
            "command": each["command"],
        }
        for factor, each, before in worse
    ]


def _loosest(kappa: Sequence[Mapping[str, Any]]) -> list[dict[str, str | None]]:
    known = [each for each in kappa if each["lost"] and "+" not in each["rule"] and each["status"] == "exact"]
    known.sort(key=lambda each: -each["lost"])
    return [
        {
            "kind": "loose",
            "text": f"The paper's coefficient of {each['rule']} is {each['lost']:.3g} times kappa* at n = {each['n']}, "
            f"f = {each['f']}: {_short(each['paper'])} where {upper_shown(each['upper'], 4)} is exact.",
            "instead": None,
            "link": each["certificate"],
            "proof": "certificate",
            "command": each["command"],
        }
        for each in known[:1]
    ]


def _short(value: object) -> str:
    return f"{value:.4g}" if isinstance(value, int | float) else str(value)


def _plain(statement: str) -> str:
    return statement.rstrip(".")
