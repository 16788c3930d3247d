"""Means of finite values are finite, also where their sum leaves the floats."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from kappaguard.rules.names import parse

LARGEST = {np.float16: 6e4, np.float32: 3.2e38, np.float64: 1.7e308}


@pytest.mark.parametrize("dtype", LARGEST)
@pytest.mark.parametrize("name", ["cwtm", "cwmed", "meamed"])
@pytest.mark.parametrize("d", [1, 3000])
def test_large_values(name, dtype, d):
    largest = LARGEST[dtype]
    column = np.array([1.0, -1.0, -0.9, -0.8, -0.7, -0.95]) * largest
    x = np.repeat(column[:, None], d, axis=1).astype(dtype)
    expected = parse(name, f=1)(np.array([[1.0], [-1.0], [-0.9], [-0.8], [-0.7], [-0.95]]))[0]
    for result in (parse(name, f=1)(x), parse(name, f=1)(torch.tensor(x)).numpy()):
        assert np.all(np.isfinite(result))
        assert np.allclose(result.astype(np.float64) / largest, expected, rtol=2e-3 if dtype == np.float16 else 1e-6)
