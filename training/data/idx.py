"""The IDX format of MNIST and Fashion-MNIST."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from kappaguard.rules.base.errors import InputError

UNSIGNED_BYTES = 0x08


def parse_idx(content: bytes, what: str) -> NDArray[np.uint8]:
    """The array of unsigned bytes in an IDX file: two zero bytes, the type, the number of axes, their sizes, data."""
    if len(content) < 4 or content[:2] != b"\0\0" or content[2] != UNSIGNED_BYTES:
        raise InputError(f"{what} is not an IDX file of unsigned bytes")
    axes = content[3]
    start = 4 + 4 * axes
    if axes == 0 or len(content) < start:
        raise InputError(f"{what} is not an IDX file: its header is cut off")
    shape = tuple(int(size) for size in np.frombuffer(content, dtype=">u4", count=axes, offset=4))
    if len(content) - start != math.prod(shape):
        raise InputError(f"{what} should hold {math.prod(shape)} bytes of data and holds {len(content) - start}")
    return np.frombuffer(content, dtype=np.uint8, offset=start).reshape(shape)
