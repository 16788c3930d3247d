"""``kappaguard diff``: are two rules the same function?"""

from __future__ import annotations

import sys
from contextlib import redirect_stdout
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kappaguard import __version__
from kappaguard.cli.options import AsJson, Byzantine, RuleName, Vectors

if TYPE_CHECKING:
    from kappaguard.verify.guard.diff import Comparison

DIFFERENT = 1


def diff(
    left: RuleName,
    right: Annotated[str, typer.Argument(metavar="RULE", help="The rule to compare it with.")],
    n: Vectors,
    f: Byzantine,
    as_json: AsJson = False,
) -> int:
    """Are two rules the same function? Exit code 0 if no input tells them apart, 1 if one does. A RULE that is not ours
    is code, and is run.
    """
    from kappaguard.rules.base.checks import require_setting
    from kappaguard.verify.guard.diff import diff as compare

    require_setting(n, f, 2)
    with redirect_stdout(sys.stderr):
        found = compare(left, right, n, f)
    typer.echo(_json(found, left, right, n, f) if as_json else _text(found, left, right))
    return DIFFERENT if found.verdict == "different" else 0


def _text(found: Comparison, left: str, right: str) -> str:
    from kappaguard.rules.recipe.text import describe
    from kappaguard.verify.guard.diff import Alike, Same

    if isinstance(found, Same):
        return "\n".join(
            [f"the same: {left} and {right} have one recipe", *(f"  {each}" for each in describe(found.recipe))]
        )
    if isinstance(found, Alike):
        return f"no difference on {found.inputs:,} inputs; that is no proof: at least one of the two has no recipe"
    width = max(len(left), len(right), len("worker 00"))
    lines = [f"different: the first of {found.inputs:,} inputs, from small to large, that tells them apart", ""]
    lines += [f"  {f'worker {i}':<{width}}  {_numbers(row)}" for i, row in enumerate(found.x)]
    lines += [f"  {name:<{width}}  {_numbers(output)}" for name, output in ((left, found.left), (right, found.right))]
    if found.tie:
        lines += ["", "moved a little they agree: the input has a tie, and the two break it differently"]
    return "\n".join(lines)


def _numbers(row: Any) -> str:
    return "  ".join(f"{value:.6g}" for value in row)


def _json(found: Comparison, left: str, right: str, n: int, f: int) -> str:
    import json

    from kappaguard.verify.guard.diff import Different
    from kappaguard.verify.guard.verdict import number

    def listed(values: Any) -> Any:
        return [[number(each) for each in row] for row in values.reshape(-1, values.shape[-1])]

    apart = found if isinstance(found, Different) else None

    return json.dumps(
        {
            "rules": [left, right],
            "n": n,
            "f": f,
            "verdict": found.verdict,
            "inputs": found.inputs,
            "x": None if apart is None else listed(apart.x),
            "outputs": None if apart is None else [listed(apart.left), listed(apart.right)],
            "tie": apart is not None and apart.tie,
            "version": __version__,
        },
        indent=2,
    )
