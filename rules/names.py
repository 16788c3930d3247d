"""Rules by name: ``krum``, ``nnm+cwtm``, ``bucketing(s=2)+gm``, ``package.module:attribute``, ``file.py:attribute``."""

from __future__ import annotations

import ast
import difflib
import re
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from typing import Any, TypeVar

from kappaguard.rules.aksel import Aksel
from kappaguard.rules.arc import AdaptiveClipping
from kappaguard.rules.average import Average
from kappaguard.rules.base.arrays import Array
from kappaguard.rules.base.checks import require_count
from kappaguard.rules.base.errors import InputError
from kappaguard.rules.base.rule import PreAggregation, Rule
from kappaguard.rules.base.untrusted import read, short
from kappaguard.rules.bucketing import Bucketing
from kappaguard.rules.bulyan import Bulyan
from kappaguard.rules.caf import CovarianceFilter
from kappaguard.rules.centered_clipping import CenteredClipping
from kappaguard.rules.cge import ComparativeElimination
from kappaguard.rules.chebyshev import ChebyshevCentre
from kappaguard.rules.clipping import Clipping
from kappaguard.rules.ctma import CenteredTrimming
from kappaguard.rules.cwmed import Median
from kappaguard.rules.cwtm import TrimmedMean
from kappaguard.rules.dnc import DivideAndConquer
from kappaguard.rules.faba import IterativeFilter
from kappaguard.rules.filterl2 import SpectralFilter
from kappaguard.rules.gm import GeometricMedian
from kappaguard.rules.grammar import keywords, split_pipeline
from kappaguard.rules.krum import Krum
from kappaguard.rules.mda import MinimumDiameterAveraging
from kappaguard.rules.meamed import MeanAroundMedian
from kappaguard.rules.median_clipping import MedianClipping
from kappaguard.rules.medoid import Medoid
from kappaguard.rules.monna import MoNNA
from kappaguard.rules.multikrum import MultiKrum
from kappaguard.rules.mva import MinimumVarianceAveraging
from kappaguard.rules.nna import NearestNeighbourAveraging
from kappaguard.rules.nnm import NNM
from kappaguard.rules.phocas import Phocas
from kappaguard.rules.pipeline import Pipeline
from kappaguard.rules.recipe.recipe import Recipe
from kappaguard.rules.smea import SmallestMaximumEigenvalueAveraging
from kappaguard.rules.winsorised import WinsorisedMean

RULES: dict[str, type[Rule]] = {
    cls.name: cls
    for cls in (
        Average,
        Median,
        TrimmedMean,
        GeometricMedian,
        Krum,
        MultiKrum,
        MinimumDiameterAveraging,
        MeanAroundMedian,
        CenteredClipping,
        MoNNA,
        SmallestMaximumEigenvalueAveraging,
        CovarianceFilter,
        MinimumVarianceAveraging,
        IterativeFilter,
        NearestNeighbourAveraging,
        Phocas,
        WinsorisedMean,
        Bulyan,
        ChebyshevCentre,
        Medoid,
        Aksel,
        CenteredTrimming,
        ComparativeElimination,
        MedianClipping,
        DivideAndConquer,
        SpectralFilter,
    )
}
PRE_AGGREGATIONS: dict[str, type[PreAggregation]] = {
    cls.name: cls for cls in (NNM, Bucketing, Clipping, AdaptiveClipping)
}

OLDER = {"multikrum": {"m": "select"}}
"""Parameters that had another name: witnesses and configurations may still say it."""

S = TypeVar("S", Rule, PreAggregation)

_STAGE = re.compile(r"\s*([A-Za-z_][A-Za-z0-9_]*)\s*(?:\((.*)\))?\s*", re.DOTALL)


def rule(spec: str | Callable[..., Any], f: int | None = None, **parameters: Any) -> Callable[[Array], Array]:
    """The rule that ``spec`` names, or the object itself made callable: (..., n, d) -> (..., d).

    ``f`` goes to every part that has one; other parameters to the rule at the end. What is not one of our names
    (it contains a colon) or is not one of our rules is adapted, see ``kappaguard.rules.foreign``.
    """
    if isinstance(spec, Rule):
        return spec
    if isinstance(spec, Recipe) or is_recipe(spec):
        return written(spec)
    if not isinstance(spec, str) or ":" in spec:
        from kappaguard.rules.foreign.resolve import resolve

        if f is None and isinstance(spec, str):
            raise InputError(f"{spec} needs f: rule(..., f=...)")
        return resolve(spec, f or 0, **parameters)
    return parse(spec, f, **parameters)


def is_code(spec: object) -> bool:
    """Whether a name stands for somebody else's code, which has to be run."""
    return isinstance(spec, str) and ":" in spec and not is_recipe(spec)


def is_recipe(spec: object) -> bool:
    """Whether a name is a recipe in JSON, or the path of a file that holds one."""
    return isinstance(spec, str) and (spec.lstrip().startswith("{") or spec.endswith(".json"))


def written(spec: Any) -> Rule:
    """The rule of a recipe that somebody wrote: the object, JSON, or the path of a JSON file."""
    from kappaguard.rules.recipe.rule import RecipeRule
    from kappaguard.rules.recipe.text import from_json

    if isinstance(spec, Recipe):
        return RecipeRule(spec)
    if spec.lstrip().startswith("{"):
        return RecipeRule(from_json(spec))
    text = read(spec, "recipe")
    try:
        return RecipeRule(from_json(text))
    except InputError as error:
        raise InputError(f"{spec} is no recipe: {error}") from None


def parse(spec: str, f: int | None = None, **parameters: Any) -> Rule:
    """The built-in rule or pipeline of that name."""
    if f is not None:
        require_count(f, 0, "f")
    *before, last = split_pipeline(spec)
    final = _build(last, RULES, "rule", f, parameters)
    if not before:
        return final
    steps = tuple(_build(stage, PRE_AGGREGATIONS, "pre-aggregation", f, {}) for stage in before)
    return Pipeline(steps, final)


def stage(text: str, f: int | None, *, pre: bool) -> Rule | PreAggregation:
    """One built-in stage: a pre-aggregation if ``pre``, else a rule."""
    if pre:
        return _build(text, PRE_AGGREGATIONS, "pre-aggregation", f, {})
    return _build(text, RULES, "rule", f, {})


def _build(stage: str, known: dict[str, type[S]], kind: str, f: int | None, extra: dict[str, Any]) -> S:
    match = _STAGE.fullmatch(stage)
    if match is None:
        raise InputError(f"not the name of a {kind}: {short(stage.strip())}{_inside(stage.strip())}")
    name, inside = match.groups()
    if name not in known:
        if name in PRE_AGGREGATIONS:
            raise InputError(f"{name} is a pre-aggregation: a rule must follow, as in {name}+krum")
        if name in RULES:
            raise InputError(f"{name} is a rule and no pre-aggregation: it can only be the last part of a pipeline")
        raise InputError(_unknown(name, kind, list(known)))
    cls = known[name]
    accepted = {field.name for field in fields(cls)}  # type: ignore[arg-type]
    older = OLDER.get(name, {})
    complaint = f"{name}: parameters are written name=number, got {short(inside or '')}"
    given = keywords(inside or "", complaint) | extra
    parameters = {older.get(key, key): value for key, value in given.items()}
    if "f" in accepted and "f" not in parameters:
        if f is None:
            raise InputError(f"{name} needs f, the number of Byzantine vectors")
        parameters["f"] = f
    for key in parameters:
        if key not in accepted:
            raise InputError(f"{name} has no parameter {key!r}; it has {', '.join(sorted(accepted)) or 'none'}")
    return cls(**parameters)


def _inside(path: str) -> str:
    """What a Python file defines, where it was named without saying which of it is the rule."""
    if not path.endswith(".py"):
        return ""
    try:
        body = ast.parse(Path(path).read_text(encoding="utf-8")).body
    except (OSError, SyntaxError, ValueError):
        return f"; a rule of a file is written file.py:name, and {short(path)} cannot be read"
    names = [each.name for each in body if isinstance(each, ast.FunctionDef | ast.ClassDef) and each.name[0] != "_"]
    return "; which of it? " + (", ".join(f"{path}:{name}" for name in names[:8]) or f"{path}:name")


def _unknown(name: str, kind: str, known: list[str]) -> str:
    near = difflib.get_close_matches(name.lower(), known, 1)
    hint = f"did you mean {near[0]}?" if near else f"there are {', '.join(known)}"
    return f"no {kind} is called {name!r}; {hint}"
