"""What is recorded of a step that is spread over processes: the numbers of ``kappaguard.training.measure``, summed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kappaguard.training.distributed.group import Group
from kappaguard.training.measure import Point, errors
from kappaguard.training.messages import on_server
from kappaguard.training.problem import Problem

if TYPE_CHECKING:
    from torch import Tensor


def of_messages(honest: Tensor, mine: Tensor, length: float, group: Group) -> dict[str, float]:
    """From some coordinates of the honest messages and of the aggregate, which is ``length`` long."""
    import torch

    mean = honest.mean(dim=0)
    sums = torch.stack([((mine - mean) ** 2).sum(), ((honest - mean) ** 2).sum() / len(honest)])
    error, variance = group.total(on_server(sums).double()).cpu().tolist()
    return errors(error, variance, length**2, honest.dtype)


def of_gradients(
    problem: Problem, theta: Tensor, messages: Tensor, out: Tensor, group: Group
) -> tuple[dict[str, float], Point]:
    """From the messages of this process's workers, whose exact gradients are written to ``out``.

    Only sums over workers are exchanged: of losses, gradients, messages, and squared distances from the mean.
    """
    import torch

    hosted, m = group.part(problem.workers), problem.honest
    own = max(0, min(m, hosted.stop) - hosted.start)
    losses = problem.exact(theta, out)[:own]
    mean = group.total(out[:own].sum(dim=0)) / m
    sent = group.total(messages[:own].sum(dim=0)) / m
    spread = ((out[:own] - mean) ** 2).sum()
    loss, heterogeneity = (group.total(on_server(torch.stack([losses.sum(), spread])).double()) / m).cpu().tolist()
    lengths = torch.zeros(problem.workers, dtype=theta.dtype, device=theta.device)
    lengths[hosted.start : hosted.stop] = out.norm(dim=1)
    record = {
        "loss": loss,
        "gradient_squared": float(mean @ mean),
        "heterogeneity_squared": heterogeneity,
        "noise_squared": problem.noise(theta),
        "deviation": float((sent - mean) @ (sent - mean)),
    }
    return record, Point(theta.clone(), mean, float(group.total(lengths).max()))
