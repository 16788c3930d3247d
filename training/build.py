"""From a configuration to a run that can begin."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from kappaguard.rules.base.errors import InputError
from kappaguard.rules.foreign.adapted import Adapted, PreAdapted
from kappaguard.rules.names import rule as rule_named
from kappaguard.search.attacks.base import Aggregation, Attack
from kappaguard.search.attacks.names import attack_named
from kappaguard.training.algorithm import Settings, Training
from kappaguard.training.configuration import LABEL_FLIPPING, MEAN_FLIPPING, Configuration
from kappaguard.training.distributed.group import launched, local_rank
from kappaguard.training.memory import require_memory
from kappaguard.training.messages import WITHOUT_DOUBLE
from kappaguard.training.problem import Problem
from kappaguard.training.quadratic import Quadratic
from kappaguard.training.schedule import schedule_named
from kappaguard.training.slack import is_slack, owner_of, slack_named

if TYPE_CHECKING:
    import torch

    from kappaguard.training.data.dataset import Dataset


DEVICES = ("cpu", "cuda", "mps")


def device_named(name: str) -> torch.device:
    """``auto`` takes cuda, mps or cpu, the first that there is; in float64 a run goes to the cpu instead of mps.

    Every process of torchrun on a machine gets a GPU of its own.
    """
    import torch

    if name == "auto":
        best = "mps" if torch.backends.mps.is_available() else "cpu"
        name = "cuda" if torch.cuda.is_available() else best
    if name == "cuda" and launched():
        own, there = local_rank(), torch.cuda.device_count()
        if own >= there > 0:
            raise InputError(f"{there} GPUs are too few: torchrun started more processes here, one per GPU")
        name = f"cuda:{own}"
    if name.partition(":")[0] not in DEVICES:
        raise InputError(f"no device is called {name[:60]!r}; there are auto, {', '.join(DEVICES)}")
    try:
        device = torch.device(name)
        torch.empty(1, device=device)
    except (RuntimeError, AssertionError, NotImplementedError) as error:
        raise InputError(f"there is no device {name!r} here: {str(error).splitlines()[0][:120]}") from None
    return device


def build(configuration: Configuration, data: Dataset | None = None) -> Training:
    """The run, at step 0; ``data`` saves reading it again."""
    return Training(*parts_of(configuration, data))


def parts_of(
    configuration: Configuration, data: Dataset | None = None
) -> tuple[Problem, Aggregation, Attack | None, Settings]:
    """What a run consists of, before there is room for any message."""
    from kappaguard.training.theorems.constants import theorem_settings

    others = ("none", LABEL_FLIPPING, MEAN_FLIPPING)
    attack = None if configuration.attack in others else attack_named(configuration.attack, others)
    under_attack = _rule(configuration)
    problem = problem_of(configuration, data)
    exact = configuration.algorithm == "gd"
    if configuration.schedule == "theorem":
        schedule, momentum = theorem_settings(configuration, problem)
    else:
        schedule = schedule_named(configuration.schedule, configuration.learning_rate)
        momentum = 0.0 if exact else configuration.momentum
    settings = Settings(
        configuration.n,
        configuration.f,
        configuration.steps,
        schedule,
        momentum,
        exact,
        configuration.clip,
        configuration.seed,
        configuration.measure,
        configuration.measure_every,
        configuration.mark(),
        configuration.attack == MEAN_FLIPPING,
    )
    return problem, under_attack, attack, settings


def _rule(configuration: Configuration) -> Aggregation:
    """The rule; a foreign one that takes any kind of array gets NumPy's, as ``check`` and ``search`` hand it."""
    if is_slack(configuration.rule):
        return slack_named(configuration.rule, _coefficient(configuration), configuration.honest)
    built = rule_named(configuration.rule, f=configuration.f)
    if isinstance(built, PreAdapted):
        raise InputError(f"{built.name} is a pre-aggregation: a rule must follow")
    return replace(built, form="numpy") if isinstance(built, Adapted) and built.form == "same" else built


def _coefficient(configuration: Configuration) -> float | None:
    """Of the adversary that owns a slack: as given, else what is claimed for the rule whose slack it is."""
    from kappaguard.training.theorems.constants import claimed_kappa

    owner = owner_of(configuration.rule)
    if configuration.kappa is not None or owner is None:
        return configuration.kappa
    return claimed_kappa(owner, configuration.n, configuration.f)


def problem_of(configuration: Configuration, data: Dataset | None = None) -> Problem:
    """The losses of the honest workers. Without an attack the Byzantine workers send zeros."""
    import torch

    device = device_named(configuration.device)
    dtype = getattr(torch, configuration.dtype)
    if dtype == torch.float64 and device.type in WITHOUT_DOUBLE:
        if configuration.device != "auto":
            raise InputError(f"{device.type} has no float64; choose --device cpu or --dtype float32")
        device = torch.device("cpu")
    like = torch.empty(0, dtype=dtype, device=device)
    if configuration.model == "quadratic":
        # a process of several may hold one message of each kind
        vectors = 2 * configuration.n if not launched() else 2
        size = vectors * configuration.dimension * like.element_size()
        require_memory(size, f"messages of {configuration.dimension} numbers")
        return Quadratic(
            configuration.honest,
            configuration.dimension,
            configuration.smoothness,
            configuration.condition,
            configuration.heterogeneity,
            0.0 if configuration.algorithm == "gd" else configuration.sigma,
            configuration.distance,
            configuration.seed,
            like,
        )
    from kappaguard.training.data.catalogue import load
    from kappaguard.training.data.split import split
    from kappaguard.training.learning import Learning
    from kappaguard.training.models.architectures import network

    read = data if data is not None else load(configuration.dataset, configuration.data_dir)
    if configuration.samples:
        read = read.first(configuration.samples)
    shards = split(configuration.split, read.labels, configuration.honest, configuration.alpha, configuration.seed)
    return Learning(
        network(configuration.model, read.shape, read.classes),
        torch.from_numpy(read.images).to(like),
        torch.from_numpy(read.labels).to(device),
        torch.from_numpy(read.test_images).to(like),
        torch.from_numpy(read.test_labels).to(device),
        read.classes,
        shards,
        configuration.batch,
        configuration.l2,
        configuration.seed,
        read.flips and configuration.algorithm == "shb",
        configuration.f if configuration.attack == LABEL_FLIPPING else 0,
    )
