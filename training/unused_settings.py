"""Settings that say nothing in a given run: who asks for one is told so, instead of being left to believe in it."""

from __future__ import annotations

from collections.abc import Iterable

from kappaguard.rules.base.errors import InputError
from kappaguard.training.configuration import Configuration
from kappaguard.training.slack import is_slack

OF_QUADRATICS = ("dimension", "smoothness", "condition", "heterogeneity", "sigma", "distance")
OF_DATA = ("dataset", "data_dir", "samples", "batch", "l2", "split", "alpha", "screen")


def refuse_unused(asked: Iterable[str], configuration: Configuration) -> None:
    """Every setting that was asked for must have a meaning in the run."""
    for name in asked:
        reason = why_unused(name, configuration)
        if reason is not None:
            raise InputError(f"{name} has no meaning here: {reason}")


def why_unused(name: str, given: Configuration) -> str | None:
    """Why a setting says nothing in this run; None if it does."""
    quadratic, exact, theorem = given.model == "quadratic", given.algorithm == "gd", given.schedule == "theorem"
    if name in OF_QUADRATICS and not quadratic:
        return f"it is of quadratics, and the model is {given.model}"
    if name in OF_DATA and quadratic:
        return "quadratics have no data"
    if name in ("batch", "momentum", "sigma") and exact:
        return "Algorithm 1 (gd) has exact gradients and no momentum"
    if name in ("learning_rate", "momentum") and theorem:
        return "the schedule theorem has step sizes and a momentum of its own"
    if name == "alpha" and not given.split.startswith("dirichlet"):
        return f"it is of the Dirichlet splits, and the split is {given.split}"
    if name == "attack" and given.attack != "none" and given.f == 0:
        return "with f = 0 there are no Byzantine workers"
    if name == "attack" and given.attack != "none" and is_slack(given.rule):
        return f"the rule {given.rule} is an adversary itself"
    if name == "measure_every" and given.measure == "none":
        return "measure is none"
    if name == "screen" and given.evaluate_every == 0:
        return "nothing is tested"
    if name == "data_dir" and given.dataset == "digits":
        return "digits come with scikit-learn"
    if name == "kappa" and not (theorem or given.measure == "full" or is_slack(given.rule)):
        return "it is for the schedule theorem, the rule slack and the bounds of a run with measure full"
    return None
