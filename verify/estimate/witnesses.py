"""The input with the largest ratio, kept as a file: a witness that can be replayed, or the vectors themselves.

An input of few numbers becomes a witness of rationals, judged in exact arithmetic where the rule has one. A round of
gradients of a network has millions of numbers: it is kept as it is, in a compressed .npz file with its honest set, from
which ``kappaguard estimate RULE --from FILE`` finds the same ratio again.
"""

from __future__ import annotations

import hashlib
import os
import re
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from kappaguard.rules.base.arrays import Array, to_numpy
from kappaguard.rules.base.errors import InputError, RuleFault
from kappaguard.rules.subsets import worst_subset
from kappaguard.training.sources.source import Source
from kappaguard.verify.estimate.part import Look, Question, Spec, part_size
from kappaguard.verify.estimate.result import Estimate
from kappaguard.verify.judge.subject import subject_of

FEW_ENTRIES = 5_000
"""Up to so many numbers an input is kept as rationals."""


def input_of(question: Question, source: Source, attack: str, rule: str, number: int, begin: int) -> tuple[Any, Any]:
    """Round ``number`` as a rule saw it under an attack, (n, d), and S; from round ``begin`` on the attack learned."""
    look = Look(question, source)
    one = next(each for each in look.subjects if each.name == rule)
    found: tuple[Array, tuple[int, ...] | None] | None = None
    # an attack with a memory goes through the rounds before; one without needs only its own
    first = begin if look.remembers(attack) else number
    for place, seen in enumerate(source.rounds(first, number + 1), first):
        found = look.input([seen], attack, one, place)
    if found is None:
        raise InputError(f"{source.label} has no round {number}")
    x, subset = to_numpy(found[0])[0], found[1]
    if subset is None:
        output = to_numpy(one.at(question.seed, 5, number)(x))
        subset = tuple(worst_subset(output, x, question.f, look.criterion).subset.tolist())
    return x, subset


def keep_largest(question: Question, source: Source, result: Estimate, folder: Path) -> Path | None:
    """Write down the input of the largest ratio; where it went, None if no ratio is positive."""
    if result.where is None or result.largest == 0:
        return None
    begin = result.where - result.where % part_size(question, source)
    x, subset = input_of(question, source, result.attack, result.rule, result.where, begin)
    # a rule that draws is named with what it drew in this round
    one = next(each for each in Look(question, source).subjects if each.name == result.rule)
    spec = one.at(question.seed, 5, result.where).label if one.draws else result.rule
    found_by = f"{result.source}, {result.attack}, round {result.where}, seed {result.seed}"
    if result.criterion != "trace":
        return keep_vectors(spec, result.n, result.f, x, subset, folder)
    return keep(spec, result.n, result.f, x, subset, folder, found_by)


def keep(spec: Spec, n: int, f: int, x: Any, subset: tuple[int, ...], folder: Path, found_by: str) -> Path:
    """Write the input down; where it went."""
    rows = np.asarray(x)
    if isinstance(spec, str) and rows.size <= FEW_ENTRIES and np.all(np.isfinite(rows)):
        try:
            subject = subject_of(spec, n, f)
            judged = subject.judge(subject.witness(rows.astype(np.float64), subset, found_by))
            return judged.witness.save(folder / judged.witness.file_name)
        except (InputError, RuleFault):
            pass
    return keep_vectors(str(spec), n, f, rows, subset, folder)


def keep_vectors(name: str, n: int, f: int, x: Any, subset: tuple[int, ...], folder: Path, output: Any = None) -> Path:
    """The vectors with their honest set, and perhaps an output, in an .npz file, whole or not at all."""
    slug = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:40] or "rule"
    mark = hashlib.sha256(np.ascontiguousarray(x).tobytes()).hexdigest()[:10]
    path = folder / f"{slug}-n{n}-f{f}-{mark}.npz"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        descriptor, beside = tempfile.mkstemp(dir=folder, prefix=".input-", suffix=".npz")
        with os.fdopen(descriptor, "wb") as stream:
            more = {} if output is None else {"output": output}
            np.savez_compressed(stream, vectors=x[None], honest=np.array(subset), **more)
        Path(beside).chmod(0o644)
        Path(beside).replace(path)
    except OSError as error:
        raise InputError(f"cannot write {path}: {error.strerror}") from None
    return path
