"""Run by every process of ``test_distributed.py``: some runs, spread; process 0 stores where they ended."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import torch

from kappaguard.training.build import parts_of
from kappaguard.training.configuration import Configuration
from kappaguard.training.distributed.group import join, leave
from kappaguard.training.distributed.training import DistributedTraining


def main(cases: str, out: str) -> None:
    group = join("cpu")
    results = []
    for values in json.loads(cases):
        configuration = Configuration().with_values(values)
        training = DistributedTraining.of(*parts_of(configuration), group)
        rows = [training.step() for _ in range(configuration.steps)]
        state = training.state
        results.append({"theta": state.theta, "output": state.output, "rows": json.dumps(rows)})
        assert state.messages.shape[0] < configuration.n
    if group.rank == 0:
        torch.save(results, Path(out))
    leave()


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
