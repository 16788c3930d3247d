"""The numeric tests once more, with the compiled kernels on matrices that are otherwise too small for them."""

from __future__ import annotations

import pytest

from kappaguard.rules import native

from .test_infinite import *  # noqa: F403
from .test_overflow import *  # noqa: F403
from .test_properties import (  # noqa: F401
    test_agrees_with_the_naive_definition,
    test_large_offset_and_tiny_spread,
    test_magnitudes_whose_squares_leave_the_floats,
)

pytestmark = pytest.mark.skipif(not native.available(), reason="the kernels are not compiled or switched off")


@pytest.fixture(autouse=True, scope="module")
def every_matrix_is_large_enough():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(native, "LEAST_ENTRIES", 1)
        yield
