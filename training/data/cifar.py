"""The binary format of CIFAR-10: records of one label and 3 x 32 x 32 pixels."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kappaguard.rules.base.errors import InputError

RECORD = 1 + 3 * 32 * 32
CLASSES = 10


def parse_cifar(content: bytes, what: str) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """Images (N, 3, 32, 32) and labels (N,)."""
    if not content or len(content) % RECORD:
        raise InputError(f"{what} is no CIFAR-10 batch: {len(content)} bytes are not a multiple of {RECORD}")
    records = np.frombuffer(content, dtype=np.uint8).reshape(-1, RECORD)
    labels = records[:, 0].astype(np.int64)
    if labels.max() >= CLASSES:
        raise InputError(f"{what} is no CIFAR-10 batch: it has a label {labels.max()}")
    return records[:, 1:].reshape(-1, 3, 32, 32), labels
