"""How strong the search is on rules that it has not seen: the fraction of kappa* found in a black box.

    make bench-search                                              after the table of the built-in rules, this one
    python benchmarks/unseen.py --half tuned --budget 20           the rows that the search was tuned on
    python benchmarks/unseen.py --half withheld --budget 60        those that were looked at only at the end
    python benchmarks/unseen.py --references 2000                  solve the rows again, with so many nodes each

Every rule is an opaque callable, and the library of worst inputs is switched off: no ``Extremal`` and no ``Chains``
among the adversaries, and no source of worst inputs. The reference is what ``kg.exact`` says of the same
rule (``unseen.json``): kappa* where both ends agree, else the bracket, and then fractions are of its lower end.
Where kappa* is infinite, a ratio of 10,000 has to be found. Beside it, the same seconds for random inputs,
differential evolution alone and CMA-ES alone.

The rows ``others`` are rules that no recipe describes: Krum that adds up roots or squares of squared distances, the
medoid, RFA, Bulyan. Their reference is the best ratio known, in ``best_known.json`` with its witness, which ``--learn``
improves.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

import kappaguard as kg
from kappaguard.rules.recipe.recipe import (
    MeanDistance,
    NearCentre,
    NearestSum,
    OrderStatistics,
    Recipe,
    Round,
    Rounds,
    Subset,
)
from kappaguard.rules.recipe.text import to_json
from kappaguard.rules.recipe.weights import median
from kappaguard.search import worst_inputs
from kappaguard.search.adversaries.chains import Chains
from kappaguard.search.adversaries.cma import CovarianceMatrixAdaptation
from kappaguard.search.adversaries.extremal import Extremal
from kappaguard.search.engines import distribute
from kappaguard.search.portfolio import ADVERSARIES
from kappaguard.verify.judge.search import search
from search import BEST_KNOWN, ENOUGH, MODES, known_ratio, rounded

REFERENCES = Path(__file__).with_name("unseen.json")
TIMES = (5.0, 20.0, 60.0)
INFINITE = 1e4
"""What has to be found where kappa* is infinite."""
SEED = 19
DRAWN = 20
KINDS: dict[str, Any] = {
    "search": tuple(each for each in ADVERSARIES if not isinstance(each[0], Extremal | Chains)),
    "random": MODES["random"],
    "differential evolution": MODES["differential evolution"],
    "cma-es": ((CovarianceMatrixAdaptation(), 1.0),),
}

Key = tuple[str, int, int]


def tuned() -> Iterator[Key]:
    """The rows that the search was tuned on: sums of distances to neighbours."""
    for count in range(1, 9):
        yield f"krum(neighbours={count})", 9, 2
    for count in (3, 7, 10):
        yield f"krum(neighbours={count})", 11, 2
    for count in (6, 11, 16):
        yield f"krum(neighbours={count})", 17, 4
    for count in range(2, 8):
        yield f"multikrum(select={count})", 9, 2
    for count in (4, 13):
        yield f"multikrum(select={count})", 17, 4
    yield "nnm+krum", 5, 2
    for count in (2, 4):
        yield f"nnm+krum(neighbours={count})", 7, 2
    yield "nnm+multikrum(select=2)", 7, 2


def withheld() -> Iterator[Key]:
    """The rows that were looked at only at the end, as the random recipes and the others were."""
    for rule in ("mva", "faba", "phocas", "winsorised"):
        for n, f in ((9, 2), (17, 4)):
            yield rule, n, f
    for rule in ("mva", "faba", "phocas", "winsorised"):
        yield f"nnm+{rule}", 7, 2
    yield "mda", 11, 2
    yield "nna(pivot=3)", 9, 2


POWERS = {"krum, unsquared": 0.5, "krum, fourth power": 2.0}


def others() -> Iterator[Key]:
    """Rules that no recipe describes: Krum with other powers of distances, the medoid, RFA, Bulyan."""
    for name in (*POWERS, "medoid", "rfa"):
        for n, f in ((7, 2), (17, 4)):
            yield name, n, f
    yield "bulyan", 11, 2


@dataclass(frozen=True)
class PowerKrum:
    """The vector whose n - f - 1 nearest others have the least sum of a power of the squared distances."""

    f: int
    power: float

    def __call__(self, x: Any) -> Any:
        offsets = x[..., :, None, :] - x[..., None, :, :]
        distances = np.sum(offsets * offsets, axis=-1) ** self.power
        scores = np.sum(np.sort(distances, axis=-1)[..., : x.shape[-2] - self.f], axis=-1)
        return np.take_along_axis(x, np.argmin(scores, axis=-1)[..., None, None], axis=-2)[..., 0, :]


def medoid(x: Any) -> Any:
    """The vector with the least sum of distances to the others."""
    return PowerKrum(0, 0.5)(x)


def rfa(x: Any) -> Any:
    """The smoothed geometric median after three rounds of Weiszfeld's from the mean (Pillutla et al. 2022)."""
    weights = np.full(x.shape[:-1], 1 / x.shape[-2])
    for _ in range(3):
        centre = np.sum(weights[..., None] * x, axis=-2, keepdims=True)
        weights = 1 / np.maximum(np.sqrt(np.sum((x - centre) ** 2, axis=-1)), 1e-6)
        weights /= np.sum(weights, axis=-1, keepdims=True)
    return np.sum(weights[..., None] * x, axis=-2)


def draw(seed: int) -> Iterator[tuple[Recipe, int]]:
    """Recipes at random, with a number of adversaries; many of them are poor rules."""
    generator = np.random.default_rng(seed)
    while True:
        n = int(generator.integers(7, 12))
        f = int(generator.integers(1, 1 + (n - 1) // 3))
        mixing = (n - f,) if generator.random() < 0.3 else ()
        kind = generator.integers(4)
        if kind == 0:
            yield Recipe(n, Rounds(tuple(_rounds(generator, n, f))), mixing), f
        elif kind == 1:
            size = int(generator.integers(2, n - f + 1))
            yield Recipe(n, Subset(size, "diameter" if generator.random() < 0.5 else "variance"), mixing), f
        elif kind == 2:
            weights = [0] * n
            for place in range(f, n - f):
                weights[place] = int(generator.integers(0, 5))
            weights[n // 2] += 1
            total = sum(weights)
            yield Recipe(n, OrderStatistics(tuple(Fraction(each, total) for each in weights))), f
        else:
            yield Recipe(n, NearCentre(median(n), int(generator.integers(1, n - f + 1)))), f


def _rounds(generator: np.random.Generator, n: int, f: int) -> Iterator[Round]:
    """First some of the worst are dropped, perhaps, then the best are kept."""
    left = n
    if generator.random() < 0.5:
        count = int(generator.integers(1, f + 1))
        yield Round(_score(generator, left, f), count, greatest=True, keep=False)
        left -= count
    yield Round(_score(generator, left, f), int(generator.integers(1, n - f)))


def _score(generator: np.random.Generator, left: int, f: int) -> Any:
    return MeanDistance() if generator.random() < 0.2 else NearestSum(int(generator.integers(f, left)))


@dataclass(frozen=True)
class Task:
    """One search of the table."""

    rule: str
    n: int
    f: int
    kind: str
    budget: float
    evaluations: int | None
    reference: float
    seed: int


def callable_of(rule: str, f: int) -> Callable[[Any], Any]:
    """The rule, with nothing to recognise it by."""
    inner: Callable[[Any], Any]
    if rule in POWERS:
        inner = PowerKrum(f, POWERS[rule])
    else:
        inner = {"medoid": medoid, "rfa": rfa}.get(rule) or kg.rule(rule, f=f)

    def unknown(x: Any) -> Any:
        return inner(x)

    return unknown


def run(task: Task) -> tuple[list[float], int]:
    """The fraction of the reference after each of ``TIMES`` within the budget and at its end, and the evaluations."""
    worst_inputs.SOURCES.clear()
    with threadpool_limits(1):
        return _searched(task)


def _searched(task: Task) -> tuple[list[float], int]:
    found = search(
        callable_of(task.rule, task.f),
        task.n,
        task.f,
        budget=task.budget,
        evaluations=task.evaluations,
        seed=task.seed,
        target=ENOUGH * task.reference,
        adversaries=KINDS[task.kind],
    )
    fractions = []
    for seconds in times(task.budget):
        seen = [step.ratio for step in found.stats.trace if step.seconds <= seconds]
        best = min(max(seen, default=0.0), float(found.lower)) / task.reference
        fractions.append(min(best, 1.0) if task.reference == INFINITE else best)
    return fractions, found.stats.evaluations


def times(budget: float) -> list[float]:
    """When the search is looked at."""
    return [*(seconds for seconds in TIMES if seconds < budget), budget]


def solve(nodes: int) -> None:
    """Write what ``kg.exact`` says of every row, and draw the random recipes until enough have been solved."""
    known: dict[str, Any] = {}

    def write(key: Key, label: str, half: str) -> bool:
        result = kg.exact(*key, nodes=nodes)
        upper = float("inf") if result.upper is None else float(result.upper)
        print(key, float(result.lower), upper, flush=True)
        # a poor rule breaks down, and one that takes long is left out
        if half == "drawn" and not upper - float(result.lower) <= 1e-3 * upper < np.inf:
            return False
        known[label] = {
            "rule": key[0], "n": key[1], "f": key[2], "half": half, "lower": float(result.lower), "upper": upper,
        }  # fmt: skip
        REFERENCES.write_text(json.dumps(known, indent=1) + "\n")
        return True

    for half, rows in (("tuned", tuned()), ("withheld", withheld())):
        for rule, n, f in rows:
            write((rule, n, f), f"{rule} {n} {f}", half)
    solved = 0
    for place, (recipe, f) in enumerate(draw(SEED)):
        solved += write((to_json(recipe), recipe.n, f), f"recipe {place}", "drawn")
        if solved == DRAWN:
            return


def learn(seconds: float, seed: int) -> None:
    """Search the rules that no recipe describes, and keep a witness that is better than the one on file."""
    for rule, n, f in others():
        found = search(callable_of(rule, f), n, f, budget=seconds, seed=seed).witness
        known = json.loads(BEST_KNOWN.read_text())
        if found is not None and float(found.lower) > (before := known_ratio(rule, n, f)):
            known[f"{rule} {n} {f}"] = found.to_json()
            BEST_KNOWN.write_text(json.dumps(dict(sorted(known.items())), indent=1) + "\n")
            print(f"{rule} {n} {f}: {before:.6g} -> {float(found.lower):.6g}", flush=True)


def rows(halves: Sequence[str]) -> Iterator[tuple[str, str, int, int, float, float]]:
    """The rows of the table: label, rule, n, f, and the bracket."""
    for label, row in json.loads(REFERENCES.read_text()).items():
        if row["half"] in halves:
            yield label, row["rule"], row["n"], row["f"], row["lower"], row["upper"]
    if "others" in halves:
        for rule, n, f in others():
            yield f"{rule} {n} {f}", rule, n, f, known_ratio(rule, n, f), float("inf")


def main() -> None:
    """Print the table as Markdown."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    halves = ("tuned", "withheld", "drawn", "others")
    parser.add_argument("--half", nargs="+", choices=halves, default=list(halves))
    parser.add_argument("--rows", nargs="+", help="only rows whose label contains one of these")
    parser.add_argument("--kinds", nargs="+", choices=list(KINDS), default=list(KINDS))
    parser.add_argument("--budget", type=float, default=TIMES[-1])
    parser.add_argument("--evaluations", type=int)
    parser.add_argument("--learn", type=float, metavar="SECONDS")
    parser.add_argument("--references", type=int, metavar="NODES")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    if options.learn:
        learn(options.learn, options.seed)
        return
    if options.references:
        solve(options.references)
        return
    chosen = [row for row in rows(options.half) if not options.rows or any(part in row[0] for part in options.rows)]
    tasks = [
        Task(rule, n, f, kind, options.budget, options.evaluations, min(lower, INFINITE), options.seed)
        for _, rule, n, f, lower, _ in chosen
        for kind in options.kinds
    ]
    heads = [f"{kind}: {', '.join(f'{each:g}' for each in times(options.budget))} s" for kind in options.kinds]
    print("| rule | n, f | kappa* |", " | ".join(heads), "| evaluations |")
    print("|---|---|---|" + "---|" * (len(heads) + 1))
    cells: dict[int, tuple[list[float], int]] = {}
    place = 0
    for index, result in distribute(run, tasks, jobs=options.jobs):
        cells[index] = result
        while all(place * len(options.kinds) + k in cells for k in range(len(options.kinds))) and place < len(chosen):
            label, _, n, f, lower, upper = chosen[place]
            mine = [cells[place * len(options.kinds) + k] for k in range(len(options.kinds))]
            bracket = (
                f"{lower:.6g}" if lower == upper or upper - lower <= 1e-5 * lower else f"{lower:.6g} to {upper:.6g}"
            )
            name = label if label.startswith("recipe") else label.rsplit(" ", 2)[0]
            parts = [", ".join(map(rounded, fractions)) for fractions, _ in mine]
            print(f"| {name} | {n}, {f} | {bracket} |", " | ".join(parts), f"| {mine[0][1]:,} |", flush=True)
            place += 1


if __name__ == "__main__":
    main()
