"""How strong the search is: the fraction of kappa* that it finds after 1, 10 and 60 seconds.

    make bench-search                                        all rules, all (n, f): about an hour on 2 cores
    python benchmarks/search.py --rules krum --at 17,4       a part of it
    python benchmarks/search.py --learn 25                   look for better values where kappa* is not known exactly

Two modes: full (the rule by name) and black-box (an opaque NumPy callable under another name). Beside them the same
number of seconds for plain random inputs, for scipy's differential evolution and for the paper's attacks alone. The
reference is the certified kappa* where there is one, else the best ratio known (``best_known.json``, each with the
witness that proves it). A search ends when it has 0.9999 of the reference. Every search has one core.
"""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

import kappaguard as kg
from kappaguard.rules.witness import from_json
from kappaguard.search.adversaries.attacks import Attacks
from kappaguard.search.adversaries.base import Adversary
from kappaguard.search.adversaries.evolution import DifferentialEvolution
from kappaguard.search.arena import Arena
from kappaguard.search.engines import distribute
from kappaguard.search.portfolio import ADVERSARIES
from kappaguard.verify.judge.replay import replay
from kappaguard.verify.judge.search import search

PAIRS = ((5, 1), (7, 2), (9, 3), (11, 4), (17, 4), (17, 8))
PLAIN = ("krum", "cwmed", "cwtm", "gm", "meamed", "multikrum", "mda")
BEST_KNOWN = Path(__file__).with_name("best_known.json")
ENOUGH = 0.9999
TIMES = (1.0, 10.0, 60.0)


class RandomInputs(Adversary):
    """Normal vectors, the Byzantine ones further out."""

    name = "random"

    def run(self, arena: Arena, generator: np.random.Generator) -> Iterator[None]:
        """Random inputs, for ever."""
        while True:
            for d in arena.dimensions():
                x = generator.normal(size=(64, arena.n, d))
                x[:, arena.m :] *= np.exp(generator.normal(size=(64, 1, 1)))
                arena.ratios(x)
                yield


MODES: dict[str, Any] = {
    "full": ADVERSARIES,
    "black-box": ADVERSARIES,
    "random": ((RandomInputs(), 1.0),),
    "differential evolution": ((DifferentialEvolution(), 1.0),),
    "attacks": ((Attacks(), 1.0),),
}


@dataclass(frozen=True)
class Task:
    """One search of the table."""

    rule: str
    n: int
    f: int
    mode: str
    budget: float
    reference: float


def run(task: Task) -> list[float]:
    """The fraction of the reference after each of ``TIMES`` within the budget, and at its end."""
    rule = kg.rule(task.rule, f=task.f)

    def unknown(x: np.ndarray[Any, Any]) -> Any:
        return rule(x)

    found = search(
        rule if task.mode == "full" else unknown,
        task.n,
        task.f,
        budget=task.budget,
        target=ENOUGH * task.reference,
        adversaries=MODES[task.mode],
    )
    fractions = []
    for seconds in _times(task.budget):
        seen = [step.ratio for step in found.stats.trace if step.seconds <= seconds]
        fractions.append(min(max(seen, default=0.0), float(found.lower)) / task.reference)
    return fractions


def _times(budget: float) -> list[float]:
    return [*(seconds for seconds in TIMES if seconds < budget), budget]


def reference(rule: str, n: int, f: int) -> float:
    """The certified kappa*, or the best ratio known."""
    best = known_ratio(rule, n, f)
    result = kg.exact(rule, n, f)
    return max(best, float(result.lower)) if not result.gap <= 1e-6 else float(result.lower)


def known_ratio(rule: str, n: int, f: int) -> float:
    """The best ratio on file."""
    lower = _known().get(f"{rule} {n} {f}")
    return 0.0 if lower is None else float(from_json(lower).lower)


def _known() -> dict[str, str]:
    return dict(json.loads(BEST_KNOWN.read_text())) if BEST_KNOWN.exists() else {}


def learn(rules: Sequence[str], pairs: Sequence[tuple[int, int]], seconds: float, seed: int) -> None:
    """Search each rule whose kappa* is not known and keep the witness if it is better than the one on file."""
    for rule in rules:
        for n, f in pairs:
            if kg.exact(rule, n, f).gap <= 1e-6:
                continue
            found = search(rule, n, f, budget=seconds, seed=seed).witness
            known = _known()
            key = f"{rule} {n} {f}"
            before = Fraction(0) if key not in known else from_json(known[key]).lower
            if found is not None and found.lower > before and replay(found).reproduces:
                known[key] = found.to_json()
                BEST_KNOWN.write_text(json.dumps(dict(sorted(known.items())), indent=1) + "\n")
                print(f"{key}: {float(before):.6g} -> {float(found.lower):.6g}", flush=True)


def main() -> None:
    """Print the table as Markdown, a line as soon as it is known."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--rules", nargs="+", default=[*PLAIN, *(f"nnm+{rule}" for rule in PLAIN)])
    parser.add_argument("--at", nargs="+", type=_pair, default=list(PAIRS), metavar="N,F")
    parser.add_argument("--modes", nargs="+", default=list(MODES), choices=list(MODES))
    parser.add_argument("--budget", type=float, default=TIMES[-1], help="seconds, in full mode at most 10")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--learn", type=float, metavar="SECONDS")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    if options.learn:
        learn(options.rules, options.at, options.learn, options.seed)
        return
    rows = [(rule, n, f, reference(rule, n, f)) for rule in options.rules for n, f in options.at]
    budgets = {mode: min(options.budget, 10.0) if mode == "full" else options.budget for mode in options.modes}
    tasks = [Task(rule, n, f, mode, budgets[mode], value) for rule, n, f, value in rows for mode in options.modes]
    done = dict(distribute(run, tasks, jobs=options.jobs))
    heads = [f"{mode}: {', '.join(f'{each:g}' for each in _times(budgets[mode]))} s" for mode in options.modes]
    print("| rule | n, f | reference |", " | ".join(heads), "|")
    print("|---|---|---|" + "---|" * len(options.modes))
    for place, (rule, n, f, value) in enumerate(rows):
        results = [done[place * len(options.modes) + k] for k in range(len(options.modes))]
        cells = [", ".join(map(rounded, result)) for result in results]
        print(f"| {rule} | {n}, {f} | {value:.6g} |", " | ".join(cells), "|")


def rounded(fraction: float) -> str:
    """Rounded down, so that 1.000 is never printed for less."""
    return f"{math.floor(fraction * 1000 + 1e-3) / 1000:.3f}"


def _pair(text: str) -> tuple[int, int]:
    n, _, f = text.partition(",")
    return int(n), int(f)


if __name__ == "__main__":
    main()
