"""The paper's tables and figures as lists of cells: one run each, of one rule under one attack from one seed."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from kappaguard.rules.errors import InputError
from kappaguard.training.configuration import Configuration, preset
from kappaguard.training.reproduce.paper import ATTACKS, TABLE_2

AS_IN_THE_PAPER = {"alie": "alie(positive=True)", "foe": "foe(positive=True)"}
"""The paper optimises over eta >= 0. Both signs reach a larger distance, which may be less damage, or more."""

PLACES = ("device", "data_dir")
"""Settings that do not change what comes out."""


@dataclass(frozen=True)
class Cell:
    """One run of an experiment."""

    experiment: str
    configuration: Configuration

    @property
    def key(self) -> str:
        """What tells it from all other cells: all that is not as usual, except where it runs and where its data is.

        So a setting that is added later, with a default that changes nothing, leaves the keys as they were.
        """
        usual = Configuration().to_json()
        given = self.configuration.to_json()
        values = {name: given[name] for name in given if name not in PLACES and given[name] != usual[name]}
        return json.dumps(values, sort_keys=True)

    @property
    def label(self) -> str:
        """For people."""
        given = self.configuration
        return f"{given.rule} {given.attack} seed {given.seed}"


@dataclass(frozen=True)
class Experiment:
    """A table or a figure of the paper: a preset, what differs from it, and the rules and attacks."""

    title: str
    preset: str
    changes: tuple[tuple[str, Any], ...]
    rules: tuple[str, ...]
    attacks: tuple[str, ...] = ATTACKS


_BASES = ("krum", "gm", "cwmed", "cwtm")
_OTHERS = ("mda", "multikrum", "meamed")


def _with_pre(rules: Iterable[str], *pre: str) -> tuple[str, ...]:
    return tuple(f"{step}+{rule}" if step else rule for rule in rules for step in pre)


EXPERIMENTS: dict[str, Experiment] = {
    "table2": Experiment("Table 2: MNIST, alpha = 0.1, n = 17, f = 4", "mnist", (), tuple(TABLE_2)),
    "kappa": Experiment(
        "Figure: kappa-hat with NNM and with Bucketing, MNIST, alpha = 0.1, f = 4",
        "mnist",
        (("measure_every", 1),),
        _with_pre(_BASES, "nnm", "bucketing"),
    ),
    "mnist": Experiment(
        "Figure: accuracy on MNIST, alpha = 1, f = 4",
        "mnist",
        (("alpha", 1.0),),
        _with_pre(_BASES, "", "nnm", "bucketing"),
    ),
    "dgd": Experiment(
        "Figure: robust D-GD on MNIST, alpha = 0.1, f = 4",
        "mnist",
        (("algorithm", "gd"),),
        _with_pre(_BASES, "nnm", "bucketing"),
    ),
    "others": Experiment(
        "Figure: MDA, MultiKrum and MeaMed on MNIST, alpha = 0.1, f = 4",
        "mnist",
        (),
        _with_pre(_OTHERS, "nnm", "bucketing"),
    ),
    "fashion-mnist": Experiment(
        "Figure: accuracy on Fashion-MNIST, alpha = 0.1, f = 4",
        "fashion-mnist",
        (),
        _with_pre(_BASES, "nnm", "bucketing"),
    ),
    "cifar-10": Experiment(
        "Figure: accuracy on CIFAR-10, alpha = 1, f = 2",
        "cifar-10",
        (),
        _with_pre(_BASES, "nnm", "bucketing"),
        ("alie", "lf"),
    ),
}


_EVERY_RULE = _with_pre((*_BASES, *_OTHERS), "", "nnm")
_THEORY = ("alie", "foe", "sf", "mimic", "adaptive")
_LOGISTIC = (("model", "logistic"), ("dataset", "digits"), ("l2", 1e-2), ("steps", 60))
EXPERIMENTS |= {
    "theorem1": Experiment("Theorem 1 on quadratics", "theorem1", (("steps", 60),), _EVERY_RULE, _THEORY),
    "theorem2": Experiment(
        "Theorem 2 on quadratics",
        "theorem2",
        (("steps", 300), ("sigma", 0.3)),
        _with_pre(_BASES, "", "nnm"),
        _THEORY,
    ),
    "theorem1-cnn": Experiment(
        "Theorem 1 on the network for MNIST (650 images)",
        "mnist",
        (
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
        ),
        _with_pre(_BASES, "", "nnm"),
        _THEORY,
    ),
    "theorem1-logistic": Experiment(
        "Theorem 1 on logistic regression (digits)", "theorem1", _LOGISTIC, _EVERY_RULE, _THEORY
    ),
}
"""With these, both sides of the convergence theorems are printed instead of accuracies."""


def experiment_named(name: str) -> Experiment:
    """The table or figure of that name."""
    if name not in EXPERIMENTS:
        raise InputError(f"no table or figure is called {name!r}; there are {', '.join(EXPERIMENTS)}")
    return EXPERIMENTS[name]


def cells_of(
    name: str, seeds: int, rules: Iterable[str] | None = None, attacks: Iterable[str] | None = None, **changes: Any
) -> list[Cell]:
    """The cells for seeds 1 .. ``seeds`` (the paper has 1 to 5), of some of the rules and attacks if they are named."""
    experiment = experiment_named(name)
    base = preset(experiment.preset).with_values({**dict(experiment.changes), **changes})
    chosen_rules = _chosen(rules, experiment.rules, "rule", name)
    chosen_attacks = _chosen(attacks, experiment.attacks, "attack", name)
    exactly = {} if name.startswith("theorem") else AS_IN_THE_PAPER
    return [
        Cell(name, base.with_values({"rule": rule, "attack": exactly.get(attack, attack), "seed": seed}))
        for seed in range(1, seeds + 1)
        for rule in chosen_rules
        for attack in chosen_attacks
    ]


def _chosen(wanted: Iterable[str] | None, known: tuple[str, ...], what: str, name: str) -> tuple[str, ...]:
    chosen = tuple(wanted or known)
    for each in chosen:
        if each not in known:
            raise InputError(f"{name} has no {what} {each!r}; it has {', '.join(known)}")
    return chosen
