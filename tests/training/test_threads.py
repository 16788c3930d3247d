"""Ranges of workers over threads, and the batch that is gathered ahead."""

from __future__ import annotations

import threading
import time

import numpy as np
import pytest
import torch

from kappaguard.training import threads
from kappaguard.training.build import build
from kappaguard.training.configuration import preset
from kappaguard.training.messages import length_of


@pytest.fixture(params=[1, 2, 3])
def count(request, monkeypatch):
    """So many threads."""
    monkeypatch.setattr(threads, "thread_count", lambda: request.param)
    threads._pool.cache_clear()
    yield request.param
    threads._pool.cache_clear()


def test_ranges_cover_all_in_order_and_operations_are_undivided(count):
    before = torch.get_num_threads()

    def work(begin, end):
        return begin, end, threading.get_ident(), torch.get_num_threads()

    found = threads.over_ranges(13, work, "cpu")
    assert len(found) == count
    assert [number for begin, end, _, _ in found for number in range(begin, end)] == list(range(13))
    assert len({who for _, _, who, _ in found}) <= count
    assert count == 1 or all(inside == 1 for _, _, _, inside in found)
    assert torch.get_num_threads() == before
    assert threads.over_ranges(13, lambda begin, end: (begin, end), "cuda") == [(0, 13)]


def test_what_is_done_beside_is_done_if_there_are_several(count):
    done = threading.Event()
    threads.over_ranges(4, lambda begin, end: None, "cpu", done.set)
    assert done.wait(10 if count > 1 else 0.05) == (count > 1)


@pytest.mark.parametrize("wrong", [0, 6, 12])
def test_an_error_in_any_range_is_raised_when_all_have_stopped(count, wrong):
    running: list[int] = []

    def work(begin, end):
        running.append(begin)
        time.sleep(0.02)
        running.remove(begin)
        if begin <= wrong < end:
            raise ArithmeticError(str(begin))

    with pytest.raises(ArithmeticError):
        threads.over_ranges(13, work, "cpu")
    assert not running


@pytest.mark.usefixtures("count")
def test_a_batch_gathered_ahead_is_the_step_s_own():
    """Steps in order, with whatever was gathered ahead, against single steps of problems that never looked ahead."""
    given = preset("digits").with_values({"n": 9, "f": 2, "attack": "lf"})
    problem = build(given).problem
    theta = problem.start()
    shape = (problem.workers, problem.dimension)
    for step in (1, 2, 3, 7, 8, 2):
        out, alone = torch.zeros(shape), torch.zeros(shape)
        losses = problem.stochastic(theta, step, out, lambda begin, end, decay: None)
        right = build(given).problem.stochastic(theta, step, alone, lambda begin, end, decay: None)
        assert torch.equal(out, alone)
        assert torch.equal(losses, right)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("size", [3, 5000])
def test_lengths(size, dtype):
    vector = torch.from_numpy(np.random.default_rng(size).standard_normal(size)).to(dtype)
    assert length_of(vector) == pytest.approx(float(np.linalg.norm(vector.double().numpy())), rel=1e-14)
    vector[1] = float("inf")
    assert length_of(vector) == float("inf")
    vector[1] = float("nan")
    assert np.isnan(length_of(vector))
