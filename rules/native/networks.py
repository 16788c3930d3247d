"""Sorting networks: fixed lists of compare-exchanges that sort n values, pruned to the outputs that are needed."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

BOTH, MINIMUM, MAXIMUM = 0, 1, 2


def merge_exchange(n: int) -> Iterator[tuple[int, int]]:
    """The compare-exchanges of Batcher's merge exchange for any n (Knuth, TAOCP 3, Algorithm 5.2.2M)."""
    top = 1 << max(n - 1, 0).bit_length() >> 1
    stride = top
    while stride > 0:
        reach, residue, distance = top, 0, stride
        while True:
            for i in range(n - distance):
                if i & stride == residue:
                    yield i, i + distance
            if reach == stride:
                break
            distance, reach, residue = reach - stride, reach >> 1, stride
        stride >>= 1


@lru_cache(maxsize=256)
def network(n: int, low: int, high: int) -> NDArray[np.intc]:
    """Triples (upper, lower, mode) that bring the values of ranks low .. high - 1 into rows low .. high - 1.

    Read backwards, an exchange none of whose two results is used later is dropped, and one with a single used
    result keeps only that one.
    """
    needed = set(range(low, high))
    steps: list[tuple[int, int, int]] = []
    for upper, lower in reversed(list(merge_exchange(n))):
        if upper not in needed and lower not in needed:
            continue
        mode = BOTH if upper in needed and lower in needed else MINIMUM if upper in needed else MAXIMUM
        steps.append((upper, lower, mode))
        needed |= {upper, lower}
    return np.array(steps[::-1], dtype=np.intc).reshape(-1, 3)
