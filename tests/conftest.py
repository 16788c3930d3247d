"""What holds for all tests: they do not know whether a workflow, or a shell in the background, runs them, and those
that ask a conic solver are marked, so that ``make solvers`` repeats them on several kinds of processor."""

from __future__ import annotations

import gc
import importlib
import os
import signal
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from kappaguard.search.exact.variants import worst_inputs
from kappaguard.verify.theory.worst import kappa_star

for name in (
    "GITHUB_ACTIONS",
    "KAPPAGUARD_EVALUATIONS",
    "KAPPAGUARD_SEED",
    "KAPPAGUARD_TOLERANCE",
    "CI",
    "BUILD_NUMBER",
):
    os.environ.pop(name, None)

# a job in the background of a shell ignores Ctrl-C, and so would the processes that tests interrupt
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN and threading.current_thread() is threading.main_thread():
    signal.signal(signal.SIGINT, signal.default_int_handler)

asked: list[str] = []
"""The solvers that this process has asked."""


def note(name: str, solver: str) -> None:
    """Have a solver's module write down that it is asked."""
    try:
        module: Any = importlib.import_module(name)
    except ImportError:
        return
    ask = getattr(module, solver)

    def noted(*arguments: Any, **options: Any) -> Any:
        asked.append(name)
        return ask(*arguments, **options)

    setattr(module, solver, noted)


note("clarabel", "DefaultSolver")
note("scs", "SCS")


def answers() -> int:
    """How many answers of solvers this process has used so far, those that it had kept included."""
    return len(asked) + worst_inputs.cache_info().hits + kappa_star.cache_info().hits


def pytest_collection_finish() -> None:
    """The tests themselves, and all that they have imported, stay: the collector of garbage need not look at them."""
    gc.freeze()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    """Remember what was asked before a test and its fixtures."""
    item.stash[BEFORE] = answers()
    return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    """Tests that ask a solver have the mark; what processes ask that a test starts is not seen here."""
    yield
    if answers() > item.stash[BEFORE] and item.get_closest_marker("solver") is None:
        pytest.fail("it uses the answer of a solver, whose rounding depends on the processor: mark it, solver")


BEFORE = pytest.StashKey[int]()


HIDDEN = """
from functools import partial
from importlib.machinery import PathFinder


def find_other(find, name, *given):
    return None if name == "torch" else find(name, *given)


PathFinder.find_spec = partial(find_other, PathFinder.find_spec)
"""


@pytest.fixture
def without_torch(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Processes that the test starts find no torch, as in the small install: its import takes most of their time."""
    folder = tmp_path_factory.mktemp("hidden")
    (folder / "sitecustomize.py").write_text(HIDDEN)
    monkeypatch.setenv("PYTHONPATH", str(folder))
