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


def spins(x, f):
    """Never ends, and minds no signal."""
    while True:
        try:
            time.sleep(1)
        except BaseException:
            continue


def spins_if_far(x, f):
    return spins(x, f) if np.abs(x).max() > 2.0**29 and x.shape[1] == 8 else median(x, f)


def median(x, f):
    return np.median(x, axis=0)


def leaves_the_session(x, f):
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(1000)"], start_new_session=True)
    _note(child.pid)
    return average(x, f)


def forks_twice(x, f):
    """A grandchild in a session of its own, whose parent is gone."""
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            _note(os.getpid())
            time.sleep(1000)
        os._exit(0)
    time.sleep(1000)


def kills_its_keeper(x, f):
    if os.fork() == 0:
        os.setsid()
        _note(os.getpid())
        time.sleep(1000)
    time.sleep(0.3)
    os.kill(os.getppid(), 9)
    time.sleep(1000)


def breeds(x, f):
    for _ in range(300):
        if os.fork() == 0:
            time.sleep(1000)
    time.sleep(1000)


def shares_memory(x, f):
    """Each process stays below the limit, and all of them together do not."""
    for _ in range(8):
        if os.fork() == 0:
            block = np.ones(40 << 20)
            time.sleep(1000 + block[0])
    time.sleep(1000)


def _note(process):
    with open(os.environ["KAPPAGUARD_TEST_CHILDREN"], "a") as stream:  # noqa: PTH123
        stream.write(f"{process}\n")


def claims(x, f, word="proved"):
    """Writes the verdict itself, into the folder that the worker was started with."""
    import json
    import pathlib

    folder = pathlib.Path(sys.argv[1])
    verdict = {
        "rule": "krum", "n": 5, "f": 1, "claim": "0", "bound": "0", "verdict": word,
        "reason": "because", "lower": "0", "upper": "0", "witness": None, "output": None, "findings": [],
        "effort": [0.0, 0, 0, []], "fixed": [], "violating": None, "trouble": None, "reproducible": True,
        "traced": None, "certificate": None, "about": None,
    }  # fmt: skip
    (folder / "result.json").write_text(json.dumps(verdict))
    os._exit(0)


def certifies(x, f):
    """The mean, which writes that it is the trimmed mean, with that one's certificate."""
    import json
    import pathlib

    import kappaguard as kg

    folder = pathlib.Path(sys.argv[1])
    request = json.loads((folder / "request.json").read_text())
    if request["task"] != "check_claim":
        return x.mean(axis=0)
    name = request["rule"]
    certificate = json.loads(kg.exact("cwtm", n=5, f=1).certificate)
    certificate |= {"rule": name, "origin": {"rule": name, "sha256": "0" * 64}}
    verdict = {
        "rule": name, "n": 5, "f": 1, "claim": "3", "bound": "3", "verdict": "proved",
        "reason": "because", "lower": "0", "upper": "1/3", "witness": None, "output": None, "findings": [],
        "effort": [0.0, 0, 0, []], "fixed": [], "violating": None, "trouble": None, "reproducible": True,
        "traced": None, "certificate": json.dumps(certificate), "about": None,
    }  # fmt: skip
    (folder / "result.json").write_text(json.dumps(verdict))
    os._exit(0)


def writes_a_bomb(x, f):
    import pathlib

    (pathlib.Path(sys.argv[1]) / "result.json").write_text('{"verdict": "open", "bound": "1e100000000"}')
    os._exit(0)
