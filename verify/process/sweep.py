"""Many searches: rules x (n, f) x seeds, distribute over an engine, each result stored when it is finished."""

from __future__ import annotations

import hashlib
import importlib.util
import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

import kappaguard
from kappaguard.rules.base.errors import InputError
from kappaguard.rules.base.files import is_file
from kappaguard.rules.grammar import split_pipeline
from kappaguard.rules.names import is_code
from kappaguard.search.engines import Died, distribute
from kappaguard.search.ledger import ledger
from kappaguard.verify.guard.verdict import number
from kappaguard.verify.judge.search import search
from kappaguard.verify.process.run import Limits, search_apart

RESULT = ("lower", "exact", "witness", "used", "seconds", "found_by")
"""What a search tells of a cell."""
LONGEST = 24 * 3600.0
"""Seconds that a search of somebody else's rule may take beyond its budget."""
DIED = "its process died: the rule crashed it, or used up the memory"


@dataclass(frozen=True)
class SearchTask:
    """One search. The budget is in seconds, in evaluations (the same result everywhere), or both; the tolerance is the
    text of a fraction."""

    rule: str
    n: int
    f: int
    seed: int = 0
    budget: float | None = None
    evaluations: int | None = None
    d: int | None = None
    tolerance: str | None = None

    @property
    def key(self) -> str:
        """All that the result depends on, as a text: the request, our version, and the file of a rule that has one."""
        about = {**asdict(self), "version": kappaguard.__version__, "source": digest(self.rule)}
        return json.dumps(about, sort_keys=True)


def digest(rule: str) -> str | None:
    """A hash of the files and modules that the rule's name mentions; None for built-in names."""
    digest = hashlib.sha256()
    for stage in split_pipeline(rule):
        where, colon, _ = stage.strip().partition(":")
        if not colon:
            continue
        path = Path(where)
        if not where.endswith(".py"):
            try:
                found = importlib.util.find_spec(where)
            except (ImportError, ValueError):
                continue
            path = Path(found.origin) if found is not None and found.origin else path
        if is_file(path):
            digest.update(path.read_bytes())
    return digest.hexdigest() if is_code(rule) else None


def run(cell: SearchTask) -> dict[str, Any]:
    """The result of a cell; a request that is wrong is a result as well."""
    options: dict[str, Any] = {
        "d": cell.d,
        "budget": cell.budget,
        "evaluations": cell.evaluations,
        "seed": cell.seed,
        "tolerance": None if cell.tolerance is None else Fraction(cell.tolerance),
    }
    try:
        # somebody else's code is kept: it and all that it starts end with the sweep
        apart = partial(search_apart, limits=Limits(LONGEST)) if is_code(cell.rule) else search
        found = apart(cell.rule, cell.n, cell.f, **options)
    except InputError as error:
        return {**asdict(cell), "error": str(error)}
    return {
        **asdict(cell),
        "lower": number(found.lower),
        "exact": str(found.lower),
        "witness": None if found.witness is None else found.witness.to_json(),
        "used": found.stats.evaluations,
        "seconds": found.stats.seconds,
        "found_by": None if found.witness is None else found.witness.found_by,
    }


def sweep(
    cells: Sequence[SearchTask],
    store: Path | str,
    *,
    engine: str = "local",
    address: str | None = None,
    jobs: int | None = None,
    report: Callable[[int, int], None] = lambda done, total: None,
) -> list[dict[str, Any]]:
    """The results of all cells, in their order; those that the store has already are not computed again."""
    with ledger(store) as finished:
        keys = {cell: cell.key for cell in cells}
        missing = [cell for cell in keys if keys[cell] not in finished]
        failed: dict[SearchTask, dict[str, Any]] = {}
        done = len(cells) - len(missing)
        report(done, len(cells))
        if missing:
            for place, found in distribute(run, missing, engine, address, jobs):
                cell = missing[place]
                result = {**asdict(cell), "error": DIED} if isinstance(found, Died) else found
                # what failed may work the next time: the file may be mended, memory may be free
                if "error" in result:
                    failed[cell] = result
                else:
                    finished[keys[cell]] = json.dumps(result)
                done += 1
                report(done, len(cells))
        return [failed[cell] if cell in failed else _stored(finished[keys[cell]], store) for cell in cells]


def _stored(text: str, store: Path | str) -> dict[str, Any]:
    """A result as ``run`` made it; InputError if something else stands in its place."""
    try:
        found = json.loads(text)
        if found.keys() >= {*asdict(SearchTask("", 1, 0)), *RESULT} and isinstance(found["lower"], float | int | str):
            return dict(found)
    except (ValueError, AttributeError, RecursionError):
        pass
    raise InputError(f"{store} is damaged: it holds a result that no search has written")
