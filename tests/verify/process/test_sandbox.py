"""A rule that hangs, prints, forks, crashes or eats memory is reported as such, and leaves nothing behind."""

from __future__ import annotations

import dataclasses
import json
import math
import os
import time
from fractions import Fraction
from pathlib import Path

import pytest

from kappaguard.reports.guard.table import HEADINGS, row
from kappaguard.rules.base.errors import InputError
from kappaguard.rules.witness import Witness, fractions
from kappaguard.verify.guard.check import check
from kappaguard.verify.guard.claim_check import ClaimCheck
from kappaguard.verify.guard.verdict import verdict_from_json
from kappaguard.verify.judge.search import search
from kappaguard.verify.process.request import Request, request_from_json
from kappaguard.verify.process.run import RAISE, Limits, ask, check_apart, replay_apart, search_apart

pytestmark = pytest.mark.usefixtures("without_torch")

NASTY = Path(__file__).parent / "nasty.py"


def apart(rule, seconds=40.0, memory=4 << 30):
    return check(f"{NASTY}:{rule}", 5, 1, 3, witnesses=None, limits=Limits(seconds, memory))


@pytest.mark.parametrize("rule", ["hangs", "hangs_if_equal"])
def test_a_rule_that_hangs_is_ended(rule):
    start = time.perf_counter()
    verdict = apart(rule, seconds=4.0)
    assert time.perf_counter() - start < 20
    # a sleeping rule is told that its time is over before it is ended
    assert verdict.trouble.endswith(f"; {RAISE}")
    assert verdict.verdict == "unfinished"
    assert not verdict.holds


@pytest.mark.parametrize(("rule", "phase"), [("spins", "the first call"), ("spins_if_far", "the health check offset")])
def test_a_rule_that_does_not_listen_is_ended_with_what_there_is(rule, phase):
    verdict = apart(rule, seconds=6.0)
    assert verdict.trouble == f"the rule did not return within 6 s ({phase}); {RAISE}"
    assert verdict.verdict == "unfinished"
    # what was found before is told
    assert [finding.check for finding in verdict.findings] == (["non-finite"] if "far" in rule else [])


@pytest.mark.parametrize(("rule", "ending"), [("dies", "status 7"), ("crashes", "signal SIGSEGV")])
def test_a_rule_that_takes_the_process_along(rule, ending):
    verdict = apart(rule)
    assert verdict.trouble == f"the process of the rule ended with {ending} (the first call)"
    assert not verdict.holds
    # the time that it took, not the time that it was allowed
    assert 0 < verdict.effort.seconds < 30
    assert row(verdict)[HEADINGS.index("health")] == "not examined"


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


@pytest.mark.parametrize(
    ("rule", "seconds", "said"),
    [
        ("leaves_the_session", 120.0, None),
        ("forks_twice", 4.0, RAISE),
        ("kills_its_keeper", 60.0, "it ended the process that watched over it"),
    ],
)
def test_limits_hold_against_every_descendant(rule, seconds, said, tmp_path, monkeypatch):
    monkeypatch.setenv("KAPPAGUARD_TEST_CHILDREN", str(tmp_path / "children"))
    start = time.perf_counter()
    verdict = apart(rule, seconds=seconds)
    # what they start sleeps for longer than this
    assert time.perf_counter() - start < 150
    assert verdict.trouble is None if said is None else said in verdict.trouble
    children = [int(line) for line in (tmp_path / "children").read_text().split()]
    assert children
    deadline = time.monotonic() + 5
    while any(map(alive, children)) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not any(map(alive, children))


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="this system does not tell who descends from whom")
@pytest.mark.parametrize(
    ("rule", "said"), [("breeds", "more than 256 processes"), ("shares_memory", "more memory than is allowed")]
)
def test_limits_are_for_all_processes_together(rule, said):
    verdict = apart(rule, seconds=40.0, memory=2 << 30)
    assert verdict.verdict == "unfinished"
    assert said in verdict.trouble


@pytest.mark.parametrize("word", ["proved", "refuted"])
def test_what_a_rule_says_about_itself_is_not_believed(word):
    verdict = check(f"{NASTY}:claims(word='{word}')", 5, 1, 3, witnesses=None)
    assert (verdict.verdict, verdict.bound, verdict.upper, verdict.claim) == ("unfinished", 3, None, "3")
    assert "the process of the rule claims" in verdict.trouble
    assert not verdict.holds


@pytest.mark.solver
def test_a_proof_about_another_function_is_not_believed():
    verdict = check(f"{NASTY}:certifies", 5, 1, 3, witnesses=None)
    assert (verdict.verdict, verdict.upper) == ("unfinished", None)
    assert "about another function than the rule" in verdict.trouble


def test_a_result_that_would_take_for_ever_to_read():
    verdict = apart("writes_a_bomb")
    assert verdict.verdict == "unfinished"
    assert "not a verdict" in verdict.trouble


def alive(process):
    """Whether a process is there and no zombie, which only waits for its parent to look."""
    try:
        state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


def test_a_file_that_does_not_load():
    with pytest.raises(InputError, match="does not exist"):
        check_apart(ClaimCheck("no/such/file.py:rule", 5, 1, 3))


@pytest.mark.solver
def test_apart_and_here_say_the_same():
    here = check("krum", 7, 2, 1, witnesses=None, apart=False)
    there = check("krum", 7, 2, 1, witnesses=None, apart=True)
    assert here == there
    assert here.verdict == "refuted"


def test_requests_and_verdicts_survive_the_way():
    verdict = check("average", 5, 1, "2*f/3", witnesses=None)
    assert verdict_from_json(verdict.to_json()) == verdict
    request = Request(
        ClaimCheck("krum", 5, 1, 0.1, 300, 9, None, True), (("a.json", verdict.witness),), 1 << 30, 9.5, 1.0
    )
    again = request_from_json(request.to_json())
    assert again.known == request.known
    assert (again.claim_check.n, again.claim_check.seed, again.claim_check.rotates) == (5, 9, True)
    with pytest.raises(InputError, match="name"):
        Request(ClaimCheck(lambda x: x[0], 5, 1), (), 1 << 30, 1.0, 1.0).to_json()


@pytest.mark.parametrize(
    "request_",
    [{"task": "replay", "witness": 5}, {"task": "check_claim", "rule": f"{NASTY}:average"}, {"task": "none"}],
)
def test_an_error_of_ours_is_not_blamed_on_the_rule(request_):
    report = ask(json.dumps(request_ | {"memory": 4 << 30, "seconds": 40.0, "begun": 0.0}), Limits(40.0))
    assert report.text is None
    assert report.trouble.startswith("an error of kappaguard itself, not of the rule: ")
    assert "Error" in report.trouble
    assert "line" in report.trouble


def infinite(rule, note="no vector: the rule raised ValueError"):
    x = fractions([[0], [1], [1], [1], [1]])
    return Witness(f"{NASTY}:{rule}", 5, 1, "trace", (1, 2, 3, 4), x, math.inf, math.inf, "", note)


@pytest.mark.parametrize(
    ("rule", "said"),
    [
        ("hangs", r"nasty.py:hangs: the rule did not return within 4 s \(the replay\)"),
        ("dies", r"ended with status 7 \(the replay\)"),
        ("raises", "does not run at n = 5 and f = 1: it raised ValueError"),
    ],
)
def test_a_replay_apart_that_does_not_end_well(rule, said):
    with pytest.raises(InputError, match=said):
        replay_apart(infinite(rule), Limits(4.0 if rule == "hangs" else 40.0))


def test_a_replay_apart(capfd):
    seen = replay_apart(infinite("prints"))
    # the average of a 0 and four 1 is off by 1/5, and the honest vectors have no variance
    assert (seen.lower, seen.verdict, seen.method) == (math.inf, "float", "float")
    away = dataclasses.replace(infinite("prints"), x=fractions([[10], [0], [0], [4], [4]]))
    seen = replay_apart(away)
    assert seen.verdict == "differs"
    # the output is the float nearest to 18/5, the honest mean 2, the variance 4
    assert seen.lower == (Fraction(3.6) - 2) ** 2 / 4
    assert capfd.readouterr() == ("", "")


def test_a_search_apart_is_a_search():
    name = f"{NASTY}:trimmed"
    there = search_apart(name, 5, 1, d=1, evaluations=300, seed=2)
    here = search(name, 5, 1, d=1, evaluations=300, seed=2)
    assert there == here
    assert there.witness is not None
    assert there.stats.evaluations == here.stats.evaluations
    assert there.stats.dimensions == here.stats.dimensions
    with pytest.raises(InputError, match="did not return within 4 s"):
        search_apart(f"{NASTY}:hangs", 5, 1, evaluations=100, limits=Limits(4.0))


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"verdict": "fine"}', "[" * 10**5])
def test_what_is_no_verdict_is_told(text):
    with pytest.raises(InputError, match="not a verdict"):
        verdict_from_json(text)


def test_the_worker_does_not_import_from_the_current_folder(tmp_path, monkeypatch):
    (tmp_path / "random.py").write_text("raise SystemExit('shadowed')\n")
    monkeypatch.chdir(tmp_path)
    assert os.path.exists("random.py")  # noqa: PTH110
    assert apart("average").verdict == "refuted"
