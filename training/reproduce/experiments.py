"""An experiment as a list of cells: one run each, of one rule under one attack from one seed."""

from __future__ import annotations

import difflib
import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from kappaguard.rules.base.errors import InputError
from kappaguard.training.configuration import Configuration, preset
from kappaguard.training.reproduce.catalogue import EXPERIMENTS, Experiment

OTHERS = ("theorem2-regimes", "rates", "witnesses")
"""What ``kappaguard reproduce`` knows besides, of which only summaries of runs are kept."""

SEEDS = 1000
"""An experiment has at most so many."""

RUN, SUMMARY = "run", "summary"
"""What is kept of a cell: the result and the log of a run, or what ``kappaguard.training.theorems.summary`` says."""

PLACES = ("device", "data_dir")
"""Settings that do not change what comes out."""


@dataclass(frozen=True)
class Cell:
    """One run of an experiment."""

    experiment: str
    configuration: Configuration
    kind: str = RUN

    @property
    def key(self) -> str:
        """What tells it from all other cells: all that is not as usual, except where it runs and where its data is.

        So a setting that is added later, with a default that changes nothing, leaves the keys as they were.
        """
        usual = Configuration().to_json()
        given = self.configuration.to_json()
        values = {name: given[name] for name in given if name not in PLACES and given[name] != usual[name]}
        return json.dumps(values if self.kind == RUN else {**values, "kept": self.kind}, sort_keys=True)

    @property
    def attack(self) -> str:
        """The attack's name without its parameters."""
        return self.configuration.attack.partition("(")[0]

    @property
    def label(self) -> str:
        """What the cell is called in tables and pictures."""
        given = self.configuration
        return f"{given.rule} {given.attack} seed {given.seed}"


def experiment_named(name: str) -> Experiment:
    """The table or figure of that name."""
    if name not in EXPERIMENTS:
        near = difflib.get_close_matches(name, (*EXPERIMENTS, *OTHERS), 1)
        hint = f"did you mean {near[0]}? There" if near else "there"
        raise InputError(f"no table or figure is called {name!r}; {hint} are {', '.join((*EXPERIMENTS, *OTHERS))}")
    return EXPERIMENTS[name]


def cells_of(
    name: str, seeds: int, rules: Iterable[str] | None = None, attacks: Iterable[str] | None = None, **changes: Any
) -> list[Cell]:
    """The cells for seeds 1 .. ``seeds`` (the paper has 1 to 5), of some of the rules and attacks if they are named."""
    experiment = experiment_named(name)
    base = preset(experiment.preset).with_values({**dict(experiment.changes), **changes})
    chosen_rules = _chosen(rules, experiment.rules, "rule", name)
    chosen_attacks = _chosen(attacks, experiment.attacks, "attack", name)
    horizons = (base.steps,) if "steps" in changes or not experiment.horizons else experiment.horizons
    spelled = dict(experiment.spelled)
    return [
        Cell(
            name,
            base.with_values(
                {
                    "rule": spelled_rule(rule, spelled),
                    "attack": spelled.get(attack, attack),
                    "seed": seed,
                    "steps": steps,
                }
            ),
        )
        for seed in range(1, seeds + 1)
        for rule in chosen_rules
        for attack in chosen_attacks
        for steps in horizons
    ]


def spelled_rule(rule: str, spelled: dict[str, str]) -> str:
    """The name of a pipeline with its stages as an experiment spells them."""
    return "+".join(spelled.get(stage, stage) for stage in rule.split("+"))


def name_of(what: str, cells: list[Cell]) -> str:
    """The name of an experiment's files: the same cells have the same, and others, of other settings, another."""
    steps = "-".join(map(str, sorted({cell.configuration.steps for cell in cells})))
    seeds = len({cell.configuration.seed for cell in cells})
    selection = hashlib.sha256("\n".join(sorted(cell.key for cell in cells)).encode()).hexdigest()
    return f"{what}-steps{steps}-seeds{seeds}-{selection[:8]}"


def _chosen(wanted: Iterable[str] | None, known: tuple[str, ...], what: str, name: str) -> tuple[str, ...]:
    chosen = tuple(dict.fromkeys(wanted or known))
    for each in chosen:
        if each not in known:
            raise InputError(f"{name} has no {what} {each!r}; it has {', '.join(known)}")
    return chosen
