"""Wrong calls of the compiled kernels are refused and do not crash."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from kappaguard.rules import native
from kappaguard.rules.native.networks import network

compiled = pytest.mark.skipif(not native.available(), reason="the kernels are not compiled or switched off")


def good_calls():
    """Per function a call that works, as a list of arguments."""
    x = np.ones((3, 10))
    last = [1e-13, 1e-10, 200, 50, np.zeros((2, 3)), np.zeros(2, bool)]
    return {
        "gram": [x, 8, 3, 10, 0, 10, np.zeros((3, 3))],
        "gram_about": [x, 8, 3, 10, 0, 10, np.ones(10), np.ones((2, 10)), 2, np.zeros((5, 5))],
        "combine": [x, 8, 3, 10, 0, 10, np.ones(3), np.zeros(10)],
        "pairs": [x, 8, 3, 10, 0, 10, np.array([[0, 1]], np.intc), 1, np.zeros(1)],
        "squares": [x, 8, 3, 10, 0, 10, np.zeros(3)],
        "reduce": [x, 8, 3, 10, 0, 10, network(3, 0, 3), len(network(3, 0, 3)), 0, 3, 0, 0.0, np.zeros(10)],
        "median": [np.stack([1 - np.eye(3)] * 2), np.stack([np.eye(3)] * 2), 2, 3, 1e2, 1e-11, 10.0, *last],
    }


HUGE = [1 << 31, 1 << 32, 1 << 60, 1 << 61, 1 << 62, (1 << 63) - 1]
SHAPED = ("gram", "gram_about", "combine", "pairs", "squares", "reduce")
WRONG = [
    *((name, {1: value}) for name in SHAPED for value in (0, 1, 2, 16, -8)),
    *((name, {2: value}) for name in SHAPED for value in (0, -1, 4, 1000, *HUGE)),
    *((name, {3: value}) for name in SHAPED for value in (-1, 9, 11, *HUGE)),
    *((name, {4: value}) for name in SHAPED for value in (-1, 11)),
    *((name, {5: value}) for name in SHAPED for value in (-1, 11, *HUGE)),
    *((name, {2: many, 3: wide, 5: 1}) for name in SHAPED for many in HUGE for wide in HUGE),
    *((name, {-1: np.zeros(0)}) for name in (*SHAPED, "median")),
    *((name, {0: np.zeros(2)}) for name in (*SHAPED, "median")),
    *(("median", {2: value}) for value in (-1, 3, 1000, *HUGE)),
    *(("median", {3: value}) for value in (0, -1, 4, 1000, *HUGE)),
    *(("median", {2: count, 3: n}) for count in HUGE for n in HUGE),
    *(("median", {place: np.zeros(1)}) for place in (1, 11)),
    *(("gram_about", {place: np.ones(9)}) for place in (6, 7)),
    *(("gram_about", {8: value}) for value in (-1, 3, *HUGE)),
    ("combine", {6: np.ones(2)}),
    *(("pairs", {6: np.array([[0, row]], np.intc)}) for row in (-1, 3, 2**31 - 1, -(2**31))),
    *(("pairs", {7: value}) for value in (2, 1000, *HUGE)),
    ("pairs", {6: np.zeros(1, np.int8)}),
    *(("reduce", {6: np.array([row], np.intc), 7: 1}) for row in ((0, 3, 0), (-1, 1, 0), (1, 0, 0), (1, 1, 0))),
    *(("reduce", {7: value}) for value in (1000, *HUGE)),
    *(
        ("reduce", {8: low, 9: high})
        for low, high in ((-1, 2), (2, 2), (3, 2), (0, 4), *((0, value) for value in HUGE))
    ),
    *(("reduce", {10: kept}) for kept in (-1, 4, *HUGE)),
]
REFUSED = (ValueError, MemoryError, OverflowError, BufferError)


def is_refused(name, changes):
    kernels = native._compiled()
    arguments = good_calls()[name]
    for place, value in changes.items():
        arguments[place] = value
    try:
        getattr(kernels, name)(*arguments)
    except REFUSED:
        return True
    return False


def run_all_wrong():
    """The numbers of the wrong calls that went through, one line before each call to tell which one crashed."""
    for number, (name, changes) in enumerate(WRONG):
        print("call", number, flush=True)
        if not is_refused(name, changes):
            print("passed", number, flush=True)
    print("end", flush=True)


@compiled
def test_the_good_calls_work():
    for name, arguments in good_calls().items():
        getattr(native._compiled(), name)(*arguments)


@compiled
def test_wrong_calls_are_refused_and_do_not_crash(request):
    """In a process of its own, which a call that touches foreign memory would end."""
    root = str(request.config.rootpath)
    script = (
        "import sys; sys.path.insert(0, sys.argv[1]); from tests.rules import test_native_calls as t; t.run_all_wrong()"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, root], capture_output=True, text=True, timeout=60, check=False, cwd=root
    )
    lines = done.stdout.split("\n")
    passed = [WRONG[int(line.split()[1])] for line in lines if line.startswith("passed")]
    assert not passed, f"accepted: {[(name, {k: str(v) for k, v in changes.items()}) for name, changes in passed]}"
    last = next(line for line in reversed(lines) if line)
    crashed = "nothing" if last == "end" else str(WRONG[int(last.split()[1])])
    assert last == "end", f"crashed with status {done.returncode} at {crashed}: {done.stderr[-500:]}"


@compiled
@pytest.mark.parametrize("bad", [None, 3, "text", [1, 2], np.ones((3, 20))[:, ::2]], ids=lambda bad: type(bad).__name__)
def test_things_that_are_no_matrix(bad):
    for name, arguments in good_calls().items():
        with pytest.raises((TypeError, ValueError, BufferError)):
            getattr(native._compiled(), name)(bad, *arguments[1:])
    with pytest.raises(TypeError):
        native._compiled().gram()
