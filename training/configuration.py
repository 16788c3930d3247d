"""What a run is: every setting of it, checked, from a preset and the values that override it."""

from __future__ import annotations

import difflib
import hashlib
import json
import tomllib
from dataclasses import asdict, dataclass, fields, replace
from importlib.resources import files
from typing import Any

from kappaguard.rules.base.checks import require_count, require_minority, require_positive, shown
from kappaguard.rules.base.errors import InputError

ALGORITHMS = ("shb", "gd")
DTYPES = ("float32", "float64")
MEASURES = ("none", "light", "full")
LABEL_FLIPPING = "lf"
MEAN_FLIPPING = "lf(mean=True)"
"""All Byzantine workers send the mean of the honest workers' gradients on flipped labels, without momentum."""
LATER = ("screen",)
"""Settings that came later: at their defaults they leave the mark of a run as it was."""
SMALLEST, LARGEST = 1e-30, 1e30
"""Quantities of a problem within these have squares and quotients that are numbers."""


@dataclass(frozen=True)
class Configuration:
    """Every setting of a run."""

    dataset: str = "digits"
    data_dir: str | None = None
    samples: int = 0
    """Only so many training samples, the first ones; 0 for all."""
    model: str = "logistic"
    algorithm: str = "shb"
    """``gd``: Algorithm 1, exact gradients; ``shb``: Algorithm 2, stochastic ones with momentum at the workers."""
    n: int = 17
    f: int = 4
    rule: str = "nnm+cwtm"
    attack: str = "alie"
    """``alie``, ``foe``, ``sf``, ``mimic``, ``adaptive``, ``lf`` (label flipping), ``lf(mean=True)`` or ``none``."""
    steps: int = 200
    batch: int = 25
    learning_rate: float = 0.5
    schedule: str = "constant"
    momentum: float = 0.9
    l2: float = 0.0
    clip: float | None = None
    """Every worker's gradient is scaled down to this length."""
    split: str = "dirichlet"
    alpha: float = 1.0
    seed: int = 1
    device: str = "auto"
    dtype: str = "float32"
    evaluate_every: int = 50
    """Test accuracy every so many steps, and after the last; 0 for never."""
    screen: int = 0
    """Tests look at so many test samples, and only the best model of every ten tests is tested on all; 0: all do."""
    measure: str = "light"
    """``light``: what the messages tell; ``full``: also the exact gradients, at the price of a pass over all data."""
    measure_every: int = 10
    keep_messages: int = 0
    """Every so many steps what the workers sent is kept in the run's folder, compressed; 0 for never."""
    dimension: int = 20
    """Of quadratics, as are the next five."""
    smoothness: float = 1.0
    condition: float = 10.0
    heterogeneity: float = 1.0
    sigma: float = 1.0
    distance: float = 5.0
    kappa: float | None = None
    """A proved coefficient of the rule for the step sizes of Theorem 2, where the paper claims none."""
    assumed_smoothness: float | None = None
    """L for the step sizes of the theorems where nobody knows it: a network's. A steeper run is refused afterwards."""

    def __post_init__(self) -> None:
        for field in fields(self):
            _check_type(field.name, getattr(self, field.name), str(field.type))
        object.__setattr__(self, "attack", _UNSEARCHED.get(self.attack.lower().replace(" ", ""), self.attack))
        _check_numbers(self)
        _check_choices(self)

    @property
    def honest(self) -> int:
        """The number of honest workers, n - f."""
        return self.n - self.f

    def with_values(self, values: dict[str, Any]) -> Configuration:
        """The same with other values; an unknown key is refused."""
        known = [field.name for field in fields(self)]
        for key in values:
            if key not in known:
                near = difflib.get_close_matches(key, known, 1)
                raise InputError(f"no setting is called {key!r}" + (f"; did you mean {near[0]}?" if near else ""))
        return replace(self, **values)

    def to_json(self) -> dict[str, Any]:
        """Everything, as JSON can hold it."""
        return asdict(self)

    def mark(self) -> str:
        """A short hash of all that the run depends on; where data are, what computes and what is kept may change."""
        aside = ("data_dir", "device", "keep_messages")
        later = {key for key in LATER if getattr(self, key) == getattr(Configuration, key)}
        values = {key: value for key, value in self.to_json().items() if key not in (*aside, *later)}
        return hashlib.sha256(json.dumps(values, sort_keys=True).encode()).hexdigest()[:16]


_UNSEARCHED = {
    **{name.lower(): name for name in ("none", LABEL_FLIPPING, MEAN_FLIPPING)},
    "lf()": LABEL_FLIPPING,
    "lf(mean=false)": LABEL_FLIPPING,
}
"""Attacks that are no function of the honest messages, as they may be written."""


def _check_type(name: str, value: Any, kind: str) -> None:
    if value is None and kind.endswith("| None"):
        return
    expected = kind.removesuffix(" | None")
    accepted: dict[str, tuple[type, ...]] = {"str": (str,), "int": (int,), "float": (int, float)}
    if isinstance(value, bool) or not isinstance(value, accepted[expected]):
        raise InputError(f"{name} must be of type {expected}, got {shown(value)}")
    if expected == "float" and isinstance(value, int) and abs(value) > 2**53:
        raise InputError(f"{name} is written as a float if it is as large as {shown(value)}")


_LEAST = {
    "n": 1,
    "f": 0,
    "steps": 1,
    "batch": 1,
    "seed": 0,
    "evaluate_every": 0,
    "samples": 0,
    "screen": 0,
    "keep_messages": 0,
}


def _check_numbers(given: Configuration) -> None:
    for name, least in _LEAST.items():
        require_count(getattr(given, name), least, name)
    for name in ("n", "steps", "batch", "samples", "screen", "evaluate_every", "measure_every", "dimension"):
        if getattr(given, name) >= 2**31:
            raise InputError(f"{name} must be less than 2^31, got {getattr(given, name)}")
    if given.seed >= 2**63:
        raise InputError(f"seed must be less than 2^63, got {given.seed}")
    require_count(given.measure_every, 1, "measure_every")
    require_count(given.dimension, 1, "dimension")
    require_minority("training", given.n, given.f)
    for name in ("learning_rate", "alpha", "smoothness", "condition", "distance"):
        require_positive(getattr(given, name), name)
    if given.condition < 1:
        raise InputError(f"condition is the largest over the smallest curvature, at least 1, got {given.condition}")
    for name in ("clip", "kappa", "assumed_smoothness"):
        if getattr(given, name) is not None:
            require_positive(getattr(given, name), name)
    if not 0 <= given.momentum < 1:
        raise InputError(f"momentum must be in [0, 1), got {given.momentum}")
    if not 0 <= given.l2 <= LARGEST:
        raise InputError(f"l2 must be from 0 to {LARGEST:g}, got {shown(given.l2)}")
    for name in ("heterogeneity", "sigma", "smoothness", "distance"):
        value = getattr(given, name)
        if not (value == 0 or SMALLEST <= value <= LARGEST):
            raise InputError(f"{name} must be 0 or from {SMALLEST:g} to {LARGEST:g}, got {shown(value)}")


def _check_choices(given: Configuration) -> None:
    for name, choices in {"algorithm": ALGORITHMS, "dtype": DTYPES, "measure": MEASURES}.items():
        if getattr(given, name) not in choices:
            raise InputError(f"{name} must be one of {', '.join(choices)}, got {getattr(given, name)!r}")
    if given.assumed_smoothness is not None and given.schedule != "theorem":
        raise InputError("assumed_smoothness is for the schedule theorem, whose step sizes need L")
    if given.attack.lower().startswith(f"{LABEL_FLIPPING}(") and given.attack != MEAN_FLIPPING:
        raise InputError(f"{LABEL_FLIPPING} takes mean=True or nothing, got {given.attack[:60]!r}")
    if given.model == "quadratic" and given.attack in (LABEL_FLIPPING, MEAN_FLIPPING):
        raise InputError("quadratics have no labels to flip")


def presets() -> list[str]:
    """The names of the presets."""
    found = files("kappaguard.training.presets").iterdir()
    return sorted(entry.name.removesuffix(".toml") for entry in found if entry.name.endswith(".toml"))


def preset(name: str) -> Configuration:
    """The settings of that name."""
    if name not in presets():
        near = difflib.get_close_matches(name, presets(), 1)
        hint = f"did you mean {near[0]}?" if near else f"there are {', '.join(presets())}"
        raise InputError(f"no preset is called {name!r}; {hint}")
    text = files("kappaguard.training.presets").joinpath(f"{name}.toml").read_text(encoding="utf-8")
    return Configuration().with_values(tomllib.loads(text))
