"""``kappaguard atlas``: every rule we know, beside each other, resumable."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from kappaguard.cli.options import Address, AsJson, Engine, Jobs, Seed


def atlas(
    own: Annotated[
        list[str] | None, typer.Argument(metavar="[RULE]...", help="Rules of yours, put beside the others.")
    ] = None,
    out: Annotated[Path, typer.Option("--out", metavar="DIR", help="Where the page goes.")] = Path("kappa-atlas"),
    at: Annotated[
        list[str] | None, typer.Option("--at", metavar="N,F", help="A pair n,f; may be given several times.")
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="Only n = 5, f = 1, with short searches.")] = False,
    evaluations: Annotated[
        int | None,
        typer.Option("--evaluations", metavar="K", help="Inputs that one search tries; the same on every machine."),
    ] = None,
    seed: Seed = 0,
    train: Annotated[
        bool,
        typer.Option("--train", help="Train with every rule under five attacks, at the largest (n, f)."),
    ] = False,
    engine: Engine = "local",
    address: Address = None,
    jobs: Jobs = None,
    as_json: AsJson = False,
) -> int:
    """Put every rule, with and without nnm and bucketing, beside each other: one page. Started again, it goes on."""
    import shlex

    from kappaguard.cli.check import INTERRUPTED
    from kappaguard.cli.progress import counting
    from kappaguard.cli.sweep import pair
    from kappaguard.reports.atlas.place import EVALUATIONS, PLACES, QUICK_EVALUATIONS, QUICK_PLACES, places
    from kappaguard.reports.atlas.run import NUMBERS, PAGE, make_atlas
    from kappaguard.rules.base.checks import require_count
    from kappaguard.rules.names import is_code
    from kappaguard.verify.judge.subject import subject_of

    if jobs is not None:
        require_count(jobs, 1, "--jobs")
    require_count(seed, 0, "the seed")
    pairs = [pair(each) for each in at] if at else list(QUICK_PLACES if quick else PLACES)
    tried = evaluations if evaluations is not None else QUICK_EVALUATIONS if quick else EVALUATIONS
    wanted = places(own or [], pairs, tried, seed)
    for rule in own or []:
        if not is_code(rule):
            # a wrong name is told at once; somebody else's code is only run apart
            subject_of(rule, *pairs[0])
    given = [*(own or []), *(f"--at {each}" for each in at or [])]
    given += ["--quick"] if quick else []
    given += [] if evaluations is None else [f"--evaluations {evaluations}"]
    given += [f"--seed {seed}"] if seed else []
    given += ["--train"] if train else []
    command = " ".join(["kappaguard atlas", *(each if each.startswith("--") else shlex.quote(each) for each in given)])
    with counting("entries") as report:
        found = make_atlas(wanted, out, command, engine=engine, address=address, jobs=jobs, report=report, train=train)
    if as_json:
        typer.echo((out / NUMBERS).read_text(encoding="utf-8").rstrip())
    else:
        counts: dict[str, int] = {}
        for entry in found.entries:
            word = "refused" if entry["refused"] else entry["status"]
            counts[word] = counts.get(word, 0) + 1
        listed = ", ".join(f"{count} {word}" for word, count in counts.items())
        typer.echo(f"{len(found.entries)} of {found.wanted} entries: {listed}")
        typer.echo(f"Atlas: {out / PAGE}{' (interrupted: run again to go on)' if found.interrupted else ''}")
    return INTERRUPTED if found.interrupted else 0
