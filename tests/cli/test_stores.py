"""Stores that are somebody else's, damaged or full: one line, and nothing is changed."""

from __future__ import annotations

import sqlite3
import subprocess
import sys

import pytest

from .answers import told


def test_a_database_of_somebody_elses_is_left_alone(project, capsys):
    store = project / "theirs.sqlite"
    with sqlite3.connect(store) as connection:
        connection.execute("create table people (name text)")
    connection.close()
    before = store.read_bytes()
    sweep = ["sweep", "cwmed", "--at", "5,1", "--evaluations", "40", "--jobs", "1", "--store"]
    status, _, complaint = told(capsys, *sweep, store)
    assert (status, complaint.count("\n")) == (2, 1)
    assert "somebody else's" in complaint
    assert store.read_bytes() == before
    assert [path.name for path in project.glob("theirs*")] == ["theirs.sqlite"]


@pytest.mark.parametrize("damage", [b"SQLite format 3\0" + b"\x12" * 4000, b"not a database at all" * 100])
def test_a_damaged_store_is_one_line(project, capsys, damage):
    (project / "store.sqlite").write_bytes(damage)
    sweep = ["sweep", "cwmed", "--at", "5,1", "--evaluations", "40", "--jobs", "1", "--store", "store.sqlite"]
    status, output, complaint = told(capsys, *sweep)
    assert (status, output, complaint.count("\n")) == (2, "", 1)


def test_a_store_with_results_of_nobody_is_one_line(project, capsys):
    sweep = ["sweep", "cwmed", "--at", "5,1", "--evaluations", "40", "--jobs", "1", "--store", "store.sqlite"]
    assert told(capsys, *sweep)[0] == 0
    for text in ("{", "[]", '{"rule": 3}', "[" * 10**5):
        with sqlite3.connect("store.sqlite") as connection:
            connection.execute("update cells set result = ?", (text,))
        connection.close()
        status, output, complaint = told(capsys, *sweep)
        assert (status, output, complaint.count("\n")) == (2, "", 1)
        assert "damaged" in complaint


@pytest.mark.skipif(sys.platform == "win32", reason="no such limit")
@pytest.mark.parametrize("jobs", ["1", "2"])
def test_a_full_disk_during_a_sweep_is_one_line(project, jobs):
    """A limit on the size of files stands in for a disk that is full."""
    script = (
        "import resource, sys; resource.setrlimit(resource.RLIMIT_FSIZE, (40960, 40960)); "
        "from kappaguard.cli import main; sys.exit(main(sys.argv[1:]))"
    )
    rules = ["cwmed", "cwtm", "gm", "meamed"]
    sweep = ["sweep", *rules, "--at", "5,1", "--at", "7,2", "--seeds", "5", "--evaluations", "30", "--jobs", jobs]
    command = [sys.executable, "-c", script, *sweep, "--store", "store.sqlite"]
    done = subprocess.run(command, cwd=project, capture_output=True, text=True, check=False)
    assert done.returncode == 2, done.stderr
    assert done.stderr.startswith("kappaguard: cannot write to store.sqlite")
    assert done.stderr.count("\n") == 1
