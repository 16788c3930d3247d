"""Every style in which people hand vectors to a rule: found out, or named, and the same function in all of them."""

from __future__ import annotations

import sys
import textwrap

import numpy as np
import pytest

from kappaguard.rules.base.errors import InputError
from kappaguard.rules.foreign.resolve import resolve
from kappaguard.rules.foreign.styles import CONTAINERS, hand_over, read_back
from kappaguard.rules.names import rule
from kappaguard.rules.recipe.trace.code import trace

F = 2
X = np.random.default_rng(0).standard_normal((9, 5))


def trimmed(rows):
    return np.sort(np.stack(rows), axis=0)[F : len(rows) - F].mean(axis=0)


def array(x, f):
    return np.sort(x, axis=0)[f : x.shape[0] - f].mean(axis=0)


def vectors(gradients):
    if not isinstance(gradients, list):
        raise TypeError("a list, please")
    return trimmed(gradients)


def as_list_of_floats(gradients):
    if not isinstance(gradients, list):
        raise TypeError("a list, please")
    return [float(value) for value in trimmed(gradients)]


def layers(weights, f):
    assert isinstance(weights[0], list)
    return [trimmed([client[layer] for client in weights]) for layer in range(len(weights[0]))]


def states(dicts):
    return {name: trimmed([each[name] for each in dicts]) for name in list(dicts[0])}


def pairs(results):
    assert all(isinstance(count, int) for _, count in results)
    return layers([client for client, _ in results], F)


def pairs_with_metrics(results):
    return pairs(results), {"loss": 0.0}


class Aggregating:
    def __init__(self, n_byzantine):
        self.f = n_byzantine

    def aggregate(self, gradients):
        return array(gradients, self.f)


class Listening:
    def combine(self, gradients):
        return vectors(gradients)


@pytest.mark.parametrize(
    ("target", "style"),
    [
        (array, "same"),
        (vectors, "list"),
        (as_list_of_floats, "list"),
        (layers, "layers"),
        (states, "state_dict"),
        (pairs, "pairs"),
        (pairs_with_metrics, "pairs"),
        (Aggregating, "same"),
    ],
)
@pytest.mark.parametrize("d", [1, 2, 5])
def test_the_style_is_found_out(target, style, d):
    adapted = resolve(target, F)
    assert np.allclose(adapted(X[:, :d]), rule("cwtm", f=F)(X[:, :d]), atol=1e-12)
    assert adapted.run.style == style


@pytest.mark.parametrize("target", [vectors, layers, states, pairs, Aggregating], ids=lambda each: each.__name__)
def test_code_of_any_style_is_traced(target):
    assert trace(resolve(target, F, 9), 9).recipe == rule("cwtm", f=F).recipe(9)


def test_a_method_is_named():
    adapted = resolve(Listening, F, method="combine")
    assert np.allclose(adapted(X), rule("cwtm", f=F)(X))
    assert (adapted.run.method, adapted.run.style) == ("combine", "list")
    assert adapted.run.describe() == "called of its method combine with a list of vectors"
    with pytest.raises(InputError, match="another is named with method"):
        resolve(Listening, F)
    with pytest.raises(InputError, match="have no method 'merge'"):
        resolve(Listening, F, method="merge")


def test_a_style_is_named():
    assert resolve(array, F, backend="list").run.style == "list"
    with pytest.raises(InputError, match="backend is one of"):
        resolve(array, F, backend="lists")


def test_parameters_of_other_names_mean_f_and_n():
    def strange(x, n_traitors, crowd):
        return np.sort(x, axis=0)[n_traitors : crowd - n_traitors].mean(axis=0)

    with pytest.raises(InputError, match="needs a value for n_traitors, crowd"):
        resolve(strange, F)


def test_names_of_f_and_n_in_the_name_of_a_rule(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").write_text(
        "import numpy as np\n\n"
        "def rule(x, bad, crowd):\n    return np.sort(x, axis=0)[bad : crowd - bad].mean(axis=0)\n"
    )
    adapted = resolve("mine.py:rule(f='bad', n='crowd')", F)
    assert np.allclose(adapted(X), rule("cwtm", f=F)(X))


@pytest.mark.parametrize("style", CONTAINERS)
@pytest.mark.parametrize("d", [1, 2, 3, 8])
def test_what_is_handed_over_comes_back(style, d):
    """The first client's part, whatever the style, is the first row."""
    given = hand_over(X[:, :1].repeat(d, axis=1) + np.arange(d), style)
    first = given[0][0] if style == "pairs" else given[0]
    assert np.array_equal(read_back(first, style), X[0, 0] + np.arange(d))


def test_a_rule_that_fails_in_every_style_is_handed_an_array():
    def broken(x):
        raise RuntimeError("never")

    adapted = resolve(broken, F)
    assert adapted.outcome(X).fault.kind == "exception"
    assert adapted.run.style == "same"


def test_lists_of_tensors():
    torch = pytest.importorskip("torch")

    def tensors(gradients):
        return torch.sort(torch.stack(gradients), dim=0).values[F : len(gradients) - F].mean(dim=0)

    adapted = resolve(tensors, F)
    assert np.allclose(adapted(X), rule("cwtm", f=F)(X))
    assert adapted.run.style == "torch-list"
    assert isinstance(adapted(torch.from_numpy(X)), torch.Tensor)


def package(folder, root):
    """A package with a relative import below ``root``."""
    place = folder / root / "pack"
    place.mkdir(parents=True)
    (place / "__init__.py").touch()
    (place / "helper.py").write_text("import numpy as np\n\ndef middle(x):\n    return np.median(x, axis=0)\n")
    (place / "agg.py").write_text(
        textwrap.dedent(
            """
            from .helper import middle

            def rule(x):
                return middle(x)
            """
        )
    )


@pytest.fixture
def forgetful():
    before = set(sys.modules)
    yield
    for name in set(sys.modules) - before:
        if name.partition(".")[0] == "pack":
            del sys.modules[name]


@pytest.mark.parametrize("name", ["src/pack/agg.py:rule", "pack.agg:rule"])
def test_a_src_layout_and_relative_imports(name, tmp_path, monkeypatch, forgetful):
    monkeypatch.chdir(tmp_path)
    package(tmp_path, "src")
    assert np.array_equal(resolve(name, F)(X), np.median(X, axis=0))


def test_a_folder_of_pythonpath(tmp_path, monkeypatch, forgetful):
    monkeypatch.chdir(tmp_path)
    package(tmp_path, "lib")
    with pytest.raises(InputError, match="cannot be imported"):
        resolve("pack.agg:rule", F)
    monkeypatch.setenv("KAPPAGUARD_PYTHONPATH", str(tmp_path / "lib"))
    assert np.array_equal(resolve("pack.agg:rule", F)(X), np.median(X, axis=0))


def test_a_rule_that_works_is_called_no_more_than_it_is_asked():
    """What hangs or counts its calls is not called to find out a style."""
    calls = []

    def counted(x):
        calls.append(x.shape)
        return x.mean(axis=0)

    adapted = resolve(counted, F)
    assert calls == []
    adapted(X)
    adapted(X)
    assert len(calls) <= 2


def test_an_object_with_the_methods_of_a_flower_strategy_is_called_as_one():
    class Strategy:
        def __init__(self, num_attackers):
            self.f = num_attackers

        def aggregate_fit(self, server_round, results, failures):
            from flwr.common import parameters_to_ndarrays

            layers = [parameters_to_ndarrays(answer.parameters)[0] for _, answer in results]
            return [np.sort(np.stack(layers), axis=0)[self.f : len(layers) - self.f].mean(axis=0)], {}

    x = np.random.default_rng(0).standard_normal((7, 3))
    assert np.allclose(resolve(Strategy, 2, 7)(x), np.sort(x, axis=0)[2:5].mean(axis=0))


def test_a_file_without_the_name_of_a_rule_is_told_what_it_defines(tmp_path):
    file = tmp_path / "mine.py"
    file.write_text("import os\ndef krum(x, f): ...\nclass Server: ...\ndef _private(x): ...\n")
    with pytest.raises(InputError, match=r"which of it\? .*mine\.py:krum, .*mine\.py:Server$"):
        rule(str(file), f=1)
