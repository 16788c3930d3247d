"""The folder of known witnesses: one small file each, meant to be committed, replayed before anything else.

Only files that name the rule under check are opened further than that: a file from a stranger is read, or rejected with
one line, and never makes us import the code that it names.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from kappaguard.rules.base.errors import InputError
from kappaguard.rules.witness import Witness, load

FOLDER = Path(".kappaguard/witnesses")
MOST_FILES = 10_000


@dataclass(frozen=True)
class KnownWitnesses:
    """The witnesses of one rule at one (n, f), by file name, and what is wrong with files that are none."""

    known: tuple[tuple[str, Witness], ...]
    rejected: tuple[str, ...]


def stored(folder: Path, rule: str, n: int, f: int) -> KnownWitnesses:
    """What the folder holds on a rule at (n, f), in the order of the file names."""
    known: list[tuple[str, Witness]] = []
    rejected: list[str] = []
    try:
        paths = sorted(folder.glob("*.json"))[:MOST_FILES] if folder.is_dir() else []
    except (OSError, ValueError) as error:
        raise InputError(f"cannot read {folder}: {getattr(error, 'strerror', None) or error}") from None
    for path in paths:
        try:
            witness = load(path)
        except InputError as error:
            rejected.append(" ".join(str(error).split())[:300])
            continue
        if (witness.rule, witness.n, witness.f, witness.criterion) == (rule, n, f, "trace"):
            known.append((path.name, witness))
    return KnownWitnesses(tuple(known), tuple(rejected))


def keep(folder: Path, witness: Witness, claim: str) -> Path:
    """Save a violation under its own name; the same input saved twice is one file."""
    note = witness.note or f"violates kappa* <= {claim}"
    folder.mkdir(parents=True, exist_ok=True)
    return replace(witness, note=note).save(folder)
