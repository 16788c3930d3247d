"""Times every rule against ByzFL's, in one process, interleaved, on the same float32 tensors: ``make bench``.

Times are the least of several rounds, in milliseconds. ``reads`` is our time in units of reading the input once
(the sum of its entries, all threads): the memory-bandwidth limit of a rule that looks at its input is 1.
"""

from __future__ import annotations

import argparse
import math
import platform
import time
from collections.abc import Callable
from dataclasses import dataclass

import torch
from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from kappaguard.rules import native
from kappaguard.rules.foreign.byzfl import SHELLS
from kappaguard.rules.foreign.importing import load_module
from kappaguard.rules.names import parse

SIZES = [(17, 4, 10_000), (17, 4, 431_080), (17, 4, 1_310_922), (100, 20, 100_000)]
NAMES = [
    *("average", "cwmed", "cwtm", "gm", "krum", "multikrum", "mda", "meamed"),
    *("centered_clipping", "monna", "smea", "caf"),
    *("nnm+krum", "nnm+gm", "nnm+cwmed", "nnm+cwtm", "bucketing+krum", "clipping+cwtm", "arc+cwtm"),
]
SECONDS = 1.5
"""How long one pair is measured at the most, after one round each."""
ROUNDS = 3
"""Calls of each in a round; a rule of ByzFL's that takes longer than ``QUICK`` seconds is called once."""
QUICK = 0.1
PATIENCE = 60.0
"""A rule of ByzFL's that is expected to take longer is left out, and the table says so."""


@dataclass(frozen=True)
class Row:
    """One rule at one size: seconds of ours, of ByzFL's (None: left out), and of one read of the input."""

    name: str
    size: tuple[int, int, int]
    ours: float
    theirs: float | None
    read: float


def peers(f: int, n: int) -> dict[str, Callable[[], Callable[[torch.Tensor], torch.Tensor]]]:
    """ByzFL's object for each of our names, built anew: some of them keep state."""
    rules = load_module("byzfl.aggregators.aggregators", SHELLS)
    before = load_module("byzfl.aggregators.preaggregators", SHELLS)
    plain = {
        "average": rules.Average,
        "cwmed": rules.Median,
        "cwtm": lambda: rules.TrMean(f=f),
        "gm": rules.GeometricMedian,
        "krum": lambda: rules.Krum(f=f),
        "multikrum": lambda: rules.MultiKrum(f=f),
        "mda": lambda: rules.MDA(f=f),
        "meamed": lambda: rules.Meamed(f=f),
        "centered_clipping": rules.CenteredClipping,
        "monna": lambda: rules.MoNNA(f=f),
        "smea": lambda: rules.SMEA(f=f),
        "caf": lambda: rules.CAF(f=f),
        "nnm": lambda: before.NNM(f=f),
        "bucketing": lambda: before.Bucketing(s=n // (2 * f)),
        "clipping": lambda: before.Clipping(c=2.0),
        "arc": lambda: before.ARC(f=f),
    }

    def pipeline(name: str) -> Callable[[], Callable[[torch.Tensor], torch.Tensor]]:
        def build() -> Callable[[torch.Tensor], torch.Tensor]:
            stages = [plain[stage]() for stage in name.split("+")]

            def run(x: torch.Tensor) -> torch.Tensor:
                for stage in stages:
                    x = stage(x)
                return x

            return run

        return build

    return {name: pipeline(name) for name in NAMES}


def left_out(name: str, n: int, f: int) -> bool:
    """Whether ByzFL's version goes through too many subsets to be waited for."""
    return name in ("mda", "smea") and math.comb(n, f) > 10_000


def elapsed(call: Callable[[], object]) -> float:
    """Seconds of one call."""
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def measure(name: str, size: tuple[int, int, int], x: torch.Tensor) -> Row:
    """The least times of interleaved rounds. ByzFL's gets a copy where it would write into the input."""
    n, f, _ = size
    ours, build = parse(name, f=f), peers(f, n)[name]
    mutates = "clipping+" in name or "arc" in name
    least_ours = least_read = least_theirs = math.inf
    skip_ours = name in ("smea",) and math.comb(n, f) > 10**6
    skip_theirs = left_out(name, n, f)
    begin = time.perf_counter()
    for repetition in range(200):
        for _ in range(0 if skip_ours else ROUNDS):
            least_ours = min(least_ours, elapsed(lambda: ours(x)))
        if not skip_theirs:
            for _ in range(ROUNDS if least_theirs < QUICK else 1):
                theirs, given = build(), x.clone() if mutates else x
                least_theirs = min(least_theirs, elapsed(lambda: theirs(given)))  # noqa: B023
        for _ in range(ROUNDS):
            least_read = min(least_read, elapsed(x.sum))
        if repetition >= 2 and time.perf_counter() - begin > SECONDS:
            break
        if time.perf_counter() - begin > PATIENCE:
            break
    return Row(name, size, least_ours, None if skip_theirs else least_theirs, least_read)


def table(rows: list[Row]) -> Table:
    """The table that is printed, a row per rule."""
    result = Table(title="kappaguard against ByzFL, float32, least time of interleaved rounds")
    for column in ("rule", "(n, f, d)", "ours ms", "ByzFL ms", "ratio", "reads"):
        result.add_column(column, justify="left" if column == "rule" else "right")
    for row in rows:
        theirs = "left out" if row.theirs is None else f"{1e3 * row.theirs:.2f}"
        ratio = "" if row.theirs is None or math.isinf(row.ours) else f"{row.theirs / row.ours:.1f}"
        ours = "left out" if math.isinf(row.ours) else f"{1e3 * row.ours:.2f}"
        reads = "" if math.isinf(row.ours) else f"{row.ours / row.read:.1f}"
        result.add_row(row.name, str(row.size), ours, theirs, ratio, reads)
    return result


def markdown(rows: list[Row]) -> str:
    """Ratios (and our milliseconds) as a Markdown table, one line a rule."""
    lines = ["| rule | " + " | ".join(f"n={n}, f={f}, d={d:,}" for n, f, d in SIZES) + " |"]
    lines.append("|---|" + "---|" * len(SIZES))
    for name in NAMES:
        cells = []
        for size in SIZES:
            row = next((row for row in rows if row.name == name and row.size == size), None)
            if row is None or math.isinf(row.ours):
                cells.append("left out")
            elif row.theirs is None:
                cells.append(f"ByzFL left out ({1e3 * row.ours:.2f} ms)")
            else:
                cells.append(f"{row.theirs / row.ours:.1f} ({1e3 * row.ours:.2f} ms)")
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def summary(rows: list[Row]) -> str:
    """The geometric mean of the ratios, the smallest one, and the cost in double reads where the target names it."""
    ratios = {(row.name, row.size): row.theirs / row.ours for row in rows if row.theirs and not math.isinf(row.ours)}
    counted = [ratio for (name, _), ratio in ratios.items() if name != "average"]
    slowest = min(ratios, key=lambda key: ratios[key])
    mean = math.exp(sum(map(math.log, counted)) / len(counted))
    lines = [
        f"geometric mean of the ratios (average left out): {mean:.1f}",
        f"smallest ratio: {ratios[slowest]:.2f} ({slowest[0]} at {slowest[1]})",
    ]
    for row in rows:
        if row.name in ("krum", "gm", "nnm+krum", "nnm+gm") and row.size[2] > 200_000:
            lines.append(f"{row.name} at {row.size}: {row.ours / (2 * row.read):.1f} times two reads of the input")
    return "\n".join(lines)


def main() -> None:
    """Measures, prints the table, and optionally writes the Markdown."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rules", nargs="*", default=NAMES, help="only these")
    parser.add_argument("--sizes", nargs="*", type=int, default=range(len(SIZES)), help="only these, by number")
    parser.add_argument("--markdown", help="write the table to this file")
    arguments = parser.parse_args()
    console = Console()
    console.print(
        f"{platform.machine()}, {torch.get_num_threads()} threads, torch {torch.__version__}, "
        f"compiled kernels: {'yes' if native.available() else 'no'}"
    )
    rows = []
    with Progress(console=console, transient=True) as progress:
        task = progress.add_task("timing", total=len(arguments.rules) * len(list(arguments.sizes)))
        for index in arguments.sizes:
            size = SIZES[index]
            x = torch.randn(size[0], size[2], generator=torch.Generator().manual_seed(0))
            for name in arguments.rules:
                progress.update(task, description=f"{name} {size}")
                rows.append(measure(name, size, x))
                progress.advance(task)
    console.print(table(rows))
    text = summary(rows)
    console.print(text, highlight=False)
    if arguments.markdown:
        from pathlib import Path

        Path(arguments.markdown).write_text(f"{markdown(rows)}\n\n{text}\n")


if __name__ == "__main__":
    main()
