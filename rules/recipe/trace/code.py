"""A rule of somebody else's, as code: where it is, what it is handed, and the recipe that it leaves behind."""

from __future__ import annotations

import contextlib
import hashlib
import inspect
import os
import sys
import time
import warnings
from dataclasses import dataclass, fields, is_dataclass
from pathlib import Path
from typing import Any

import numpy as np

from kappaguard.rules.base.errors import RuleFault
from kappaguard.rules.base.rule import PreAggregation
from kappaguard.rules.foreign.adapted import Adapted, Guarded
from kappaguard.rules.foreign.callables import PlainCall
from kappaguard.rules.foreign.forks import end_copy
from kappaguard.rules.foreign.parameters import one_line
from kappaguard.rules.foreign.pipeline import Stages
from kappaguard.rules.foreign.seeding import seeded
from kappaguard.rules.recipe.recipe import Recipe
from kappaguard.rules.recipe.trace.compare import Comparison, compared
from kappaguard.rules.recipe.trace.functions import squared_distances
from kappaguard.rules.recipe.trace.match import traced, traced_in
from kappaguard.rules.recipe.trace.refusal import MOST_CHARACTERS, Untraceable, place_of
from kappaguard.rules.recipe.trace.rewriting import modules_of

HEADS = ("def ", "class ", "async def ")
"""With what a definition begins, behind its decorators."""
LONG = 0.03
CALLS = 3
"""Seconds of a call."""
RAISES = "symbols in place of numbers end in"


@dataclass(frozen=True)
class TracedCode:
    """The recipe that was traced from code, the code's name and hash, and how the two were compared.

    ``dimension`` is None if the recipe holds in every dimension, else the only one.
    """

    recipe: Recipe
    rule: str
    sha256: str
    comparison: Comparison
    dimension: int | None = None

    @property
    def origin(self) -> dict[str, str]:
        """For a certificate: where its recipe comes from."""
        return {"rule": self.rule, "sha256": self.sha256}


def trace(adapted: Adapted, n: int, *, brief: bool = False) -> TracedCode:
    """The recipe of a rule on n vectors, compared with the rule itself; ``Untraceable`` if there is none.

    The comparison has few inputs if ``brief``, or if one call takes long; how many is in the result.
    """
    targets = targets_of(adapted.run, n)
    try:
        return _traced_and_compared(adapted, targets, n, brief)
    except Untraceable as refused:
        if refused.place:
            raise
        raise Untraceable(refused.why, refused.hint, *_definition(targets)) from None


def _traced_and_compared(adapted: Adapted, targets: list[Any], n: int, brief: bool) -> TracedCode:
    call = _Guarded(adapted)
    dimension = None
    try:
        recipe = _traced(adapted, call, targets, n)
    except Untraceable as refused:
        recipe, dimension = _on_a_line(call, targets, n, refused), 1
    comparison = compared(recipe, adapted, dimension, brief=brief or _takes_long(adapted, n))
    return TracedCode(recipe, adapted.name, digest(targets), comparison, dimension)


def _traced(adapted: Adapted, call: _Guarded, targets: list[Any], n: int) -> Recipe:
    """What the code does; where symbols in an array make it raise, it may want its vectors in another form."""
    try:
        return traced(call, targets, n)
    except Untraceable as refused:
        run = adapted.run
        if not refused.why.startswith(RAISES) or not isinstance(run, PlainCall) or run.is_settled:
            raise
        with contextlib.suppress(RuleFault):
            adapted(np.random.default_rng(n).standard_normal((n, 2)))
        if run.style == run.given:
            raise
        return traced(call, targets, n)


def _definition(targets: list[Any]) -> tuple[str, str]:
    """Where the rule is defined: for what no single line of it can be blamed."""
    for target in targets:
        for each in (inspect.unwrap(target), type(target)):
            with contextlib.suppress(OSError, TypeError):
                file, (lines, number) = inspect.getsourcefile(each), inspect.getsourcelines(each)
                named = next((place for place, line in enumerate(lines) if line.lstrip().startswith(HEADS)), 0)
                return f"{Path(file or '').name}:{max(number, 1) + named}", lines[named].strip()[:MOST_CHARACTERS]
    return "", ""


def _takes_long(adapted: Adapted, n: int) -> bool:
    """Whether each of a few calls takes long: one alone may have waited for a busy machine."""
    x = np.random.default_rng(n).standard_normal((n, 2))
    for _ in range(CALLS):
        start = time.perf_counter()
        with contextlib.suppress(RuleFault):
            adapted(x)
        if time.perf_counter() - start <= LONG:
            return False
    return True


def _on_a_line(call: _Guarded, targets: list[Any], n: int, refused: Untraceable) -> Recipe:
    """What the code does in dimension 1, where norms are absolute values; else why it could not be traced at all."""
    try:
        return traced_in(call, targets, n, 1)
    except Untraceable:
        raise refused from None


@dataclass(frozen=True)
class _Guarded:
    """A call of the code on symbols: anything that it raises is the end of the trace."""

    adapted: Adapted

    def __call__(self, x: Any) -> Any:
        process = os.getpid()
        with seeded(self.adapted.seed), warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            try:
                return _staged(self.adapted, x)
            except Untraceable:
                raise
            except (Exception, SystemExit) as error:
                behind: BaseException | None = error
                while behind is not None:
                    if isinstance(behind, Untraceable):
                        raise behind from None
                    behind = behind.__cause__ or behind.__context__
                raise Untraceable(f"{RAISES} {one_line(error)}", "", *place_of(error)) from error
            finally:
                end_copy(process)


def _staged(guarded: Guarded, x: Any) -> Any:
    """Stage after stage of a pipeline; nnm as it is defined."""
    if isinstance(guarded.run, Stages):
        for stage in guarded.run.stages:
            x = _staged(stage, x)
        return x
    made = guarded.run.make(len(x)) if isinstance(guarded.run, PlainCall) else None
    if isinstance(made, PreAggregation):
        mixing = made.mixing(len(x))
        if mixing is None:
            raise Untraceable(f"{made.label} in front is no mixing of nearest vectors", "nnm is")
        for count in mixing:
            x = x[np.argsort(squared_distances(x, x), axis=1)[:, :count]].mean(axis=1)
        return x
    if "flwr" in sys.modules:
        from kappaguard.rules.recipe.trace.flower import strategy_call

        call = strategy_call(guarded.run)
        if call is not None:
            return call(x)
    style = guarded.run.style if isinstance(guarded.run, PlainCall) else ""
    if guarded.form == "torch" or style.startswith("torch"):
        from kappaguard.rules.recipe.trace.tensors import tensor

        return guarded.run(tensor(x))
    return guarded.run(x)


def targets_of(run: Any, n: int) -> list[Any]:
    """The functions and objects that an adapter calls."""
    found: list[Any] = []
    pending = [run]
    while pending:
        each = pending.pop()
        if isinstance(each, PreAggregation):
            continue
        if is_dataclass(each) and type(each).__module__.startswith("kappaguard."):
            pending += [getattr(each, field.name) for field in fields(each)]
            make = getattr(each, "make", None)
            if make is not None:
                made = make(n)
                found += [] if isinstance(made, PreAggregation) else [made]
        elif isinstance(each, list | tuple):
            pending += each
        elif callable(each) and not isinstance(each, type):
            found.append(each)
    return found


def digest(targets: list[Any]) -> str:
    """The hash of the source of all modules that define a rule."""
    total = hashlib.sha256()
    for module in sorted(modules_of(targets), key=lambda module: module.__name__):
        file = getattr(module, "__file__", None)
        if file is not None and Path(file).is_file():
            total.update(Path(file).read_bytes())
    return total.hexdigest()
