"""What a report says at first sight: verdicts by where the statements come from, and the commands that find them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

VERDICTS = ("proved", "refuted", "open", "failed")
OURS = "kappaguard"


@dataclass(frozen=True)
class ClaimGroup:
    """Claims of one origin, counted by verdict."""

    origin: str
    counts: Counter[str]


def told(results: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The claims with everything that is optional in results.json, and with the commands that repeat them."""
    absent: dict[str, Any] = {
        "corrects": None,
        "detail": None,
        "error": None,
        "tightness": None,
        "relation": None,
        "replays": False,
    }
    absent |= {"scope": None, "kind": None, "basis": None, "reach": None, "grounds": None, "rests_on": []}
    found = []
    names = {each["name"] for each in results["claims"]}
    for each in results["claims"]:
        claim = {**absent, **each, "command": verify_command(results["effort"], each["name"])}
        claim["rests_on"] = [name for name in claim["rests_on"] if name in names]
        claim["replay"] = f"kappaguard replay {each['witness']}" if claim["replays"] and each["witness"] else None
        found.append(claim)
    return found


def groups(claims: Sequence[Mapping[str, Any]]) -> list[ClaimGroup]:
    """The paper's statements, what replaces those that fail, and what is sharper or new; without empty groups."""
    counted: dict[str, Counter[str]] = {
        "in the paper": Counter(),
        "mended here": Counter(),
        "sharper or new": Counter(),
    }
    for each in claims:
        counted[_origin(each)][each["verdict"]] += 1
    return [ClaimGroup(origin, counts) for origin, counts in counted.items() if counts]


def verdicts_seen(claims: Sequence[Mapping[str, Any]]) -> list[str]:
    """The columns of the table: failed only if something failed."""
    seen = {each["verdict"] for each in claims}
    return [verdict for verdict in VERDICTS if verdict != "failed" or verdict in seen]


def verify_command(effort: str, claim: str | None = None) -> str:
    """What finds all verdicts again, or that of one claim."""
    only = "" if claim is None else f" --only {claim}"
    return f"kappaguard verify{only}{'' if effort == 'default' else f' --{effort}'}"


def _origin(claim: Mapping[str, Any]) -> str:
    if claim["source"] != OURS:
        return "in the paper"
    return "mended here" if claim.get("corrects") else "sharper or new"
