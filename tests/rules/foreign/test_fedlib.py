"""fedlib: not installable here, so a package on disk that follows its layout and call convention stands in."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from kappaguard.rules.base.errors import InputError
from kappaguard.rules.foreign import resolve

X = np.random.default_rng(5).normal(size=(9, 4))

HEAVY = "raise ImportError('No module named ray')\n"

PLAIN = """
import torch

class Trimmedmean:
    def __init__(self, num_byzantine, *, filter_frac=1.0):
        self.cut = int(filter_frac * num_byzantine)

    def __call__(self, inputs):
        assert isinstance(inputs, list) and inputs[0].dtype == torch.float64
        return torch.stack(inputs).sort(dim=0).values[self.cut : len(inputs) - self.cut].mean(dim=0)
"""

STATEFUL = """
import torch

class Centeredclipping:
    def __init__(self, tau=5.0, n_iter=5):
        self.momentum = None

    def __call__(self, inputs):
        self.momentum = inputs[0] if self.momentum is None else self.momentum + inputs[0]
        return self.momentum
"""

NEEDS_MORE = "import no_such_clustering_package\n\nclass Signguard:\n    pass\n"


@pytest.fixture(params=["fedlib", "fllib"])
def library(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    name = str(request.param)
    package = tmp_path / name / "aggregators"
    package.mkdir(parents=True)
    files = {
        "../__init__": HEAVY,
        "__init__": HEAVY,
        "aggregators": PLAIN,
        "centeredclipping": STATEFUL,
        "multikrum": "",
        "clippedclustering": "",
        "signguard": NEEDS_MORE,
    }
    for file, text in files.items():
        (package / f"{file}.py").write_text(text)
    monkeypatch.syspath_prepend(str(tmp_path))
    yield name
    for module in [module for module in sys.modules if module.partition(".")[0] == name]:
        del sys.modules[module]


def test_rule_below_heavy_packages(library: str) -> None:
    trimmed = resolve(f"{library}:Trimmedmean", f=2)
    np.testing.assert_allclose(trimmed(X), np.sort(X, axis=0)[2:7].mean(axis=0))
    half = resolve(f"{library}.aggregators.aggregators:Trimmedmean(filter_frac=0.5)", f=2)
    np.testing.assert_allclose(half(X), np.sort(X, axis=0)[1:8].mean(axis=0))
    assert library not in sys.modules
    assert f"{library}.aggregators" not in sys.modules


def test_state_does_not_leak(library: str) -> None:
    adapted = resolve(f"{library}:Centeredclipping", f=2)
    np.testing.assert_array_equal(adapted(X), X[0])
    np.testing.assert_array_equal(adapted(X), X[0])
    module = sys.modules[f"{library}.aggregators.centeredclipping"]
    handed_over = resolve(module.Centeredclipping(), f=2)
    np.testing.assert_array_equal(handed_over(X), X[0])
    np.testing.assert_array_equal(handed_over(X), X[0])


def test_rule_whose_module_needs_more_says_so(library: str) -> None:
    with pytest.raises(InputError) as caught:
        resolve(f"{library}:Signguard", f=2)
    message = str(caught.value)
    assert f"{library}:Signguard was not found" in message
    assert "no_such_clustering_package" in message
    assert "\n" not in message


def test_library_that_is_not_installed() -> None:
    with pytest.raises(InputError, match=r"fedlib:Mean was not found: .*No module named 'fedlib'"):
        resolve("fedlib:Mean", f=2)
