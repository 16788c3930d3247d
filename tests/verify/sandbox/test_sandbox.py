"""A rule that hangs, prints, forks, crashes or eats memory is reported as such, and leaves nothing behind."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from kappaguard.rules.errors import InputError
from kappaguard.verify.guard import check
from kappaguard.verify.inquiry import Inquiry
from kappaguard.verify.sandbox.request import Request, request_from_json
from kappaguard.verify.sandbox.run import GRACE, Limits, inquire_apart
from kappaguard.verify.verdict import verdict_from_json

NASTY = Path(__file__).parent / "nasty.py"


def apart(rule, seconds=40.0, memory=4 << 30):
    return check(f"{NASTY}:{rule}", 5, 1, 3, witnesses=None, limits=Limits(seconds, memory))


@pytest.mark.parametrize(
    ("rule", "phase"), [("hangs", "the first call"), ("hangs_if_equal", "the health check zero-variance")]
)
def test_a_rule_that_hangs_is_ended(rule, phase):
    start = time.perf_counter()
    verdict = apart(rule, seconds=4.0)
    assert time.perf_counter() - start < 20
    assert verdict.trouble == f"the rule did not return within 4 s ({phase})"
    assert verdict.verdict == "open"
    assert not verdict.holds


@pytest.mark.parametrize(("rule", "ending"), [("dies", "status 7"), ("crashes", "signal SIGSEGV")])
def test_a_rule_that_takes_the_process_along(rule, ending):
    verdict = apart(rule)
    assert verdict.trouble == f"the process of the rule ended with {ending} (the first call)"
    assert not verdict.holds


def test_a_rule_that_prints(capfd):
    verdict = apart("prints")
    said = [finding.message for finding in verdict.findings if finding.check == "conduct"]
    assert len(said) == 1
    assert "lines, the first: hello" in said[0]
    assert capfd.readouterr() == ("", "")
    assert verdict.verdict == "refuted"


def test_a_rule_that_prints_without_end():
    assert apart("prints_without_end").verdict == "refuted"


def test_a_rule_that_forks():
    verdict = apart("forks")
    assert verdict.verdict == "refuted"
    assert any("forked" in finding.message for finding in verdict.findings)


def test_a_rule_that_eats_memory():
    with pytest.raises(InputError, match="MemoryError"):
        apart("eats", memory=1 << 30)


@pytest.mark.parametrize(("rule", "said"), [("exits", "SystemExit"), ("raises", "ValueError")])
def test_a_rule_that_never_runs_is_a_wrong_request(rule, said):
    with pytest.raises(InputError, match=said):
        apart(rule)


def test_a_thread_is_not_waited_for():
    assert apart("leaves_a_thread").verdict == "refuted"


def test_children_end_with_the_worker(tmp_path, monkeypatch):
    monkeypatch.setenv("KAPPAGUARD_TEST_CHILDREN", str(tmp_path / "children"))
    apart("leaves_a_child")
    children = [int(line) for line in (tmp_path / "children").read_text().split()]
    assert children
    deadline = time.monotonic() + 10
    while any(map(alive, children)) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not any(map(alive, children))


def alive(process):
    """Whether a process is there and no zombie, which only waits for its parent to look."""
    try:
        state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


def test_a_file_that_does_not_load():
    with pytest.raises(InputError, match="does not exist"):
        inquire_apart(Inquiry("no/such/file.py:rule", 5, 1, 3))


def test_the_time_that_is_allowed_follows_the_budget():
    assert Limits().deadline(Inquiry("krum", 5, 1, budget=7.0)) == 7 + GRACE
    assert Limits(2.5).deadline(Inquiry("krum", 5, 1, budget=7.0)) == 2.5


def test_apart_and_here_say_the_same():
    here = check("krum", 7, 2, 1, witnesses=None, apart=False)
    there = check("krum", 7, 2, 1, witnesses=None, apart=True)
    assert here == there
    assert here.verdict == "refuted"


def test_requests_and_verdicts_survive_the_way():
    verdict = check("average", 5, 1, "2*f/3", witnesses=None)
    assert verdict_from_json(verdict.to_json()) == verdict
    request = Request(Inquiry("krum", 5, 1, 0.1, 3.0, 9, None, True), (("a.json", verdict.witness),), 1 << 30)
    again = request_from_json(request.to_json())
    assert again.known == request.known
    assert (again.inquiry.n, again.inquiry.seed, again.inquiry.rotates) == (5, 9, True)
    with pytest.raises(InputError, match="name"):
        Request(Inquiry(lambda x: x[0], 5, 1), (), 1 << 30).to_json()


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"verdict": "fine"}', "[" * 10**5])
def test_what_is_no_verdict_is_told(text):
    with pytest.raises(InputError, match="not a verdict"):
        verdict_from_json(text)


def test_the_worker_does_not_import_from_the_current_folder(tmp_path, monkeypatch):
    (tmp_path / "random.py").write_text("raise SystemExit('shadowed')\n")
    monkeypatch.chdir(tmp_path)
    assert os.path.exists("random.py")  # noqa: PTH110
    assert apart("average").verdict == "refuted"
