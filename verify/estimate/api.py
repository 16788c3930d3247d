"""``kg.estimate``: empirical kappa in people's own loops."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from kappaguard.rules.base.checks import require_count, require_minority
from kappaguard.rules.base.errors import InputError
from kappaguard.training.sources.caller import Listed, Once
from kappaguard.training.sources.names import source_named
from kappaguard.training.sources.source import Source
from kappaguard.verify.estimate.part import NOBODY, Question, Spec, part_size
from kappaguard.verify.estimate.result import Estimate
from kappaguard.verify.estimate.run import Engine, attacks_for, require_fit, run, silent
from kappaguard.verify.estimate.witnesses import input_of


def estimate(
    rule: Spec | Sequence[Spec],
    stream: str | Path | Source | Iterable[Any],
    *,
    f: int,
    n: int | None = None,
    attack: str | None = None,
    honest: Sequence[int] | None = None,
    rounds: int | None = None,
    criterion: str = "trace",
    seed: int = 0,
    mixing: bool = False,
    until_width: float | None = None,
    jobs: int = 1,
    engine: str = "local",
    address: str | None = None,
    store: str | Path | None = None,
    data_dir: str | None = None,
    worst_case: bool = True,
    report: Callable[[int, int], None] = silent,
) -> Estimate | tuple[Estimate, ...]:
    """The distribution of a rule's ratio on a stream of rounds, beside its worst case.

    ``stream`` is a source as ``kappaguard estimate --from`` names it, or your own rounds: an array of shape (k, n, d),
    or anything that yields (n, d) arrays or tensors, or pairs of one and its honest places. n is that of the rounds
    unless given; rounds of n - f honest vectors need n and an attack. Where nobody says who is honest, S is the worst
    set. A list of rules sees the same stream and gives one result each; with ``mixing`` each rule is followed by nnm
    and bucketing in front of it, with the paired effect. The input of the largest ratio is ``result.kept``.
    """
    several = not isinstance(rule, str) and isinstance(rule, Sequence)
    specs: tuple[Spec, ...] = tuple(rule) if several else (rule,)  # type: ignore[arg-type, assignment]
    if not specs:
        raise InputError("there is no rule")
    require_count(f, 0, "f")
    require_count(seed, 0, "the seed")
    source = _source(stream, n, f, None if honest is None else tuple(honest), seed, attack, data_dir)
    size = n if n is not None else source.workers
    require_minority("estimate", size, f)
    require_fit(source, size, f)
    source = source.prepared()
    attacks = attacks_for(source, () if attack is None else (attack,), size, f)
    question = Question(specs, size, f, attacks, criterion, seed, mixing)
    results = run(
        question,
        source,
        rounds,
        until_width=until_width,
        engine=Engine(engine, jobs, address),
        store=None if store is None else Path(store),
        report=report,
        worst_case=worst_case,
    )
    found = tuple(_with_input(each, question, source) for each in results)
    return found if several or mixing or len(attacks) > 1 else found[0]


def _source(
    stream: Any, n: int | None, f: int, honest: tuple[int, ...] | None, seed: int, attack: str | None, data: str | None
) -> Source:
    if isinstance(stream, Source):
        return stream
    if isinstance(stream, str | Path):
        if n is None:
            raise InputError("a source by name needs n: estimate(..., n=17)")
        return source_named(str(stream), n, f, honest=honest, seed=seed, everyone=attack == NOBODY, data_dir=data)
    if hasattr(stream, "ndim") and stream.ndim == 2:
        stream = [stream]
    if isinstance(stream, Sequence) or hasattr(stream, "ndim"):
        if len(stream) == 0:
            raise InputError("there is no round")
        return Listed(stream, n if n is not None else _size(stream[0], honest), honest)
    if not isinstance(stream, Iterable):
        raise InputError(f"a stream is a source or yields rounds, and is not {type(stream).__name__}")
    return Once(stream, n, f, honest)


def _size(first: Any, honest: tuple[int, ...] | None) -> int:
    return Once([first], None, 0, honest).n


def _with_input(result: Estimate, question: Question, source: Source) -> Estimate:
    """The input of the largest ratio; of a stream it was kept on the way."""
    if result.kept is not None or result.where is None or source.once:
        return result
    begin = result.where - result.where % part_size(question, source)
    kept = input_of(question, source, result.attack, result.rule, result.where, begin)
    return replace(result, kept=kept)
