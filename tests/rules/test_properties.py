"""What must hold for every rule and pipeline, on NumPy, torch and exact fractions."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from kappaguard.rules.names import parse

from . import naive
from .inputs import RULES, clouds, exactly, integer_clouds, spread, usable

SMALL = settings(max_examples=20, deadline=None)
every_rule = pytest.mark.parametrize("name", RULES)
seeds = st.integers(0, 2**32 - 1)
backends = st.sampled_from(["numpy float64", "numpy float32", "torch float64", "torch float32", "torch gradient"])


def evaluate(rule, x, backend):
    """The rule on a backend and dtype, as float64."""
    library, kind = backend.split()
    if library == "numpy":
        return rule(x.astype(kind)).astype(np.float64)
    dtype = torch.float32 if kind == "float32" else torch.float64
    return rule(torch.tensor(x, dtype=dtype, requires_grad=kind == "gradient")).detach().double().numpy()


def slack(backend, tolerance):
    """What rounding the input to float32 costs."""
    return 1e-4 if backend.endswith("float32") else tolerance


def build(name, x, f):
    assume(usable(name, x.shape[-2], f))
    return parse(name, f=f)


def assert_near(actual, expected, scale, tolerance=1e-8):
    assert np.shape(actual) == np.shape(expected)
    assert np.max(np.abs(np.asarray(actual, dtype=float) - np.asarray(expected, dtype=float))) <= tolerance * scale


@every_rule
@SMALL
@given(clouds())
def test_agrees_with_the_naive_definition(name, cloud):
    x, f = cloud
    rule = build(name, x, f)
    rows = exactly(x) if rule.traits.rational else x
    expected = naive.evaluate(name, rows.tolist(), f)
    if name.endswith("gm"):
        points = np.array(naive.prepare(name, rows.tolist(), f), dtype=float)
        total, least = (np.linalg.norm(points - y, axis=1).sum() for y in (rule(x), np.array(expected)))
        assert total <= least * (1 + 1e-12) + 1e-13 * spread(x)
    else:
        assert_near(rule(x), expected, spread(x), 1e-6 if "caf" in name else 1e-9)


@every_rule
@SMALL
@given(integer_clouds())
def test_fractions_agree_with_the_naive_definition_to_the_last_digit(name, cloud):
    x, f = cloud
    rule = build(name, x, f)
    if not rule.traits.rational:
        pytest.skip(f"{name} has irrational output")
    rows = exactly(x)
    assert rule(rows).tolist() == naive.evaluate(name, rows.tolist(), f)


@every_rule
@SMALL
@given(integer_clouds())
def test_floats_agree_with_fractions_at_ties(name, cloud):
    x, f = cloud
    rule = build(name, x, f)
    if not rule.traits.rational:
        pytest.skip(f"{name} has irrational output")
    assert_near(rule(x), rule(exactly(x)), 1.0, 1e-12)


@every_rule
@SMALL
@given(clouds())
def test_floats_agree_with_fractions(name, cloud):
    x, f = cloud
    rule = build(name, x, f)
    if not rule.traits.rational:
        pytest.skip(f"{name} has irrational output")
    assert_near(rule(x), rule(exactly(x)), spread(x), 1e-12)


@every_rule
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
@pytest.mark.parametrize("gradient", [False, True], ids=["plain", "gradient"])
@settings(max_examples=15, deadline=None)
@given(cloud=clouds())
def test_torch_agrees_with_numpy(name, dtype, gradient, cloud):
    x, f = cloud
    rule = build(name, x, f)
    tensor = torch.tensor(x, dtype=dtype, requires_grad=gradient)
    result = rule(tensor)
    assert result.dtype == dtype
    same = tensor.detach().numpy()
    assert_near(
        result.detach().numpy(), rule(same.astype(np.float64)), spread(x), 1e-5 if dtype == torch.float32 else 1e-9
    )


@every_rule
@SMALL
@given(clouds(), st.sampled_from([np.float32, np.float64]))
def test_keeps_the_input_and_its_type(name, cloud, dtype):
    x, f = cloud
    rule = build(name, x, f)
    x = x.astype(dtype)
    before = x.copy()
    first = rule(x)
    assert first.dtype == dtype
    assert np.array_equal(x, before)
    assert np.array_equal(first, rule(x))
    assert not np.shares_memory(first, x)


@every_rule
@settings(max_examples=15, deadline=None)
@given(clouds(), seeds, backends)
def test_batch_equals_loop(name, cloud, seed, backend):
    x, f = cloud
    rule = build(name, x, f)
    batch = np.random.default_rng(seed).standard_normal((2, 3, *x.shape))
    batch[1, 1] = x
    looped = np.array([[evaluate(rule, item, backend) for item in row] for row in batch])
    assert_near(evaluate(rule, batch, backend), looped, spread(x) + 5, slack(backend, 1e-9))


@every_rule
@SMALL
@given(clouds(), seeds, backends)
def test_order_of_workers(name, cloud, seed, backend):
    x, f = cloud
    rule = build(name, x, f)
    if not rule.traits.symmetric:
        pytest.skip(f"{name} treats workers differently")
    shuffled = np.random.default_rng(seed).permutation(x)
    rows = [exactly(each) if rule.traits.rational else each for each in (x, shuffled)]
    judged = [np.array(naive.evaluate(name, each.tolist(), f), dtype=float) for each in rows]
    assume(np.allclose(*judged, atol=1e-6 * spread(x)))
    assert_near(evaluate(rule, shuffled, backend), evaluate(rule, x, backend), spread(x), slack(backend, 1e-8))


@every_rule
@SMALL
@given(clouds(), seeds, st.sampled_from([1.0, 1e3, 1e6]), backends)
def test_translation(name, cloud, seed, size, backend):
    x, f = cloud
    rule = build(name, x, f)
    if not rule.traits.translates:
        pytest.skip(f"{name} depends on the origin")
    assume(size == 1 or not backend.endswith("float32"))
    offset = size * np.random.default_rng(seed).standard_normal(x.shape[-1])
    moved = evaluate(rule, x + offset, backend) - offset
    assert_near(moved, evaluate(rule, x, backend), spread(x), slack(backend, 1e-6))


@every_rule
@SMALL
@given(clouds(), st.sampled_from([2.0**-20, 0.3, 7.0, 1e6]), backends)
def test_scale(name, cloud, factor, backend):
    x, f = cloud
    rule = build(name, x, f)
    if not rule.traits.scales:
        pytest.skip(f"{name} has a length of its own")
    scaled = evaluate(rule, factor * x, backend) / factor
    assert_near(scaled, evaluate(rule, x, backend), spread(x), slack(backend, 1e-8))


@every_rule
@SMALL
@given(clouds(), seeds, backends)
def test_rotation(name, cloud, seed, backend):
    x, f = cloud
    rule = build(name, x, f)
    if not rule.traits.rotates:
        pytest.skip(f"{name} depends on the axes")
    rotation, _ = np.linalg.qr(np.random.default_rng(seed).standard_normal((x.shape[-1],) * 2))
    turned = evaluate(rule, x @ rotation, backend)
    assert_near(turned, evaluate(rule, x, backend) @ rotation, spread(x), slack(backend, 1e-8))


@every_rule
@pytest.mark.parametrize("magnitude", [1e-150, 1e150])
@SMALL
@given(cloud=clouds(), library=st.sampled_from(["numpy float64", "torch float64", "torch gradient"]))
def test_magnitudes_whose_squares_leave_the_floats(name, magnitude, cloud, library):
    x, f = cloud
    rule = build(name, x, f)
    if not rule.traits.scales:
        pytest.skip(f"{name} has a length of its own")
    assert_near(evaluate(rule, x * magnitude, library) / magnitude, evaluate(rule, x, library), spread(x))


@every_rule
@SMALL
@given(clouds(), st.sampled_from(["numpy float64", "torch float64", "torch gradient"]))
def test_large_offset_and_tiny_spread(name, cloud, library):
    x, f = cloud
    rule = build(name, x, f)
    if not rule.traits.translates:
        pytest.skip(f"{name} depends on the origin")
    tiny = 1e6 + 1e-3 * x
    small = tiny - 1e6
    assert_near(evaluate(rule, tiny, library) - 1e6, evaluate(rule, small, library), 1e-3, 1e-6)


@every_rule
@SMALL
@given(clouds(), seeds)
def test_infinite_byzantine_vectors_are_discarded(name, cloud, seed):
    x, f = cloud
    rule = build(name, x, f)
    if "average" in name or f == 0:
        pytest.skip(f"{name} can discard nothing") if f else assume(False)
    generator = np.random.default_rng(seed)
    for worker in generator.choice(len(x), f, replace=False):
        if "monna" in name and worker == 0:
            continue
        where = generator.random(x.shape[-1]) < 0.7
        where[generator.integers(x.shape[-1])] = True
        x[worker, where] = generator.choice([-np.inf, np.inf], where.sum())
    assert np.all(np.isfinite(rule(x)))
    assert np.all(np.isfinite(rule(torch.tensor(x)).numpy()))
