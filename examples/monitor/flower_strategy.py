"""A Flower strategy under guard: the three lines of ``aggregate_fit`` in ``Watched``.

Clients are made up here, so that the example needs no network; the strategy is Flower's own and sees what it would see.
"""

from __future__ import annotations

import tempfile
from typing import Any

import numpy as np
from flwr.common import Code, FitRes, Status, ndarrays_to_parameters, parameters_to_ndarrays
from flwr.server.strategy import FedAvg, FedMedian

import kappaguard as kg

N, F, ROUNDS = 11, 2, 5
KAPPA_OF_THE_MEDIAN = "(n-1-floor(n/2))/(floor(n/2)+1-f)"


def watched(strategy: type[FedAvg], monitor: kg.Monitor) -> FedAvg:
    """The strategy, with a monitor that sees every round."""

    class Watched(strategy):  # type: ignore[misc, valid-type]
        def aggregate_fit(self, server_round: int, results: Any, failures: Any) -> Any:
            parameters, metrics = super().aggregate_fit(server_round, results, failures)
            monitor([parameters_to_ndarrays(fit.parameters) for _, fit in results], parameters_to_ndarrays(parameters))
            return parameters, metrics

    watched_strategy: FedAvg = Watched()
    return watched_strategy


def results_of_clients(generator: np.random.Generator) -> list[Any]:
    """What 11 clients send, two layers each; the last two are far off."""
    results = []
    for client in range(N):
        shift = 30.0 if client >= N - F else 0.0
        layers = [generator.standard_normal((8, 4)) + shift, generator.standard_normal(4) + shift]
        answer = FitRes(Status(Code.OK, ""), ndarrays_to_parameters(layers), num_examples=1, metrics={})
        results.append((None, answer))
    return results


def serve(strategy: type[FedAvg], folder: str) -> kg.Monitor:
    """Some rounds with this strategy."""
    generator = np.random.default_rng(0)
    monitor = kg.Monitor(N, F, claim=KAPPA_OF_THE_MEDIAN, folder=folder)
    server = watched(strategy, monitor)
    for number in range(1, ROUNDS + 1):
        server.aggregate_fit(number, results_of_clients(generator), [])
    return monitor


def main() -> None:
    """The median, and the average that somebody deployed instead."""
    with tempfile.TemporaryDirectory() as folder:
        for strategy in (FedMedian, FedAvg):
            monitor = serve(strategy, folder)
            print(f"{strategy.__name__}: {monitor.rounds} rounds, {len(monitor.alarms)} alarms")
            if monitor.alarms:
                print(monitor.alarms[0])


if __name__ == "__main__":
    main()
