"""``kappaguard report --run`` alone: a page of training runs."""

from __future__ import annotations

import base64
import re

from kappaguard.cli import main

QUICK = ["train", "--attack", "sf", "--steps", "4", "--evaluate-every", "2"]


def test_runs_alone_make_a_page_in_the_folder_of_the_first(tmp_path, capsys):
    assert main([*QUICK, "--out", str(tmp_path)]) == 0
    (folder,) = tmp_path.iterdir()
    assert main(["report", "--run", str(folder)]) == 0
    assert f"Report: {folder / 'index.html'}" in capsys.readouterr().out
    page = (folder / "index.html").read_text()
    assert "finished after 4 steps" in page
    assert "best accuracy" in page
    assert page.count("<polyline") == 4
    (table,) = re.findall('href="data:text/csv;base64,([^"]*)"', page)
    assert base64.b64decode(table).decode() == (folder / "run.csv").read_text()
    assert "kappaguard train" in page
    # ours, so that it may be written again
    assert main(["report", "--run", str(folder), "--run", str(folder), "--out", str(tmp_path / "both")]) == 0
    assert main(["report", "--run", str(folder)]) == 0
    assert (tmp_path / "both" / "index.html").read_text().count("<h2") == 2


def test_a_run_that_is_under_way_says_how_far_it_is(tmp_path):
    assert main([*QUICK, "--out", str(tmp_path)]) == 0
    (folder,) = tmp_path.iterdir()
    (folder / "result.json").unlink()
    log = (folder / "log.jsonl").read_text().splitlines(keepends=True)
    (folder / "log.jsonl").write_text("".join(log[:3]))
    assert main(["report", "--run", str(folder)]) == 0
    assert "under way: 2 of 4 steps" in (folder / "index.html").read_text()


def test_a_rule_with_markup_in_its_name_stays_text(tmp_path):
    assert main([*QUICK, "--out", str(tmp_path)]) == 0
    (folder,) = tmp_path.iterdir()
    given = folder / "configuration.json"
    given.write_text(given.read_text().replace('"nnm+cwtm"', '"<script>alert(1)</script>"'))
    assert main(["report", "--run", str(folder)]) == 0
    assert "<script>" not in (folder / "index.html").read_text()


def test_what_cannot_be_shown_is_refused_in_one_line(tmp_path, capsys):
    for given in (["report"], ["report", "--run", str(tmp_path)], ["report", str(tmp_path)]):
        assert main(given) == 2
        assert capsys.readouterr().err.count("\n") == 1
    (tmp_path / "index.html").write_text("somebody else's")
    assert main([*QUICK, "--out", str(tmp_path / "runs")]) == 0
    (folder,) = (tmp_path / "runs").iterdir()
    assert main(["report", "--run", str(folder), "--out", str(tmp_path)]) == 2
    assert (tmp_path / "index.html").read_text() == "somebody else's"
