"""The guard: verdicts, known witnesses, exactness at the claim, and what it tells."""

from __future__ import annotations

import dataclasses
import json
import math
from fractions import Fraction

import numpy as np
import pytest

import kappaguard as kg
from kappaguard.assertion import assert_robust
from kappaguard.reports.guard.explanation import explain
from kappaguard.rules.base.errors import InputError
from kappaguard.rules.base.text import printable
from kappaguard.rules.krum import Krum
from kappaguard.rules.witness import load
from kappaguard.verify.guard.check import Job, check, run_job, run_jobs
from kappaguard.verify.guard.claim_check import ClaimCheck
from kappaguard.verify.guard.claimed import claimed, counterpart
from kappaguard.verify.guard.course import check_claim
from kappaguard.verify.guard.store import keep, stored
from kappaguard.verify.judge.replay import replay

from .finders import forbidden_finder, lying_finder, no_finder, random_finder
from .health import rules

pytestmark = pytest.mark.solver


def ordered(folder, finder=random_finder, **changes):
    claim_check = ClaimCheck(**{"rule": "krum", "n": 5, "f": 1, "claim": "1", **changes})
    return run_job(Job(claim_check, folder, apart=False), finder)


def naive_ratio(witness, output):
    """By the definition, in fractions."""
    honest = [witness.x[index] for index in witness.subset]
    centre = [sum(column) / len(honest) for column in zip(*honest, strict=True)]
    variance = sum(sum((a - b) ** 2 for a, b in zip(row, centre, strict=True)) for row in honest) / len(honest)
    error = sum((Fraction(a) - b) ** 2 for a, b in zip(output, centre, strict=True))
    return error / variance if variance else math.inf if error else 0


@pytest.mark.parametrize(("n", "f"), [(5, 1), (9, 3), (11, 5)])
def test_a_claim_that_is_exactly_tight_is_proved(n, f):
    """kappa* of the trimmed mean is f/(n-2f): the claim holds with equality, and one part in 10^30 less does not."""
    assert check("cwtm", n, f, "f/(n-2*f)", witnesses=None).verdict == "proved"
    less = Fraction(f, n - 2 * f) * (1 - Fraction(1, 10**30))
    verdict = check("cwtm", n, f, less, witnesses=None)
    assert verdict.verdict == "refuted"
    assert naive_ratio(verdict.witness, verdict.output) == pytest.approx(f / (n - 2 * f), rel=1e-12)


@pytest.mark.parametrize("rule", ["krum", "cwtm", "cwmed", "gm", "nnm+krum", "nnm+cwtm"])
def test_the_papers_coefficients_are_the_default(rule):
    verdict = check(rule, 7, 2, witnesses=None)
    assert verdict.verdict == "proved"
    assert verdict.lower <= verdict.upper <= verdict.bound
    assert verdict.holds


def largest_of_few(x, f):
    """The trimmed mean, unless some honest vectors are in a pattern that no known rule minds."""
    if np.count_nonzero(x[:, 0] == 1) == 1 and np.count_nonzero(x[:, 0] == 2) == 1:
        return x.max(axis=0)
    return np.sort(x, axis=0)[f : len(x) - f].mean(axis=0)


def test_a_search_that_finds_a_violation(tmp_path):
    verdict = ordered(tmp_path, rule=largest_of_few, claim="4", n=7, f=2)
    assert verdict.verdict == "refuted"
    assert verdict.reason == "the search found an input beyond it"
    assert naive_ratio(verdict.witness, verdict.output) == verdict.lower > 4
    assert load(verdict.path).x == verdict.witness.x


def unsquared_krum(x, f):
    """Krum with distances that are not squared: no recipe, and so no proof."""
    d = np.sqrt(((x[:, None] - x[None]) ** 2).sum(-1))
    return x[np.argmin(np.sort(d, axis=1)[:, : len(x) - f].sum(1))]


def test_an_open_claim_says_how_hard_it_was_tried(tmp_path):
    verdict = ordered(tmp_path, rule=unsquared_krum, claim="1000", seed=3)
    assert (verdict.verdict, verdict.holds) == ("open", True)
    assert verdict.effort.evaluations >= 300
    assert verdict.effort.seed == 3
    assert verdict.effort.seconds > 0
    assert 0 < verdict.lower < 1000
    assert list(tmp_path.iterdir()) == []


def test_a_finder_is_not_believed(tmp_path):
    verdict = ordered(tmp_path, lying_finder, rule=unsquared_krum, claim="20")
    assert verdict.verdict == "open"
    assert verdict.lower < 20


def test_a_finder_without_a_witness(tmp_path):
    verdict = ordered(tmp_path, no_finder, rule=unsquared_krum, claim="20")
    # what is left is the worst of the inputs of known lower bounds: that of the paper gives f/(n-2f) for every rule
    assert verdict.verdict == "open"
    assert Fraction(1, 3) <= verdict.lower < 20


def test_inputs_of_known_lower_bounds_come_before_the_search(tmp_path):
    """No rule gets below f/(n-2f) (the paper's universal lower bound), so a smaller claim needs no search."""
    verdict = ordered(tmp_path, forbidden_finder, rule=rules.trimmed, n=7, f=2, claim="f/(n-2*f)-1/10**6")
    assert verdict.verdict == "refuted"
    assert naive_ratio(verdict.witness, verdict.output) == pytest.approx(2 / 3, rel=1e-12)


def test_health_and_proofs_spare_the_search(tmp_path):
    assert ordered(tmp_path, forbidden_finder, rule=rules.mean, claim="5").verdict == "refuted"
    assert ordered(tmp_path, forbidden_finder, claim=None).verdict == "proved"


def test_a_violation_is_saved_replayed_first_and_reported_as_fixed(tmp_path):
    file = tmp_path / "mine.py"
    broken, mended = (
        "def rule(x):\n    return x.mean(axis=0)\n",
        "from numpy import median\n\n\ndef rule(x):\n    return median(x, axis=0)\n",
    )
    folder = tmp_path / "witnesses"
    file.write_text(broken)
    first = ordered(folder, forbidden_finder, rule=f"{file}:rule", claim="9")
    assert first.verdict == "refuted"
    assert [str(path) for path in folder.iterdir()] == [first.path]
    assert replay(load(first.path)).reproduces
    # known witnesses come before the health checks, and are not saved twice
    again = ordered(folder, forbidden_finder, rule=f"{file}:rule", claim="9")
    assert again.reason.startswith("the known witness")
    assert (again.path, again.findings) == (first.path, ())
    assert len(list(folder.iterdir())) == 1
    file.write_text(mended)
    fixed = ordered(folder, no_finder, rule=f"{file}:rule", claim="9")
    assert fixed.verdict == "proved"
    assert [str(folder / name) for name in fixed.fixed] == [first.path]
    # another claim, another n: not this witness's business
    assert ordered(folder, no_finder, rule=f"{file}:rule", claim="9", n=7).fixed == ()


def test_a_witness_counts_by_what_it_shows_and_not_by_what_it_says(tmp_path):
    verdict = ordered(tmp_path, rule="average", claim="3")
    boast = dataclasses.replace(verdict.witness, rule="cwmed", lower=math.inf, upper=math.inf)
    keep(tmp_path, boast, "3")
    assert ordered(tmp_path, forbidden_finder, rule="cwmed", claim=None).verdict == "proved"


def test_bad_files_in_the_store_are_told_and_passed_by(tmp_path):
    (tmp_path / "a.json").write_text("{")
    (tmp_path / "b.json").write_bytes(b"\xff\xfe")
    (tmp_path / "c.json").mkdir()
    (tmp_path / "d.json").write_text("[" * 10**5)
    (tmp_path / "e.json").write_text(json.dumps({"schema": "kappaguard-witness/1", "rule": "os:system"}))
    verdict = ordered(tmp_path, claim=None)
    assert verdict.verdict == "proved"
    assert len(verdict.rejected) == 5
    assert all("\n" not in text for text in verdict.rejected)


def test_a_stored_file_does_not_choose_the_code_that_runs(tmp_path):
    trap = tmp_path / "trap.py"
    trap.write_text("raise SystemExit('imported')\n")
    seen = ordered(None, rule="average", claim="3").witness
    keep(tmp_path / "store", dataclasses.replace(seen, rule=f"{trap}:rule"), "3")
    assert stored(tmp_path / "store", "krum", 5, 1).known == ()
    assert ordered(tmp_path / "store", claim=None).verdict == "proved"


def test_a_rule_that_returns_nothing_has_a_witness_that_replays(tmp_path, monkeypatch):
    file = tmp_path / "mine.py"
    file.write_text(
        "import numpy as np\n\n\ndef rule(x):\n    return None if np.ptp(x[:-1]) == 0 else np.median(x, axis=0)\n"
    )
    verdict = ordered(tmp_path / "w", rule=f"{file}:rule", claim="9")
    assert (verdict.verdict, verdict.lower, verdict.output) == ("refuted", math.inf, None)
    seen = replay(load(verdict.path))
    assert seen.reproduces
    assert "None" in seen.fault
    assert "no vector" in explain(verdict)
    file.write_text("import numpy as np\n\n\ndef rule(x):\n    return np.median(x, axis=0)\n")
    assert not replay(load(verdict.path)).reproduces


def test_objects_are_checked_in_this_process(tmp_path):
    seen = []

    def local(x):
        seen.append(x.shape)
        return x.mean(axis=0)

    verdict = check(local, 5, 1, 3, witnesses=tmp_path)
    assert verdict.verdict == "refuted"
    assert seen
    assert check(local, 5, 1, 3, witnesses=tmp_path).reason.startswith("the known witness")
    assert check(Krum(f=1), 5, 1, witnesses=None).verdict == "proved"


def test_assert_robust(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    kg.assert_robust("krum", n=5, f=1)
    kg.assert_robust("krum", n=5, f=1, kappa="6*(1+f/(n-2*f))")
    with pytest.raises(AssertionError) as caught:
        kg.assert_robust(rules.mean, n=5, f=1, kappa=2.5)
    text = str(caught.value)
    for part in (
        "honest",
        "Byzantine",
        "output",
        "error^2",
        "variance",
        "ratio     inf",
        "claim     2.5",
        "reproduce:",
    ):
        assert part in text
    (path,) = (tmp_path / ".kappaguard" / "witnesses").iterdir()
    # the numbers in the matrix are those of the witness, and the pasted line gives the output shown
    line = next(line for line in text.splitlines() if "numpy.array" in line)
    x = np.array(json.loads(line.partition("numpy.array(")[2][:-2]))
    assert load(path).array().astype(float).tolist() == x.tolist()
    shown = next(line for line in text.splitlines() if line.strip().startswith("output")).split()[-1]
    assert float(shown) == pytest.approx(x.mean(), rel=1e-5)


def test_an_unfinished_check_is_no_pass(tmp_path):
    file = tmp_path / "slow.py"
    file.write_text("import time\n\n\ndef rule(x):\n    time.sleep(60)\n")
    from kappaguard.verify.process.run import Limits

    with pytest.raises(AssertionError, match="--timeout raises this limit"):
        assert_robust(f"{file}:rule", 5, 1, 3, witnesses=None, limits=Limits(3.0))


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"claim": "n+"}, "not an arithmetic expression"),
        ({"claim": "1/(n-5)"}, "divides by zero"),
        ({"claim": "-f"}, "negative"),
        ({"claim": math.nan}, "finite"),
        ({"claim": True}, "expression"),
        ({"rule": "average", "claim": None}, "no coefficient is known for average"),
        ({"rule": rules.mean, "claim": None}, "no coefficient is known for this rule"),
        ({"rule": "krumm"}, "did you mean krum"),
        ({"f": 3}, "f < n/2"),
        ({"n": 2.5}, "n must"),
        ({"seed": -1}, "seed must"),
        ({"evaluations": 0}, "evaluations must"),
        ({"evaluations": math.inf}, "evaluations must"),
        ({"tolerance": Fraction(2)}, "tolerance must"),
    ],
)
def test_wrong_requests(changes, said):
    with pytest.raises(InputError, match=said):
        ordered(None, **changes)
    with pytest.raises(InputError, match="tolerance"):
        check("krum", 5, 1, tolerance=1.5)


def test_one_wrong_request_does_not_stop_the_others():
    orders = [Job(ClaimCheck(rule, 5, 1), None) for rule in ("krum", "krumm", "cwtm")]
    told = []
    outcomes = run_jobs(orders, 2, told.append)
    assert [getattr(outcome, "verdict", None) for outcome in outcomes] == ["proved", None, "proved"]
    assert isinstance(outcomes[1], InputError)
    assert len(told) == 3


@pytest.mark.parametrize("n", [5, 7, 11, 17, 100, 9999])
def test_a_claim_in_floats_is_the_fraction_that_it_was_computed_from(n):
    for f in range(1, (n - 1) // 2, max(1, n // 20)):
        assert claimed("cwtm", n, f, f / (n - 2 * f)).bound == Fraction(f, n - 2 * f)
    for value in (0.1, 1e-300, 2.0**-1074, 3.0, 1e22, 0.1 + 0.2, math.pi, 1 - 2.0**-53):
        bound = claimed("cwtm", n, 1, value).bound
        assert bound.numerator / bound.denominator == value
    # taken exactly
    assert claimed("cwtm", n, 1, Fraction(1 / 3)).bound == Fraction(1 / 3) < Fraction(1, 3)


def test_a_claim_in_floats_is_tight(tmp_path):
    kg.assert_robust("cwtm", n=5, f=1, kappa=1 / 3, witnesses=None)
    assert check("cwtm", 5, 1, 1 / 3, apart=True, witnesses=None).verdict == "proved"
    with pytest.raises(AssertionError) as caught:
        kg.assert_robust("cwtm", n=5, f=1, kappa=0.3333333333, witnesses=None)
    shown = {line.split()[0]: line.split()[-1] for line in str(caught.value).splitlines() if line.strip()}
    assert float(shown["ratio"]) > float(shown["claim"])
    with pytest.raises(AssertionError) as caught:
        kg.assert_robust("cwtm", n=5, f=1, kappa=Fraction(1 / 3), witnesses=None)
    shown = {line.split()[0]: line.split()[-1] for line in str(caught.value).splitlines() if line.strip()}
    assert float(shown["beyond"]) == pytest.approx(float(Fraction(1, 3) - Fraction(1 / 3)), rel=1e-5)


def test_a_claim_beyond_all_floats():
    assert check("cwtm", 5, 1, 10**400, witnesses=None).verdict == "proved"
    assert check(rules.trimmed, 5, 1, 10**400, evaluations=500, witnesses=None).verdict == "proved"
    with pytest.raises(InputError, match="bits"):
        check("cwtm", 5, 1, 10**5000, witnesses=None)


def test_the_claim_of_a_root_is_not_refuted_by_its_rounding():
    stated = claimed("krum", 7, 2, "sqrt(2)")
    assert stated.bound**2 > 2
    assert stated.bound**2 < 2 + Fraction(1, 10**12)
    assert claimed("krum", 7, 2, "sqrt(4)").bound == 2
    assert claimed("krum", 7, 2, 0.5).bound == Fraction(1, 2)


@pytest.mark.parametrize(
    ("spec", "ours"),
    [
        ("byzfl:Krum", "krum"),
        ("byzfl.aggregators.aggregators:Krum", "krum"),
        ("byzfl:GeometricMedian(T=100)", "gm"),
        ("byzfl:NNM+byzfl:TrMean", "nnm+cwtm"),
        ("nnm+byzfl:TrMean", "nnm+cwtm"),
        ("flwr:FedTrimmedAvg", "cwtm"),
        ("mine.py:Krum", None),
        ("byzfl:Nothing", None),
    ],
)
def test_what_a_peers_rule_is_meant_to_be(spec, ours):
    assert counterpart(spec) == ours


def test_the_same_seed_gives_the_same_verdict(tmp_path):
    first, second = (ordered(None, rule=rules.nearest_mean, claim="1000", seed=5) for _ in range(2))
    assert first == second


def test_known_witnesses_are_judged_and_the_worst_is_told():
    base = check_claim(ClaimCheck("average", 5, 1, "3")).witness
    mild = dataclasses.replace(base, x=tuple((Fraction(k),) for k in (0, 4, 0, 1, 2)), subset=(0, 2, 3, 4))
    verdict = check_claim(ClaimCheck("average", 5, 1, "1/10"), (("mild", mild), ("worst", base)))
    assert verdict.violating == "worst"


@pytest.mark.parametrize("text", ["plain", "a\x1b[31mb", "x\u202ey", "line\nbreak", "\x00"])
def test_what_is_printed_can_be_seen(text):
    assert printable(text).isprintable()
    assert printable("Ünï ∞ code") == "Ünï ∞ code"


def test_a_rule_that_iterates_to_a_tolerance_of_its_own(tmp_path):
    """Off by up to 1e-7 of the largest entry: refuted as it stands, and left alone if that is allowed."""
    file = tmp_path / "mine.py"
    file.write_text(
        "import numpy as np\n\n\n"
        "def rule(x, f):\n"
        "    exact = np.sort(x, axis=0)[f : len(x) - f].mean(axis=0)\n"
        "    return exact + 1e-7 * np.abs(x).max() * np.cos(np.arange(x.shape[1]))\n"
    )
    allowed = check(f"{file}:rule", 7, 2, "f/(n-2*f)", tolerance=1e-6, evaluations=3000, witnesses=None)
    assert (allowed.verdict, allowed.trouble) == ("open", None)
    assert allowed.effort.evaluations > 100
    assert check(f"{file}:rule", 7, 2, "f/(n-2*f)", witnesses=None).verdict == "refuted"
