"""What grows how: times against n and d, with the exponents of a power law fitted to them.

python benchmarks/scaling.py       two to three minutes; prints the tables of docs/scaling.md
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import kappaguard as kg
from kappaguard.search.arena import Arena
from kappaguard.search.portfolio import hunt

RULES = ("cwtm", "gm", "krum", "nnm+krum")
REPEATS = 5


def seconds(run: Callable[[], Any]) -> float:
    """The least of a few times."""
    times = []
    for _ in range(REPEATS):
        start = time.perf_counter()
        run()
        times.append(time.perf_counter() - start)
    return min(times)


def exponent(sizes: Sequence[int], values: Sequence[float]) -> float:
    """The slope of log(value) against log(size)."""
    return float(np.polyfit(np.log(sizes), np.log(values), 1)[0])


def table(title: str, size: str, sizes: Sequence[int], lines: dict[str, list[float]], unit: str) -> None:
    """One row per line, one column per size, the exponent last."""
    print(f"\n{title}, in {unit}:\n")
    print(f"| | {' | '.join(f'{size} = {each:,}' for each in sizes)} | exponent |")
    print("|---|" + "---|" * (len(sizes) + 1))
    for name, values in lines.items():
        cells = " | ".join(f"{value:.3g}" for value in values)
        print(f"| {name} | {cells} | {exponent(sizes, values):.2f} |")


def in_dimension() -> None:
    """How the time of the rules grows with d."""
    sizes = (10_000, 100_000, 1_000_000)
    generator = np.random.default_rng(0)
    lines: dict[str, list[float]] = {rule: [] for rule in RULES}
    for d in sizes:
        x = generator.standard_normal((17, d), dtype=np.float32)
        for rule in RULES:
            built = kg.rule(rule, f=4)
            lines[rule].append(1000 * seconds(lambda built=built, x=x: built(x)))  # type: ignore[misc]
    table("One aggregation at n = 17, f = 4", "d", sizes, lines, "milliseconds")


def in_workers() -> None:
    """How the time of the rules grows with n."""
    sizes = (16, 64, 256)
    generator = np.random.default_rng(0)
    lines: dict[str, list[float]] = {rule: [] for rule in RULES}
    for n in sizes:
        x = generator.standard_normal((n, 20_000), dtype=np.float32)
        for rule in RULES:
            built = kg.rule(rule, f=n // 4)
            lines[rule].append(1000 * seconds(lambda built=built, x=x: built(x)))  # type: ignore[misc]
    table("One aggregation at d = 20,000, f = n/4", "n", sizes, lines, "milliseconds")


def exact() -> None:
    """How the time of exact kappa* grows with n."""
    sizes = (16, 64, 256, 1000)
    kg.exact("krum", 8, 2)
    lines: dict[str, list[float]] = {"krum": [], "gm": [], "cwtm": []}
    programs = []
    for n in sizes:
        for rule, values in lines.items():
            start = time.perf_counter()
            result = kg.exact(rule, n, n // 4)
            values.append(time.perf_counter() - start)
            if rule == "krum":
                programs.append(result.stats.programs)
    table("kappa* with witness and checked certificate, f = n/4", "n", sizes, lines, "seconds")
    print(f"\nCone programs of krum: {', '.join(map(str, programs))} (2f + 1 or fewer).")


def searching() -> None:
    """Evaluations per second of the search, as a black box, against n."""
    sizes = (9, 17, 33, 65)
    lines: dict[str, list[float]] = {}
    for rule in ("cwmed", "krum"):
        lines[rule] = []
        for n in sizes:
            built = kg.rule(rule, f=n // 4)
            arena = Arena(built, n, n // 4, budget=3.0)
            hunt(arena, 0)
            lines[rule].append(arena.used / arena.seconds)
    table("The search, rules by name, f = n/4", "n", sizes, lines, "evaluations per second")


def main() -> None:
    """Print all tables."""
    in_dimension()
    in_workers()
    exact()
    searching()


if __name__ == "__main__":
    assert math.isclose(exponent((1, 10, 100), (1, 100, 10_000)), 2)
    main()
