"""Finished claims in a ledger, so that an interrupted run goes on where it was.

A finding is reused only for the same claim, effort and version, and the same sources: the claim's own file and
everything of ``rules``, ``search``, ``training`` and ``verify`` but the files of other claims. An entry that cannot be
read is as good as none.
"""

from __future__ import annotations

import hashlib
import inspect
import json
from dataclasses import asdict, dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import kappaguard
from kappaguard.rules.witness import SCHEMA as WITNESS_SCHEMA
from kappaguard.rules.witness import Witness, from_json
from kappaguard.search.ledger import Ledger
from kappaguard.verify.guard.verdict import number
from kappaguard.verify.theory.claim import Budget, Claim, Effort, Finding

ROOMS = ("rules", "search", "training", "verify")


@dataclass(frozen=True)
class StoredFinding:
    """A finding and how long it took."""

    finding: Finding
    seconds: float


class Store:
    """The findings of one effort, in a ledger; closed by whoever opened it."""

    def __init__(self, finished: Ledger, effort: Effort) -> None:
        self.finished = finished
        self.effort = effort

    def load(self, claim: Claim) -> StoredFinding | None:
        """The finding of an earlier run, if it is still what the check would find."""
        try:
            data = json.loads(self.finished[self.key(claim)])
            return StoredFinding(_finding(data["finding"]), float(data["seconds"]))
        except (ValueError, KeyError, TypeError, RecursionError):
            return None

    def save(self, claim: Claim, stored: StoredFinding) -> None:
        """Keep the finding of a claim until its code or the effort changes."""
        self.finished[self.key(claim)] = json.dumps({"seconds": stored.seconds, "finding": _plain(stored.finding)})

    def key(self, claim: Claim) -> str:
        """What a stored finding depends on."""
        return json.dumps([claim.name, self.effort.value, kappaguard.__version__, source_hash(claim)])


def source_hash(claim: Claim) -> str:
    """A hash of the claim's own file and of all that it may call."""
    check = claim.check
    function = inspect.unwrap(getattr(check, "func", check))
    own = Path(inspect.getsourcefile(function) or "")
    content = own.read_bytes() if own.is_file() else b""
    return hashlib.sha256(shared_hash().encode() + content).hexdigest()


@lru_cache(maxsize=1)
def shared_hash() -> str:
    """A hash of the rooms without the files of claims."""
    root = Path(kappaguard.__file__).parent
    digest = hashlib.sha256()
    for room in ROOMS:
        # the rooms are links in a checkout and folders in an installation
        folder = Path(__import__(f"kappaguard.{room}", fromlist=[room]).__file__ or root / room).parent
        for path in sorted(path for suffix in ("py", "c", "h") for path in folder.rglob(f"*.{suffix}")):
            if path.parent.parent.name == "packs" and path.name != "__init__.py":
                continue
            digest.update(str(path.relative_to(folder)).encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()


def witness_json(witness: Witness | dict[str, Any]) -> str:
    """A witness as the text of its file."""
    return witness.to_json() if isinstance(witness, Witness) else json.dumps(witness, indent=2) + "\n"


def _plain(finding: Finding) -> dict[str, Any]:
    return {
        "verdict": finding.verdict,
        "methods": list(finding.methods),
        "computed": number(finding.computed),
        "stated": number(finding.stated),
        "relation": finding.relation,
        "detail": finding.detail,
        "witness": None if finding.witness is None else json.loads(witness_json(finding.witness)),
        "budget": None if finding.budget is None else asdict(finding.budget),
        "reach": finding.reach,
    }


def _finding(data: dict[str, Any]) -> Finding:
    witness = data["witness"]
    if isinstance(witness, dict) and witness.get("schema") == WITNESS_SCHEMA:
        witness = from_json(json.dumps(witness))
    return Finding(
        verdict=data["verdict"],
        methods=tuple(data["methods"]),
        computed=None if data["computed"] is None else float(data["computed"]),
        stated=None if data["stated"] is None else float(data["stated"]),
        detail=data["detail"],
        relation=data["relation"],
        witness=witness,
        budget=None if data["budget"] is None else Budget(**data["budget"]),
        reach=data.get("reach"),
    )
