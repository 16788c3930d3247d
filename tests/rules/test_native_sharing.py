"""Column ranges are shared between the calling thread and a pool: in order, once each, and nobody is left at work."""

from __future__ import annotations

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import numpy as np
import pytest

from kappaguard.rules import native
from kappaguard.rules.native import sharing

compiled = pytest.mark.skipif(not native.available(), reason="the kernels are not compiled or switched off")
THREADS = 3
PATIENCE = 20.0
"""Seconds after which something that should happen at once has failed."""


@pytest.fixture
def pool(monkeypatch):
    """A pool of the test's own, and ranges however small the matrix is."""
    monkeypatch.setattr(sharing, "thread_count", lambda: THREADS)
    monkeypatch.setattr(sharing, "ENTRIES_PER_THREAD", 1)
    with ThreadPoolExecutor(THREADS) as own:
        monkeypatch.setattr(sharing, "_pool", lambda process: own)
        yield own


class Recorder:
    """Notes who is at work, waits a random moment, and fails where it is told to."""

    def __init__(self, failing: int | None = None, error: type[BaseException] = ValueError) -> None:
        self.failing, self.error = failing, error
        self.lock = threading.Lock()
        self.active, self.begun = 0, []

    def __call__(self, begin: int, end: int) -> tuple[int, int]:
        with self.lock:
            self.active += 1
            self.begun.append((begin, end))
        time.sleep(1e-3 * np.random.default_rng().random())
        try:
            if self.failing is not None and begin <= self.failing < end:
                raise self.error(f"column {self.failing}")
            return begin, end
        finally:
            with self.lock:
                self.active -= 1


@pytest.mark.parametrize("columns", [1, 2, 3, 8, 9, 10, 100, 1001])
def test_the_ranges_cover_the_columns_once_and_come_back_in_order(columns, pool):
    for _ in range(5):
        work = Recorder()
        found = sharing.over_columns(np.zeros((5, columns)), work)
        assert found[0][0] == 0
        assert found[-1][1] == columns
        assert all(left[1] == right[0] for left, right in pairwise(found))
        assert all(begin < end for begin, end in found)
        assert sorted(work.begun) == found


def test_no_columns_at_all(pool, monkeypatch):
    monkeypatch.setattr(sharing, "ENTRIES_PER_THREAD", 0.1)
    assert sharing.over_columns(np.zeros((5, 0)), Recorder()) == [(0, 0)]


def test_a_range_is_never_smaller_than_worth_it(monkeypatch):
    monkeypatch.setattr(sharing, "thread_count", lambda: 64)
    least = sharing.ENTRIES_PER_THREAD // sharing.RANGES_PER_THREAD
    for columns in (1000, 200_000, 1_000_003):
        x = np.broadcast_to(np.float32(0), (5, columns))
        ranges = sharing.over_columns(x, lambda begin, end: (begin, end))
        if len(ranges) > 1:
            assert all(5 * (end - begin + 1) > least for begin, end in ranges)


@compiled
def test_sums_are_the_same_bits_every_time(pool):
    """Whoever takes which range: the parts are added from left to right."""
    generator = np.random.default_rng(3)
    x = generator.standard_normal((14, 5003)).astype(np.float32)
    first = native.gram_about(x, x[0], x[1:2])
    lengths, distances = native.squared_lengths(x), native.squared_distances(x).distances
    for _ in range(50):
        assert np.array_equal(native.gram_about(x, x[0], x[1:2]), first)
        assert np.array_equal(native.squared_lengths(x), lengths)
        assert np.array_equal(native.squared_distances(x).distances, distances)


@pytest.mark.parametrize("error", [ValueError, IndexError, MemoryError, KeyboardInterrupt])
@pytest.mark.parametrize("failing", [0, 450, 999])
def test_an_error_reaches_the_caller_and_nobody_works_on(failing, error, pool):
    for _ in range(5):
        work = Recorder(failing, error)
        with pytest.raises(error, match=f"column {failing}"):
            sharing.over_columns(np.zeros((5, 1000)), work)
        assert work.active == 0
        begun = len(work.begun)
        time.sleep(5e-3)
        assert len(work.begun) == begun
    assert len(sharing.over_columns(np.zeros((5, 1000)), Recorder())) == THREADS * sharing.RANGES_PER_THREAD


def test_a_helper_that_has_begun_is_waited_for_even_if_the_caller_fails(pool):
    """It ends the range that it has and takes no other."""
    caller = threading.get_ident()
    helping, finished = threading.Event(), threading.Event()
    begun = []

    def work(begin: int, end: int) -> None:
        begun.append((begin, end))
        if threading.get_ident() == caller:
            assert helping.wait(PATIENCE)
            raise ValueError("the caller's own")
        helping.set()
        time.sleep(0.2)
        finished.set()

    with pytest.raises(ValueError, match="the caller's own"):
        sharing.over_columns(np.zeros((5, 1000)), work)
    assert finished.is_set()
    assert len(begun) < THREADS * sharing.RANGES_PER_THREAD


def test_the_error_of_a_helper_reaches_the_caller_that_had_none(pool):
    caller = threading.get_ident()
    failed = threading.Event()

    def work(begin: int, end: int) -> None:
        del begin, end
        if threading.get_ident() == caller:
            assert failed.wait(PATIENCE)
        else:
            failed.set()
            raise ValueError("the helper's")

    with pytest.raises(ValueError, match="the helper's"):
        sharing.over_columns(np.zeros((5, 1000)), work)


def test_the_caller_does_not_wait_for_helpers_that_have_not_begun(pool):
    """All threads of the pool are busy with something else that ends only after the call."""
    over = threading.Event()
    others = [pool.submit(over.wait, PATIENCE) for _ in range(THREADS)]
    work = Recorder()
    found = sharing.over_columns(np.zeros((5, 1000)), work)
    assert not any(other.done() for other in others)
    assert work.begun == found
    over.set()
    assert all(other.result() for other in others)
    pool.submit(int).result(PATIENCE)
    assert len(work.begun) == len(found)


def test_helpers_are_waited_for_if_the_pool_takes_no_more(pool, monkeypatch):
    """At the end of the interpreter, say."""
    given, work = [], Recorder()

    def submit(task):
        if given:
            raise RuntimeError("cannot schedule new futures")
        given.append(pool.submit(task))
        return given[0]

    monkeypatch.setattr(sharing, "_pool", lambda process: type("Closing", (), {"submit": staticmethod(submit)}))
    with pytest.raises(RuntimeError, match="schedule"):
        sharing.over_columns(np.zeros((5, 1000)), work)
    assert work.active == 0
    assert given[0].done()


def test_many_callers_at_once(pool):
    """More of them than the pool has threads."""
    answers: list[bool] = []

    def check() -> None:
        for _ in range(10):
            work = Recorder()
            found = sharing.over_columns(np.zeros((5, 1000)), work)
            answers.append(sorted(work.begun) == found)

    callers = [threading.Thread(target=check) for _ in range(2 * THREADS)]
    for each in callers:
        each.start()
    for each in callers:
        each.join(PATIENCE)
    assert answers == [True] * (20 * THREADS)
