"""``kappaguard exact``: kappa* with a witness below and a certificate above."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kappaguard.cli.options import AsJson, RuleOrRecipe, TraceTimeout

if TYPE_CHECKING:
    from kappaguard.verify.judge.result import KappaResult


def exact(
    rule: RuleOrRecipe,
    n: Annotated[
        int | None, typer.Option("-n", help="The number of vectors; with --weights their sum.", show_default=False)
    ] = None,
    f: Annotated[int | None, typer.Option("-f", help="The number of Byzantine ones.", show_default=False)] = None,
    weights: Annotated[
        str | None,
        typer.Option(
            "--weights", metavar="W,W,...", help="How many vectors each worker counts as; f is then a weight, too."
        ),
    ] = None,
    nodes: Annotated[
        int | None, typer.Option("--nodes", help="Nodes of the tree of decisions; more may shrink a bracket.", min=1)
    ] = None,
    actual: Annotated[
        int | None,
        typer.Option("--actual", help="How many are Byzantine, if not as many as the rule is built for.", min=0),
    ] = None,
    timeout: TraceTimeout = None,
    as_json: AsJson = False,
    out: Annotated[Path, typer.Option("--out", help="Where witness and certificate are written.")] = Path(
        ".kappaguard/exact"
    ),
) -> None:
    """The worst case of a rule: a lower bound with a witness, an upper bound with a certificate."""
    from kappaguard.cli.options import whole_numbers
    from kappaguard.cli.progress import bracketing
    from kappaguard.rules.base.checks import require_few
    from kappaguard.rules.base.errors import InputError
    from kappaguard.verify.judge.exact import exact as judge
    from kappaguard.verify.judge.exact_weighted import exact_weighted

    if f is None or (n is None) == (weights is None):
        raise InputError("a RULE needs -n and -f, or --weights and -f: kappaguard exact cwtm --weights 5,3,1,1 -f 3")
    with bracketing() as progress:
        if weights is not None:
            if actual is not None:
                raise InputError("--actual does not go with --weights: any weight up to f may attack there")
            result = exact_weighted(rule, whole_numbers(weights, "--weights"), f, nodes=nodes, progress=progress)
        else:
            require_few(n or 0)
            result = judge(rule, n or 0, f, progress=progress, nodes=nodes, actual=actual, timeout=timeout)
    paths = _save(result, out)
    typer.echo(_json(result, paths) if as_json else _text(result, paths))


def _save(result: KappaResult, folder: Path) -> dict[str, Path | None]:
    import hashlib
    import json
    import re

    from kappaguard.rules.base.errors import InputError
    from kappaguard.rules.base.files import write

    paths: dict[str, Path | None] = {"witness": None, "certificate": None}
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if result.witness is not None:
            paths["witness"] = result.witness.save(folder)
        if result.certificate is not None:
            whole = json.loads(result.certificate)["rule"]
            certified = re.sub(r"[^a-z0-9]+", "-", whole.lower()).strip("-")
            if len(certified) > 40:
                # recipes begin alike
                certified = f"{certified[:40].strip('-')}-{hashlib.sha256(whole.encode()).hexdigest()[:10]}"
            name = f"{certified}-n{result.n}-f{result.f}.certificate.json"
            paths["certificate"] = folder / name
            write(folder / name, result.certificate + "\n")
    except OSError as error:
        raise InputError(f"cannot write to {folder}: {error.strerror or error}") from None
    return paths


def _json(result: KappaResult, paths: dict[str, Path | None]) -> str:
    from kappaguard.cli.output import as_json

    return as_json(
        result,
        paths["witness"],
        verdict=result.status.value,
        certificate=None if paths["certificate"] is None else str(paths["certificate"]),
        proof=result.proof,
        scope=result.scope or f"{result.rule}, exact arithmetic, all d",
        programs=result.stats.programs,
    )


def _text(result: KappaResult, paths: dict[str, Path | None]) -> str:
    from kappaguard.cli.output import outward

    upper = "unknown: no certificate and no proof for this rule yet"
    if result.upper is not None:
        reasons = [str(reason) for reason in (paths["certificate"], result.proof) if reason]
        upper = f"{outward(result.upper, up=True)}   {'; '.join(reasons) or 'infinite'}"
    lines = {
        "rule": f"{result.rule}, n = {result.n}, f = {result.f}",
        "kappa* >=": f"{outward(result.lower, up=False)}   {paths['witness']}",
        "kappa* <=": upper,
        "status": result.status.value,
        **({} if result.scope is None else {"scope": result.scope}),
        "cost": f"{result.stats.seconds:.2f} s, {result.stats.programs} cone programs",
    }
    return "\n".join(f"{key:<10} {value}" for key, value in lines.items())
