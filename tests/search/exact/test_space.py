"""Averaged forms against the average over all exchanges within the roles."""

from __future__ import annotations

from itertools import permutations, product

import numpy as np
import pytest

from kappaguard.search.exact.space import Space, counted, pack, unpack

ROLES = [[[0, 1, 2], [3, 4]], [[0], [1, 2], [3, 4]], [[0], [1], [2], [3], [4]], [[0, 1, 2, 3, 4]]]


def gram_point(space, x):
    """The point of the program at which a form has its averaged value on the vectors x[kind, worker]."""
    point = np.zeros(space.length)
    means = np.concatenate(
        [x[list(kinds)][:, role].mean(axis=1) for role, kinds in zip(space.roles, space.kinds, strict=True)]
    )
    around = space.basis.T @ means
    point[: space.starts[1]] = pack(around @ around.T)
    for place, index in enumerate(space.scattered):
        own = x[list(space.kinds[index])][:, space.roles[index]]
        away = (own - own.mean(axis=1, keepdims=True)).transpose(1, 0, 2)
        point[space.starts[place + 1] : space.starts[place + 2]] = pack(sum(each @ each.T for each in away))
    return point


def averaged(coefficients, x, roles):
    """||sum c_ti x_ti||^2, averaged over all exchanges within the roles, which move all vectors of a worker."""
    values = []
    for images in product(*(permutations(role) for role in roles)):
        order = np.arange(coefficients.shape[1])
        for role, image in zip(roles, images, strict=True):
            order[role] = image
        values.append(float(np.sum(np.einsum("ti,tid->d", coefficients, x[:, order]) ** 2)))
    return np.mean(values)


@pytest.mark.parametrize("roles", ROLES)
@pytest.mark.parametrize("kinds", [1, 2])
def test_a_square_is_the_average_over_all_exchanges(roles, kinds):
    generator = np.random.default_rng([len(roles), kinds])
    space = Space(5, roles, [tuple(range(kinds))] * len(roles), 2)
    for _ in range(5):
        coefficients = generator.standard_normal((kinds, 5))
        coefficients -= coefficients.mean()
        x = generator.standard_normal((kinds, 5, 3))
        found = float(space.square(coefficients) @ gram_point(space, x))
        assert found == pytest.approx(averaged(coefficients, x, roles), rel=1e-9)


@pytest.mark.parametrize("roles", ROLES)
def test_the_inputs_of_a_point_have_its_forms(roles):
    """Up to as many groups as the largest role has workers."""
    generator = np.random.default_rng(len(roles))
    space = Space(5, roles, [(0,)] * len(roles), 1)
    x = generator.standard_normal((1, 5, 4))
    point = gram_point(space, x)
    inputs = space.realise(point, 5)
    for _ in range(5):
        coefficients = generator.standard_normal((1, 5))
        coefficients -= coefficients.mean()
        form = space.square(coefficients)
        assert averaged(coefficients, inputs[None], roles) == pytest.approx(float(form @ point), rel=1e-8)


def test_packing_keeps_inner_products_and_comes_back():
    generator = np.random.default_rng(0)
    for size in range(5):
        left, right = (each + each.T for each in generator.standard_normal((2, size, size)))
        assert pack(left) @ pack(right) == pytest.approx(np.sum(left * right))
        np.testing.assert_allclose(unpack(pack(left), size), left, rtol=1e-12)


def test_a_scalar_is_not_a_form_of_vectors_and_the_trace_is_that_of_the_blocks():
    space = Space(5, [[0, 1, 2], [3, 4]], [(0,), (0, 1)], 2)
    assert [int(place) for place in np.flatnonzero(space.scalar(1))] == [space.length - 1]
    assert not space.zero().any()
    point = np.random.default_rng(1).standard_normal(space.length)
    assert space.trace() @ point == pytest.approx(sum(np.trace(each) for each in space.matrices(point)))


def test_members_are_counted_by_role():
    assert counted([0, 2, 3, 4], {0: 0, 1: 0, 2: 1, 3: 1, 4: 1}) == {0: 1, 1: 3}
