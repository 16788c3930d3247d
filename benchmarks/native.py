"""What each piece of compiled code buys: times with it and without it, interleaved: ``python benchmarks/native.py``.

A piece is some headers of ``rules/native`` or ``training/native``; without it, NumPy or torch do its job in the same
process. Times are medians over the rounds, n = 17 and f = 4; a step is one of training under FOE against gm, in the
paper's setting on MNIST or on noise of its shape (see ``benchmarks/training.py``). About two minutes.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from kappaguard.rules import native as of_rules
from kappaguard.rules.names import parse
from kappaguard.training import native as of_training
from training import data
from training import ours as training_run

ROOT = Path(__file__).parent.parent


@dataclass(frozen=True)
class Piece:
    """Some files, the function through which they are reached, what it says without them, and what is timed."""

    name: str
    files: tuple[str, ...]
    module: Any
    function: str
    without: Callable[..., Any]
    cases: tuple[tuple[str, Callable[[], Any]], ...]

    @property
    def lines(self) -> int:
        """How many lines the files have."""
        return sum(len((ROOT / file).read_text().splitlines()) for file in self.files)

    def measure(self, call: Callable[[], Any], rounds: int) -> tuple[float, float]:
        """Seconds without the piece, and with it."""
        present = getattr(self.module, self.function)
        times: dict[bool, list[float]] = {False: [], True: []}
        for _ in range(rounds):
            for switched_on, seconds in times.items():
                setattr(self.module, self.function, present if switched_on else self.without)
                call()
                start = time.perf_counter()
                call()
                seconds.append(time.perf_counter() - start)
        setattr(self.module, self.function, present)
        return statistics.median(times[False]), statistics.median(times[True])


def pieces() -> list[Piece]:
    """All of them, the rules' first."""
    generator = np.random.default_rng(0)
    small, large = (generator.standard_normal((17, d)).astype(np.float32) for d in (10_000, 431_080))

    def rule(name: str, x: np.ndarray[Any, Any]) -> tuple[str, Callable[[], Any]]:
        built = parse(name, f=4)
        return f"{name}, d = {x.shape[1]:,}", lambda: built(x)

    step = "a step of training", training_run("gm", "foe", "paper", data()).step
    headers = ("forward.h", "backward.h", "flat.h")
    return [
        Piece(
            "inner products, distances, weighted sums",
            ("rules/native/distances.h",),
            of_rules,
            "applies",
            lambda x: False,
            (rule("krum", small), rule("krum", large), rule("nnm+krum", large)),
        ),
        Piece(
            "sorted columns",
            ("rules/native/coordinates.h",),
            of_rules,
            "applies",
            lambda x: False,
            (rule("cwmed", small), rule("cwmed", large), rule("cwtm", large)),
        ),
        Piece(
            "geometric median from distances",
            ("rules/native/median.h",),
            of_rules,
            "median_weights",
            lambda *given: None,
            (rule("gm", small[:, :10].copy()), rule("gm", small), rule("gm", large), step),
        ),
        Piece(
            "convolution, rectifier, pooling",
            tuple(f"training/native/{header}" for header in headers),
            of_training,
            "applies",
            lambda x, kernel: False,
            (step,),
        ),
    ]


def main() -> None:
    """Print the table as Markdown."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=15)
    rounds = parser.parse_args().rounds
    print("| piece | lines | measured on | without, ms | with, ms | ratio |\n|---|---|---|---|---|---|")
    for piece in pieces():
        for what, call in piece.cases:
            without, present = piece.measure(call, rounds)
            times = f"{1e3 * without:.2f} | {1e3 * present:.2f} | {without / present:.1f}"
            print(f"| {piece.name} | {piece.lines} | {what} | {times} |", flush=True)


if __name__ == "__main__":
    main()
