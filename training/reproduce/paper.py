"""The paper's numbers: Table 2, maximum test accuracies (%) and standard deviations over five seeds."""

from __future__ import annotations

import re

from kappaguard.training.configuration import Configuration

ATTACKS = ("alie", "foe", "lf", "sf", "mimic")

TABLE_2: dict[str, tuple[tuple[float, float], ...]] = {
    "krum": ((10.19, 0.61), (10.28, 0.57), (12.76, 6.25), (51.17, 6.14), (86.78, 7.04)),
    "bucketing+krum": ((44.78, 6.18), (36.10, 15.70), (56.21, 19.49), (47.54, 11.74), (94.92, 3.93)),
    "nnm+krum": ((78.30, 7.78), (70.07, 4.39), (93.07, 5.24), (82.44, 2.86), (97.69, 0.77)),
    "gm": ((92.01, 4.35), (65.61, 12.17), (93.94, 3.70), (57.86, 10.42), (96.85, 1.57)),
    "bucketing+gm": ((39.83, 11.35), (44.73, 16.47), (96.22, 2.83), (91.30, 3.91), (97.68, 0.91)),
    "nnm+gm": ((81.26, 8.91), (75.27, 2.69), (94.23, 3.20), (86.33, 3.73), (97.17, 1.09)),
    "cwmed": ((68.74, 6.99), (19.48, 10.97), (33.34, 17.02), (27.96, 9.97), (64.01, 12.77)),
    "bucketing+cwmed": ((55.86, 10.00), (42.80, 21.25), (70.16, 11.65), (50.96, 16.52), (94.43, 3.48)),
    "nnm+cwmed": ((80.52, 7.45), (75.20, 8.80), (93.42, 2.98), (85.10, 6.05), (97.38, 0.70)),
    "cwtm": ((76.16, 7.68), (69.96, 16.57), (36.87, 21.43), (27.45, 8.83), (89.83, 2.83)),
    "bucketing+cwtm": ((55.86, 10.00), (42.80, 21.25), (70.16, 11.65), (50.96, 16.52), (94.43, 3.48)),
    "nnm+cwtm": ((79.04, 9.19), (79.91, 3.94), (94.75, 2.22), (84.78, 5.78), (96.02, 3.25)),
}


BASELINE = (98.03, 0.70)
"""D-SHB without faults, from the caption of Table 2."""
SETTING = {"dataset": "mnist", "algorithm": "shb", "n": 17, "alpha": 0.1, "momentum": 0.9}
MODELS, SPLITS = ("cnn-mnist", "cnn-mnist-20-50"), ("dirichlet", "dirichlet-workers")
"""What Table 2 is about, besides f = 4 (f = 0 for the baseline). The paper gives no numbers for its figures."""


def paper_number(rule: str, attack: str) -> tuple[float, float] | None:
    """Mean and standard deviation of a cell of Table 2."""
    if rule not in TABLE_2 or attack not in ATTACKS:
        return None
    return TABLE_2[rule][ATTACKS.index(attack)]


def paper_number_for(given: Configuration) -> tuple[float, float] | None:
    """The paper's number for a run, if the paper has one for that setting."""
    if any(getattr(given, name) != value for name, value in SETTING.items()):
        return None
    if given.split not in SPLITS or given.model not in MODELS:
        return None
    if (given.f, given.rule, given.attack) == (0, "average", "none"):
        return BASELINE
    return paper_number(plain(given.rule), plain(given.attack)) if given.f == 4 else None


def plain(name: str) -> str:
    """The name of a rule or an attack without the parameters of its stages."""
    return re.sub(r"\([^()]*\)", "", name)
