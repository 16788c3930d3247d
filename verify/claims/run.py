"""Runs claims, keeps what is finished, and writes the witnesses.

DIR/witnesses/      one file per witness; those with a rule are replayed by ``kappaguard replay``
DIR/claims/         finished claims, for the next run
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import kappaguard
from kappaguard.rules.files import write
from kappaguard.rules.witness import Witness
from kappaguard.verify.claims.claim import Claim, Effort, Finding, Report
from kappaguard.verify.claims.store import Store, Stored, witness_json
from kappaguard.verify.verdict import number

SCHEMA = "kappaguard-results/1"


@dataclass(frozen=True)
class Outcome:
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
) -> Iterator[Outcome]:
    """The outcomes, one by one; each finding is stored before it is handed out."""
    store = Store(folder / "claims", effort)
    for claim in claims:
        report = progress(claim) if progress else _silent
        stored = None if fresh else store.load(claim)
        if stored is not None:
            yield Outcome(claim, stored.finding, stored.seconds, reused=True)
            continue
        start = time.perf_counter()
        try:
            finding = claim.check(effort, report)
        except Exception as error:
            yield Outcome(claim, None, time.perf_counter() - start, error=f"{type(error).__name__}: {error}")
            continue
        stored = Stored(finding, time.perf_counter() - start)
        store.save(claim, stored)
        yield Outcome(claim, finding, stored.seconds)


def _silent(done: int, total: int) -> None:
    pass


def results(outcomes: Sequence[Outcome], effort: Effort, complete: bool) -> dict[str, Any]:
    """Everything, as results.json has it."""
    return {
        "schema": SCHEMA,
        "version": kappaguard.__version__,
        "effort": effort.value,
        "complete": complete,
        "changed": [outcome.claim.name for outcome in outcomes if not outcome.as_expected],
        "claims": [_entry(outcome) for outcome in outcomes],
    }


def write_witnesses(outcomes: Sequence[Outcome], folder: Path) -> None:
    """One file per witness."""
    for outcome in outcomes:
        if outcome.witness_name is not None:
            assert outcome.finding is not None
            assert outcome.finding.witness is not None
            write(folder / outcome.witness_name, witness_json(outcome.finding.witness))


def _entry(outcome: Outcome) -> dict[str, Any]:
    claim, finding = outcome.claim, outcome.finding
    entry: dict[str, Any] = {
        "name": claim.name,
        "statement": claim.statement,
        "source": claim.source,
        "corrects": claim.corrects,
        "expected": claim.expected,
        "verdict": outcome.verdict,
        "as_expected": outcome.as_expected,
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
