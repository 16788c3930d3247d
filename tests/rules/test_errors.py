"""Bad input gets one line that names the fault and the numbers; lists and integers are welcome."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
import torch

from kappaguard.rules.arc import AdaptiveClipping
from kappaguard.rules.base.errors import InputError
from kappaguard.rules.bucketing import Bucketing
from kappaguard.rules.clipping import Clipping
from kappaguard.rules.gm import GeometricMedian
from kappaguard.rules.names import parse
from kappaguard.rules.nnm import NNM

from .inputs import RULES, exactly

every_rule = pytest.mark.parametrize("name", RULES)
MINORITY = ["cwtm", "krum", "multikrum", "mda", "meamed", "monna", "smea", "caf", "nnm+average", "arc+average"]
IRRATIONAL = ["gm", "smea", "caf", "centered_clipping", "clipping+cwmed", "arc+cwmed", "nnm+gm"]


def refusal(action, *parts):
    """The message of the InputError that the action must raise: one line that holds all the parts."""
    with pytest.raises(InputError) as caught:
        action()
    message = str(caught.value)
    assert message
    assert "\n" not in message
    for part in parts:
        assert str(part) in message
    return message


def sample(n=9, d=3):
    return np.random.default_rng(0).standard_normal((n, d))


@pytest.mark.parametrize("name", MINORITY)
@pytest.mark.parametrize(("n", "f"), [(8, 4), (9, 5), (1, 1), (2, 1), (4, 7)])
@pytest.mark.parametrize("d", [3, 3000])
def test_too_many_byzantine_vectors(name, n, f, d):
    refusal(lambda: parse(name, f=f)(sample(n, d)), "f < n/2", f"n = {n}", f"f = {f}")


@pytest.mark.parametrize("name", MINORITY)
def test_just_few_enough_byzantine_vectors(name):
    assert np.all(np.isfinite(parse(name, f=4)(sample(9))))


def test_bucketing_behind_which_too_few_vectors_are_left():
    refusal(lambda: parse("bucketing(s=3)+krum", f=2)(sample(9)), "n = 3", "f = 2")
    refusal(lambda: Bucketing(f=5)(sample(9)), "n = 9", "f = 5")


@every_rule
@pytest.mark.parametrize("shape", [(), (5,), (0, 3), (5, 0), (2, 0, 3), (2, 5, 0)], ids=str)
@pytest.mark.parametrize("make", [np.zeros, torch.zeros], ids=["numpy", "torch"])
def test_wrong_rank_and_no_vectors(name, shape, make):
    refusal(lambda: parse(name, f=0)(make(shape)), tuple(shape))


@pytest.mark.parametrize("step", [NNM(f=0), Bucketing(f=0), Clipping(), AdaptiveClipping(f=0)], ids=lambda s: s.name)
def test_pre_aggregations_refuse_the_same(step):
    refusal(lambda: step(np.zeros(3)), (3,))
    refusal(lambda: step(np.zeros((0, 3))), (0, 3))
    x = sample()
    x[4, 1] = np.nan
    refusal(lambda: step(x), "NaN", "number 4")


NAN_INPUTS = {
    "small": lambda x: x,
    "single": lambda x: x.astype(np.float32),
    "large": lambda x: np.tile(x, (1, 1000)),
    "large single": lambda x: np.tile(x, (1, 1000)).astype(np.float32),
    "batch": lambda x: np.stack([sample(), x, sample()]),
    "large batch": lambda x: np.tile(np.stack([sample(), x]), (1, 1, 1000)),
    "torch": torch.tensor,
    "torch large": lambda x: torch.tensor(np.tile(x, (1, 1000))),
    "torch gradient": lambda x: torch.tensor(x, requires_grad=True),
    "torch batch": lambda x: torch.tensor(np.stack([sample(), x]), requires_grad=True),
    "list": lambda x: x.tolist(),
    "columns first": lambda x: np.asfortranarray(np.tile(x, (1, 1000))),
}


@every_rule
@pytest.mark.parametrize("kind", NAN_INPUTS)
@pytest.mark.parametrize("infinite", [False, True], ids=["finite", "beside infinity"])
def test_nan(name, kind, infinite):
    x = sample()
    x[5, 2] = np.nan
    if infinite:
        x[5, 0] = np.inf
    refusal(lambda: parse(name, f=2)(NAN_INPUTS[kind](x)), "NaN", "1 of its vectors", "number 5")


@every_rule
@pytest.mark.parametrize("d", [1, 3000])
def test_nan_in_a_single_vector(name, d):
    refusal(lambda: parse(name, f=0)(np.full((1, d), np.nan)), "NaN")


@every_rule
def test_nan_everywhere(name):
    refusal(lambda: parse(name, f=2)(np.full((9, 1000), np.nan)), "NaN", "9 of its vectors", "number 0")


@pytest.mark.parametrize("position", [0, 255, 256, 300, 511, 512, 699])
@pytest.mark.parametrize("name", ["cwmed", "cwtm", "meamed", "krum"])
def test_nan_in_every_block_of_columns(name, position):
    x = np.ones((7, 700), dtype=np.float32)
    x[6, position] = np.nan
    refusal(lambda: parse(name, f=2)(x), "number 6")


@every_rule
@pytest.mark.parametrize("dtype", [np.complex64, np.complex128, "U3", "datetime64[s]"], ids=str)
def test_not_real_numbers(name, dtype):
    refusal(lambda: parse(name, f=2)(np.zeros((9, 3), dtype=dtype)), "real", np.dtype(dtype))


def test_complex_torch():
    refusal(lambda: parse("krum", f=1)(torch.zeros((3, 3), dtype=torch.complex64)), "complex64")


@pytest.mark.parametrize("name", IRRATIONAL)
def test_fractions_for_irrational_rules(name):
    part = next(each for each in ("gm", "smea", "caf", "centered_clipping", "clipping", "arc") if each in name)
    refusal(lambda: parse(name, f=1)(exactly(sample(5, 2))), "fractions", part)


def test_fractions_for_the_bound_of_gm():
    refusal(lambda: GeometricMedian().with_bound(exactly(sample(5, 2))), "fractions", "gm")


@pytest.mark.parametrize("rows", [[[1, 2], [3]], [[1, 2], 3], [[[1], [2]], [[3]]]], ids=str)
def test_ragged_lists(rows):
    refusal(lambda: parse("cwmed")(rows))


def test_ragged_list_of_tensors():
    refusal(lambda: parse("cwmed")([torch.zeros(2), torch.zeros(3), torch.zeros(2)]))


@pytest.mark.parametrize("value", [None, "a", float("nan"), [1]], ids=repr)
def test_objects_that_are_no_numbers(value):
    rows = np.array([[Fraction(1, 2), 0], [1, 2], [3, 4]], dtype=object)
    rows[1, 1] = value
    refusal(lambda: parse("krum", f=1)(rows))


@pytest.mark.parametrize(
    ("spec", "part"),
    [
        *((f"{name}(f={value})", value) for name in MINORITY[:8] for value in ("-1", "1.0", "True", "None", "'1'")),
        *((f"multikrum(f=1, m={value})", value) for value in ("0", "-2", "1.5", "False")),
        *((f"monna(f=1, index={value})", value) for value in ("-1", "0.0")),
        *((f"bucketing(f=1, s={value})+average", value) for value in ("0", "-3", "1.5", "True")),
        *((f"bucketing(f=1, seed={value})+average", value) for value in ("-1", "None", "0.5")),
        *((f"nnm(f={value})+average", value) for value in ("-1", "2.0")),
        *((f"arc(f={value})+average", value) for value in ("-1", "2.0")),
        *((f"clipping(c={value})+average", value) for value in ("0", "-1", "'2'", "True", "1j", "None")),
        ("clipping(c=1e999)+average", "inf"),
        *((f"centered_clipping(tau={value})", value) for value in ("0", "-1.5")),
        *((f"centered_clipping(iterations={value})", value) for value in ("0", "1.0")),
    ],
)
def test_bad_parameters(spec, part):
    name = spec.split("(")[0]
    refusal(lambda: parse(spec), name, part)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), np.nan, -1, 0], ids=repr)
def test_lengths_must_be_positive_and_finite(value):
    refusal(lambda: Clipping(c=value), "clipping", repr(value))


def test_parameters_that_do_not_fit_the_input():
    refusal(lambda: parse("multikrum(m=6)", f=4)(sample(9)), "select = 6", "n = 9", "f = 4")
    refusal(lambda: parse("monna(index=9)", f=4)(sample(9)), "index = 9", "n = 9")
    refusal(lambda: Bucketing(f=1, permutation=(0, 1))(sample(3)), "0 .. 2")
    refusal(lambda: Bucketing(f=1, permutation=(0, 1, 1))(sample(3)), "0 .. 2")


@pytest.mark.parametrize("order", [5, "abc", ("a", 1, 2), (0, True, 2), (0.0, 1.0, 2.0)], ids=repr)
def test_permutations_of_other_things(order):
    refusal(lambda: Bucketing(f=1, permutation=order)(sample(3)), "permutation")


@every_rule
def test_lists_and_integers_are_accepted(name):
    x = np.random.default_rng(3).integers(-50, 50, (9, 3))
    rule = parse(name, f=2)
    expected = rule(x.astype(float))
    for same in (x, x.tolist(), x.astype(np.int8), tuple(map(tuple, x.tolist())), torch.tensor(x)):
        result = rule(same)
        assert "float64" in str(result.dtype)
        assert np.array_equal(np.asarray(result), expected)
    tensors = rule([torch.tensor(row, dtype=torch.float64) for row in x])
    assert isinstance(tensors, torch.Tensor)
    assert np.array_equal(tensors.numpy(), expected)


def test_lists_of_fractions_are_exact():
    rows = [[Fraction(1, 3)], [Fraction(1, 2)], [Fraction(5, 7)]]
    assert parse("average")(rows).tolist() == [Fraction(65, 126)]


@pytest.mark.parametrize("name", ["average", "gm", "caf", "nnm+gm", "cwtm", "krum"])
def test_masked_arrays_are_arrays_unless_something_is_masked(name):
    x = np.arange(35.0).reshape(7, 5) ** 2
    rule = parse(name, f=2)
    found = rule(np.ma.array(x, mask=False))
    assert type(found) is np.ndarray
    assert np.array_equal(found, rule(x))
    with pytest.raises(InputError, match="x has 3 masked entries"):
        rule(np.ma.array(x, mask=x < 5))


def test_smea_says_how_many_subsets_are_too_many():
    with pytest.raises(InputError, match=r"1\.1e\+17 subsets of 31 out of 60 vectors"):
        parse("smea", f=29)(np.eye(60))
