"""Global random states: fixed while a foreign rule runs, and put back as they were afterwards."""

from __future__ import annotations

import random
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

NUMPY_SEEDS = 2**32


@contextmanager
def preserved() -> Iterator[None]:
    """Run the body and put the states of ``random``, ``numpy.random`` and torch back as they were.

    So that testing a rule does not change the caller's experiment.
    """
    python_state = random.getstate()
    numpy_state = np.random.get_state()
    torch = sys.modules.get("torch")
    torch_state = torch.get_rng_state() if torch is not None else None
    cuda_states = torch.cuda.get_rng_state_all() if torch is not None and torch.cuda.is_initialized() else None
    try:
        yield
    finally:
        random.setstate(python_state)
        np.random.set_state(numpy_state)
        if torch is not None:
            torch.set_rng_state(torch_state)
            if cuda_states is not None:
                torch.cuda.set_rng_state_all(cuda_states)


def seed_all(seed: int) -> None:
    """Seed ``random``, ``numpy.random`` and, if it was imported before, torch.

    A generator that a rule makes by itself from the operating system's entropy (such as
    ``numpy.random.default_rng()``) is out of reach.
    """
    random.seed(seed)
    np.random.seed(seed % NUMPY_SEEDS)
    torch = sys.modules.get("torch")
    if torch is not None:
        # torch.manual_seed would also queue a seed for devices that are not in use yet.
        torch.default_generator.manual_seed(seed)
        if torch.cuda.is_initialized():
            torch.cuda.manual_seed_all(seed)


@contextmanager
def seeded(seed: int) -> Iterator[None]:
    """Run the body with the global generators seeded, and put them back afterwards."""
    with preserved():
        seed_all(seed)
        yield
