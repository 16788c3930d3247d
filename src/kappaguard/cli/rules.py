"""``kappaguard rules``: what there is, with coefficients."""

from __future__ import annotations

import typer

from kappaguard import __version__
from kappaguard.cli.options import AsJson


def rules(as_json: AsJson = False) -> None:
    """List the built-in rules and pre-aggregations with their claimed coefficients."""
    from kappaguard.cli.catalogue import entries

    if as_json:
        import json
        from dataclasses import asdict

        typer.echo(json.dumps({"version": __version__, "rules": [asdict(entry) for entry in entries()]}, indent=2))
        return

    from kappaguard.cli.output import print_table

    print_table(
        ["name", "kind", "parameters", "coefficient", "source", "definition"],
        [
            (
                entry.name,
                entry.kind,
                ", ".join(entry.parameters),
                entry.coefficient or "",
                entry.source or "",
                entry.definition,
            )
            for entry in entries()
        ],
    )
    typer.echo("kappaguard atlas puts them beside each other: kappa*, breakdown, error without attack and cost.")
