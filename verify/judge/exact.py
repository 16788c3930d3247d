"""kappa* of a rule at (n, f): what the finder found, as far as the judges accept it."""

from __future__ import annotations

import contextlib
import json
import math
import time
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from kappaguard.rules.base.checks import require_count
from kappaguard.rules.base.errors import InputError
from kappaguard.rules.base.rule import Rule
from kappaguard.rules.names import is_code, is_recipe, parse, written
from kappaguard.rules.pipeline import Pipeline
from kappaguard.rules.recipe.recipe import NearVector, Pieces, Recipe
from kappaguard.rules.recipe.rule import RecipeRule
from kappaguard.rules.recipe.text import to_data
from kappaguard.rules.witness import Witness
from kappaguard.search.exact import arc, centre, coordinates, gm, least_spread, pieces
from kappaguard.search.exact.branch import Search, TreeLimits
from kappaguard.search.exact.certificate import certify
from kappaguard.search.exact.known import known_inputs
from kappaguard.search.exact.ratio import pivot_first, ratio_of, without_spread
from kappaguard.search.portfolio import ADVERSARIES
from kappaguard.search.stats import Stats
from kappaguard.verify.judge.certificate import SCHEMA
from kappaguard.verify.judge.checker import OLD_SCHEMA, check
from kappaguard.verify.judge.lemmas import Upper, behind_stage, by_lemma, by_proof, smaller
from kappaguard.verify.judge.rejected import Rejected
from kappaguard.verify.judge.replay import method_for, settle
from kappaguard.verify.judge.result import RELATIVE_GAP, KappaResult
from kappaguard.verify.judge.search import search
from kappaguard.verify.judge.subject import subject_of

EVALUATIONS = 24_000
"""Times vectors, of a brief search for a lower bound where the upper one is not attained."""
LONG = 40_000
"""The same where some seconds are spent on it, not times vectors."""
WIDE = 60_000
"""The same for recipes: of vectors near a centre, and those that nothing else bounds."""
MOST_VECTORS = 32
QUICK = tuple(
    (adversary, weight)
    for adversary, weight in ADVERSARIES
    if adversary.name in ("chains", "levels", "cma-es", "local")
)
ROOMS = (2e-7, 5e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2)
"""How much more than the bound of the programs is certified, relatively: the first for which the checker agrees."""
COARSE = (1.15, 1.3, 1.45, 1.7, 2.0, 3.0)
"""Multiples of the lower bound that are tried as upper ones, if nothing better closes."""
COARSE_NODES = 300
COARSE_ROOMS = (1e-6, 1e-5, 1e-3)
"""The same for a tree that did not close: its bound is not the last word anyway."""
NODES = 1_500
"""Nodes of the tree, unless the caller says otherwise: some seconds."""
FEW = 100
"""Up to so many vectors known inputs are tried first; beyond, a judgement in fractions takes seconds."""
REFINEMENTS = 4
"""How often leaves without multipliers are divided further."""
DENOMINATORS = (1, 10, 50, 200, 1000, 4000)
"""Of fractions that kappa* may be."""
MIXED_NODES = {6: 12_000, 7: 20_000}
"""Behind mixing, by the number of vectors: what trees were seen to close with, in a minute and in some."""
FIRST_NODES = 40
"""Behind mixing of more vectors a tree rarely closes; these are for its first bounds."""
BITS = 44

Report = Callable[[int, int], None]
Progress = Callable[[float, float, int], None]
"""Told the bracket so far, and how many nodes of the tree are done."""
Input = tuple[list[list[Fraction]], list[int], str]


def exact(
    rule: str | Rule | Recipe | Callable[..., Any],
    n: int,
    f: int,
    report: Report | None = None,
    *,
    progress: Progress | None = None,
    nodes: int | None = None,
    brief: bool = False,
    actual: int | None = None,
    timeout: float | None = None,
) -> KappaResult:
    """Bounds on kappa* of a rule that has a recipe, or a proof of its own, each as good as what proves it.

    A rule that is somebody's code (a callable, ``file.py:attribute``, a peer's) is traced: its recipe is read off a run
    on symbols, and compared with it. By name it runs in a process of its own; what cannot be traced raises
    ``Untraceable`` with the place in the code.

    ``lower`` is the exactly re-evaluated ratio of the witness. ``upper`` is what the checker accepted; for a rule
    behind nnm of which the checker has nothing better, or behind arc, it follows from a lemma (``lemmas``) and the
    certificate of the rule behind it; where there is neither, it is None.
    ``nodes`` bounds the tree of decisions; with more, a bracket may shrink. Ctrl-C ends it with the bracket so far.
    ``brief`` leaves out trees that take minutes, and searches that take seconds. With ``actual`` the rule is built for
    f Byzantine vectors, but so many are: kappa* over n - actual honest ones. ``timeout`` is for a rule that is code,
    by name: the seconds that its trace may take.
    """
    start = time.perf_counter()
    if actual is not None:
        return _built_for_others(rule, n, f, actual, progress or (report and _counted(report)), nodes, timeout)
    if _is_code(rule):
        from kappaguard.verify.judge.traced import exact_of
        from kappaguard.verify.process.tracing import limits_of, traced

        _require_minority(n, f)
        found = exact_of(traced(rule, n, f, limits_of(timeout)), f, progress=progress, nodes=nodes)  # type: ignore[arg-type]
        return replace(found, stats=replace(found.stats, seconds=time.perf_counter() - start))
    built = _built(rule, n, f)  # type: ignore[arg-type]
    if report is not None and progress is None:
        progress = _counted(report)
    label, recipe = built.label, built.recipe(n)
    seen = _Seen(built, n, f)
    if n <= FEW or recipe is None:
        for given in known_inputs(n, f):
            seen.judge(given)
    if seen.best.lower == math.inf:
        return seen.result(Upper(None), start)
    upper = Upper(None)
    if (staged := behind_stage(built, n, f)) is not None:
        behind = exact(staged[1], n, f, nodes=nodes)
        upper = by_lemma(staged[0], behind, n, f)
        if staged[0] == "arc" and behind.witness is not None:
            seen.judge((arc.lifted(behind.witness.x), list(behind.witness.subset), f"extremal for {behind.rule}"))
    if recipe is None:
        upper = smaller(upper, _without_recipe(seen, label))
    elif isinstance(recipe.choice, NearVector):
        upper = smaller(upper, _by_centre(seen, recipe, label))
    elif recipe.coordinatewise:
        upper = smaller(_by_coordinates(seen, recipe, label), upper)
    else:
        upper = smaller(upper, _by_tree(seen, recipe, label, progress, nodes, brief, upper.value))
    seen.search(upper.value, brief)
    return seen.result(upper, start)


def _built_for_others(
    rule: Any, n: int, f: int, actual: int, progress: Progress | None, nodes: int | None, timeout: float | None
) -> KappaResult:
    """kappa* for another number of Byzantine vectors than the rule is built for, by its recipe for f."""
    _require_minority(n, f)
    _require_minority(n, actual)
    if _is_code(rule):
        from kappaguard.verify.judge.traced import exact_of
        from kappaguard.verify.process.tracing import limits_of, traced

        found, name = exact_of(traced(rule, n, f, limits_of(timeout)), actual, progress=progress, nodes=nodes), None
    else:
        built = _built(rule, n, f)
        recipe = built.recipe(n)
        if recipe is None and hasattr(built, "f"):
            raise InputError(f"{built.label} has no recipe, by which kappa* for another f could be found")
        found, name = exact(recipe or built, n, actual, progress=progress, nodes=nodes), built.label
    scope = f"{name or found.rule} built for f = {f}, of which {actual} attack"
    return replace(found, rule=name or found.rule, scope=f"{found.scope}; {scope}" if found.scope else scope)


def _is_code(rule: Any) -> bool:
    """Whether a rule is code that has to be traced."""
    return is_code(rule) or not isinstance(rule, str | Rule | Recipe)


def _require_minority(n: int, f: int) -> None:
    require_count(f, 0, "exact: f")
    require_count(n, 2, "exact: n")
    if 2 * f >= n:
        raise InputError(f"exact needs f < n/2, got n = {n} and f = {f}")


def _built(rule: str | Rule | Recipe, n: int, f: int) -> Rule:
    if isinstance(rule, Recipe) or is_recipe(rule):
        rule = written(rule)
    _require_minority(n, f)
    built = parse(rule, f=f) if isinstance(rule, str) else rule
    parts = [*built.steps, built.rule] if isinstance(built, Pipeline) else [built]
    if any(getattr(part, "f", f) != f for part in parts):
        raise InputError(f"exact has one f for rule and adversary: {rule} sets another than f = {f}")
    return built


def _counted(report: Report) -> Progress:
    return lambda lower, upper, done: report(done, done + 1)


class _Seen:
    """The inputs that were judged so far, and the best of them."""

    def __init__(self, rule: Rule, n: int, f: int) -> None:
        self.rule, self.n, self.f = rule, n, f
        self.evaluations = 0
        zeros = [[Fraction(0)]] * n
        self.best = self._settled(zeros, list(range(n - f)), "nothing")

    def _settled(self, x: list[list[Fraction]], honest: list[int], found_by: str) -> Witness:
        self.evaluations += 1
        rows, nothing = tuple(map(tuple, x)), Fraction(0)
        name = self.rule.label
        witness = Witness(name, self.n, self.f, "trace", tuple(honest), rows, nothing, nothing, found_by)
        return settle(witness, self.rule)

    def judge(self, given: Input) -> None:
        """Keep an input if it is worse than those before."""
        x, honest, found_by = given
        if self.rule.trusted is None or self.rule.trusted in honest:
            witness = self._settled(x, honest, found_by)
            if witness.lower > self.best.lower:
                self.best = witness

    def judge_floats(self, x: Any, wanted: float) -> None:
        """Keep an input of the programs, rounded to binary fractions until little is lost."""
        scaled = x / np.abs(x).max()
        if wanted == math.inf:
            scaled = without_spread(scaled, self.n - self.f)
            scaled[: self.n - self.f] = 0.0
        rows = [[Fraction(round(value * 2**BITS), 2**BITS) for value in row] for row in scaled.tolist()]
        rows = _placed(rows, self.rule.trusted)
        m = self.n - self.f
        self.judge((rows, list(range(m)), "exact program"))
        if self.rule.trusted is None and float(self.best.lower) < wanted * (1 - RELATIVE_GAP / 4):
            # ties go to the lower index, which may be a Byzantine one
            self.judge((rows[m:] + rows[:m], list(range(self.f, self.n)), "exact program"))

    def search(self, upper: Fraction | None, brief: bool) -> None:
        """What a search finds, if there is a gap to close. Its budget is in evaluations: always the same."""
        lower = self.best.lower
        closed = lower == math.inf or (upper is not None and lower >= upper * (1 - Fraction(RELATIVE_GAP)))
        if closed or not self.f or self.n > MOST_VECTORS or (upper is not None and self._is_given()):
            return
        given = self.rule if isinstance(self.rule, RecipeRule) else self.rule.label
        if isinstance(self.rule, RecipeRule):
            # near a centre the worst inputs have several dimensions, and walls that only evaluations show
            evaluations, adversaries = WIDE // self.n, ADVERSARIES
        else:
            evaluations, adversaries = (EVALUATIONS // self.n, QUICK) if brief else (LONG, ADVERSARIES)
        found = search(given, self.n, self.f, evaluations=evaluations, adversaries=adversaries)
        self.evaluations += found.stats.evaluations
        if found.witness is not None and found.witness.lower > lower:
            self.best = found.witness

    def _is_given(self) -> bool:
        """Whether the rule is a recipe that the engine searches itself."""
        return isinstance(self.rule, RecipeRule) and not isinstance(self.rule.given.choice, NearVector)

    def result(self, upper: Upper, start: float) -> KappaResult:
        """Everything that is known."""
        stats = Stats(time.perf_counter() - start, self.evaluations, upper.programs)
        lower, top = self.best.lower, upper.value
        if method_for(self.rule) == "float" and lower != math.inf:
            # its output is rounded, and so is its ratio: what is beyond rounding counts
            lower = subject_of(self.rule, self.n, self.f).judge(self.best).ratio
        if top is not None and lower > top:
            where = f"{self.rule.label} at n = {self.n}, f = {self.f}"
            raise AssertionError(f"{where}: a witness above the certificate, {lower} > {top}")
        bound = math.inf if lower == math.inf else top
        return KappaResult(
            self.rule.label, self.n, self.f, lower, bound, self.best, upper.certificate, upper.proof, stats
        )


def _placed(rows: list[list[Fraction]], trusted: int | None) -> list[list[Fraction]]:
    """The trusted worker, who is the first one for the programs, where the rule expects it."""
    if trusted:
        rows[0], rows[trusted] = rows[trusted], rows[0]
    return rows


def _without_recipe(seen: _Seen, label: str) -> Upper:
    n, f = seen.n, seen.f
    if label == "gm":
        seen.judge((gm.worst_input(n, f), list(range(n - f)), "extremal for gm"))
        data = {"schema": OLD_SCHEMA, "rule": label, "n": n, "f": f, "criterion": "trace"}
        text = json.dumps(data | {"upper": str(gm.kappa(n, f)), "cells": []})
        return Upper(check(text).upper, text)
    if label == "arc+cwtm":
        seen.judge((arc.worst_input(n, f), list(range(n - f)), "extremal for arc+cwtm"))
    if label == "smea":
        seen.judge((least_spread.worst_input(n, f), list(range(n - f)), "extremal for smea"))
    return by_proof(label, n, f)


def _by_pieces(seen: _Seen, recipe: Recipe, label: str) -> Upper:
    for x, honest in pieces.worst_pieces(recipe, seen.f):
        seen.judge((x, honest, "exact program"))
        if seen.best.lower == math.inf:
            return Upper(None)
    found = pieces.certified_pieces(recipe, seen.f)
    if found is None:
        return Upper(None)
    text = json.dumps(_certificate(recipe, label, seen.f, found[0]) | {"nodes": found[1]})
    return Upper(check(text).upper, text)


def _by_coordinates(seen: _Seen, recipe: Recipe, label: str) -> Upper:
    if isinstance(recipe.choice, Pieces):
        return Upper(None) if recipe.mixing else _by_pieces(seen, recipe, label)
    if not coordinates.applies(recipe, seen.f):
        return Upper(None)
    upper, cells = coordinates.certified_cells(recipe, seen.f)
    honest = list(range(seen.n - seen.f))
    for x in coordinates.worst_inputs(recipe, seen.f):
        seen.judge((x, honest, "exact program"))
    text = json.dumps(_certificate(recipe, label, seen.f, upper) | {"nodes": cells})
    return Upper(check(text).upper, text)


def _by_centre(seen: _Seen, recipe: Recipe, label: str) -> Upper:
    if not centre.applies(recipe, seen.f):
        return Upper(None)
    honest = list(range(seen.n - seen.f))
    for x in centre.worst_inputs(recipe, seen.f):
        seen.judge((x, honest, "exact program"))
    middle, runs = centre.centre_bound(recipe, seen.f)
    bound, tight = centre.bound_of(recipe, seen.f)
    if not math.isfinite(bound):
        return Upper(None)
    lower = float(seen.best.lower)

    def proved(value: Fraction, cases: list[list[float]], denominator: int) -> Upper | None:
        rows = [[str(Fraction(each).limit_denominator(denominator)) for each in case] for case in cases]
        nodes = {"centre": str(middle), "runs": runs, "cases": rows}
        text = json.dumps(_certificate(recipe, label, seen.f, value) | {"nodes": nodes})
        try:
            return Upper(check(text).upper, text, None, len(cases))
        except Rejected:
            return None

    for value in simple_fractions(bound, lower):
        for denominator in DENOMINATORS:
            if (found := proved(value, tight, denominator)) is not None:
                return found
    for room in ROOMS:
        value = Fraction(max(bound, lower) * (1 + room)).limit_denominator(10**12)
        if (found := proved(value, centre.bound_of(recipe, seen.f, float(value))[1], 10**9)) is not None:
            return found
    return Upper(None)


def _certificate(recipe: Recipe, label: str, f: int, upper: Fraction) -> dict[str, Any]:
    data = {"schema": SCHEMA, "rule": label, "criterion": "trace", "f": f, "upper": str(upper)}
    return data | {"recipe": to_data(recipe), "origin": None}


def _by_tree(
    seen: _Seen,
    recipe: Recipe,
    label: str,
    progress: Progress | None,
    nodes: int | None,
    brief: bool,
    known: Fraction | None,
) -> Upper:
    """What a tree of decisions proves; nothing if it did not close and says no more than is known."""
    f = seen.f
    if nodes is None:
        nodes = _default_nodes(recipe, f, brief)
    starts = [] if seen.rule.trusted is not None else [_honest_first(seen.best)]
    finder = Search(recipe, f, ratio_of(pivot_first(recipe), f), starts)
    tree = finder.run(TreeLimits(nodes), progress)
    for ratio, x in sorted(tree.candidates, key=lambda each: -each[0]):
        if float(seen.best.lower) >= ratio * (1 - RELATIVE_GAP / 4):
            break
        seen.judge_floats(x, ratio)
    if not tree.finished and not math.isfinite(tree.upper) and not recipe.mixing:
        finder = _coarser(finder, float(seen.best.lower))
        tree = finder.tree
    bound = tree.upper
    useless = not tree.finished and known is not None and bound >= float(known)
    if seen.best.lower == math.inf or not math.isfinite(bound) or useless:
        return Upper(None, programs=tree.programs)
    value, text = certified(finder, label, float(seen.best.lower))
    return Upper(value, text, None, tree.programs)


def _coarser(finder: Search, lower: float) -> Search:
    """A tree that proves some multiple of the lower bound, where the one that should prove the bound did not close."""
    tree = finder.tree
    for factor in COARSE:
        other = Search(tree.recipe, tree.f, finder.ratio, goal=lower * factor)
        other.offer_all(tree)
        if other.run(TreeLimits(COARSE_NODES)).finished:
            return other
    return finder


def _default_nodes(recipe: Recipe, f: int, brief: bool) -> int:
    if not recipe.mixing or recipe.n <= 5 or (f == 1 and recipe.n <= 9):
        return NODES
    return FIRST_NODES if brief else MIXED_NODES.get(recipe.n, FIRST_NODES)


def _honest_first(witness: Witness) -> Any:
    others = [i for i in range(witness.n) if i not in set(witness.subset)]
    x = np.array([[float(value) for value in row] for row in witness.x])
    return x[[*witness.subset, *others]]


def certified(finder: Search, label: str, lower: float) -> tuple[Fraction | None, str | None]:
    """The smallest bound next to that of the tree that the checker accepts, and its certificate.

    A leaf that has no multipliers, though a program said that its bound holds, is divided further.
    """
    tree = finder.tree
    if tree.finished and tree.recipe.n <= FEW:
        for kappa in simple_fractions(max(tree.upper, lower), lower):
            text = certify(tree, label, kappa, tight=True)
            if isinstance(text, str):
                with contextlib.suppress(Rejected):
                    return check(text).upper, text
    for room in ROOMS if tree.finished else COARSE_ROOMS:
        for _ in range(REFINEMENTS):
            kappa = Fraction(max(tree.upper, lower) * (1 + room)).limit_denominator(10**12)
            text = certify(tree, label, kappa)
            if isinstance(text, str) or not tree.finished:
                break
            refined = [finder.refine(index) for index in text]
            if not all(refined):
                break
        if isinstance(text, str):
            with contextlib.suppress(Rejected):
                return check(text).upper, text
    return None, None


def simple_fractions(value: float, lower: float) -> list[Fraction]:
    """Fractions with small denominators that kappa* may be, if the bounds meet."""
    if value > lower * (1 + RELATIVE_GAP):
        return []
    found = []
    for denominator in DENOMINATORS:
        near = Fraction(value).limit_denominator(denominator)
        if abs(float(near) - value) <= RELATIVE_GAP / 2 * value and near not in found:
            found.append(near)
    return found[:2]
