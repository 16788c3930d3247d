"""CAF in a batch: members that are finished leave the others, and themselves, alone."""

from __future__ import annotations

import numpy as np

from kappaguard.rules.names import parse


def test_a_member_without_weight_left_does_not_disturb_the_batch():
    """The first member loses all weight at once (two groups, equally far from the mean), the second does not."""
    generator = np.random.default_rng(0)
    groups = np.repeat([1.0, -1.0], 4)[:, None] * np.eye(1, 5)
    batch = np.stack([groups, generator.standard_normal((8, 5))])
    together = parse("caf", f=3)(batch)
    for row, x in zip(together, batch, strict=True):
        np.testing.assert_allclose(row, parse("caf", f=3)(x), rtol=1e-12, atol=1e-12)
