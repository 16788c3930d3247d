"""Names of rules: modules, files, options, pipelines, and the one line that says what is wrong with them."""

from __future__ import annotations

import pickle
import sys
from pathlib import Path

import numpy as np
import pytest

from kappaguard.rules.base.errors import InputError
from kappaguard.rules.foreign import Adapted, resolve, split_pipeline

X = np.random.default_rng(0).normal(size=(7, 3))

RULES = """
from dataclasses import dataclass
import numpy as np
from helper import middle

@dataclass(frozen=True)
class Shifted:
    f: int
    by: float = 0.0
    def __call__(self, x):
        return middle(x) + self.by

class Namespace:
    @staticmethod
    def first(x):
        return x[0]

def halves(x):
    return x[: len(x) // 2]

NUMBER = 3
"""


@pytest.fixture
def rules_file(tmp_path: Path) -> Path:
    (tmp_path / "helper.py").write_text("import numpy as np\n\ndef middle(x):\n    return np.median(x, axis=0)\n")
    path = tmp_path / "my+rules.py"
    path.write_text(RULES)
    return path


def test_module_attribute() -> None:
    adapted = resolve("numpy:median", f=2, axis=0)
    assert adapted.name == "numpy:median"
    np.testing.assert_array_equal(adapted(X), np.median(X, axis=0))


def test_file_attribute_with_options_and_a_sibling_module(rules_file: Path) -> None:
    adapted = resolve(f"{rules_file}:Shifted(by=2.5)", f=2)
    np.testing.assert_array_equal(adapted(X), np.median(X, axis=0) + 2.5)
    assert str(rules_file.parent) not in sys.path
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(adapted))(X), adapted(X))


def test_file_is_read_again(rules_file: Path) -> None:
    spec = f"{rules_file}:Namespace.first"
    np.testing.assert_array_equal(resolve(spec, f=2)(X), X[0])
    rules_file.write_text(RULES.replace("x[0]", "x[1] + 0"))
    np.testing.assert_array_equal(resolve(spec, f=2)(X), X[1])


def test_module_in_the_current_folder(rules_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (rules_file.parent / "rules_of_the_day.py").write_text("def second(x):\n    return x[1]\n")
    monkeypatch.chdir(rules_file.parent)
    np.testing.assert_array_equal(resolve("rules_of_the_day:second", f=1)(X), X[1])
    monkeypatch.delitem(sys.modules, "rules_of_the_day")


def test_pipeline_of_a_file_and_a_module(rules_file: Path) -> None:
    spec = f"{rules_file}:halves+numpy:median(axis=0)"
    assert split_pipeline(spec) == [f"{rules_file}:halves", "numpy:median(axis=0)"]
    adapted = resolve(spec, f=2)
    assert isinstance(adapted, Adapted)
    assert adapted.name == spec
    np.testing.assert_array_equal(adapted(X), np.median(X[:3], axis=0))
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(adapted))(X), adapted(X))


def test_fault_in_a_pipeline_names_the_stage(rules_file: Path) -> None:
    fault = resolve(f"{rules_file}:Namespace.first+numpy:median(axis=0)", f=2).outcome(X).fault
    assert fault is not None
    assert fault.kind == "shape"
    assert fault.rule.endswith("numpy:median(axis=0)")
    assert "Namespace.first returned shape (3,)" in fault.detail


@pytest.mark.parametrize(
    ("spec", "stages"),
    [
        ("krum", ["krum"]),
        ("nnm+byzfl:Krum", ["nnm", "byzfl:Krum"]),
        ("a:b(c='x+y') + d:e", ["a:b(c='x+y')", "d:e"]),
    ],
)
def test_split_pipeline(spec: str, stages: list[str]) -> None:
    assert split_pipeline(spec) == stages


@pytest.mark.parametrize(
    ("spec", "parts"),
    [
        ("crumb", ["no rule is called 'crumb'"]),
        ("numpy:", ["is not the name of a rule"]),
        ("no_such_package.rules:Krum", ["no_such_package.rules", "ModuleNotFoundError"]),
        ("numpy:medain", ["module numpy has no attribute medain", "median"]),
        ("json:zzzzz", ["module json has no attribute zzzzz; it has: ", "JSONDecoder, JSONEncoder", "loads"]),
        ("numpy:linalg.zzzzz", ["numpy:linalg.zzzzz does not exist", "no attribute zzzzz"]),
        ("nowhere/rules.py:Krum", ["file nowhere/rules.py does not exist", "folder nowhere does not exist"]),
        ("nowhere/rules:Krum", ["nowhere/rules is neither a module nor a Python file"]),
        ("not a module:Krum", ["'not a module' is neither a module nor a Python file"]),
        ("numpy:median(0)", ["options that are not of the form"]),
        ("numpy:median(axis=open('x'))", ["options that are not of the form"]),
        ("numpy:median(axis=0", ["is not the name of a rule"]),
        ("numpy:pi", ["numpy:pi is a float, which cannot be called"]),
    ],
)
def test_wrong_names_are_one_clear_line(spec: str, parts: list[str]) -> None:
    with pytest.raises(InputError) as caught:
        resolve(spec, f=2)
    message = str(caught.value)
    assert "\n" not in message
    for part in parts:
        assert part in message


def test_missing_file_says_what_is_there(rules_file: Path) -> None:
    with pytest.raises(InputError, match=r"ruels\.py does not exist; Python files in .*: helper\.py, my\+rules\.py$"):
        resolve(f"{rules_file.parent}/ruels.py:Shifted", f=2)


@pytest.mark.parametrize("text", ["def broken(:\n", "import no_such_package\n", "raise RuntimeError('one\\ntwo')\n"])
def test_file_that_does_not_load(tmp_path: Path, text: str) -> None:
    path = tmp_path / "rules.py"
    path.write_text(text)
    with pytest.raises(InputError, match=r"rules\.py does not load: \w+Error: ") as caught:
        resolve(f"{path}:Krum", f=2)
    assert "\n" not in str(caught.value)


def test_options_twice_and_options_of_a_pipeline() -> None:
    with pytest.raises(InputError, match="axis twice"):
        resolve("numpy:median(axis=0)", f=2, axis=1)
    with pytest.raises(InputError, match="several stages"):
        resolve("numpy:sort+numpy:median", f=2, axis=0)


def test_same_stage_twice(rules_file: Path) -> None:
    stage = f"{rules_file}:halves"
    assert split_pipeline(f"{stage}+{stage}") == [stage, stage]
    twice = resolve(f"{stage}+{stage}+numpy:median(axis=0)", f=2)
    np.testing.assert_array_equal(twice(X), X[0])


def test_our_pre_aggregation_in_front_of_a_foreign_rule(rules_file: Path) -> None:
    from kappaguard.rules.nnm import NNM

    adapted = resolve(f"nnm+{rules_file}:Shifted(by=1.0)", f=2)
    np.testing.assert_allclose(adapted(X), np.median(NNM(f=2)(X), axis=0) + 1.0)
