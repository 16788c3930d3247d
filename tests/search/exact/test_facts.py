"""Roles and canonical keys of facts against all permutations of a few workers."""

from __future__ import annotations

from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kappaguard.search.exact.facts import canonical, permuted, roles_of

N, HONEST = 5, 3
WORKERS = st.integers(0, N - 1)
SETS = st.frozensets(WORKERS, max_size=N)
FACTS = st.one_of(
    st.tuples(st.just("pivot"), st.just(0), WORKERS),
    st.tuples(st.just("pick"), st.integers(0, 1), SETS),
    st.tuples(st.just("row"), st.just(0), WORKERS, SETS),
    st.tuples(st.just("score"), st.just(0), WORKERS, SETS, SETS),
)
NODES = st.frozensets(FACTS, max_size=4)
RENAMINGS = [p for p in permutations(range(N)) if all((p[i] < HONEST) == (i < HONEST) for i in range(N))]
"""Honest workers stay honest."""


def renamed(facts, permutation):
    return frozenset(permuted(fact, permutation) for fact in facts)


def decision(fact):
    """What a fact is about: a node has one fact about each decision."""
    return fact[:3] if fact[0] in ("row", "score") else fact[:2]


@given(st.lists(FACTS, max_size=4, unique_by=decision).map(frozenset))
def test_workers_of_one_role_are_those_whose_exchange_leaves_the_facts_alone(facts):
    roles = roles_of(facts, N, HONEST)
    assert sorted(i for role in roles for i in role) == list(range(N))
    role_of = {i: place for place, role in enumerate(roles) for i in role}
    for i in range(N):
        for j in range(i):
            swap = list(range(N))
            swap[i], swap[j] = j, i
            alike = (i < HONEST) == (j < HONEST) and renamed(facts, swap) == facts
            assert (role_of[i] == role_of[j]) == alike


@given(st.sets(st.frozensets(WORKERS, min_size=2, max_size=2), max_size=4))
def test_workers_of_one_role_can_be_exchanged_also_where_facts_are_of_one_kind(pairs):
    """Pairs of the diameter; here some workers that could be exchanged are told apart, which is sound."""
    facts = frozenset(("pair", 0, pair) for pair in pairs)
    for role in roles_of(facts, N, HONEST):
        for i in role[1:]:
            swap = list(range(N))
            swap[i], swap[role[0]] = role[0], i
            assert renamed(facts, swap) == facts


@given(NODES, st.sampled_from(RENAMINGS))
def test_facts_that_differ_by_names_have_one_key_and_the_renaming_leads_to_it(facts, permutation):
    key, renaming = canonical(facts, N, HONEST)
    other, again = canonical(renamed(facts, permutation), N, HONEST)
    assert other == key
    assert sorted(renaming) == sorted(again) == list(range(N))
    assert renamed(facts, renaming) == renamed(renamed(facts, permutation), again)
    assert all((renaming[i] < HONEST) == (i < HONEST) for i in range(N))


@given(NODES, NODES)
def test_facts_have_different_keys_unless_a_renaming_makes_them_equal(left, right):
    same = any(renamed(left, permutation) == right for permutation in RENAMINGS)
    assert (canonical(left, N, HONEST)[0] == canonical(right, N, HONEST)[0]) == same


@pytest.mark.parametrize("fact", [("row", 1, 2, frozenset({0, 2})), ("pair", 0, frozenset({1, 2}))])
def test_kind_and_place_of_a_fact_are_not_renamed(fact):
    moved = permuted(fact, [1, 2, 0, 3, 4])
    assert moved[:2] == fact[:2]
    assert moved[2:] == tuple(
        frozenset({(i + 1) % 3 for i in part}) if isinstance(part, frozenset) else (part + 1) % 3 for part in fact[2:]
    )
