"""Tensors changed in place on symbols: what is shared and what is a copy is so as in torch."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from kappaguard.rules.recipe.trace.run import outputs
from kappaguard.rules.recipe.trace.tensors import tensor
from tests.rules.recipe.test_trace import value


def row(x: Any) -> Any:
    x[0].add_(x[1])
    return x[0] + x[2]


def transposed(x: Any) -> Any:
    x.t().mul_(2)
    return x.sum(0)


def copied_by_reshaping(x: Any) -> Any:
    x.transpose(0, 1).reshape(-1).add_(1)
    return x[0]


def contiguous(x: Any) -> Any:
    x.t().contiguous().sub_(1)
    return x[1]


def chosen_rows(x: Any) -> Any:
    x[[0, 1]].add_(1)
    x[0:2].sub_(3)
    return x[0]


def assigned(x: Any) -> Any:
    a, b = x[0], x[1]
    a -= b
    return x[0]


def fresh(x: Any) -> Any:
    total = torch.zeros_like(x[0])
    same = total
    same.add_(x[0])
    same = same + 1
    return total


def stacked(x: Any) -> Any:
    both = torch.stack([x[0], x[1]])
    both.add_(1)
    return x[0] + both[1]


def unbound(x: Any) -> Any:
    x.unbind(0)[0].fill_(3)
    return x[0] + x[1]


def masked(x: Any) -> Any:
    x.masked_fill_(x > 0, 0)
    return x.sum(0)


def sorted_rows(x: Any) -> Any:
    rows = x.sort(0)[0]
    rows[0].copy_(x[3])
    return rows.sum(0)


CHANGES = [row, transposed, copied_by_reshaping, contiguous, chosen_rows, assigned, fresh, stacked, unbound, masked]


@pytest.mark.parametrize("function", [*CHANGES, sorted_rows], ids=lambda function: function.__name__)
def test_entries_are_shared_as_in_torch(function: Any) -> None:
    symbols, found = outputs(lambda x: function(tensor(x)), [function], 4, 2)
    generator = np.random.default_rng(0)
    for _ in range(50):
        x = generator.integers(-3, 4, (4, 2)).astype(float)
        expected = function(torch.tensor(x)).numpy()
        assert [float(value(symbols, each, x)) for each in found] == expected.tolist()
