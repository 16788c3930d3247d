"""Replays and results of searches as text, for the way from the worker to its parent."""

from __future__ import annotations

import json
import math
from dataclasses import asdict
from typing import Any

from kappaguard.rules.base.errors import InputError
from kappaguard.rules.base.untrusted import fraction
from kappaguard.rules.witness import Bound, Witness, from_json
from kappaguard.search.stats import Improvement, Stats
from kappaguard.verify.guard.verdict import MOST_DIGITS
from kappaguard.verify.judge.replay import Replay
from kappaguard.verify.judge.result import KappaResult

WRONG = (KeyError, TypeError, ValueError, RecursionError, OverflowError, ZeroDivisionError)


def replay_to_json(seen: Replay) -> str:
    """A replay without its witness, which the parent has."""
    data = {
        "lower": _text(seen.lower),
        "upper": _text(seen.upper),
        "method": seen.method,
        "reproduces": seen.reproduces,
        "seconds": seen.seconds,
        "evaluations": seen.evaluations,
        "fault": seen.fault,
    }
    return json.dumps(data)


def replay_from_json(text: str, witness: Witness) -> Replay:
    """The replay of a witness that ``replay_to_json`` wrote; InputError if it is none."""
    try:
        data = json.loads(text)
        return Replay(
            witness,
            _bound(data["lower"]),
            _bound(data["upper"]),
            data["method"],
            data["reproduces"] is True,
            float(data["seconds"]),
            int(data["evaluations"]),
            None if data["fault"] is None else str(data["fault"]),
        )
    except WRONG as error:
        raise InputError(f"not a replay: {type(error).__name__}") from None


def found_to_json(found: KappaResult) -> str:
    """What a search found: it has a lower bound and a witness, and no certificate."""
    data = {
        "rule": found.rule,
        "n": found.n,
        "f": found.f,
        "lower": _text(found.lower),
        "upper": _text(found.upper),
        "witness": None if found.witness is None else found.witness.to_json(),
        "stats": asdict(found.stats),
    }
    return json.dumps(data)


def found_from_json(text: str) -> KappaResult:
    """The result that ``found_to_json`` wrote; InputError if it is none."""
    try:
        data = json.loads(text)
        lower = _bound(data["lower"])
        if lower is None:
            raise ValueError("no lower bound")
        witness = None if data["witness"] is None else from_json(data["witness"])
        rule, n, f = str(data["rule"]), int(data["n"]), int(data["f"])
        return KappaResult(rule, n, f, lower, _bound(data["upper"]), witness, None, None, _stats(data["stats"]))
    except WRONG as error:
        raise InputError(f"not a result of a search: {type(error).__name__}") from None


def _stats(data: dict[str, Any]) -> Stats:
    changed = {
        "adversaries": tuple(data["adversaries"]),
        "trace": tuple(Improvement(**each) for each in data["trace"]),
        "dimensions": tuple((int(d), float(ratio)) for d, ratio in data["dimensions"]),
    }
    return Stats(**(data | changed))


def _text(value: Bound | None) -> str | None:
    return None if value is None else str(value)


def _bound(text: str | None) -> Bound | None:
    return None if text is None else math.inf if text == "inf" else fraction(text, "bound", MOST_DIGITS)
