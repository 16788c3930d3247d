"""kappa* of weighted rules, against brute force over small whole numbers and against the rules without weights."""

from __future__ import annotations

import itertools
import json
import math
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from kappaguard.cli import main
from kappaguard.rules.base.errors import InputError
from kappaguard.rules.names import parse
from kappaguard.search.exact.weighted import byzantine_sets, majorant
from kappaguard.verify.judge.exact import exact
from kappaguard.verify.judge.exact_weighted import exact_weighted
from kappaguard.verify.judge.rejected import Rejected
from kappaguard.verify.judge.result import Status
from kappaguard.verify.judge.weighted import upper_over_orders

CASES = [
    ([1, 1, 1], 1),
    ([3, 1, 1], 1),
    ([2, 2, 1], 2),
    ([2, 2, 3], 3),
    ([3, 2, 2, 1], 3),
    ([2, 2, 2, 3], 3),
    ([3, 3, 3], 1),
]


def naive_output(name: str, values: tuple[int, ...], weights: list[int], f: int) -> Fraction:
    """The definition, on a sorted list of copies."""
    copies = sorted(value for value, weight in zip(values, weights, strict=True) for _ in range(weight))
    first = f if name == "cwtm" else (len(copies) - 1) // 2
    inside = copies[first : len(copies) - first]
    return Fraction(sum(inside), len(inside))


def naive_ratio(name: str, values: tuple[int, ...], honest: list[int], weights: list[int], f: int) -> Fraction | float:
    total = sum(weights[i] for i in honest)
    mean = Fraction(sum(weights[i] * values[i] for i in honest), total)
    variance = sum((weights[i] * (values[i] - mean) ** 2 for i in honest), Fraction(0)) / total
    error = (naive_output(name, values, weights, f) - mean) ** 2
    return error / variance if variance else (math.inf if error else Fraction(0))


def brute_force(name: str, weights: list[int], f: int, span: int) -> Fraction | float:
    """The largest ratio of all inputs of numbers between 0 and ``span``, and all S."""
    workers = range(len(weights))
    sets = [[i for i in workers if i not in away] for size in workers for away in itertools.combinations(workers, size)]
    sets = [honest for honest in sets if sum(weights) - sum(weights[i] for i in honest) <= f]
    return max(
        naive_ratio(name, values, honest, weights, f)
        for values in itertools.product(range(span + 1), repeat=len(weights))
        for honest in sets
    )


@pytest.mark.parametrize(("weights", "f"), CASES)
@pytest.mark.parametrize("name", ["cwtm", "cwmed"])
def test_brute_force_comes_near_and_not_beyond(name: str, weights: list[int], f: int) -> None:
    found = exact_weighted(name, weights, f)
    assert found.lower == found.upper
    largest = brute_force(name, weights, f, 12 if len(weights) < 4 else 6)
    assert largest <= found.lower
    assert largest > Fraction(9, 10) * found.lower


@pytest.mark.parametrize(("weights", "f"), CASES)
@pytest.mark.parametrize("name", ["cwtm", "cwmed"])
def test_what_repeats_is_bounded_by_what_does_not(name: str, weights: list[int], f: int) -> None:
    assert exact_weighted(name, weights, f).lower <= exact(name, sum(weights), f).upper


@pytest.mark.parametrize("name", ["cwtm", "cwmed", "gm", "multikrum", "krum"])
@pytest.mark.parametrize(("n", "f"), [(5, 1), (5, 2)])
@pytest.mark.solver
def test_equal_weights_are_none(name: str, n: int, f: int) -> None:
    found, plain = exact_weighted(name, [1] * n, f), exact(name, n, f)
    assert found.upper == plain.upper
    assert float(found.lower) == pytest.approx(float(plain.lower), rel=1e-6)


@pytest.mark.parametrize("name", ["cwtm", "cwmed"])
def test_random_weights_are_exact(name: str) -> None:
    generator = np.random.default_rng(0)
    for _ in range(25):
        weights = generator.integers(1, 9, size=generator.integers(2, 7)).tolist()
        f = int(generator.integers(0, (sum(weights) - 1) // 2 + 1))
        found = exact_weighted(name, weights, f)
        assert found.lower == found.upper, (weights, f)


def test_the_bound_depends_on_the_share_alone_if_weights_divide() -> None:
    assert exact_weighted("cwtm", [5, 3, 2, 2], 2).lower == Fraction(2, 12 - 4)
    assert exact_weighted("cwtm", [10, 6, 4, 4], 4).lower == Fraction(2, 12 - 4)
    assert exact_weighted("cwmed", [10, 6, 4, 4], 4).lower == exact_weighted("cwmed", [5, 3, 2, 2], 2).lower


def test_one_heavy_honest_worker_helps() -> None:
    """With weights of 6, 1, 1, 1, 1 the two Byzantine workers cannot move the median: it is the heavy worker's."""
    assert exact_weighted("cwmed", [6, 1, 1, 1, 1], 2).lower < exact("cwmed", 10, 2).lower


def test_average_is_infinite_if_anybody_may_be_byzantine() -> None:
    assert exact_weighted("average", [5, 3, 1], 1).status is Status.INFINITE
    assert exact_weighted("average", [5, 3, 2], 1).upper == 0


def test_the_witness_is_one_of_the_rule_without_weights() -> None:
    found = exact_weighted("cwtm", [3, 3, 3, 2], 4)
    assert found.witness is not None
    assert found.witness.n == 11
    assert found.witness.f == 3
    assert found.witness.rule == "cwtm(f=4)"


@pytest.mark.parametrize(("weights", "f"), [([1, 2], 2), ([], 0), ([1, 0, 2], 1), ([1.5, 2, 2], 1)])
def test_bad_requests(weights: list[int], f: int) -> None:
    with pytest.raises(InputError):
        exact_weighted("cwtm", weights, f)


def test_rules_that_are_not_built_in_are_refused() -> None:
    with pytest.raises(InputError, match="built in"):
        exact_weighted("mine.py:rule", [1, 1, 1], 1)


def test_what_is_infinite_without_weights_has_no_upper_bound_with_them() -> None:
    found = exact_weighted("cge", [2, 2, 1], 1)
    assert found.upper in (None, math.inf)
    assert (found.upper == math.inf) == (found.lower == math.inf)


def test_the_judge_rejects_what_is_not_its_own() -> None:
    recipe = parse("cwtm", 1).recipe(5)
    assert recipe is not None
    with pytest.raises(Rejected, match="outer"):
        upper_over_orders(recipe, [2, 2, 1], 2)
    with pytest.raises(Rejected, match="sum"):
        upper_over_orders(recipe, [2, 2, 2], 1)
    krum = parse("krum", 1).recipe(5)
    assert krum is not None
    with pytest.raises(Rejected, match="sorted"):
        upper_over_orders(krum, [2, 2, 1], 1)


def test_too_many_orders_are_bounded_without_them() -> None:
    found = exact_weighted("cwtm", list(range(1, 12)), 6)
    assert found.certificate is not None
    assert found.upper == Fraction(6, 66 - 12)
    assert found.lower == found.upper


def test_sets_and_majorant() -> None:
    assert sorted(byzantine_sets([2, 1, 1], 2)) == [(), (0,), (1,), (1, 2)]
    points = [(0, Fraction(0)), (1, Fraction(0)), (2, Fraction(3)), (4, Fraction(0))]
    assert majorant(points) == [points[0], points[2], points[3]]


def test_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["exact", "cwtm", "--weights", "5,3,2,2", "-f", "2", "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert data["lower"] == data["upper"] == 0.25
    assert main(["replay", data["witness"]]) == 0
    for words in (
        "exact cwtm --weights 5,x -f 1",
        "exact cwtm -f 1",
        "exact cwtm -n 5",
        "exact cwtm --weights 1,1,1 -n 3 -f 1",
    ):
        assert main(words.split()) == 2
