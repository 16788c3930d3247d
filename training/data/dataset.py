"""What a data set is: images and labels to learn from, and others to test on."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Dataset:
    """Images (N, channels, height, width) of float32, normalised, and labels (N,) of int64.

    ``flips`` says that every training image is flipped with probability one half each time it is drawn.
    """

    name: str
    images: NDArray[np.float32]
    labels: NDArray[np.int64]
    test_images: NDArray[np.float32]
    test_labels: NDArray[np.int64]
    classes: int
    flips: bool = False

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of one image."""
        return tuple(self.images.shape[1:])

    def first(self, count: int) -> Dataset:
        """The same with only the first training samples."""
        return replace(self, images=self.images[:count], labels=self.labels[:count])


def normalised(pixels: NDArray[np.uint8], mean: Any, deviation: Any) -> NDArray[np.float32]:
    """Pixels in 0 .. 255 of (N, channels, height, width) as (pixel/255 - mean)/deviation per channel."""
    scale = np.asarray(deviation, dtype=np.float32).reshape(1, -1, 1, 1) * np.float32(255)
    offset = np.asarray(mean, dtype=np.float32).reshape(1, -1, 1, 1) * np.float32(255)
    result: NDArray[np.float32] = (pixels.astype(np.float32) - offset) / scale
    return result
