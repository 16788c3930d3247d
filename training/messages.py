"""What workers send: clipped and averaged over the steps, and within the range of numbers."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from kappaguard.rules import native as kernels

if TYPE_CHECKING:
    import torch
    from torch import Tensor

LEAST_LENGTH = 1e-30
"""Nothing is divided by less."""
WITHOUT_DOUBLE = ("mps",)
"""Devices without float64."""


def send(
    messages: Tensor, gradients: Tensor, theta: Tensor, decay: float, beta: float, clip: float | None
) -> float | Tensor:
    """m_i <- beta m_i + (1 - beta) g_i in place, g_i being clip(gradient + decay theta); sum ||m_i||^2.

    On a CPU it goes row by row, while a row is in the cache; elsewhere all at once, and the sum stays on the device. A
    length whose square overflows is taken in the unit of the largest entry: infinite, it would clip to zero.
    """
    if messages.device.type != "cpu":
        return _send_together(messages, gradients, theta, decay, beta, clip)
    for own, gradient in zip(messages, gradients, strict=True):
        whole = gradient.add(theta, alpha=decay) if decay else gradient
        shrunk = 1.0
        if clip is not None:
            length = float(whole.norm())
            if not math.isfinite(length):
                largest = float(whole.abs().max())
                length = largest * float((whole / largest).norm())
            shrunk = clip / max(clip, length)
        own.mul_(beta).add_(whole, alpha=(1 - beta) * shrunk)
    sent = float(messages.norm())
    return sent * sent


def _send_together(
    messages: Tensor, gradients: Tensor, theta: Tensor, decay: float, beta: float, clip: float | None
) -> Tensor:
    """The same for all rows at once, without waiting for a number."""
    whole = gradients.add(theta, alpha=decay) if decay else gradients
    messages.mul_(beta)
    if clip is None:
        messages.add_(whole, alpha=1 - beta)
    else:
        largest = whole.abs().amax(dim=1, keepdim=True).clamp(min=LEAST_LENGTH)
        lengths = (whole / largest).norm(dim=1, keepdim=True) * largest
        messages.addcmul_(whole, clip / lengths.clamp(min=clip), value=1 - beta)
    length: Tensor = messages.norm()
    return length * length


def clipped_sum(gradients: Tensor, clip: float | None) -> Tensor:
    """The sum of the rows of (m, d), each scaled down to the length ``clip`` if it is longer."""
    if clip is None:
        return gradients.sum(dim=0)
    lengths = gradients.norm(dim=1)
    shares: Tensor = clip / lengths.clamp(min=clip)
    return shares @ gradients


class Diverged(Exception):
    """The model has left the range of numbers."""

    def __init__(self, step: int) -> None:
        super().__init__(f"diverged in step {step}")
        self.step = step


def require_range(t: int, length: float, n: int, dtype: torch.dtype) -> None:
    """``Diverged`` unless the messages, ``length`` long together, can be squared and added up in their own dtype.

    Attacks and rules work with squared distances; beyond that range these are infinite.
    """
    import torch

    if not length < torch.finfo(dtype).max ** 0.5 / n:
        raise Diverged(t)


def length_of(vector: Tensor) -> float:
    """||vector||, computed in float64."""
    import torch

    if vector.device.type == "cpu" and kernels.applies(row := vector.numpy()[None]):
        return math.sqrt(kernels.squared_lengths(row)[0])
    return float(on_server(vector).norm(dtype=torch.float64))


def descend(t: int, theta: Tensor, aggregate: Tensor, rate: float) -> None:
    """theta <- theta - rate R_t in place; ``Diverged`` if theta's dtype cannot hold the rate."""
    import torch

    if not rate <= torch.finfo(theta.dtype).max:
        raise Diverged(t)
    theta.sub_(aggregate, alpha=rate)


def on_server(messages: Tensor) -> Tensor:
    """The messages where rules can take them: decisions need float64, which Apple's GPUs lack."""
    return messages.cpu() if messages.device.type in WITHOUT_DOUBLE else messages
