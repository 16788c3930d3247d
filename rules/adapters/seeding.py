"""Global random states: fixed while a foreign rule runs, and put back as they were afterwards."""

from __future__ import annotations

import random
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

NUMPY_SEEDS = 2**32


@contextmanager
def seeded(seed: int) -> Iterator[None]:
    """Run the body with ``random``, ``numpy.random`` and, if it was imported before, torch seeded with ``seed``.

    The generators that already exist are restored on the way out, so that testing a rule does not change the
    caller's experiment. A generator that the rule makes by itself from the operating system's entropy (such as
    ``numpy.random.default_rng()``) is out of reach.
    """
    python_state = random.getstate()
    numpy_state = np.random.get_state()
    torch = sys.modules.get("torch")
    torch_state = torch.get_rng_state() if torch is not None else None
    cuda_states = torch.cuda.get_rng_state_all() if torch is not None and torch.cuda.is_initialized() else None
    try:
        random.seed(seed)
        np.random.seed(seed % NUMPY_SEEDS)
        if torch is not None:
            # torch.manual_seed would also queue a seed for devices that are not in use yet.
            torch.default_generator.manual_seed(seed)
            if cuda_states is not None:
                torch.cuda.manual_seed_all(seed)
        yield
    finally:
        random.setstate(python_state)
        np.random.set_state(numpy_state)
        if torch is not None:
            torch.set_rng_state(torch_state)
            if cuda_states is not None:
                torch.cuda.set_rng_state_all(cuda_states)
