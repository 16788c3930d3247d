"""Plain callables, classes that make them, and torch modules."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from kappaguard.rules.adapters.adapted import Adapted, PreAdapted
from kappaguard.rules.adapters.convert import Form, form_named
from kappaguard.rules.adapters.fresh import Fresh, fresh
from kappaguard.rules.adapters.parameters import Request, bind, signature
from kappaguard.rules.arrays import Array
from kappaguard.rules.errors import InputError


@dataclass(frozen=True)
class Call:
    """``rule(x)`` or ``rule(x, f)``, whichever the signature of a fresh ``rule`` asks for."""

    make: Fresh
    name: str
    f: int
    options: Mapping[str, Any] = field(default_factory=dict)

    def __call__(self, vectors: Array) -> Any:
        rule = self.make(len(vectors))
        module = is_module(rule)
        if module:
            # A module keeps its parameters in float32 unless told otherwise, and would reject float64 input.
            rule = rule.double()
        shape = rule.forward if module else rule
        positional, keywords = bind(shape, self.name, len(vectors), self.f, self.options, vectors=1)
        return rule(vectors, *positional, **keywords)


def adapt(target: Any, request: Request) -> Adapted | PreAdapted:
    """The rule ``target``: a callable of (x) or (x, f), a class whose objects are such, or a torch module.

    A class is constructed with f if its constructor has a parameter of that meaning. Options go to the
    constructor of a class and to the call of a function. ``backend`` says what the rule is handed; without it,
    torch for a torch module or where the vectors are annotated as tensors, NumPy where they are annotated as
    arrays, else whichever of the two the caller uses.

    A function that keeps state in globals or in a closure cannot be made anew.
    """
    options = request.without("backend")
    if inspect.isclass(target):
        call = Call(fresh(target, request, options), request.name, request.f)
    elif callable(target):
        call = Call(fresh(target, request, {}), request.name, request.f, options)
    else:
        raise InputError(f"{request.name} is a {type(target).__name__}, which cannot be called")
    trial = call.make(request.trial_rows)
    if not callable(trial):
        raise InputError(f"objects of {request.name} cannot be called: {type(trial).__name__} has no __call__")
    function = trial.forward if is_module(trial) else trial
    bind(function, request.name, request.trial_rows, request.f, call.options, vectors=1)
    form = form_named(request.options["backend"]) if "backend" in request.options else preferred_form(trial)
    kind = PreAdapted if request.pre else Adapted
    return kind(request.name, request.f, call, form, request.seed)


def is_module(rule: Any) -> bool:
    """Whether ``rule`` is a torch module; does not import torch to find out."""
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(rule, torch.nn.Module)


def preferred_form(rule: Callable[..., Any]) -> Form:
    """What ``rule`` says about the form of its vectors."""
    if is_module(rule):
        return "torch"
    described = signature(rule)
    if described is None or not described.parameters:
        return "same"
    annotation = str(next(iter(described.parameters.values())).annotation)
    if "Tensor" in annotation:
        return "torch"
    return "numpy" if "ndarray" in annotation or "NDArray" in annotation else "same"
