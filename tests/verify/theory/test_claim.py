"""What a finding may say."""

from __future__ import annotations

import pytest

from kappaguard.verify.theory.claim import Budget, Effort, Finding


def finding(**changes):
    given = {"verdict": "proved", "methods": ("exact",), "computed": 1.0, "stated": 2.0, "detail": "A detail."}
    return Finding(**{**given, **changes})


def test_tightness():
    assert finding().tightness == 0.5
    assert finding(stated=None).tightness is None
    assert finding(computed=0.0, stated=0.0).tightness is None


@pytest.mark.parametrize(
    ("computed", "relation", "stated", "holds"),
    [
        (1.0, "<=", 2.0, True),
        (2.0, "<=", 1.0, False),
        (2.0, ">=", 1.0, True),
        (1.0 + 1e-12, "==", 1.0, True),
        (1.0 + 1e-6, "==", 1.0, False),
        (float("inf"), "<=", 1.0, False),
        (float("inf"), "==", float("inf"), True),
    ],
)
def test_holds(computed, relation, stated, holds):
    verdict = "proved" if holds else "refuted"
    given = finding(computed=computed, relation=relation, stated=stated, verdict=verdict, witness={"x": [1]})
    assert given.holds is holds


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        ({"verdict": "refuted", "computed": 3.0}, "needs a witness"),
        ({"verdict": "open"}, "how hard"),
        ({"methods": ()}, "methods"),
        ({"computed": 3.0}, "proved, but 3.0 <= 2.0 is False"),
        ({"verdict": "refuted", "witness": {}}, "refuted, but 1.0 <= 2.0 is True"),
    ],
)
def test_a_finding_that_contradicts_itself_is_not_made(changes, fault):
    with pytest.raises(ValueError, match=fault):
        finding(**changes)


def test_open_with_a_budget():
    assert finding(verdict="open", budget=Budget(10, 0.1, 0)).verdict == "open"


def test_effort_chooses():
    assert [effort.choose(1, 2, 3) for effort in Effort] == [1, 2, 3]
