"""From the name of a rule, or the thing itself, to an adapter."""

from __future__ import annotations

import dataclasses
import importlib
import importlib.util
import inspect
from pathlib import Path
from types import ModuleType
from typing import Any

from kappaguard.rules.base.errors import InputError
from kappaguard.rules.foreign.adapted import Adapted, Origin, PreAdapted
from kappaguard.rules.foreign.callables import METHODS
from kappaguard.rules.foreign.importing import attribute, is_path, load_file, load_module
from kappaguard.rules.foreign.parameters import Wanted, listed
from kappaguard.rules.foreign.pipeline import chained
from kappaguard.rules.grammar import CodeName, parse, split_pipeline

PEERS = {
    "byzfl": "kappaguard.rules.foreign.byzfl",
    "byzpy": "kappaguard.rules.foreign.byzpy",
    "fedlib": "kappaguard.rules.foreign.fedlib",
    "fedml": "kappaguard.rules.foreign.fedml",
    "fllib": "kappaguard.rules.foreign.fedlib",
    "flwr": "kappaguard.rules.foreign.flower",
    "torchjd": "kappaguard.rules.foreign.torchjd",
}
"""The adapter for objects from each top-level module; all others are plain callables."""

PLAIN = "kappaguard.rules.foreign.callables"


def resolve(spec: str | object, f: int, n: int | None = None, *, seed: int = 0, **options: Any) -> Adapted | PreAdapted:
    """The rule or pre-aggregation that ``spec`` names or is, for ``f`` Byzantine vectors.

    ``spec`` is ``package.module:attribute``, ``path/to/file.py:attribute``, a peer's name such as ``byzfl:Krum``,
    any of these with options (``byzfl:GeometricMedian(T=100)``), several joined by ``+``, or an object: a callable,
    a class, a torch module, a peer's rule. ``n`` only lets mistakes in the request show early: parameters that
    depend on n are computed from the rows at hand. Other options go to the rule, except ``backend`` (callables and
    ByzFL: "numpy", "torch" or "same") and ``num_examples`` (Flower).
    """
    if f < 0 or (n is not None and n < 1):
        raise InputError(f"f must not be negative and n must be positive, got f={f}, n={n}")
    if isinstance(spec, Adapted | PreAdapted):
        return spec
    if not isinstance(spec, str):
        return adapt(spec, Wanted(label(spec), f, n, seed, options))
    stages = split_pipeline(spec)
    if len(stages) > 1:
        if options:
            raise InputError(f"{spec} has several stages: write options behind the stage, such as stage(name=value)")
        parts = [foreign_rule(stage, f, n, seed, {}, pre=True) for stage in stages[:-1]]
        parts.append(foreign_rule(stages[-1], f, n, seed, {}, pre=False))
        adapted = chained(parts, spec, f, seed)
    else:
        adapted = foreign_rule(spec, f, n, seed, options, pre=False)
    return dataclasses.replace(adapted, recipe=Origin(resolve, spec, f, n, seed, tuple(options.items())))


def foreign_rule(
    text: str, f: int, n: int | None, seed: int, options: dict[str, Any], *, pre: bool
) -> Adapted | PreAdapted:
    """One stage by name; a name of ours (``nnm`` in ``nnm+byzfl:Krum``) has no colon."""
    if ":" not in text:
        from kappaguard.rules.names import stage

        return adapt(stage(text, f, pre=pre), Wanted(text.strip(), f, n, seed, options, pre))
    spec = parse(text)
    twice = sorted(set(spec.options) & set(options))
    if twice:
        raise InputError(f"{text} is given the option {', '.join(twice)} twice")
    return adapt(find(spec), Wanted(text.strip(), f, n, seed, {**spec.options, **options}, pre))


def find(spec: CodeName) -> Any:
    """The object that ``spec`` names."""
    if is_path(spec.where):
        if not spec.where.endswith(".py"):
            raise InputError(f"{spec.where} is neither a module nor a Python file")
        return attribute([load_file(Path(spec.where))], spec.where, spec.attribute)
    if not all(part.isidentifier() for part in spec.where.split(".")):
        raise InputError(f"{spec.where!r} is neither a module nor a Python file")
    top = spec.where.partition(".")[0]
    if top not in PEERS:
        return attribute([load_module(spec.where)], f"module {spec.where}", spec.attribute)
    peer = importlib.import_module(PEERS[top])
    shells = [shell for shell in peer.SHELLS if shell.partition(".")[0] == top]
    if spec.where != top:
        return attribute([load_module(spec.where, shells)], f"module {spec.where}", spec.attribute)
    return first_with(spec, [name for name in peer.MODULES if name.partition(".")[0] == top], shells)


def first_with(spec: CodeName, names: list[str], shells: list[str]) -> Any:
    """The object from the first of a peer's modules that has it; a module that fails matters only if none has."""
    modules: list[ModuleType] = []
    failures: list[InputError] = []
    for name in names:
        try:
            modules.append(load_module(name, shells))
        except InputError as error:
            failures.append(error)
            continue
        if hasattr(modules[-1], spec.attribute.partition(".")[0]):
            return attribute(modules[-1:], spec.where, spec.attribute)
    if failures:
        searched = f"; it is not in {listed(module.__name__ for module in modules)}" if modules else ""
        raise InputError(f"{spec.where}:{spec.attribute} was not found: {failures[0]}{searched}")
    return attribute(modules, spec.where, spec.attribute)


def adapt(target: Any, request: Wanted) -> Adapted | PreAdapted:
    """``target`` through the adapter of the library that it, or a class it derives from, comes from."""
    tops = [module.partition(".")[0] for module in origins(target)]
    name = next((PEERS[top] for top in tops if top in PEERS), PEERS["flwr"] if is_strategy(target) else PLAIN)
    adapted: Adapted | PreAdapted = importlib.import_module(name).adapt(target, request)
    return adapted


def is_strategy(target: Any) -> bool:
    """Whether something that is no subclass of Flower's has the methods of its strategies, and no simpler ones."""
    if not any(hasattr(target, name) for name in ("aggregate_train", "aggregate_fit")):
        return False
    called = "__call__" in dir(target if inspect.isclass(target) else type(target))
    simpler = called or any(hasattr(target, name) for name in METHODS)
    return not simpler and importlib.util.find_spec("flwr") is not None


def origins(target: Any) -> list[str]:
    """The modules that define ``target``: its own, or for classes and objects those of all base classes."""
    if inspect.isroutine(target):
        return [getattr(target, "__module__", None) or ""]
    cls = target if inspect.isclass(target) else type(target)
    return [base.__module__ for base in cls.__mro__]


def label(target: Any) -> str:
    """A readable name for something handed over without one."""
    named_thing = target if inspect.isroutine(target) or inspect.isclass(target) else type(target)
    return f"{getattr(named_thing, '__module__', '')}:{getattr(named_thing, '__qualname__', repr(target))}"
