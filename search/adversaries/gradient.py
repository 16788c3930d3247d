"""Gradient ascent through torch: many starts as one batch, honest and Byzantine vectors both free.

Adam on the logarithm of the ratio, the input brought back to honest mean zero and honest variance one after every step
(as far as the rule does not mind), the learning rate falling; on a GPU if there is one. Rules are differentiable almost
everywhere, which is not where the worst inputs are; this finds the neighbourhood, others do the rest.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

import numpy as np

from kappaguard.rules.base.errors import RuleFault
from kappaguard.rules.base.rule import Rule
from kappaguard.rules.foreign.adapted import Guarded
from kappaguard.rules.ratio import ratio
from kappaguard.search.adversaries.base import Adversary
from kappaguard.search.arena import Arena, Floats

BACKWARD = 3
"""What a gradient costs, in evaluations."""
LOOK = 8
"""The arena sees the batch after so many steps."""
RATE = 0.1
MEMORY, SQUARES, TINY = 0.9, 0.999, 1e-8
"""Adam's constants (Kingma and Ba 2015)."""
LOADING = 6.0
"""A budget of fewer seconds is not spent on importing torch."""


@dataclass(frozen=True)
class GradientAscent(Adversary):
    """Restarts for ever: half of the batch from good inputs with noise, half at random."""

    name = "gradient"
    starts: int = 128
    steps: int = 80

    def applies(self, arena: Arena) -> bool:
        """Whether torch is installed, and the rule is ours or takes tensors."""
        if "torch" not in sys.modules and (arena.budget < LOADING or find_spec("torch") is None):
            return False
        return isinstance(arena.rule, Rule) or (isinstance(arena.rule, Guarded) and arena.rule.form == "torch")

    def run(self, arena: Arena, generator: np.random.Generator) -> Iterator[None]:
        """Through the dimensions in turn."""
        turn = 0
        while True:
            d = arena.dimensions()[turn % len(arena.dimensions())]
            turn += 1
            yield from self._ascend(arena, self._first(arena, generator, d))

    def _first(self, arena: Arena, generator: np.random.Generator, d: int) -> Floats:
        count = self.starts if isinstance(arena.rule, Rule) else 8
        x = generator.normal(size=(count, arena.n, d)) * np.exp(generator.normal(size=(count, arena.n, 1)))
        for row, candidate in enumerate(arena.pool[: count // 2]):
            width = min(d, candidate.x.shape[1])
            x[row] *= 0.1 * float(np.std(candidate.x))
            x[row, :, :width] += candidate.x[:, :width]
        return x

    def _ascend(self, arena: Arena, first: Floats) -> Iterator[None]:
        import torch

        device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        x = torch.tensor(first, dtype=torch.float64, device=device, requires_grad=True)
        # Adam in three lines: importing torch.optim takes longer than many searches
        drift, squares = torch.zeros_like(x), torch.zeros_like(x)
        for step in range(self.steps):
            arena.spend(BACKWARD * len(first))
            try:
                with _one_thread(torch):
                    slope = _slope(arena, x, torch)
            except RuleFault:
                return
            with torch.no_grad():
                drift.mul_(MEMORY).add_(slope, alpha=1 - MEMORY)
                squares.mul_(SQUARES).addcmul_(slope, slope, value=1 - SQUARES)
                scale = (squares / (1 - SQUARES ** (step + 1))).sqrt_().add_(TINY)
                x += RATE * (1 - step / self.steps) * (drift / (1 - MEMORY ** (step + 1))) / scale
                _normalise(x, arena)
            if step % LOOK == LOOK - 1:
                arena.ratios(x.detach().cpu().numpy().copy())
            yield


def _slope(arena: Arena, x: Any, torch: Any) -> Any:
    """The derivative of the sum of the logarithms of the ratios, zero where there is none."""
    order = torch.tensor(arena.arrangement, device=x.device)
    ratios = ratio(arena.rule(x[:, order]), x, list(range(arena.m)), arena.criterion)
    gains = torch.log(ratios.clamp_min(1e-12))
    total = torch.where(torch.isfinite(gains), gains, torch.zeros_like(gains)).sum()
    (slope,) = torch.autograd.grad(total, x)
    return slope.nan_to_num(0.0, 0.0, 0.0)


@contextmanager
def _one_thread(torch: Any) -> Iterator[None]:
    """Without torch's own threads, which on tensors this small only wait for each other."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def _normalise(x: Any, arena: Arena) -> None:
    if arena.traits.translates:
        x -= x[:, : arena.m].mean(dim=1, keepdim=True)
    if arena.traits.scales:
        centred = x[:, : arena.m] - x[:, : arena.m].mean(dim=1, keepdim=True)
        x /= (centred * centred).sum(dim=2).mean(dim=1).sqrt().clamp_min(1e-12)[:, None, None]
