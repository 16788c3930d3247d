"""Runs claims, keeps what is finished, and writes the witnesses.

DIR/witnesses/      one file per witness; those with a rule are replayed by ``kappaguard replay``
DIR/finished.sqlite  finished claims, for the next run
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import kappaguard
from kappaguard.rules.base.files import write
from kappaguard.rules.witness import Witness
from kappaguard.search.ledger import ledger
from kappaguard.verify.guard.verdict import number
from kappaguard.verify.theory.claim import Claim, Effort, Finding, Report
from kappaguard.verify.theory.registry import rests_on
from kappaguard.verify.theory.store import Store, StoredFinding, witness_json

SCHEMA = "kappaguard-results/1"
FINISHED = "finished.sqlite"


@dataclass(frozen=True)
class CheckedClaim:
    """A claim with its finding, or with the error that kept the check from finding anything."""

    claim: Claim
    finding: Finding | None
    seconds: float
    reused: bool = False
    error: str | None = None

    @property
    def verdict(self) -> str:
        """The verdict, or ``failed``."""
        return "failed" if self.finding is None else self.finding.verdict

    @property
    def as_expected(self) -> bool:
        """Whether the verdict is the recorded one."""
        return self.verdict == self.claim.expected

    @property
    def witness_name(self) -> str | None:
        """The file of the witness within the report's folder."""
        has = self.finding is not None and self.finding.witness is not None
        return f"witnesses/{self.claim.name}.json" if has else None

    @property
    def replays(self) -> bool:
        """Whether ``kappaguard replay`` knows the kind of witness: inputs and runs say what they are."""
        witness = self.finding.witness if self.finding else None
        return isinstance(witness, Witness) or (witness is not None and "schema" in witness)


def run(
    claims: Sequence[Claim],
    effort: Effort,
    folder: Path,
    fresh: bool = False,
    progress: Callable[[Claim], Report] | None = None,
) -> Iterator[CheckedClaim]:
    """The outcomes, one by one; each finding is stored before it is handed out."""
    with ledger(folder / FINISHED) as finished:
        store = Store(finished, effort)
        for claim in claims:
            report = progress(claim) if progress else _silent
            stored = None if fresh else store.load(claim)
            if stored is not None:
                yield CheckedClaim(claim, stored.finding, stored.seconds, reused=True)
                continue
            start = time.perf_counter()
            try:
                finding = claim.run(effort, report)
            except Exception as error:
                yield CheckedClaim(claim, None, time.perf_counter() - start, error=f"{type(error).__name__}: {error}")
                continue
            stored = StoredFinding(finding, time.perf_counter() - start)
            store.save(claim, stored)
            yield CheckedClaim(claim, finding, stored.seconds)


def _silent(done: int, total: int) -> None:
    pass


def results(outcomes: Sequence[CheckedClaim], effort: Effort, complete: bool) -> dict[str, Any]:
    """Everything, as results.json has it."""
    return {
        "schema": SCHEMA,
        "version": kappaguard.__version__,
        "effort": effort.value,
        "complete": complete,
        "changed": [outcome.claim.name for outcome in outcomes if not outcome.as_expected],
        "claims": [_entry(outcome) for outcome in outcomes],
    }


def write_witnesses(outcomes: Sequence[CheckedClaim], folder: Path) -> None:
    """One file per witness."""
    for outcome in outcomes:
        if outcome.witness_name is not None:
            assert outcome.finding is not None
            assert outcome.finding.witness is not None
            write(folder / outcome.witness_name, witness_json(outcome.finding.witness))


def _entry(outcome: CheckedClaim) -> dict[str, Any]:
    claim, finding = outcome.claim, outcome.finding
    entry: dict[str, Any] = {
        "name": claim.name,
        "statement": claim.statement,
        "source": claim.source,
        "corrects": claim.corrects,
        "expected": claim.expected,
        "verdict": outcome.verdict,
        "as_expected": outcome.as_expected,
        "scope": claim.scope,
        "kind": claim.kind,
        "basis": claim.basis,
        "reach": finding.reach if finding else None,
        "grounds": claim.grounds(finding),
        "rests_on": list(rests_on().get(claim.name, ())),
        "methods": list(finding.methods) if finding else [],
        "relation": finding.relation if finding else None,
        "computed": number(finding.computed) if finding else None,
        "stated": number(finding.stated) if finding else None,
        "tightness": number(finding.tightness) if finding else None,
        "detail": finding.detail if finding else None,
        "witness": outcome.witness_name,
        "replays": outcome.replays,
        "budget": asdict(finding.budget) if finding and finding.budget else None,
        "seconds": outcome.seconds,
        "error": outcome.error,
    }
    return entry
