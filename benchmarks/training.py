"""Steps per second against ByzFL's own client and server loop, in one process, interleaved: ``make bench-train``.

The setting is the paper's on MNIST: n = 17, f = 4, batch 25, Dirichlet with alpha = 0.1, momentum 0.9, its network
(d = 176,050) and ByzFL's own larger one (d = 431,080). Times are medians over interleaved blocks of steps;
``quickest`` is the ratio of the least times, which other programs disturb less. ``strength`` is the least, over ByzFL's
own steps, of (error that our attack reaches) / (error that ByzFL's reaches), both on its honest vectors of that step
and measured on the same rule, ours; rounded down, except that a part of 1e-7, the rounding of float32, counts as
nothing. Where our time goes: honest gradients and momentum, attack,
aggregation, rest.
Data: a folder in KAPPAGUARD_DATA, else random images of the same shape. About eight minutes on two free cores.
"""

from __future__ import annotations

import argparse
import math
import os
import platform
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
import torch
from rich.console import Console
from rich.progress import Progress
from rich.table import Table
from torch import nn

from kappaguard.rules import native
from kappaguard.rules.foreign.importing import load_module
from kappaguard.rules.native.sharing import thread_count
from kappaguard.search.attacks.line import error_at
from kappaguard.training.algorithm import Training
from kappaguard.training.build import build
from kappaguard.training.configuration import preset
from kappaguard.training.data.catalogue import load
from kappaguard.training.data.dataset import Dataset
from kappaguard.training.learning import Learning
from kappaguard.training.models.block import Block
from kappaguard.training.models.elementwise import Rectifier
from kappaguard.training.models.linear import Linear
from kappaguard.training.models.network import Network

RULES = {"nnm+cwtm": ("TrMean", True), "nnm+krum": ("Krum", True), "gm": ("GeometricMedian", False)}
ATTACKS = {"sf": "SignFlipping", "alie": "Optimal_ALittleIsEnough", "foe": "Optimal_InnerProductManipulation"}
TARGETS = {"sf": 3.0, "alie": 20.0, "foe": 20.0}
LOWER_TARGETS = {("gm", "foe"): 12.0}
"""Where ByzFL's own search is short: 20 here took 514 lines of Winograd's tiles, which it was not worth."""
NETWORKS = ("paper", "byzfl")


class PaperNetwork(nn.Module):
    """C(20)-R-M-C(20)-R-M-L(500)-R-L(10)-S for ByzFL's loop."""

    def __init__(self, channels: int = 20) -> None:
        super().__init__()
        layers = [
            nn.Conv2d(1, 20, 5),
            nn.ReLU(),
            nn.MaxPool2d(2),
            nn.Conv2d(20, channels, 5),
            nn.ReLU(),
            nn.MaxPool2d(2),
        ]
        layers += [nn.Flatten(), nn.Linear(16 * channels, 500), nn.ReLU(), nn.Linear(500, 10), nn.LogSoftmax(dim=1)]
        self.layers = nn.Sequential(*layers)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Log-probabilities."""
        result: torch.Tensor = self.layers(x)
        return result


class ByzFL:
    """ByzFL's step, as in its ``benchmark/train.py`` (DSGD)."""

    def __init__(self, problem: Learning, rule: str, attack: str, model: str, n: int, f: int) -> None:
        framework = load_module("byzfl.fed_framework", ("byzfl",))
        framework.models.paper_network = PaperNetwork
        name, mixed = RULES[rule]
        aggregator = {"name": name, "parameters": {"f": f} if name != "GeometricMedian" else {"nu": 0.1, "T": 3}}
        before = [{"name": "NNM", "parameters": {"f": f}}] if mixed else []
        loaders = [
            torch.utils.data.DataLoader(
                torch.utils.data.TensorDataset(problem.images[shard], problem.labels[shard]),
                batch_size=25,
                shuffle=True,
            )
            for shard in map(torch.from_numpy, problem.shards)
        ]
        common = {
            "model_name": "paper_network" if model == "paper" else "cnn_mnist",
            "device": "cpu",
            "optimizer_name": "SGD",
            "learning_rate": 0.75,
            "weight_decay": 1e-4,
            "milestones": [],
            "learning_rate_decay": 1.0,
        }
        client = {"loss_name": "NLLLoss", "LabelFlipping": False, "momentum": 0.9, "nb_labels": 10}
        self.clients = [
            framework.Client({**common, **client, "training_dataloader": loader, "store_per_client_metrics": False})
            for loader in loaders
        ]
        self.server = framework.Server(
            {**common, "test_loader": loaders[0], "aggregator_info": aggregator, "pre_agg_list": before}
        )
        parameters = {"aggregator_info": aggregator, "pre_agg_list": before, "f": f} if attack != "sf" else {}
        self.byzantine = framework.ByzantineClient({"name": ATTACKS[attack], "f": f, "parameters": parameters})

    def step(self) -> None:
        """All clients' and the server's part of one step."""
        for client in self.clients:
            client.compute_gradients()
        self.honest = [client.get_flat_gradients_with_momentum() for client in self.clients]
        self.sent = self.byzantine.apply_attack(self.honest)
        self.server.update_model_with_gradients(self.honest + self.sent)
        model = self.server.get_dict_parameters()
        for client in self.clients:
            client.set_model_state(model)


ROUNDING = 1e-7


@dataclass
class Row:
    """One rule under one attack with one network: seconds of every step, shares of ours, and the strengths."""

    model: str
    rule: str
    attack: str
    ours: list[float]
    theirs: list[float]
    shares: dict[str, float]
    strengths: list[float]

    def ratio(self, of: Callable[[list[float]], float]) -> float:
        """How many times faster ours is."""
        return of(self.theirs) / of(self.ours)


def data() -> Dataset:
    """MNIST where it is, else noise of the same shape."""
    if os.environ.get("KAPPAGUARD_DATA"):
        return load("mnist")
    generator = np.random.default_rng(0)
    images = generator.standard_normal((6000, 1, 28, 28)).astype(np.float32)
    labels = generator.integers(0, 10, 6000)
    return Dataset("noise", images, labels, images[:10], labels[:10], 10)


def ours(rule: str, attack: str, model: str, read: Dataset) -> Training:
    """Our training run under that rule and attack."""
    training = build(preset("mnist").with_values({"rule": rule, "attack": attack, "measure_every": 50}), read)
    if model == "paper":
        return training
    layers = (Block(20), Block(50), Linear(500), Rectifier(), Linear(10))
    old = training.problem
    assert isinstance(old, Learning)
    parts = (old.images, old.labels, old.test_images, old.test_labels, 10, old.shards, 25, old.l2, old.seed)
    return Training(Learning(Network(layers, (1, 28, 28)), *parts), training.rule, training.attack, training.settings)


def strength(training: Training, peer: ByzFL, f: int) -> float:
    """Our error over theirs, on the honest vectors of their last step and our rule."""
    honest = torch.stack(peer.honest)
    assert training.attack is not None
    mean = honest.mean(dim=0)
    mine = training.attack.act(honest, f, training.rule).vectors[0]
    reached = [error_at(training.rule, honest, f, mean, vector - mean, 1.0) for vector in (mine, peer.sent[0])]
    return reached[0] / reached[1]


def measure(model: str, rule: str, attack: str, read: Dataset, blocks: int, steps: int) -> Row:
    """Interleaved blocks: some steps of ours, one or two of theirs."""
    training = ours(rule, attack, model, read)
    assert isinstance(training.problem, Learning)
    peer = ByzFL(training.problem, rule, attack, model, 17, 4)
    for _ in range(2):
        training.step()
    peer.step()
    training.seconds = dict.fromkeys(training.seconds, 0.0)
    mine: list[float] = []
    theirs: list[float] = []
    strengths: list[float] = []
    for _ in range(blocks):
        for _ in range(steps):
            mine.append(elapsed(training))
        for _ in range(2 if attack == "sf" else 1):
            theirs.append(elapsed(peer))
        if attack != "sf":
            strengths.append(strength(training, peer, 4))
    total = sum(training.seconds.values())
    shares = {phase: seconds / total for phase, seconds in training.seconds.items()}
    return Row(model, rule, attack, mine, theirs, shares, strengths)


def elapsed(runner: Any) -> float:
    """Seconds of one step."""
    start = time.perf_counter()
    runner.step()
    return time.perf_counter() - start


def cells(row: Row) -> list[str]:
    """The row of the table, as text."""
    shares = [f"{100 * row.shares[phase]:.0f} %" for phase in ("honest", "attack", "aggregation")]
    return [
        row.model,
        row.rule,
        row.attack,
        f"{1e3 * statistics.median(row.ours):.1f}",
        f"{1e3 * statistics.median(row.theirs):.0f}",
        f"{row.ratio(statistics.median):.1f}",
        f"{row.ratio(min):.1f}",
        f"{LOWER_TARGETS.get((row.rule, row.attack), TARGETS[row.attack]):.0f}",
        f"{math.floor(1e4 * (min(row.strengths) + ROUNDING)) / 1e4:.4f}" if row.strengths else "",
        *shares,
        f"{100 * row.shares['rest']:.1f} %",
    ]


HEADINGS = ["network", "rule", "attack", "ours ms", "ByzFL ms", "ratio", "quickest", "target", "strength"]
HEADINGS += ["honest", "attack", "aggregation", "rest"]


def main() -> None:
    """Measures, prints the table, and optionally writes the Markdown."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--networks", nargs="+", choices=NETWORKS, default=NETWORKS)
    parser.add_argument("--rules", nargs="+", choices=list(RULES), default=list(RULES))
    parser.add_argument("--attacks", nargs="+", choices=list(ATTACKS), default=list(ATTACKS))
    parser.add_argument("--blocks", type=int, default=10, help="each has steps of ours and one or two of ByzFL's")
    parser.add_argument("--steps", type=int, default=24, help="of ours in a block")
    parser.add_argument("--markdown", help="write the table to this file")
    arguments = parser.parse_args()
    console = Console(width=140)
    console.print(
        f"{platform.machine()}, {thread_count()} threads, torch {torch.__version__}, "
        f"compiled kernels: {'yes' if native.available() else 'no'}"
    )
    read = data()
    wanted = list(product(arguments.networks, arguments.rules, arguments.attacks))
    rows = []
    with Progress(console=console, transient=True) as progress:
        task = progress.add_task("timing", total=len(wanted))
        for model, rule, attack in wanted:
            progress.update(task, description=f"{model} {rule} {attack}")
            rows.append(measure(model, rule, attack, read, arguments.blocks, arguments.steps))
            progress.console.print(" | ".join(cells(rows[-1])), highlight=False)
            progress.advance(task)
    table = Table(title=f"kappaguard against ByzFL, one step, {read.name}")
    for heading in HEADINGS:
        table.add_column(heading)
    for row in rows:
        table.add_row(*cells(row))
    console.print(table)
    if arguments.markdown:
        from pathlib import Path

        lines = [HEADINGS, ["---"] * len(HEADINGS), *map(cells, rows)]
        Path(arguments.markdown).write_text("".join("| " + " | ".join(line) + " |\n" for line in lines))


if __name__ == "__main__":
    main()
