"""The paper's tables and figures by name, and what checks its convergence theorems."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from kappaguard.training.reproduce.paper import ATTACKS, TABLE_2
from kappaguard.training.slack import NAMES

Changes = tuple[tuple[str, Any], ...]

ACCURACY, KAPPA_HAT, MARGIN = "accuracy", "ratio", "margin"

AS_IN_THE_PAPER = (("alie", "alie(positive=True)"), ("foe", "foe(positive=True)"))
"""The paper optimises over eta >= 0. Both signs reach a larger distance, which may be less damage, or more."""
AS_THE_AUTHORS = (
    ("alie", "alie(search='line16')"),
    ("foe", "foe(search='line16')"),
    ("lf", "lf(mean=True)"),
    ("mimic", "mimic(rechoose=True)"),
    ("gm", "gm(steps=3, nu=0.1)"),
)
"""What the code of the paper's authors does (LPD-EPFL/robust-collaborative-learning, of the same family)."""


@dataclass(frozen=True)
class Experiment:
    """A table or a figure of the paper: a preset, what differs from it, the rules and attacks, and what is drawn.

    With ``MARGIN`` both sides of a convergence theorem are printed instead. With ``horizons`` there is a run for each
    of these T.
    """

    title: str
    preset: str
    changes: Changes
    rules: tuple[str, ...]
    attacks: tuple[str, ...] = ATTACKS
    quantity: str = ACCURACY
    horizons: tuple[int, ...] = ()
    spelled: tuple[tuple[str, str], ...] = AS_IN_THE_PAPER
    """Names of rules and attacks in the experiment's table, and what is run for them."""


_BASES = ("krum", "gm", "cwmed", "cwtm")
_OTHERS = ("mda", "multikrum", "meamed")


def _with_pre(rules: Iterable[str], *pre: str) -> tuple[str, ...]:
    return tuple(f"{step}+{rule}" if step else rule for rule in rules for step in pre)


_MIXED = _with_pre(_BASES, "nnm", "bucketing")
_MIXED_OTHERS = _with_pre(_OTHERS, "nnm", "bucketing")

EXPERIMENTS: dict[str, Experiment] = {
    "table2": Experiment("Table 2: MNIST, alpha = 0.1, n = 17, f = 4", "mnist", (), tuple(TABLE_2)),
    "table2-authors": Experiment(
        "Table 2 in the authors' setting: MNIST, alpha = 0.1, n = 17, f = 4",
        "mnist-authors",
        (),
        tuple(TABLE_2),
        spelled=AS_THE_AUTHORS,
    ),
    "baseline": Experiment(
        "D-SHB without faults on MNIST, alpha = 0.1 (caption of Table 2)", "mnist", (("f", 0),), ("average",), ("none",)
    ),
    "kappa": Experiment(
        "kappa-hat with NNM and with Bucketing, MNIST, alpha = 0.1, f = 4",
        "mnist",
        (("measure_every", 1),),
        _MIXED,
        quantity=KAPPA_HAT,
    ),
    "kappa-cifar-10": Experiment(
        "Figure on kappa-hat: NNM and Bucketing, CIFAR-10, alpha = 1, f = 2",
        "cifar-10",
        (("measure_every", 1),),
        _MIXED,
        ("alie", "foe"),
        KAPPA_HAT,
    ),
    "cifar-10": Experiment(
        "Figure of the main text: CIFAR-10, alpha = 1, f = 2", "cifar-10", (), _MIXED, ("alie", "lf")
    ),
    "cifar-10-low": Experiment(
        "Figure of the main text: CIFAR-10, alpha = 10, f = 2", "cifar-10", (("alpha", 10.0),), _MIXED, ("alie", "lf")
    ),
}


_BUT: dict[str, tuple[Changes, tuple[str, ...]]] = {
    "split": ((("split", "dirichlet"),), ()),
    "network": ((("model", "cnn-mnist"),), ()),
    "search": ((), ("alie", "foe")),
    "gm": ((), ("gm",)),
    "lf": ((), ("lf",)),
    "mimic": ((), ("mimic",)),
}
"""What differs between the authors' setting and ours, one by one: settings, and what is spelled as we do."""
for _name, (_changes, _ours) in _BUT.items():
    EXPERIMENTS[f"authors-but-{_name}"] = Experiment(
        f"The authors' setting of Table 2, but for {_name}",
        "mnist-authors",
        _changes,
        ("nnm+krum", "gm"),
        ("foe", "lf", "mimic"),
        spelled=tuple(
            (name, spelled if name not in _ours else dict(AS_IN_THE_PAPER).get(name, name))
            for name, spelled in AS_THE_AUTHORS
        ),
    )

EXPERIMENTS["dgd-6000"] = Experiment(
    "D-GD on 6,000 images of MNIST, alpha = 0.1, f = 4, with and without nnm",
    "mnist",
    (("algorithm", "gd"), ("samples", 6000)),
    _with_pre(_BASES, "", "nnm"),
)


def _figures(name: str, title: str, preset: str, rules: tuple[str, ...], changes: Changes, settings: Any) -> None:
    """One figure of the appendix per (f, alpha); the first one also has the plain name, if that is free."""
    for f, alpha, *more in settings:
        values = (*changes, ("f", f), ("alpha", alpha), *more)
        made = Experiment(f"Figure of the appendix: {title}, f = {f}, alpha = {alpha:g}", preset, values, rules)
        EXPERIMENTS.setdefault(name, made)
        EXPERIMENTS[f"{name}-f{f}-alpha{alpha:g}"] = made


_MNIST = ((4, 0.1), (4, 1.0), (4, 10.0), (6, 1.0), (6, 10.0), (8, 10.0))
_figures("mnist", "D-SHB on MNIST", "mnist", _MIXED, (), _MNIST)
_figures("dgd", "D-GD on MNIST", "mnist", _MIXED, (("algorithm", "gd"),), _MNIST[:3])
_figures("others", "MDA, MultiKrum and MeaMed on MNIST", "mnist", _MIXED_OTHERS, (), _MNIST)
_figures("fashion-mnist", "D-SHB on Fashion-MNIST", "fashion-mnist", _MIXED, (), _MNIST[:5])
_figures(
    "cifar-10",
    "D-SHB on CIFAR-10",
    "cifar-10",
    _MIXED,
    (),
    ((2, 1.0), (2, 10.0), (3, 1.0), (3, 10.0), (4, 10.0, ("momentum", 0.99))),
)

_EVERY_RULE = _with_pre((*_BASES, *_OTHERS), "", "nnm")
_THEORY = ("alie", "foe", "sf", "mimic", "adaptive")
_LOGISTIC: Changes = (("model", "logistic"), ("dataset", "digits"), ("l2", 1e-2), ("steps", 60))
_NETWORK: Changes = (
    ("algorithm", "gd"),
    ("schedule", "constant"),
    ("learning_rate", 0.05),
    ("clip", None),
    ("samples", 650),
    ("alpha", 1.0),
    ("steps", 15),
    ("measure", "full"),
    ("measure_every", 1),
    ("evaluate_every", 0),
)
_NOISY: Changes = (("steps", 300), ("sigma", 0.3))
_NOISY_LOGISTIC: Changes = (*_LOGISTIC[:-1], ("steps", 100), ("batch", 25))
_NOISY_NETWORK: Changes = (
    *_NETWORK[3:],
    ("algorithm", "shb"),
    ("schedule", "theorem"),
    ("assumed_smoothness", 40.0),
)


def _theorem(name: str, title: str, preset: str, changes: Changes, *more: str) -> None:
    EXPERIMENTS[name] = Experiment(title, preset, changes, _EVERY_RULE, (*_THEORY, *more), MARGIN, spelled=())


_theorem("theorem1", "Theorem 1 on quadratics", "theorem1", (("steps", 60),))
_theorem("theorem2", "Theorem 2 on quadratics", "theorem2", _NOISY)
_theorem("theorem1-cnn", "Theorem 1 on the network for MNIST (650 images)", "mnist", _NETWORK, "lf")
_theorem("theorem2-cnn", "Theorem 2 on the network for MNIST (650 images)", "mnist", _NOISY_NETWORK, "lf")
_theorem("theorem1-logistic", "Theorem 1 on logistic regression (digits)", "theorem1", _LOGISTIC, "lf")
_theorem("theorem2-logistic", "Theorem 2 on logistic regression (digits)", "theorem2", _NOISY_LOGISTIC, "lf")

EXPERIMENTS["theorem1-slack"] = Experiment(
    "Theorem 1 under the adversary that owns the slack, on quadratics with G = L = 1",
    "theorem1",
    # as near as 3 sqrt(kappa) G, but for a thousandth: so the first aggregate is the smallest, strictly
    (("n", 4), ("f", 0), ("dimension", 5), ("condition", 1.0), ("distance", 2.999), ("kappa", 1.0)),
    ("slack",),
    ("none",),
    MARGIN,
    (3, 4, 12, 100),
    (),
)

_OWNED = tuple(f"{name}({rule})" for rule in _EVERY_RULE for name in NAMES)


def _adaptive(name: str, title: str, preset: str, changes: Changes) -> None:
    """For every rule, the adversary that owns its slack: kappa is the certified upper bound on the rule's kappa*."""
    EXPERIMENTS[name] = Experiment(
        f"{title}, all of each rule's slack", preset, changes, _OWNED, ("none",), MARGIN, spelled=()
    )


_adaptive("theorem1-adaptive", "Theorem 1 on quadratics", "theorem1", (("steps", 60),))
_adaptive("theorem1-adaptive-logistic", "Theorem 1 on logistic regression (digits)", "theorem1", _LOGISTIC)
_adaptive("theorem1-adaptive-cnn", "Theorem 1 on the network for MNIST (650 images)", "mnist", _NETWORK)
_adaptive("theorem2-adaptive-logistic", "Theorem 2 on logistic regression (digits)", "theorem2", _NOISY_LOGISTIC)
_adaptive("theorem2-adaptive-cnn", "Theorem 2 on the network for MNIST (650 images)", "mnist", _NOISY_NETWORK)
_adaptive("theorem2-adaptive", "Theorem 2 on quadratics", "theorem2", _NOISY)
