"""An estimate from beginning to end: the stream in parts, on one or many processes, merged in order.

The parts depend on the question and the source alone, not on how many processes there are or which is ready first: the
same seed gives the same numbers everywhere. With a store, finished parts are kept, and a longer or interrupted run goes
on where it was.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import kappaguard
from kappaguard.rules.base.checks import require_count, require_positive
from kappaguard.rules.base.errors import InputError
from kappaguard.rules.ratio import criterion_named
from kappaguard.search.attacks.names import attack_named
from kappaguard.search.engines import Died, distribute
from kappaguard.search.ledger import Ledger, ledger
from kappaguard.training.configuration import LABEL_FLIPPING
from kappaguard.training.sources.source import Source
from kappaguard.verify.estimate.part import GIVEN, NOBODY, Part, Question, measure, part_size, subjects_of
from kappaguard.verify.estimate.result import Estimate
from kappaguard.verify.estimate.worst_case import WorstCase, worst_case_of
from kappaguard.verify.process.sweep import digest

ROUNDS = 200
"""If nothing is said and the source has no end."""
MOST_ROUNDS = 10**7
USUAL_ATTACK = "alie"

Report = Callable[[int, int], None]


def silent(done: int, total: int) -> None:
    """What hears of progress where nobody asked for it."""


@dataclass(frozen=True)
class Engine:
    """Where the parts are worked on: in this process, in several, or on a cluster."""

    name: str = "local"
    jobs: int = 1
    address: str | None = None

    def __post_init__(self) -> None:
        require_count(self.jobs, 1, "--jobs")

    @property
    def here(self) -> bool:
        """Whether one process does all."""
        return self.name == "local" and self.jobs == 1 and self.address is None


def attacks_for(source: Source, asked: Sequence[str], n: int, f: int) -> tuple[str, ...]:
    """The attacks to be tried; without any, the Byzantine vectors of the source, or else a usual one."""
    names = tuple(dict.fromkeys(name.strip() for text in asked for name in _split(text) if name.strip()))
    names = names or ((GIVEN,) if source.complete else (USUAL_ATTACK,))
    honest = source.honest
    for name in names:
        if name == GIVEN and not source.complete:
            raise InputError(f"{source.label} has {source.workers} vectors a round and not n = {n}: name an attack")
        if name == LABEL_FLIPPING and not source.flips:
            raise InputError(f"{source.label} has no labels to flip")
        if name in (GIVEN, LABEL_FLIPPING, NOBODY):
            continue
        attack_named(name, (LABEL_FLIPPING, NOBODY, GIVEN))
        if honest is not None and len(honest) != n - f:
            raise InputError(f"{source.label}: {len(honest)} workers are honest, and an attack needs n - f = {n - f}")
        if honest is None:
            raise InputError(
                f"{source.label} does not say who is honest, so that nobody can attack: --honest 0-{n - f - 1}"
            )
    if NOBODY in names and (len(names) > 1 or not (source.workers == n)):
        raise InputError("the attack none stands alone, and needs n vectors a round")
    return names


def _split(text: str) -> Iterator[str]:
    """Names between the commas that are outside parentheses."""
    depth, name = 0, ""
    for character in text:
        depth += (character == "(") - (character == ")")
        if character == "," and depth == 0:
            yield name
            name = ""
        else:
            name += character
    yield name


def require_fit(source: Source, n: int, f: int) -> None:
    """The vectors of a round must be n, or n - f with an attack to come; and n - f of them honest."""
    if source.workers not in (n, n - f):
        raise InputError(
            f"{source.label} has {source.workers} vectors a round; needed are n = {n}, or {n - f} with an attack"
        )
    honest = source.honest
    if honest is None:
        return
    if any(not 0 <= place < source.workers for place in honest) or len(set(honest)) != len(honest):
        raise InputError(f"{source.label}: the honest ones must be different numbers from 0 to {source.workers - 1}")
    if len(honest) != n - f and not (len(honest) == n == source.workers):
        raise InputError(f"{source.label}: {len(honest)} workers are honest, and n - f = {n - f} should be")


def run(
    question: Question,
    source: Source,
    rounds: int | None = None,
    *,
    until_width: float | None = None,
    engine: Engine | None = None,
    store: Path | None = None,
    report: Report = silent,
    worst_case: bool = True,
) -> list[Estimate]:
    """What the source shows of every rule under every attack, in the order of the question."""
    engine = engine or Engine()
    criterion_named(question.criterion)
    if until_width is not None:
        require_positive(until_width, "--until-width")
    subjects = subjects_of(question)
    total = _length(source, rounds, until_width)
    ready = source.prepared()
    if source.once and not engine.here:
        raise InputError("a stream that is seen once is seen by one process: leave out jobs, engine and address")
    size = part_size(question, source)
    bounds = [(begin, min(begin + size, total)) for begin in range(0, total, size)]
    known = {
        subject.name: worst_case_of(spec, subject.rule, question.n, question.f, worst_case=worst_case)
        for spec, subject in zip(question.specs, subjects, strict=True)
    }

    def concluded(part: Part) -> list[Estimate]:
        return estimates(question, source, part, known)

    whole: Part | None = None
    report(0, total)
    with ledger(store) if store is not None else nullcontext() as book:
        for (begin, end), part in zip(
            bounds, _parts(question, ready, bounds, engine, book, lambda done: report(done, total)), strict=False
        ):
            seen = next(iter(part.ratios.values())).count
            if seen or whole is None:
                whole = part if whole is None else whole.merge(part)
            if seen < end - begin:
                # the stream has ended
                break
            report(end, total)
            if until_width is not None and all(each.width <= until_width for each in concluded(whole)):
                break
    if whole is None:
        raise InputError("the source has no round")
    return concluded(whole)


def _length(source: Source, rounds: int | None, until_width: float | None) -> int:
    if rounds is not None:
        require_count(rounds, 1, "--rounds")
    endless = ROUNDS if until_width is None and not source.once else MOST_ROUNDS
    wanted = rounds or (endless if source.length is None else source.length)
    return wanted if source.length is None else min(wanted, source.length)


def _parts(
    question: Question,
    source: Source,
    bounds: Sequence[tuple[int, int]],
    engine: Engine,
    book: Ledger | None,
    report: Callable[[int], None],
) -> Iterator[Part]:
    """The parts in order; those in the ledger are taken from there. One process alone reports round by round."""
    keys = [_key(question, source, *ends) for ends in bounds] if book is not None else [""] * len(bounds)
    missing = [place for place, key in enumerate(keys) if book is None or key not in book]
    work = partial(_measured, question, source, report=report if engine.here else None)
    items = [(place, *bounds[place]) for place in missing]
    fresh = _in_order(work, items, engine)
    try:
        for key in keys:
            if book is not None and key in book:
                yield Part.from_json(json.loads(book[key]))
                continue
            part = next(fresh)
            if book is not None:
                book[key] = json.dumps(part.to_json())
            yield part
    finally:
        fresh.close()


def _in_order(work: Callable[[Any], Part], items: Sequence[Any], engine: Engine) -> Generator[Part, None, None]:
    if engine.here:
        yield from map(work, items)
        return
    waiting: dict[int, Part] = {}
    following = 0
    for place, result in distribute(work, items, engine.name, engine.address, engine.jobs):
        if isinstance(result, Died):
            raise InputError("a process died: a rule crashed it, or used up the memory")
        if isinstance(result, str):
            raise InputError(result)
        waiting[place] = result
        while following in waiting:
            yield waiting.pop(following)
            following += 1


def _measured(
    question: Question, source: Source, item: tuple[int, int, int], report: Callable[[int], None] | None = None
) -> Part:
    place, begin, end = item
    return measure(question, source, begin, end, stream=place, report=report or (lambda done: None))


def _key(question: Question, source: Source, begin: int, end: int) -> str:
    names = [spec for spec in question.rules if isinstance(spec, str)]
    if len(names) < len(question.rules):
        raise InputError("a store keeps what rules by name showed: name the rule, as in file.py:rule")
    about = {
        "rules": names,
        "code": [digest(name) for name in names],
        "n": question.n,
        "f": question.f,
        "attacks": question.attacks,
        "criterion": question.criterion,
        "seed": question.seed,
        "mixing": question.mixing,
        "source": source.fingerprint,
        "rounds": [begin, end],
        "version": kappaguard.__version__,
    }
    return json.dumps(about, sort_keys=True)


def estimates(question: Question, source: Source, part: Part, known: dict[str, WorstCase]) -> list[Estimate]:
    """The results of a merged part."""
    found = []
    for attack in question.attacks:
        for subject in subjects_of(question):
            key = attack, subject.name
            effect = part.effects.get(key)
            found.append(
                Estimate(
                    subject.name,
                    question.n,
                    question.f,
                    attack,
                    source.label,
                    question.criterion,
                    question.seed,
                    part.subsets,
                    source.independent,
                    part.ratios[key],
                    known[subject.name],
                    effect,
                    subject.plain,
                    subject.mixer,
                    part.ratios[attack, subject.plain].maximum if subject.plain is not None else None,
                    kept=part.kept.get(key),
                )
            )
    return found
