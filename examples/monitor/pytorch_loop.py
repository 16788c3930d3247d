"""A plain PyTorch loop under guard: 11 workers, of which 2 flip the sign of their gradient.

The server is a trimmed mean. With the right number to trim nothing happens; configured for no Byzantine worker at all,
it is an average, and the monitor says so in the first rounds, without knowing who lies.
"""

from __future__ import annotations

import tempfile

import torch

import kappaguard as kg

N, F, STEPS = 11, 2, 30


def trimmed_mean(vectors: torch.Tensor, trim: int) -> torch.Tensor:
    """The mean of what is left in each coordinate without the largest and smallest."""
    return vectors.sort(dim=0).values[trim : len(vectors) - trim].mean(dim=0)


def train(trim: int, folder: str) -> kg.Monitor:
    """Logistic regression on two clouds of points, a share for each worker."""
    torch.manual_seed(0)
    labels = torch.randint(0, 2, (N, 64))
    points = torch.randn(N, 64, 20) + 0.5 * labels[..., None]
    model = torch.nn.Linear(20, 2)
    optimiser = torch.optim.SGD(model.parameters(), lr=0.5)
    monitor = kg.Monitor(N, F, claim="f/(n-2*f)", folder=folder)
    for _ in range(STEPS):
        gradients = []
        for worker in range(N):
            loss = torch.nn.functional.cross_entropy(model(points[worker]), labels[worker])
            parts = torch.autograd.grad(loss, list(model.parameters()))
            gradient = torch.cat([part.flatten() for part in parts])
            gradients.append(-20 * gradient if worker >= N - F else gradient)
        vectors = torch.stack(gradients)
        aggregate = trimmed_mean(vectors, trim)
        monitor(vectors, aggregate)  # the guard: one line
        start = 0
        for parameter in model.parameters():
            parameter.grad = aggregate[start : start + parameter.numel()].view_as(parameter).clone()
            start += parameter.numel()
        optimiser.step()
    return monitor


def main() -> None:
    """The server as it should be, and one that forgot its f."""
    with tempfile.TemporaryDirectory() as folder:
        for trim in (F, 0):
            monitor = train(trim, folder)
            print(f"trim {trim}: {monitor.rounds} rounds, {len(monitor.alarms)} alarms")
            if monitor.alarms:
                print(monitor.alarms[0])


if __name__ == "__main__":
    main()
