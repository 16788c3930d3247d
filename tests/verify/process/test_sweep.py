"""Sweeps: the same results on every engine, and nothing finished is lost."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from kappaguard.rules.base.errors import InputError
from kappaguard.rules.native.sharing import thread_count
from kappaguard.search.engines import distribute
from kappaguard.search.ledger import Ledger, ledger
from kappaguard.verify.process.sweep import SearchTask, sweep

CELLS = [
    SearchTask(rule, n, f, seed, evaluations=1500)
    for rule in ("cwmed", "cwtm")
    for n, f in ((5, 1), (7, 2))
    for seed in range(2)
]


def results(found: list[dict[str, Any]]) -> list[tuple[Any, ...]]:
    return [(each["rule"], each["n"], each["f"], each["seed"], each["exact"], each["witness"]) for each in found]


@pytest.fixture(scope="module")
def local(tmp_path_factory: pytest.TempPathFactory) -> list[tuple[Any, ...]]:
    return results(sweep(CELLS, tmp_path_factory.mktemp("local") / "sweep.sqlite", jobs=2))


def test_values_are_those_of_the_closed_forms(local: list[tuple[Any, ...]]) -> None:
    known = {("cwmed", 5): 1.0, ("cwmed", 7): 1.5, ("cwtm", 5): 1 / 3, ("cwtm", 7): 2 / 3}
    for rule, n, _, _, exact, _ in local:
        top, _, bottom = exact.partition("/")
        value = int(top) / int(bottom or 1)
        assert 0.98 * known[rule, n] < value <= known[rule, n] * (1 + 1e-12)


@pytest.mark.filterwarnings("ignore")
def test_dask_with_a_worker_killed_gives_the_same(tmp_path: Path, local: list[tuple[Any, ...]]) -> None:
    from distributed import LocalCluster

    killed = []
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None, silence_logs=50) as cluster:

        def report(done: int, total: int) -> None:
            if done >= 1 and not killed:
                killed.append(next(iter(cluster.workers.values())).pid)
                os.kill(killed[0], signal.SIGKILL)

        found = sweep(CELLS, tmp_path / "sweep.sqlite", engine="dask", address=cluster.scheduler_address, report=report)
    assert killed
    assert results(found) == local


@pytest.mark.filterwarnings("ignore")
def test_ray_gives_the_same(tmp_path: Path, local: list[tuple[Any, ...]], monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("ray", reason="Ray is not installed")
    monkeypatch.setenv("RAY_AUTH_MODE", "disabled")
    assert results(sweep(CELLS, tmp_path / "sweep.sqlite", engine="ray", jobs=2)) == local


def test_killed_and_started_again_it_goes_on(tmp_path: Path, local: list[tuple[Any, ...]]) -> None:
    store = tmp_path / "sweep.sqlite"
    code = (
        "import sys, pathlib\n"
        "from kappaguard.verify.process.sweep import SearchTask, run\n"
        "from kappaguard.search.ledger import Ledger\n"
        "import json, time\n"
        "cells = [SearchTask(**each) for each in json.loads(sys.argv[2])]\n"
        "book = Ledger(sys.argv[1])\n"
        "for cell in cells:\n"
        "    book[cell.key] = json.dumps(run(cell))\n"
    )
    import json
    from dataclasses import asdict

    arguments = [sys.executable, "-c", code, str(store), json.dumps([asdict(cell) for cell in CELLS])]
    process = subprocess.Popen(arguments)
    try:
        until = time.monotonic() + 60
        while time.monotonic() < until and _finished(store) < 2:
            time.sleep(0.02)
    finally:
        process.kill()
        process.wait()
    before = _finished(store)
    assert before >= 2
    steps: list[int] = []
    found = sweep(CELLS, store, jobs=1, report=lambda done, total: steps.append(done))
    assert steps[0] == before
    assert steps[-1] == len(CELLS)
    assert results(found) == local


def _finished(store: Path) -> int:
    if not store.exists():
        return 0
    try:
        with ledger(store) as book:
            return len(list(book.items()))
    except InputError:
        return 0


def test_a_finished_sweep_computes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store, cells = tmp_path / "sweep.sqlite", CELLS[:1]
    first = sweep(cells, store, jobs=1)
    monkeypatch.setattr("kappaguard.verify.process.sweep.distribute", lambda *_: pytest.fail("computed again"))
    assert sweep(cells, store) == first


def test_a_wrong_request_is_a_result(tmp_path: Path) -> None:
    found = sweep([SearchTask("krum", 4, 2, evaluations=10)], tmp_path / "sweep.sqlite", jobs=1)
    assert "f < n/2" in found[0]["error"]


def test_another_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("not a data base, but long enough to be looked at by SQLite" * 20)
    with pytest.raises(InputError, match="cannot open"):
        Ledger(path)


def _threads(_: int) -> int:
    return thread_count()


def test_processes_that_share_the_cores_take_one_thread_each(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("KAPPAGUARD_THREADS", raising=False)
    assert sorted(distribute(_threads, [0, 1], jobs=2)) == [(0, 1), (1, 1)]


ORPHANS = """
import os, sys, time
from pathlib import Path
from kappaguard.search.engines import distribute

def work(item):
    Path(sys.argv[1], str(os.getpid())).touch()
    time.sleep(600)

list(distribute(work, [0, 1], jobs=2))
"""


@pytest.mark.skipif(os.name != "posix", reason="elsewhere a process does not learn that its parent is gone")
def test_processes_do_not_outlive_the_one_that_started_them(tmp_path: Path) -> None:
    parent = subprocess.Popen([sys.executable, "-c", ORPHANS, str(tmp_path)])
    deadline = time.monotonic() + 60
    while len(found := [int(path.name) for path in tmp_path.iterdir()]) < 2:
        assert time.monotonic() < deadline
        time.sleep(0.1)
    assert all(map(_is_alive, found))
    parent.kill()
    parent.wait()
    while any(map(_is_alive, found)):
        assert time.monotonic() < deadline + 30
        time.sleep(0.1)


def _is_alive(process: int) -> bool:
    """Whether there is such a process; one that has ended and was not asked about yet does not count."""
    try:
        os.kill(process, 0)
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except ProcessLookupError:
        return False
    except FileNotFoundError:
        return not Path("/proc/self").exists()


def test_unknown_engines_and_addresses_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no engine is called 'slurm'"):
        sweep(CELLS[:1], tmp_path / "a.sqlite", engine="slurm")
    with pytest.raises(InputError, match="no address"):
        sweep(CELLS[:1], tmp_path / "b.sqlite", address="tcp://here:1")


MEDIAN = "import numpy as np\n\n\ndef r(x):\n    return np.median(x, axis=0)\n"


def test_a_rule_that_was_changed_is_searched_again(tmp_path: Path) -> None:
    path, store = tmp_path / "changing.py", tmp_path / "sweep.sqlite"
    cells = [SearchTask(f"{path}:r", 5, 1, evaluations=200)]
    path.write_text(MEDIAN)
    assert sweep(cells, store, jobs=1)[0]["lower"] == pytest.approx(1.0)
    path.write_text(MEDIAN.replace("np.median(x, axis=0)", "x.mean(axis=0)"))
    assert sweep(cells, store, jobs=1)[0]["lower"] == "inf"


def test_what_failed_is_tried_again(tmp_path: Path) -> None:
    path, store = tmp_path / "missing.py", tmp_path / "sweep.sqlite"
    cells = [SearchTask(f"{path}:r", 5, 1, evaluations=200)]
    assert "error" in sweep(cells, store, jobs=1)[0]
    path.write_text(MEDIAN)
    assert "error" not in sweep(cells, store, jobs=1)[0]


def test_a_rule_that_crashes_its_process_costs_only_itself(tmp_path: Path) -> None:
    path = tmp_path / "crashing.py"
    path.write_text("import os, signal\n\n\ndef r(x):\n    os.kill(os.getpid(), signal.SIGSEGV)\n")
    cells = [SearchTask(f"{path}:r", 5, 1, evaluations=200), SearchTask("cwmed", 5, 1, evaluations=200)]
    crashed, sound = sweep(cells, tmp_path / "sweep.sqlite", jobs=2)
    assert "ended with signal SIGSEGV" in crashed["error"]
    assert sound["lower"] > 0.5
