"""The convergence theorems in ``kappaguard reproduce``: both sides of the bounds, their terms, and the rates."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

if TYPE_CHECKING:
    from kappaguard.training.reproduce.experiments import Cell
    from kappaguard.training.reproduce.ledger import CellStore
    from kappaguard.training.theorems.margins import Margin

Done = dict[str, dict[str, Any]]
"""Results of cells by their keys."""
Finish = Callable[[list["Cell"]], Done]
"""Carries out those that are not finished yet."""


def with_kappa(cells: list[Cell]) -> list[Cell]:
    """With the certified upper bound on kappa* where a run needs one: for the adversary that owns the slack of a rule,
    and for Theorem 2's step sizes if the paper claims none.
    """
    from dataclasses import replace
    from functools import cache

    from kappaguard.rules.names import parse
    from kappaguard.training.slack import is_slack, owner_of

    @cache
    def proved(rule: str, n: int, f: int) -> float | None:
        from kappaguard.verify.judge.exact import exact

        upper = exact(rule, n, f).upper
        return None if upper is None else math.nextafter(float(upper), math.inf)

    def given(cell: Cell) -> Cell:
        own = cell.configuration
        rule = owner_of(own.rule) if is_slack(own.rule) else own.rule
        stepping = own.schedule == "theorem" and own.algorithm == "shb"
        needs = is_slack(own.rule) or (stepping and parse(own.rule, f=own.f).claim is None)
        if not needs or rule is None or own.kappa is not None:
            return cell
        return replace(cell, configuration=own.with_values({"kappa": proved(rule, own.n, own.f)}))

    return [given(cell) for cell in cells]


def margins(
    finished: list[tuple[Cell, dict[str, Any]]], ledger: CellStore, out: Path
) -> tuple[list[str], list[list[str]], list[str]]:
    """A table of both sides; a run that crosses the bound as stated is kept in a folder of its own, and told of."""
    from kappaguard.cli.train import slug
    from kappaguard.rules.base.errors import InputError
    from kappaguard.training.theorems.crossing import keep
    from kappaguard.training.theorems.margins import HEADINGS, line, margin

    lines, crossed = [], []
    for cell, result in finished:
        steps = ledger.rows(cell)
        try:
            found = margin(cell.configuration, steps, result)
        except InputError as error:
            given = cell.configuration
            blank = [""] * (len(HEADINGS) - 4)
            lines.append([given.rule, given.attack, str(given.steps), *blank, f"cannot be said: {error}"])
            continue
        lines.append(line(found))
        if not found.holds:
            name = f"{cell.experiment}-{slug(cell.configuration)}"
            path = keep(out / "crossed", name, cell.configuration, steps, result)
            crossed.append(f"{_crossing(found)}: kappaguard train --replay {path}")
    return HEADINGS, lines, crossed


def _crossing(found: Margin) -> str:
    """Which of the bounds a run crosses."""
    other = "the corrected one holds" if found.holds_corrected else "so is the corrected one"
    return f"The bound as stated is crossed for T = {found.steps} ({found.left:.4g} > {found.stated:.4g}), {other}"


def regimes(steps: int, finish: Finish, out: Path) -> None:
    """Each term of Theorem 2's bound in a run where it is all that matters."""
    from kappaguard.cli.output import print_table
    from kappaguard.reports.experiments.table import markdown
    from kappaguard.rules.base.checks import require_count
    from kappaguard.rules.base.files import write
    from kappaguard.training.reproduce.experiments import SUMMARY, Cell
    from kappaguard.training.theorems.regimes import HEADINGS, regime, regime_runs
    from kappaguard.training.theorems.summary import RateSummary

    require_count(steps, 1, "steps")
    cells = {name: Cell("theorem2-regimes", given, SUMMARY) for name, given in regime_runs(steps).items()}
    done = finish(list(cells.values()))
    found = {name: RateSummary.from_json(done[cell.key]) for name, cell in cells.items()}
    rows = [regime(name, cell.configuration, found[name]).line() for name, cell in cells.items()]
    print_table(HEADINGS, rows)
    path = out / f"theorem2-regimes-steps{steps}.md"
    write(path, f"# Theorem 2, term by term\n\n{markdown(HEADINGS, rows)}")
    typer.echo(f"Stored: {path}")


def rates(steps: int | None, seeds: int, finish: Finish, out: Path) -> None:
    """The slopes of the convergence theorems and the floors, for the report."""
    from kappaguard.cli.output import print_table
    from kappaguard.reports import rates as stored
    from kappaguard.rules.base.errors import InputError
    from kappaguard.training.reproduce.rates import measured, rate_cells

    command = f"{stored.COMMAND}{f' --steps {steps}' if steps else ''} --seeds {seeds}"
    if (out / stored.NAME).exists() and stored.read(out)["command"] != command:
        raise InputError(f"{out / stored.NAME} holds the rates of other settings; choose another folder with --out")
    found = measured(steps, seeds, finish(rate_cells(steps, seeds)), command)
    print_table(stored.SLOPES, stored.slope_rows(found))
    print_table(stored.FLOORS, stored.floor_rows(found))
    typer.echo(f"Stored: {stored.save(found, out)}")
