"""Divisions of a node: every decision that an input can make is one of the cases, up to exchanges within roles."""

from __future__ import annotations

from itertools import combinations, permutations, product

import numpy as np
import pytest

from kappaguard.rules.names import parse
from kappaguard.search.exact.divide import compositions, divide, first_choices, row, settled_score
from kappaguard.search.exact.facts import permuted
from kappaguard.search.exact.node import Node

ROLES = [[[0, 1, 2], [3, 4]], [[0], [1, 2], [3, 4]], [[0, 1, 2, 3, 4]]]


def exchanges(roles, n):
    for images in product(*(permutations(role) for role in roles)):
        order = list(range(n))
        for role, image in zip(roles, images, strict=True):
            for i, j in zip(role, image, strict=True):
                order[i] = j
        yield order


@pytest.mark.parametrize("roles", ROLES)
@pytest.mark.parametrize("size", range(6))
@pytest.mark.parametrize("pool", [range(5), (0, 2, 3), ()])
def test_every_set_is_one_composition_up_to_an_exchange(roles, size, pool):
    found = list(compositions(roles, size, pool))
    assert len(set(found)) == len(found)

    def counts(members):
        return tuple(len(members & set(role)) for role in roles)

    assert sorted(map(counts, found)) == sorted({counts(frozenset(each)) for each in combinations(pool, size)})
    assert all(members <= set(pool) for members in found)


@pytest.mark.parametrize("name", ["krum", "multikrum", "mda", "mva", "nna", "faba", "nnm+krum"])
def test_the_cases_of_a_first_choice_cover_all_choices(name):
    n, f = 5, 1
    recipe = parse(name, f).recipe(n)
    node = Node(recipe, f, frozenset())
    division = first_choices(node)
    cases = {fact for fact, _ in division.cases}
    assert all(child == node.facts | {fact} for fact, child in division.cases)
    orders = list(exchanges(node.roles, n))
    if division.name[0] == "pivot":
        assert all(any(permuted(case, order)[2] == i for case in cases for order in orders) for i in range(n - 1))
        return
    size = len(next(iter(cases))[2])
    reached = {permuted(case, order)[2] for case in cases for order in orders}
    assert reached == set(map(frozenset, combinations(range(n), size)))


def test_the_cases_of_a_row_are_all_neighbourhoods():
    n, f = 5, 1
    node = Node(parse("nnm+krum", f).recipe(n), f, frozenset())
    division = row(node, 0, 0)
    stay = [order for order in exchanges(node.roles, n) if order[0] == 0]
    reached = {permuted(fact, order)[3] for fact, _ in division.cases for order in stay}
    assert reached == {frozenset({0, *rest}) for rest in combinations(range(1, n), n - f - 1)}


def test_a_score_is_settled_when_only_one_set_is_left():
    pool = frozenset({1, 2, 3, 4})
    assert settled_score(0, 0, frozenset({1}), frozenset({3, 4}), pool, 2)[3:] == (frozenset({1, 2}), frozenset())
    assert settled_score(0, 0, frozenset({1}), frozenset({4}), pool, 2)[3:] == (frozenset({1}), frozenset({4}))
    assert settled_score(0, 0, frozenset({1, 2}), frozenset({3, 4}), pool, 2)[3:] == (frozenset({1, 2}), frozenset())


def test_a_node_without_a_point_is_divided_until_every_score_is_known():
    """Down one branch; each step adds facts, and the end is reached."""
    n, f = 5, 1
    recipe = parse("krum", f).recipe(n)
    facts = frozenset()
    generator = np.random.default_rng(0)
    for _ in range(100):
        division = divide(Node(recipe, f, facts), None, 0.0)
        if division is None:
            break
        before, (_, facts) = facts, division.cases[generator.integers(len(division.cases))]
        assert facts != before
    else:
        pytest.fail("never at a leaf")
    node = Node(recipe, f, facts)
    assert len(node.picks) == 1
