"""docs/peers.md says what is so: every witness replays, every number is its witness's, and health is asked again."""

from __future__ import annotations

import gc
import importlib.util
import re
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import kappaguard as kg
from kappaguard.reports.peers import RULES, F, N, claim_for
from kappaguard.rules.witness import load
from kappaguard.verify.guard.claimed import claimed
from kappaguard.verify.guard.health import examine
from kappaguard.verify.judge.subject import subject_of

pytestmark = pytest.mark.skipif(
    any(importlib.util.find_spec(name) is None for name in ("byzfl", "flwr")), reason="the peers are not installed"
)


@pytest.fixture(autouse=True)
def _no_old_garbage():
    """Flower collects garbage several times in every call, and would look through all that other tests have left."""
    gc.freeze()


PAGE = Path(__file__).parents[2] / "docs" / "peers.md"
SLOW = ("Bulyan", "SMEA", "MDA")
"""Their calls take so long that health is asked again for one (n, f) only by the command that writes the page."""


def rows():
    lines = [line for line in PAGE.read_text().splitlines() if line.startswith("| ")][2:]
    return [[re.sub(r"\\(.)", r"\1", cell.strip()) for cell in line.strip("|").split(" | ")] for line in lines]


ROWS = rows()


def test_every_rule_has_a_row():
    assert [row[0] for row in ROWS] == list(RULES)


def test_every_witness_is_in_the_table():
    linked = set(re.findall(r"\(peers/([^)]+)\)", PAGE.read_text()))
    assert linked == {path.name for path in (PAGE.parent / "peers").iterdir()}


@pytest.mark.parametrize("row", [row for row in ROWS if row[6]], ids=lambda row: row[0])
def test_the_row_is_what_its_witness_shows(row):
    spec, _, found, claim, value, verdict, link, upper, _ = row
    witness = load(PAGE.parent / re.search(r"\((.*)\)", link).group(1))
    assert (witness.rule, witness.n, witness.f) == (spec, N, F)
    under = subject_of(spec, N, F)
    judgement = under.judge(witness)
    stated = claimed(spec, N, F, claim_for(spec, N, F)[0])
    # a rule that takes long may not be finished with, and is then not refuted either
    assert verdict in (("refuted",) if judgement.ratio > stated.bound else ("open", "unfinished", "proved"))
    if verdict == "proved":
        assert float(upper) <= float(stated.bound) * (1 + 1e-4)
        assert float(upper) >= float(found) * (1 - 1e-3)
    if found == "infinite":
        assert judgement.witness.lower == witness.lower == float("inf")
    else:
        assert float(judgement.witness.lower) == pytest.approx(float(found), rel=1e-3)
    if claim == "any":
        assert value == ""
    else:
        assert claim.startswith(stated.expression)
        assert float(stated.bound) == pytest.approx(float(value), rel=1e-3)


@pytest.mark.parametrize(
    "row", [row for row in ROWS if row[1] and not any(slow in row[0] for slow in SLOW)], ids=lambda row: row[0]
)
def test_health_is_as_told(row):
    spec = row[0]
    bound = claimed(spec, N, F, claim_for(spec, N, F)[0]).bound
    findings = examine(subject_of(spec, N, F), bound).findings
    told = [name for name in row[1].split(", ") if name not in ("sound", "conduct", "faults", "precision")]
    assert told == [f"**{finding.check}**" if finding.refutes else finding.check for finding in findings]


def test_claims_are_the_papers_where_it_has_one():
    assert claim_for("byzfl:Krum", 17, 4) == ("6*(1+f/(n-2*f))", "paper")
    assert claim_for("byzfl:MDA", 17, 4)[1] == "kappaguard"
    assert claim_for("byzfl:CAF", 17, 4)[1] == "any"
    assert Fraction(claim_for("byzfl:CAF", 17, 4)[0]) == 10**6


def multikrum(x, neighbours, selected):
    """The mean of the vectors with the least sums of squared distances to so many others, literally."""
    distances = ((x[:, None] - x[None]) ** 2).sum(-1)
    scores = np.sort(distances, axis=1)[:, 1 : neighbours + 1].sum(1)
    return x[np.argsort(scores)[:selected]].mean(0)


def test_how_flowers_multikrum_differs():
    """By default it selects one vector; with n - f selected it has one neighbour fewer than the paper's score."""
    spec = "flwr.serverapp.strategy:MultiKrum"
    krum, single, several = (kg.rule(name, f=F) for name in (spec.replace("Multi", ""), spec, several_of(spec)))
    draw = np.random.default_rng(0)
    for _ in range(20):
        x = draw.standard_normal((N, 3))
        assert np.allclose(single(x), krum(x))
        assert np.allclose(several(x), multikrum(x, N - F - 2, N - F))
        assert np.allclose(kg.rule("multikrum", f=F)(x), multikrum(x, N - F - 1, N - F))
    path = next((PAGE.parent / "peers").glob("flwr-serverapp-strategy-multikrum-*.json"))
    witness = replace(load(path), rule=several_of(spec))
    bound = Fraction(4 * F, N - 2 * F)
    assert subject_of(spec, N, F).judge(load(path)).ratio > bound
    assert subject_of(several_of(spec), N, F).judge(witness).ratio <= bound


def several_of(spec):
    return f"{spec}(num_nodes_to_select={N - F})"
