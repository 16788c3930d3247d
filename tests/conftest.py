"""What holds for all tests: they do not know whether a workflow, or a shell in the background, runs them, and whether
one asks a conic solver is marked."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from functools import wraps
from typing import Any

import clarabel
import pytest
import scs

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


def _counting(solver: Any, asked: list[int]) -> Any:
    @wraps(solver, updated=())
    def ask(*arguments: Any, **options: Any) -> Any:
        asked.append(1)
        return solver(*arguments, **options)

    return ask


ASKED: list[int] = []
clarabel.DefaultSolver = _counting(clarabel.DefaultSolver, ASKED)
scs.SCS = _counting(scs.SCS, ASKED)


@pytest.fixture(autouse=True)
def _solver_tests_are_marked(request: pytest.FixtureRequest) -> Iterator[None]:
    """`make solvers` can repeat on other kinds of processor only what it knows of."""
    before = len(ASKED)
    yield
    if len(ASKED) > before and request.node.get_closest_marker("solver") is None:
        pytest.fail("this test asks a solver: mark it with pytest.mark.solver", pytrace=False)
