"""The entry of one place: bounds on kappa*, breakdown, error and cost without attack, with witnesses as texts."""

from __future__ import annotations

import math
import tempfile
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import Any

from kappaguard.reports.atlas.place import AtlasPlace, trusts
from kappaguard.reports.dossier.plan import Plan
from kappaguard.reports.dossier.run import section_apart
from kappaguard.reports.dossier.sections import section
from kappaguard.rules.base.errors import InputError
from kappaguard.rules.names import is_code, parse
from kappaguard.rules.witness import Bound
from kappaguard.verify.guard.known import judgements
from kappaguard.verify.guard.verdict import number
from kappaguard.verify.judge.exact import exact
from kappaguard.verify.judge.result import KappaResult, Status
from kappaguard.verify.judge.search import search
from kappaguard.verify.process.run import search_apart
from kappaguard.verify.theory.coefficients import UNIVERSAL

PROVED_WITHOUT_RECIPE = ("gm", "nnm+gm")


def bounds(place: AtlasPlace) -> dict[str, Any]:
    """The bounds of a place and its breakdown; ``refused`` says why there are none."""
    about = asdict(place) | {
        "rule": place.rule,
        "random": place.random,
        "universal": float(UNIVERSAL(place.n, place.f)),
    }
    try:
        result = _result(place)
    except InputError as error:
        return about | {"refused": str(error)}
    return about | {
        "refused": None,
        "status": result.status.value,
        "lower": number(result.lower),
        "upper": None if result.status is Status.LOWER else number(result.upper),
        "proof": result.proof,
        "scope": result.scope,
        "tried": result.stats.evaluations,
        "worst_d": None if result.witness is None else result.witness.d,
        "line": number(_on_a_line(place, result)),
        "witness_text": None if result.witness is None else result.witness.to_json(),
        "certificate_text": result.certificate,
        **_breakdown(place),
    }


def refused(place: AtlasPlace, why: str | None) -> dict[str, Any]:
    """The entry without numbers, and why there are none."""
    least = float(UNIVERSAL(place.n, place.f))
    about = asdict(place) | {"rule": place.rule, "random": place.random, "universal": least}
    return about | {"refused": why}


def ordinary(place: AtlasPlace) -> dict[str, Any]:
    """Error and cost without attack."""
    try:
        found = _section("ordinary", _plan(place))
    except InputError as error:
        found = str(error)
    return found if isinstance(found, dict) else {"error": None, "cost": None, "why": found}


def _result(place: AtlasPlace) -> KappaResult:
    """What the exact engine proves if it knows the rule, and in any case the largest ratio that was found."""
    rule, n, f = place.rule, place.n, place.f
    proved = None
    if _is_provable(place):
        try:
            proved = exact(rule, n, f, brief=True)
        except InputError:
            # code that cannot be traced; whatever else is wrong the search says as well
            if not is_code(rule):
                raise
    if proved is not None and proved.status is not Status.LOWER:
        return proved
    found = _found(place)
    if proved is not None and proved.lower >= found.lower:
        return proved
    return found


def _is_provable(place: AtlasPlace) -> bool:
    if is_code(place.rule):
        return not place.random
    return place.rule in PROVED_WITHOUT_RECIPE or parse(place.rule, f=place.f).recipe(place.n) is not None


def _found(place: AtlasPlace) -> KappaResult:
    """What the search finds, or an input that is the worst for some other rule."""
    look = search_apart if is_code(place.rule) else search
    found = look(place.rule, place.n, place.f, evaluations=place.evaluations, seed=place.seed)
    if is_code(place.rule) or found.lower == math.inf:
        return found
    for judgement in judgements(_plan(place).subject()):
        if found.witness is None or judgement.ratio > found.lower:
            upper = math.inf if judgement.ratio == math.inf else None
            found = replace(found, lower=judgement.ratio, witness=judgement.witness, upper=upper)
    return found


def _on_a_line(place: AtlasPlace, result: KappaResult) -> Bound | None:
    """What was found with d = 1, where the worst input has more: how much there is to gain from dimensions."""
    if result.witness is None or result.witness.d == 1:
        return result.lower
    look = search_apart if is_code(place.rule) else search
    return look(place.rule, place.n, place.f, d=1, evaluations=place.evaluations, seed=place.seed).lower


def trained(place: AtlasPlace) -> dict[str, Any]:
    """Test accuracy without an attack and under each of the five of the dossier, in short runs."""
    try:
        found = _section("training", _plan(place))
    except (InputError, ImportError) as error:
        found = str(error)
    if not isinstance(found, dict):
        return {"trained": None, "untrained": found}
    rows = {row["attack"]: row["rule"]["accuracy"] for row in found["rows"]}
    return {"trained": rows, "train_steps": found["steps"], "train_dataset": found["dataset"]}


def _breakdown(place: AtlasPlace) -> dict[str, Any]:
    """The least f at which a rule that is built for it was seen not to return n - f equal vectors, and the input.

    Nothing for a rule that trusts a worker: the inputs that are tried may have any worker Byzantine.
    """
    nothing = {"breaks_at": None, "stands_to": None, "breakdown_text": None}
    if trusts(place.rule):
        return nothing
    with tempfile.TemporaryDirectory(prefix="kappaguard-", ignore_cleanup_errors=True) as folder:
        try:
            found = _section("breakdown", _plan(place, folder))
        except InputError as error:
            found = str(error)
        if not isinstance(found, dict):
            return nothing
        stands = [row["f"] for row in found["rows"] if row["state"] == "stands"]
        broken = [row for row in found["rows"] if row["state"] == "breaks"]
        text = Path(folder, broken[0]["witness"]).read_text(encoding="utf-8") if broken else None
        return {"breaks_at": found["breaks_at"], "stands_to": max(stands, default=0), "breakdown_text": text}


def _section(name: str, plan: Plan) -> dict[str, Any] | str:
    compute = partial(section_apart, name) if is_code(plan.rule) else section(name)
    return compute(plan)


def _plan(place: AtlasPlace, folder: str = "witnesses") -> Plan:
    return Plan(place.rule, place.n, place.f, place.evaluations, place.seed, witnesses=folder)
