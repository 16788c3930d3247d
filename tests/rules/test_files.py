"""Files are written in one step, and what is no file is never replaced by one."""

from __future__ import annotations

import os
import stat

from kappaguard.rules.base.files import write


def test_a_pipe_stays_one(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDWR | os.O_NONBLOCK)
    try:
        write(pipe, "text")
        assert os.read(reader, 100) == b"text"
    finally:
        os.close(reader)
    assert stat.S_ISFIFO(pipe.stat().st_mode)


def test_a_link_stays_one(tmp_path):
    there, link = tmp_path / "there.json", tmp_path / "link.json"
    there.write_text("before")
    link.symlink_to(there)
    write(link, "after")
    assert link.is_symlink()
    assert there.read_text() == "after"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["link.json", "there.json"]
