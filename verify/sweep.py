"""Many searches: rules x (n, f) x seeds, spread over an engine, each result stored when it is finished."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from kappaguard.rules.errors import InputError
from kappaguard.search.engines import spread
from kappaguard.search.ledger import ledger
from kappaguard.verify.lower import search
from kappaguard.verify.verdict import number


@dataclass(frozen=True)
class Cell:
    """One search. The budget is in seconds, in evaluations (the same result everywhere), or both."""

    rule: str
    n: int
    f: int
    seed: int = 0
    budget: float | None = None
    evaluations: int | None = None
    d: int | None = None

    @property
    def key(self) -> str:
        """All that the result depends on, as a text."""
        return json.dumps(asdict(self), sort_keys=True)


def run(cell: Cell) -> dict[str, Any]:
    """The result of a cell; a request that is wrong is a result as well."""
    try:
        found = search(
            cell.rule,
            cell.n,
            cell.f,
            d=cell.d,
            budget=cell.budget,
            evaluations=cell.evaluations,
            seed=cell.seed,
        )
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
    cells: Sequence[Cell],
    store: Path | str,
    *,
    engine: str = "local",
    address: str | None = None,
    jobs: int | None = None,
    report: Callable[[int, int], None] = lambda done, total: None,
) -> list[dict[str, Any]]:
    """The results of all cells, in their order; those that the store has already are not computed again."""
    with ledger(store) as finished:
        missing = [cell for cell in dict.fromkeys(cells) if cell.key not in finished]
        done = len(cells) - len(missing)
        report(done, len(cells))
        if missing:
            for place, result in spread(run, missing, engine, address, jobs):
                finished[missing[place].key] = json.dumps(result)
                done += 1
                report(done, len(cells))
        return [json.loads(finished[cell.key]) for cell in cells]
