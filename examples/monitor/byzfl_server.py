"""ByzFL's server under guard: its ``aggregate`` is watched, everything else is as it was."""

from __future__ import annotations

import tempfile
from typing import Any

import torch
from byzfl import Server

import kappaguard as kg

N, F, STEPS = 11, 2, 5


class WatchedServer(Server):  # type: ignore[misc]
    """The server, with a monitor that sees every aggregation."""

    monitor: kg.Monitor

    def aggregate(self, vectors: Any) -> Any:
        """What the server makes of the vectors."""
        output = super().aggregate(vectors)
        self.monitor(vectors, output)
        return output


def serve(trim: int, folder: str) -> kg.Monitor:
    """Some steps of training with a trimmed mean that trims so many."""
    torch.manual_seed(0)
    data = torch.utils.data.TensorDataset(torch.randn(8, 1, 28, 28), torch.randint(0, 10, (8,)))
    server = WatchedServer(
        {
            "device": "cpu",
            "model_name": "logreg_mnist",
            "optimizer_name": "SGD",
            "learning_rate": 0.1,
            "weight_decay": 0.0,
            "milestones": [],
            "learning_rate_decay": 1.0,
            "aggregator_info": {"name": "TrMean", "parameters": {"f": trim}},
            "pre_agg_list": [],
            "test_loader": torch.utils.data.DataLoader(data),
        }
    )
    server.monitor = kg.Monitor(N, F, claim="f/(n-2*f)", folder=folder, name="byzfl")
    d = sum(parameter.numel() for parameter in server.model.parameters())
    for _ in range(STEPS):
        gradients = torch.randn(N, d)
        gradients[N - F :] += 20.0
        server.update_model_with_gradients(list(gradients))
    return server.monitor


def main() -> None:
    """The server as it should be, and one that forgot its f."""
    with tempfile.TemporaryDirectory() as folder:
        for trim in (F, 0):
            monitor = serve(trim, folder)
            print(f"TrMean(f={trim}): {monitor.rounds} rounds, {len(monitor.alarms)} alarms")
            if monitor.alarms:
                print(monitor.alarms[0])


if __name__ == "__main__":
    main()
