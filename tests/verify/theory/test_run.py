"""Running claims: what is kept, what is computed again, and what a broken check does."""

from __future__ import annotations

import json
from fractions import Fraction

import pytest

from kappaguard.reports.results import save
from kappaguard.rules.base.errors import InputError
from kappaguard.rules.witness import Witness
from kappaguard.search.ledger import ledger
from kappaguard.verify.theory import store as stores
from kappaguard.verify.theory.claim import Budget, Claim, Effort, Finding
from kappaguard.verify.theory.run import FINISHED, results, run, write_witnesses
from kappaguard.verify.theory.store import Store, StoredFinding

PROVED = Finding("proved", ("exact",), 1.0, 2.0, "Fine.")


class Counted:
    """A check that counts its calls."""

    def __init__(self, finding=PROVED):
        self.finding = finding
        self.calls = 0

    def claim(self, name="counted", expected="proved"):
        def check(effort, report):
            self.calls += 1
            report(1, 1)
            if isinstance(self.finding, BaseException):
                raise self.finding
            return self.finding

        return Claim(name, "a statement", "a source", expected, check)


def test_a_finished_claim_is_not_computed_again(tmp_path):
    counted = Counted()
    first = list(run([counted.claim()], Effort.QUICK, tmp_path))
    second = list(run([counted.claim()], Effort.QUICK, tmp_path))
    assert counted.calls == 1
    assert [outcome.reused for outcome in first + second] == [False, True]
    assert first[0].finding == second[0].finding
    assert first[0].seconds == second[0].seconds


def test_a_killed_run_goes_on_where_it_was(tmp_path):
    before, killed, after = Counted(), Counted(KeyboardInterrupt()), Counted()
    claims = [before.claim("before"), killed.claim("killed"), after.claim("after")]
    with pytest.raises(KeyboardInterrupt):
        list(run(claims, Effort.QUICK, tmp_path))
    killed.finding = PROVED
    outcomes = list(run(claims, Effort.QUICK, tmp_path))
    assert [outcome.reused for outcome in outcomes] == [True, False, False]
    assert (before.calls, killed.calls, after.calls) == (1, 2, 1)
    assert not [path for path in tmp_path.rglob("*") if path.name.startswith(".")]


def rewrite(folder, change):
    """Change what is stored of the claims in a folder."""
    with ledger(folder / FINISHED) as finished:
        for key, text in list(finished.items()):
            assert change(text) != text
            finished[key] = change(text)


@pytest.mark.parametrize("damage", ["", "{", "[]", "null", '{"seconds": 1}', '{"seconds": 1, "finding": 2}'])
def test_a_damaged_entry_is_as_good_as_none(tmp_path, damage):
    counted = Counted()
    list(run([counted.claim()], Effort.QUICK, tmp_path))
    rewrite(tmp_path, lambda text: damage)
    list(run([counted.claim()], Effort.QUICK, tmp_path))
    assert counted.calls == 2


def test_a_file_that_is_something_else_is_left_alone(tmp_path):
    (tmp_path / FINISHED).write_text("my notes, and quite long ones, " * 20)
    with pytest.raises(InputError, match=FINISHED):
        list(run([Counted().claim()], Effort.QUICK, tmp_path))
    assert (tmp_path / FINISHED).read_text().startswith("my notes")


def test_a_verdict_that_was_edited_to_contradict_its_numbers_is_not_taken(tmp_path):
    counted = Counted()
    list(run([counted.claim()], Effort.QUICK, tmp_path))
    rewrite(tmp_path, lambda text: text.replace('"computed": 1.0', '"computed": 9.0'))
    assert not next(iter(run([counted.claim()], Effort.QUICK, tmp_path))).reused


def test_effort_version_sources_and_fresh_make_it_compute_again(tmp_path, monkeypatch):
    counted = Counted()
    list(run([counted.claim()], Effort.QUICK, tmp_path))
    list(run([counted.claim()], Effort.FULL, tmp_path))
    assert counted.calls == 2
    list(run([counted.claim()], Effort.QUICK, tmp_path, fresh=True))
    assert counted.calls == 3
    monkeypatch.setattr("kappaguard.__version__", "9.9.9")
    list(run([counted.claim()], Effort.QUICK, tmp_path))
    assert counted.calls == 4
    monkeypatch.setattr(stores, "shared_hash", lambda: "other sources")
    list(run([counted.claim()], Effort.QUICK, tmp_path))
    assert counted.calls == 5


def test_the_hash_depends_on_the_file_of_the_claim():
    from kappaguard.verify.theory.registry import claims_of
    from kappaguard.verify.theory.store import source_hash

    one, two = claims_of("pivot")[0], claims_of("bucketing_equality")[0]
    assert source_hash(one) != source_hash(two)
    assert source_hash(one) == source_hash(one)


def test_a_check_that_fails_is_told_and_not_kept(tmp_path):
    broken, fine = Counted(AssertionError("this step does not hold: x")), Counted()
    for _ in range(2):
        outcomes = list(run([broken.claim("broken"), fine.claim("fine")], Effort.QUICK, tmp_path))
        assert [outcome.verdict for outcome in outcomes] == ["failed", "proved"]
        assert not outcomes[0].as_expected
        assert outcomes[0].error == "AssertionError: this step does not hold: x"
    assert (broken.calls, fine.calls) == (2, 1)


@pytest.mark.parametrize(
    "finding",
    [
        PROVED,
        Finding("refuted", ("exact", "search"), float("inf"), None, "No.", ">=", {"x": ["1/2"], "S": [0, 1]}),
        Finding("open", ("search",), 0.5, 1.0, "Perhaps.", budget=Budget(1000, 2.5, 3)),
        Finding(
            "refuted",
            ("exact",),
            0.5,
            0.25,
            "No.",
            witness=Witness("cwtm", 3, 1, "trace", (0, 1), ((Fraction(1, 3),),) * 3, Fraction(0), Fraction(1, 2)),
        ),
    ],
    ids=["proved", "infinite", "open", "witness"],
)
def test_what_is_stored_is_what_is_loaded(tmp_path, finding):
    with ledger(tmp_path / FINISHED) as finished:
        store, claim = Store(finished, Effort.DEFAULT), Counted().claim()
        store.save(claim, StoredFinding(finding, 0.125))
        assert store.load(claim) == StoredFinding(finding, 0.125)


def test_results(tmp_path):
    infinite = Finding("refuted", ("exact",), float("inf"), None, "No.", witness={"x": [1]})
    claims = [
        Counted().claim("one"),
        Counted(infinite).claim("two", expected="refuted"),
        Counted(infinite).claim("three"),
    ]
    outcomes = list(run(claims, Effort.QUICK, tmp_path))
    write_witnesses(outcomes, tmp_path)
    path = save(results(outcomes, Effort.QUICK, True), tmp_path)
    data = json.loads(path.read_text(), parse_constant=pytest.fail)
    assert data["schema"] == "kappaguard-results/1"
    assert (data["effort"], data["complete"], data["changed"]) == ("quick", True, ["three"])
    one, two, three = data["claims"]
    assert (one["computed"], one["stated"], one["tightness"], one["witness"]) == (1.0, 2.0, 0.5, None)
    assert (two["computed"], two["as_expected"], three["as_expected"]) == ("inf", True, False)
    assert json.loads((tmp_path / two["witness"]).read_text()) == {"x": [1]}
