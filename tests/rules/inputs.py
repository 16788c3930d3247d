"""Inputs for property tests, and the tolerance that belongs to them."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from hypothesis import strategies as st

RULES = [
    *("average", "cwmed", "cwtm", "gm", "krum", "multikrum", "mda", "meamed"),
    *("centered_clipping", "monna", "smea", "caf"),
    *("medoid", "aksel", "ctma", "cge", "median_clipping", "dnc", "filterl2", "nnm+medoid", "nnm+aksel"),
    *("nnm+average", "nnm+cwmed", "nnm+cwtm", "nnm+gm", "nnm+krum", "nnm+multikrum", "nnm+mda", "nnm+meamed"),
    *("bucketing+krum", "bucketing+gm", "bucketing+cwmed", "bucketing+cwtm", "bucketing+nnm+cwtm"),
    *("clipping+cwtm", "arc+krum", "nnm+nnm+krum"),
]


@st.composite
def clouds(draw, most_n=9, most_d=6):
    """A generic cloud (no ties up to rounding) with its f: normal vectors, some scaled, some copied with noise."""
    n = draw(st.integers(3, most_n))
    f = draw(st.integers(0, (n - 1) // 2))
    d = draw(st.integers(1, most_d))
    generator = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    x = generator.standard_normal((n, d))
    kind = draw(st.sampled_from(["plain", "outliers", "clusters", "stretched"]))
    if kind == "outliers" and f:
        x[:f] += 10.0 ** generator.uniform(0, 3) * generator.standard_normal(d)
    elif kind == "clusters":
        x += 5.0 * generator.integers(-1, 2, (n, 1))
    elif kind == "stretched":
        x *= 10.0 ** generator.uniform(-1.5, 1.5, d)
    return generator.permutation(x), f


@st.composite
def integer_clouds(draw, most_n=8, most_d=3, largest=2):
    """A cloud of small integers, full of ties, with its f."""
    n = draw(st.integers(3, most_n))
    f = draw(st.integers(0, (n - 1) // 2))
    d = draw(st.integers(1, most_d))
    entries = st.lists(st.integers(-largest, largest), min_size=n * d, max_size=n * d)
    return np.array(draw(entries), dtype=float).reshape(n, d), f


def exactly(x: np.ndarray) -> np.ndarray:
    """The floats of x as the fractions that they are."""
    flat = [Fraction(float(value)) for value in x.ravel()]
    result = np.empty(len(flat), dtype=object)
    result[:] = flat
    return result.reshape(x.shape)


def spread(x: np.ndarray) -> float:
    """The size of the differences in x, of x itself if there are none."""
    size = float(np.max(np.abs(x - x.mean(axis=-2, keepdims=True))))
    return size if size > 0 else float(np.max(np.abs(x))) or 1.0


def usable(name: str, n: int, f: int) -> bool:
    """Whether the rule is defined for n vectors: bucketing leaves fewer of them to the rules behind it."""
    if "bucketing" not in name:
        return True
    size = n // (2 * f) if f else n
    return 2 * f < -(-n // max(size, 1))
