"""How exactly a foreign rule computes, measured: its floats, what it stops short of, and how long one call takes.

A rule is called on plain inputs first; one that refuses them, or returns something else than a vector, is not a rule at
this (n, f), which is a mistake of the request and no verdict.

Floats. What comes out may be float32 or narrower. A rule may also compute in such floats and return float64: then the
output does not move at all when the input is rounded to them, although it moves when the input is changed by more. Or
it may only decide in float32, say by distances, and return what it selects as it was: then which vectors it selects,
where all are tied, does not follow changes of the input that float32 cannot see, although it follows larger ones.

Iterations. If all honest vectors are equal, every (f, kappa)-robust rule returns them. A rule that iterates to a
tolerance, or that adds an epsilon to a denominator, comes near: how near, relative to the largest entry, is what it is
exact to. Whoever is off by more than ``ITERATION`` has not stopped short, but is wrong.
"""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from kappaguard.rules.base.errors import InputError, RuleFault
from kappaguard.rules.foreign.adapted import Adapted
from kappaguard.rules.foreign.convert import as_numpy
from kappaguard.rules.foreign.seeding import seeded
from kappaguard.verify.judge.judgement import Floats
from kappaguard.verify.judge.rounding import DOUBLE, LOST, tolerance_for

EPSILONS = {"bfloat16": 2.0**-7, "float16": 2.0**-10, "float32": 2.0**-23}
RANGES = {2.0**-7: 53, 2.0**-10: 4, 2.0**-23: 53, DOUBLE: 480}
"""By their epsilon, up to which power of two floats can be squared and added without leaving their range."""
ITERATION = 1e-4
"""Relative to the largest entry: an error beyond this is none of an iteration that ended too early."""
SLOW = 0.05
"""Seconds of a call from which on a rule is shown less."""
MOVE = 2.0**-4
ROUNDED = 3
"""How many inputs are rounded."""
TIED, VISIBLE, INVISIBLE = 12, 2.0**-14, 2.0**-26
"""How often ties are broken, by relative changes that float32 shows, and by such as it rounds away."""

HONEST = (1.0, 0.0, -1000.0)
FAR = (-1.0, 64.0, 1000.0, 1e6)


@dataclass(frozen=True)
class Precision:
    """The epsilon of a rule's floats, what it is exact to beyond them (0: it is), and the seconds of a call."""

    epsilon: float = DOUBLE
    inexact: float = 0.0
    pace: float = 0.0


def measure(rule: Callable[[Any], Any], n: int, f: int) -> Precision:
    """The precision of a rule; InputError if it does not run at (n, f) at all, or does not return vectors."""
    if not isinstance(rule, Adapted):
        return Precision()
    epsilon, pace = _first_calls(rule, n, f)
    if epsilon == DOUBLE:
        epsilon = _inner_epsilon(rule, n, brief=pace > SLOW)
    if epsilon == DOUBLE and _decides_in_single(rule, n, brief=pace > SLOW):
        epsilon = EPSILONS["float32"]
    return Precision(epsilon, _inexact(rule, n, f, epsilon, brief=pace > SLOW), pace)


def equal_honest(n: int, f: int) -> Iterator[tuple[Floats, tuple[int, ...]]]:
    """Inputs whose honest vectors are all equal, with S: small numbers and one dimension first; the adversary's vectors
    first, last, equal, and spread out; in the last dimension they may all agree as well."""
    for d, shared in ((1, None), (2, None), (2, 7.0)):
        for far in FAR:
            for honest in HONEST:
                for subset in (tuple(range(f, n)), tuple(range(n - f))):
                    others = [worker for worker in range(n) if worker not in set(subset)]
                    x = np.full((n, d), honest)
                    x[others] = honest + far
                    if shared is not None:
                        x[:, -1] = shared
                    yield x.copy(), subset
                    if len(others) > 1:
                        x[others, 0] = honest + far * np.arange(1, len(others) + 1)
                        if shared is None:
                            x[others] = x[others, :1]
                        yield x, subset


def _first_calls(rule: Adapted, n: int, f: int) -> tuple[float, float]:
    """The epsilon of what is returned for plain inputs, and the seconds of the quickest call."""
    faults: list[RuleFault] = []
    found, pace = None, math.inf
    for seed, d in enumerate((3, 1, 3)):
        x = np.random.default_rng(seed).standard_normal((n, d))
        start = time.perf_counter()
        try:
            returned = _produce(rule, x)
        except RuleFault as fault:
            faults.append(fault)
            continue
        pace = min(pace, time.perf_counter() - start)
        dtype = str(returned.dtype).rpartition(".")[2]
        found = EPSILONS.get(dtype, DOUBLE) if found is None else found
        if d == 1 and pace > SLOW:
            break
    mistaken = [fault for fault in faults if fault.kind in ("shape", "type")]
    if mistaken:
        raise InputError(f"{rule.name} {mistaken[0].detail}; {EXPECTED}")
    if len(faults) == 3 and all(fault.kind in ("exception", "none") for fault in faults):
        hint = f"; {DOUBLES}" if "dtype" in faults[0].detail and "double" in faults[0].detail.lower() else ""
        raise InputError(f"{rule.name} does not run at n = {n} and f = {f}: it {faults[0].detail}{hint}") from faults[0]
    return DOUBLE if found is None else found, 0.0 if math.isinf(pace) else pace


DOUBLES = "the vectors are float64 here: make new tensors like them, as in torch.zeros(n, dtype=x.dtype)"
EXPECTED = "a rule takes an array of shape (n, d), one vector in each row, and returns one vector of shape (d,)"


def _produce(rule: Adapted, x: Floats) -> Any:
    with seeded(0), warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        return rule.produce(x)


def _output(rule: Adapted, x: Floats) -> Floats | None:
    try:
        output: Floats = np.asarray(as_numpy(_produce(rule, x)), dtype=np.float64)
    except RuleFault:
        return None
    return output if np.all(np.isfinite(output)) else None


def _inner_epsilon(rule: Adapted, n: int, *, brief: bool) -> float:
    """That of the widest rounding of the input under which the output stays the same to the last bit."""
    inputs = [np.random.default_rng(seed).standard_normal((n, 3)) for seed in range(1 if brief else ROUNDED)]
    outputs = [_output(rule, x) for x in inputs]
    if any(output is None for output in outputs) or not any(
        _moves(rule, x, output) for x, output in zip(inputs, outputs, strict=True)
    ):
        return DOUBLE
    for name, epsilon in EPSILONS.items():
        rounded = (_output(rule, _rounded(x, name)) for x in inputs)
        if all(_same(output, other) for output, other in zip(outputs, rounded, strict=True)):
            return epsilon
    return DOUBLE


def _decides_in_single(rule: Adapted, n: int, *, brief: bool) -> bool:
    """Whether the rule selects by what float32 shows of the input.

    The corners of a regular simplex have equal distances, so that whatever selects some of them decides by the least
    change. Another selection moves the output by more than 1/n; a rule that is continuous does not, at such changes.
    """
    corners = np.ones((n, n)) + 2 * np.eye(n)
    selected = _output(rule, corners)
    draw = np.random.default_rng(0)

    def jumps(change: float) -> bool:
        output = _output(rule, corners * (1 + change * draw.uniform(-1, 1, size=(n, n))))
        return selected is None or output is None or float(np.max(np.abs(output - selected))) > 1 / n

    larger, smaller = (1, 4) if brief else (TIED, TIED)
    return any(jumps(VISIBLE) for _ in range(larger)) and not any(jumps(INVISIBLE) for _ in range(smaller))


def _moves(rule: Adapted, x: Floats, output: Floats | None) -> bool:
    """Whether the output changes when the input does so clearly: one that never changes has no digits to lose."""
    return not _same(_output(rule, x * (1 + MOVE)), output)


def _same(a: Floats | None, b: Floats | None) -> bool:
    return a is not None and b is not None and np.array_equal(a, b)


def _rounded(x: Floats, name: str) -> Floats:
    """x rounded to floats of that name; bfloat16, which NumPy does not know, is float32 with 16 bits fewer."""
    if name != "bfloat16":
        return x.astype(name).astype(np.float64)
    bits = x.astype(np.float32).view(np.uint32)
    even = (bits + np.uint32(0x7FFF) + ((bits >> np.uint32(16)) & np.uint32(1))) & np.uint32(0xFFFF0000)
    return even.view(np.float32).astype(np.float64)


def _inexact(rule: Adapted, n: int, f: int, epsilon: float, *, brief: bool) -> float:
    """The largest relative error beyond rounding on equal honest vectors; 0 if one of the errors is no iteration's."""
    if not f:
        return 0.0
    worst = 0.0
    for count, (x, subset) in enumerate(equal_honest(n, f)):
        if brief and count >= 2:
            break
        output, honest = _output(rule, x), x[subset[0]]
        if output is None:
            continue
        error, size = float(np.max(np.abs(output - honest))), float(np.max(np.abs(x)))
        if error <= float(tolerance_for(n, x.shape[1], epsilon)) * size:
            continue
        own = float(np.max(np.abs(honest)))
        if error > ITERATION * size or (own and error > float(LOST) * own):
            return 0.0
        worst = max(worst, error / size)
    return worst
