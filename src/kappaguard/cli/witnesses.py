"""``kappaguard reproduce witnesses``: the convergence theorems on the worst input of every rule."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import typer

SLACK_STEPS = (12, 100, 1000)


def worst_inputs(rules: list[str] | None, seeds: int, out: Path) -> None:
    """Run what is not in the file yet, rule by rule, and print all of it."""
    from kappaguard.cli.output import print_table
    from kappaguard.cli.progress import counting
    from kappaguard.reports.trained import COMMAND, NAME, read_trained, save_trained, trained_tables
    from kappaguard.rules.base.errors import InputError
    from kappaguard.training.version import code_hash
    from kappaguard.verify.theory.trained import RATES_AT, RULES, SHARES, N, owned_slack, trained

    command = COMMAND + "".join(f" --rule {rule}" for rule in rules or ()) + (f" --seeds {seeds}" if seeds > 1 else "")
    places = [(rule, f) for rule in rules or RULES for f in SHARES]
    stored: dict[str, Any] = {"command": command, "code": code_hash(), "runs": [], "slack": []}
    if (out / NAME).exists():
        before = read_trained(out / NAME)
        if before["command"] != command:
            raise InputError(f"{out / NAME} holds the runs of other settings; choose another folder with --out")
        if before["code"] == stored["code"]:
            stored = before
        else:
            typer.echo(f"{out / NAME} was made by other code: all runs are made again", err=True)
    stored["slack"] = stored["slack"] or [owned_slack(steps) for steps in SLACK_STEPS]
    done = {(each["rule"], each["f"]) for each in stored["runs"]}
    with counting("worst inputs") as report:
        for number, (rule, f) in enumerate(places, 1):
            if (rule, f) not in done:
                stored["runs"].append(trained(rule, N, f, max(2, seeds), rates=f == RATES_AT))
                save_trained(stored, out)
            report(number, len(places))
    for headings, rows in trained_tables(stored):
        print_table(headings, rows)
    typer.echo(f"Stored: {out / NAME}")
