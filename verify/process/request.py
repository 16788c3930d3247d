"""What a worker is asked to do, as a file that it reads: a check of a claim, the replay of a witness, or a search."""

from __future__ import annotations

import json
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from kappaguard.rules.base.errors import InputError
from kappaguard.rules.witness import Witness, from_json
from kappaguard.verify.guard.claim_check import ClaimCheck

REQUEST = "request.json"
PHASE = "phase"
DRAFT = "draft.json"
TRACE = "trace"
FORKS = "forks"
RESULT = "result.json"
ERROR = "error"
FAILURE = "failure"


@dataclass(frozen=True)
class Request:
    """What the worker is to find out, how much memory it may use, in bytes, and how many seconds it has, since when by
    the monotonic clock."""

    claim_check: ClaimCheck
    known: tuple[tuple[str, Witness], ...]
    memory: int
    seconds: float
    begun: float

    def to_json(self) -> str:
        """The request as JSON."""
        asked = self.claim_check
        if not isinstance(asked.rule, str):
            raise InputError("only a rule with a name can be run in a process of its own")
        data = {
            "task": "check_claim",
            "rule": asked.rule,
            "n": asked.n,
            "f": asked.f,
            # a float stays one: it is allowed its rounding
            "claim": str(asked.claim) if isinstance(asked.claim, Fraction) else asked.claim,
            "evaluations": asked.evaluations,
            "seed": asked.seed,
            "tolerance": None if asked.tolerance is None else str(asked.tolerance),
            "rotates": asked.rotates,
            "known": [[name, witness.to_json()] for name, witness in self.known],
            "memory": self.memory,
            "seconds": self.seconds,
            "begun": self.begun,
        }
        return json.dumps(data)


def request_from_json(text: str) -> Request:
    """The request that ``to_json`` wrote."""
    return request_from_data(json.loads(text))


def request_from_data(data: dict[str, Any]) -> Request:
    """The same, from what the JSON holds."""
    claim_check = ClaimCheck(
        data["rule"],
        data["n"],
        data["f"],
        data["claim"],
        data["evaluations"],
        data["seed"],
        None if data["tolerance"] is None else Fraction(data["tolerance"]),
        data["rotates"],
    )
    known = tuple((name, from_json(witness)) for name, witness in data["known"])
    return Request(claim_check, known, data["memory"], data["seconds"], data["begun"])
