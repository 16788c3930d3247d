"""What the guard at run time costs: beside krum at n = 17, d = 431,080, and in Gram products at n = 1,000.

    python benchmarks/monitor.py

Everything is timed in one process, interleaved, on the same float32 arrays; the least time of each counts. A round is a
usual one: honest vectors and f Byzantine ones in the place that sign flipping puts them.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable

import numpy as np

import kappaguard as kg

REPEATS = 60
MOST_OF_KRUM, MOST_GRAMS = 0.15, 1.5


def least(functions: dict[str, Callable[[], object]], repeats: int) -> dict[str, float]:
    """The least time of each function, in seconds."""
    found = dict.fromkeys(functions, float("inf"))
    for _ in range(repeats):
        for name, function in functions.items():
            start = time.perf_counter()
            function()
            found[name] = min(found[name], time.perf_counter() - start)
    return found


def round_of(n: int, f: int, d: int) -> np.ndarray:
    """Honest vectors about a mean, and Byzantine ones about its opposite."""
    generator = np.random.default_rng(0)
    x = generator.standard_normal((n, d), dtype=np.float32) + np.float32(0.1)
    x[n - f :] = -x[: n - f].mean(axis=0)
    return x


def main() -> None:
    """Print how long a monitor takes under both of its limits."""
    folder = tempfile.mkdtemp()
    n, f, d = 17, 4, 431_080
    x, rule = round_of(n, f, d), kg.rule("krum", f=f)
    output = rule(x)
    monitor = kg.Monitor(n, f, claim="6*(1+f/(n-2*f))", folder=folder)
    whole = kg.Monitor(n, f, claim="6*(1+f/(n-2*f))", folder=folder, sample=None)
    times = least(
        {
            "krum": lambda: rule(x),
            "monitor": lambda: monitor(x, output),
            "monitor, all coordinates": lambda: whole(x, output),
        },
        REPEATS,
    )
    print(f"n = {n}, f = {f}, d = {d:,}")
    for name, seconds in times.items():
        print(f"  {name:<26} {1000 * seconds:8.3f} ms   {100 * seconds / times['krum']:6.1f} % of krum")
    share = times["monitor"] / times["krum"]
    print(f"  at most {100 * MOST_OF_KRUM:g} % wanted: {'met' if share <= MOST_OF_KRUM else 'NOT met'}")

    n, f, d = 1000, 250, 10_000
    x = round_of(n, f, d)
    output = kg.rule("cwtm", f=f)(x)
    monitor = kg.Monitor(n, f, claim="f/(n-2*f)", folder=folder)
    whole = kg.Monitor(n, f, claim="f/(n-2*f)", folder=folder, sample=None)
    times = least(
        {
            "Gram product (X X^T)": lambda: x @ x.T,
            "monitor": lambda: monitor(x, output),
            "monitor, all coordinates": lambda: whole(x, output),
        },
        5,
    )
    print(f"n = {n}, f = {f}, d = {d:,}")
    gram = times["Gram product (X X^T)"]
    for name, seconds in times.items():
        print(f"  {name:<26} {1000 * seconds:8.1f} ms   {seconds / gram:6.2f} Gram products")
    print(f"  at most {MOST_GRAMS:g} wanted: {'met' if times['monitor'] <= MOST_GRAMS * gram else 'NOT met'}")


if __name__ == "__main__":
    main()
