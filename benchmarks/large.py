"""Rules at many vectors, in units of the Gram product x x^T by the platform's BLAS: part of ``make bench``.

    python benchmarks/large.py                        n = 256 and 1,000 at d = 20,000 and 100,000
    python benchmarks/large.py --at 1000,20000

Least times of a few calls, interleaved with the product. ByzFL's rule on the same tensors is beside it, where there
is memory for it. The last column is the most memory that ours had beyond the input.
"""

from __future__ import annotations

import argparse
import tracemalloc
from collections.abc import Callable

import numpy as np
import torch

import kappaguard as kg
from rules import elapsed, peers

SIZES = ((256, 20_000), (256, 100_000), (1_000, 20_000), (1_000, 100_000))
NAMES = ("krum", "multikrum", "gm", "nnm+krum", "nnm+gm", "nnm+cwtm", "cwmed", "cwtm", "meamed")
REPEATS = 3
SLOW = 30.0


def main() -> None:
    """Print the tables as Markdown."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--at", nargs="+", type=_pair, default=list(SIZES), metavar="N,D")
    parser.add_argument("--names", nargs="+", default=list(NAMES), choices=NAMES)
    parser.add_argument("--alone", action="store_true", help="without ByzFL's")
    options = parser.parse_args()
    for n, d in options.at:
        f = n // 4
        x = np.random.default_rng(0).standard_normal((n, d), dtype=np.float32)
        print(f"\nn = {n:,}, f = {f}, d = {d:,}, float32:\n")
        print("| rule | Gram products | ByzFL's time / ours | memory / input |\n|---|---|---|---|")
        for name in options.names:
            rule, given = kg.rule(name, f=f), torch.from_numpy(x)
            ours = unit = theirs = float("inf")
            for _ in range(REPEATS):
                unit = min(unit, elapsed(lambda x=x: x @ x.T))  # type: ignore[misc]
                ours = min(ours, elapsed(lambda rule=rule, x=x: rule(x)))  # type: ignore[misc]
            if not options.alone:
                peer = peers(f, n)[name]()
                theirs = _theirs(peer, given)
            factor = f"{theirs / ours:.1f}" if theirs < float("inf") else "-"
            print(f"| {name} | {ours / unit:.2f} | {factor} | {_memory(rule, x) / x.nbytes:.2f} |", flush=True)


def _theirs(peer: Callable[[torch.Tensor], torch.Tensor], x: torch.Tensor) -> float:
    """The least of a few times; infinite where there is not enough memory."""
    least = float("inf")
    for _ in range(REPEATS):
        try:
            least = min(least, elapsed(lambda: peer(x)))
        except RuntimeError:
            # its NNM makes n (n - f) d numbers: 60 GB at n = 1,000, d = 20,000
            break
        if least > SLOW / REPEATS:
            break
    return least


def _memory(rule: Callable[[np.ndarray], np.ndarray], x: np.ndarray) -> int:
    """The peak of what one call allocates, compiled code's arrays apart."""
    tracemalloc.start()
    rule(x)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak


def _pair(text: str) -> tuple[int, int]:
    n, _, d = text.partition(",")
    return int(n), int(d)


if __name__ == "__main__":
    main()
