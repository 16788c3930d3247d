"""Rules in several threads, and in a process that was forked while others were at work."""

from __future__ import annotations

import multiprocessing
import sys
import threading
import warnings

import numpy as np
import pytest

from kappaguard.rules.base.lazy import lazy
from kappaguard.rules.cloud import Cloud
from kappaguard.rules.names import parse


class Slow:
    """Computes its value in two steps that a test can stop between."""

    def __init__(self) -> None:
        self.begun, self.released = threading.Event(), threading.Event()
        self.times = 0

    @lazy
    def value(self) -> int:
        """Seven."""
        self.times += 1
        self.begun.set()
        assert self.released.wait(20)
        return 7


def test_a_lazy_attribute_is_computed_once():
    one = Slow()
    one.released.set()
    assert (one.value, one.value, one.times) == (7, 7, 1)
    assert Slow.value.__doc__ == "Seven."
    assert isinstance(Cloud.__dict__["distances"], lazy)


def test_one_object_does_not_wait_for_another():
    held, free = Slow(), Slow()
    free.released.set()
    waiting = threading.Thread(target=lambda: held.value)
    waiting.start()
    assert held.begun.wait(20)
    answered = []
    other = threading.Thread(target=lambda: answered.append(free.value))
    other.start()
    other.join(10)
    assert answered == [7]
    held.released.set()
    waiting.join()


def _aggregate(name, x, answers):
    answers.put(parse(name, f=2)(x))


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no fork")
@pytest.mark.parametrize("name", ["krum", "gm"])
def test_a_child_that_is_forked_while_a_thread_aggregates_does_not_hang(name):
    x = np.random.default_rng(0).standard_normal((9, 3000))
    stop = threading.Event()

    def busy():
        while not stop.is_set():
            parse(name, f=2)(x)

    thread = threading.Thread(target=busy)
    thread.start()
    try:
        context = multiprocessing.get_context("fork")
        answers = context.Queue()
        for _ in range(3):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", DeprecationWarning)
                child = context.Process(target=_aggregate, args=(name, x, answers))
                child.start()
            assert np.allclose(answers.get(timeout=60), parse(name, f=2)(x))
            child.join(30)
    finally:
        stop.set()
        thread.join()
