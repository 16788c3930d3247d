"""The compiled block of layers: convolution, rectifier and pooling as one operation on float32 samples on a CPU.

Everything else (float64, GPUs, other kernels, a machine without a compiler, ``KAPPAGUARD_NATIVE=0``) takes the layers
one by one.
"""

from __future__ import annotations

import importlib
import os
from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from torch import Tensor

KERNEL = 5


@cache
def _compiled() -> Any | None:
    if os.environ.get("KAPPAGUARD_NATIVE", "1") == "0":
        return None
    try:
        return importlib.import_module("kappaguard.training.native._blocks")
    except ImportError:
        return None


def available() -> bool:
    """Whether the compiled block is installed and switched on."""
    return _compiled() is not None


def applies(x: Tensor, kernel: int) -> bool:
    """Whether the compiled block can take samples (N, channels, height, width)."""
    import torch

    fits = kernel == KERNEL and all(size > KERNEL and size % 2 == 0 for size in x.shape[2:])
    return fits and x.device.type == "cpu" and x.dtype == torch.float32 and available()


def forward(x: Tensor, weight: Tensor, bias: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """The largest positive part of every 2 x 2 window of the convolution, which place won, and x with channels last.

    The winners are numbered row by row from 0; 4 says that nothing in the window is positive.
    """
    import torch

    blocks = _compiled()
    assert blocks is not None
    seen = x.permute(0, 2, 3, 1).contiguous()
    samples, height, width, _ = seen.shape
    shape = (samples, (height - KERNEL + 1) // 2, (width - KERNEL + 1) // 2, len(weight))
    pooled = torch.empty(shape, dtype=torch.float32, device="cpu")
    winners = torch.empty(shape, dtype=torch.uint8, device="cpu")
    arrays = [each.contiguous().numpy() for each in (seen, weight, bias)]
    blocks.forward(*seen.shape, len(weight), *arrays, pooled.numpy(), winners.numpy())
    return pooled.permute(0, 3, 1, 2), winners, seen


def backward(
    gradient: Tensor, seen: Tensor, winners: Tensor, weight: Tensor, out: list[Tensor], wanted: bool
) -> Tensor | None:
    """Write the workers' gradients of kernels and biases to ``out``; return the input's if it is wanted."""
    import torch

    blocks = _compiled()
    assert blocks is not None
    workers, outputs = out[1].shape
    found = torch.empty((workers, weight.numel() + outputs), dtype=torch.float32, device="cpu")
    back = torch.empty_like(seen) if wanted else None
    given = gradient.permute(0, 2, 3, 1).contiguous()
    arrays = [each.contiguous().numpy() for each in (seen, weight, given, winners)]
    blocks.backward(*seen.shape, outputs, workers, *arrays, found.numpy(), None if back is None else back.numpy())
    out[0].copy_(found[:, : weight.numel()].view(out[0].shape))
    out[1].copy_(found[:, weight.numel() :])
    return None if back is None else back.permute(0, 3, 1, 2)


def send(messages: Tensor, gradients: Tensor, beta: float, clip: float | None) -> int:
    """m_i <- beta m_i + (1 - beta) g_i with clipped g_i; how many rows were done.

    That is up to a row whose square is out of range, and none at all if they are not float32 on a CPU.
    """
    import torch

    blocks = _compiled()
    fits = messages.device.type == "cpu" and messages.dtype == gradients.dtype == torch.float32 and messages.numel() > 0
    if blocks is None or not fits or not (messages.is_contiguous() and gradients.is_contiguous()):
        return 0
    arrays = gradients.numpy(), messages.numpy()
    return int(blocks.send(*messages.shape, beta, 1 - beta, 0.0 if clip is None else clip, *arrays))
