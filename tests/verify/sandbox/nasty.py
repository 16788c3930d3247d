"""Rules that misbehave: each is right about the vector, or never gets there."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time

import numpy as np


def trimmed(x, f):
    return np.sort(x, axis=0)[f : len(x) - f].mean(axis=0)


def average(x, f):
    return x.mean(axis=0)


def hangs(x, f):
    while True:
        time.sleep(1)


def hangs_if_equal(x, f):
    while np.ptp(x[f:]) == 0:
        time.sleep(1)
    return average(x, f)


def prints(x, f):
    print("hello \x1b[31m [red]<b>")
    print("and an error", file=sys.stderr)
    return average(x, f)


def prints_without_end(x, f):
    os.write(1, b"x" * 5_000_000)
    return average(x, f)


def forks(x, f):
    os.fork()
    return average(x, f)


def eats(x, f):
    return average(np.concatenate([np.ones((1 << 17, x.shape[1])) * k for k in range(10**6)]), f)


def dies(x, f):
    os._exit(7)


def crashes(x, f):
    import ctypes

    ctypes.string_at(0)


def exits(x, f):
    sys.exit(3)


def raises(x, f):
    raise ValueError("a \x1b[2J [red] | `x` <script>::error::\nb")


def leaves_a_thread(x, f):
    threading.Thread(target=time.sleep, args=(1000,)).start()
    return average(x, f)


def leaves_a_child(x, f):
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(1000)"])
    with open(os.environ["KAPPAGUARD_TEST_CHILDREN"], "a") as stream:  # noqa: PTH123
        stream.write(f"{child.pid}\n")
    return average(x, f)
