"""Step sizes gamma_t for t = 1, 2, ..., T."""

from __future__ import annotations

from collections.abc import Callable

from kappaguard.rules.base.errors import InputError

Schedule = Callable[[int], float]


def schedule_named(text: str, rate: float) -> Schedule:
    """``constant``; ``harmonic:50``: rate/(1 + floor(t/50)); ``drop:1500:0.1``: times 0.1 after step 1500.

    The last two are the paper's for MNIST and for CIFAR-10 (table of hyper-parameters).
    """
    kind, *numbers = text.split(":")
    try:
        match kind, numbers:
            case "constant", []:
                return lambda t: rate
            case "harmonic", [period] if int(period) > 0:
                every = int(period)
                return lambda t: rate / (1 + t // every)
            case "drop", [last, factor] if int(last) > 0 and float(factor) > 0:
                limit, by = int(last), float(factor)
                return lambda t: rate if t <= limit else rate * by
    except ValueError:
        pass
    raise InputError(f"a schedule is constant, harmonic:STEPS, drop:STEP:FACTOR or theorem, got {text!r}")
