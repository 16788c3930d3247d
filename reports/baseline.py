"""What changed since an earlier report."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kappaguard.reports.bounds import lower_shown, upper_shown
from kappaguard.reports.summary import verify_command

DIGITS = 7
MOVED = 1e-6
"""Bounds that moved by less, relatively, are the same."""


def changes(now: Mapping[str, Any], before: Mapping[str, Any]) -> list[str]:
    """One sentence each: verdicts, claims and bounds that are new, gone or different."""
    return [
        *_effort(now["effort"], before["effort"]),
        *_claims(now["claims"], before["claims"]),
        *_computed(now["claims"], before["claims"]),
        *_bounds(now.get("kappa", []), before.get("kappa", [])),
    ]


def _effort(now: str, before: str) -> list[str]:
    if now == before:
        return []
    return [f"another effort: that report is of {verify_command(before)}, this one of {verify_command(now)}"]


def _claims(now: list[dict[str, Any]], before: list[dict[str, Any]]) -> list[str]:
    old = {each["name"]: each["verdict"] for each in before}
    new = {each["name"]: each["verdict"] for each in now}
    told = [f"{name} was {old[name]} and is {new[name]}" for name in new if name in old and old[name] != new[name]]
    told += [f"{name} is new: {new[name]}" for name in new if name not in old]
    told += [f"{name} is gone; it was {old[name]}" for name in old if name not in new]
    return told


def _computed(now: list[dict[str, Any]], before: list[dict[str, Any]]) -> list[str]:
    """Claims with the verdict that they had, and another number behind it."""
    old = {(each["name"], each["verdict"]): each for each in before}
    told = []
    for each in now:
        known = old.get((each["name"], each["verdict"]))
        if known is not None and not _same(each["computed"], known["computed"]):
            told.append(
                f"{each['name']} is {each['verdict']} as before; computed was {_short(known['computed'])}"
                f" and is {_short(each['computed'])}"
            )
    return told


def _bounds(now: list[dict[str, Any]], before: list[dict[str, Any]]) -> list[str]:
    old = {(each["rule"], each["n"], each["f"]): each for each in before}
    told = []
    for each in now:
        known = old.get((each["rule"], each["n"], each["f"]))
        if known is None:
            continue
        for side, shown in (("lower", lower_shown), ("upper", upper_shown)):
            if not _same(each[side], known[side]):
                told.append(
                    f"the {side} bound of {each['rule']} at n = {each['n']}, f = {each['f']} was "
                    f"{shown(known[side], DIGITS) or 'none'} and is {shown(each[side], DIGITS) or 'none'}"
                )
    return told


def _same(a: object, b: object) -> bool:
    if isinstance(a, int | float) and isinstance(b, int | float):
        return abs(a - b) <= MOVED * max(abs(a), abs(b))
    return a == b


def _short(value: object) -> str:
    return f"{value:.{DIGITS}g}" if isinstance(value, int | float) else str(value)
