"""Callables, classes that make them, objects with a method that aggregates, and torch modules."""

from __future__ import annotations

import importlib.util
import inspect
import sys
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from kappaguard.rules.base.arrays import Array
from kappaguard.rules.base.errors import InputError
from kappaguard.rules.foreign.adapted import Adapted, PreAdapted
from kappaguard.rules.foreign.convert import Form, in_form
from kappaguard.rules.foreign.counts import OPTION, Counts, counted, parameters_for
from kappaguard.rules.foreign.parameters import NO_DERIVED, Derived, Wanted, bind, signature
from kappaguard.rules.foreign.rebuild import Remaker, remaker
from kappaguard.rules.foreign.seeding import preserved, seed_all
from kappaguard.rules.foreign.styles import (
    CONTAINERS,
    STYLES,
    first_that_works,
    form_of,
    hand_over,
    is_vector,
    read_back,
)

METHODS = ("aggregate", "aggregate_gradients", "forward")
"""What objects that cannot be called have instead, in the order in which it is looked for."""
OWN = ("backend", "method", "n", "f", OPTION)
"""Options that are not the rule's."""
TRIAL_COLUMNS = 4


@dataclass(frozen=True)
class PlainCall:
    """``rule(x)`` or ``rule(x, f)``, whichever the signature of a fresh ``rule`` asks for.

    ``given`` says how the vectors are handed over, ``method`` what is called if that is not the object itself. A call
    that returns a vector settles that; where the first one does not, neither there nor on a small input, the first of
    ``others`` that does is taken. ``found`` remembers it.
    """

    make: Remaker
    name: str
    f: int
    options: Mapping[str, Any] = field(default_factory=dict)
    given: str = "same"
    method: str | None = None
    derived: Derived = field(default_factory=dict)
    others: tuple[str, ...] = ()
    seed: int = 0
    counts: Counts = 1
    found: dict[str, str] = field(default_factory=dict, compare=False)

    @property
    def style(self) -> str:
        """How the vectors are handed over, as far as is known."""
        return self.found.get("style", self.given)

    @property
    def tells_counts(self) -> bool:
        """Whether the rule is told numbers of examples."""
        if self.style.endswith("pairs"):
            return True
        rule = self.make(self.trial_rows)
        return bool(parameters_for(rule if self.method is None else getattr(rule, self.method), self.counts))

    @property
    def trial_rows(self) -> int:
        """A number of rows to try the rule on."""
        return 4 * self.f + 3 if isinstance(self.counts, int) else len(self.counts)

    @property
    def is_settled(self) -> bool:
        """Whether it is known how the vectors are handed over."""
        return not self.others or bool(self.found)

    def __call__(self, vectors: Array) -> Any:
        if self.is_settled or is_symbolic(vectors):
            return self._call(vectors, self.style)
        try:
            result = self._call(vectors, self.given)
        except Exception:
            if self._settle():
                return self._call(vectors, self.style)
            raise
        if is_vector(result, vectors.shape[1]):
            self.found["style"] = self.given
        elif self._settle():
            return self._call(vectors, self.style)
        return result

    def _call(self, vectors: Array, style: str) -> Any:
        rule = self.make(len(vectors))
        module = is_module(rule)
        if module:
            # A module keeps its parameters in float32 unless told otherwise, and would reject float64 input.
            rule = rule.double()
        called = rule if self.method is None else getattr(rule, self.method)
        shape = rule.forward if module and self.method is None else called
        derived = {**self.derived, **parameters_for(shape, self.counts)}
        positional, keywords = bind(shape, self.name, len(vectors), self.f, self.options, derived=derived, vectors=1)
        if style != self.given and form_of(style) != form_of(self.given) and not is_symbolic(vectors):
            vectors = in_form(vectors, form_of(style))
        return read_back(called(hand_over(vectors, style, self.counts), *positional, **keywords), style)

    def _settle(self) -> bool:
        """Try the other styles; whether one of them works."""
        x = np.random.default_rng(1).standard_normal((self.trial_rows, TRIAL_COLUMNS))

        def attempt(style: str) -> Any:
            seed_all(self.seed)
            return self._call(in_form(x, form_of(style)), style)

        with preserved(), warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            style = first_that_works(attempt, (self.given, *self.others), TRIAL_COLUMNS)
        self.found["style"] = style or self.given
        return self.style != self.given

    def describe(self) -> str:
        """How the rule is called, in words."""
        what = {
            "list": "a list of vectors",
            "layers": "a list of lists of layers",
            "pairs": f"pairs of layers and {self.counts}",
        }
        what |= {"state_dict": "a list of state dicts", "numpy": "an array", "torch": "a tensor", "same": "an array"}
        name = self.style.removeprefix("torch-")
        tensors = ", of tensors" if self.style.startswith("torch-") else ""
        method = f" of its method {self.method}" if self.method else ""
        return f"called{method} with {what[name]}{tensors}"


def adapt(target: Any, request: Wanted) -> Adapted | PreAdapted:
    """The rule ``target``: a callable of (x) or (x, f), a class or an object with a method that aggregates, or a torch
    module.

    A class is constructed with f if its constructor has a parameter of that meaning. Options go to the constructor of a
    class and to the call of a function. ``backend`` is one of ``styles``; without it, torch for a torch module or where
    the vectors are annotated as tensors, NumPy where they are annotated as arrays, else whichever of the two the caller
    uses; where a call with that returns no vector, the first of the other styles that does. ``method`` names what is to
    be called, ``num_examples`` what clients claim. ``f="n_attackers"`` and ``n="clients"`` say which parameters mean f
    and n.

    A function that keeps state in globals or in a closure cannot be made anew.
    """
    derived, options = _meanings(request), request.without(*_taken(request))
    if inspect.isclass(target):
        call = PlainCall(remaker(target, request, options, derived), request.name, request.f, derived=derived)
    elif callable(target) or any(hasattr(target, name) for name in METHODS):
        call = PlainCall(remaker(target, request, {}), request.name, request.f, options, derived=derived)
    else:
        raise InputError(f"{request.name} is a {type(target).__name__}, which cannot be called")
    trial = call.make(request.trial_rows)
    method = _method(trial, request)
    called = trial if method is None else getattr(trial, method)
    function = trial.forward if is_module(trial) and method is None else called
    counts = counted(request.options.get(OPTION, 1))
    told = parameters_for(function, 1)
    bind(function, request.name, request.trial_rows, request.f, call.options, derived={**derived, **told}, vectors=1)
    backend = request.options.get("backend")
    if backend is not None and backend not in STYLES:
        raise InputError(f"backend is one of {', '.join(STYLES)}, not {backend!r}")
    preferred = preferred_form(function)
    others = () if backend is not None or request.pre else _others(preferred)
    given = preferred if backend is None else str(backend)
    call = replace(call, method=method, given=given, others=others, seed=request.seed, counts=counts)
    kind = PreAdapted if request.pre else Adapted
    return kind(request.name, request.f, call, form_of(call.given), request.seed)


def _others(preferred: Form) -> tuple[str, ...]:
    """The styles that are tried if the preferred one does not work, in this order; tensors only where torch is."""
    tensors = [f"torch-{style}" for style in CONTAINERS] if importlib.util.find_spec("torch") is not None else []
    if preferred == "torch":
        return (*tensors, *CONTAINERS)
    return (*CONTAINERS, *(["torch"] if tensors else []), *tensors)


def _taken(request: Wanted) -> tuple[str, ...]:
    """The options that are ours: n and f only where they name a parameter."""
    return tuple(name for name in OWN if name not in ("n", "f") or isinstance(request.options.get(name), str))


def _meanings(request: Wanted) -> Derived:
    """The parameters that are said to mean f and n."""
    named: dict[str, Callable[[int, int], Any]] = {}
    if isinstance(request.options.get("f"), str):
        named[request.options["f"]] = lambda rows, f: f
    if isinstance(request.options.get("n"), str):
        named[request.options["n"]] = lambda rows, f: rows
    return named or NO_DERIVED


def _method(trial: Any, request: Wanted) -> str | None:
    """What is called: a method that was named, the object itself, or the first method that is called like one."""
    given = request.options.get("method")
    if given is not None:
        if not callable(getattr(trial, str(given), None)):
            raise InputError(f"objects of {request.name} have no method {given!r}")
        return str(given)
    if callable(trial):
        return None
    found = next((name for name in METHODS if callable(getattr(trial, name, None))), None)
    if found is None:
        raise InputError(
            f"objects of {request.name} cannot be called: {type(trial).__name__} has no __call__, and none of the "
            f"methods {', '.join(METHODS)}; another is named with method=..."
        )
    return found


def is_symbolic(vectors: Any) -> bool:
    """Whether these are stand-ins for an array, which have no other form."""
    torch = sys.modules.get("torch")
    return type(vectors) is not np.ndarray and not (torch is not None and issubclass(type(vectors), torch.Tensor))


def is_module(rule: Any) -> bool:
    """Whether ``rule`` is a torch module; does not import torch to find out."""
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(rule, torch.nn.Module)


def preferred_form(rule: Callable[..., Any]) -> Form:
    """What ``rule`` says about the form of its vectors."""
    if is_module(rule) or is_module(getattr(rule, "__self__", None)):
        return "torch"
    described = signature(rule)
    if described is None or not described.parameters:
        return "same"
    annotation = str(next(iter(described.parameters.values())).annotation)
    if "Tensor" in annotation:
        return "torch"
    return "numpy" if "ndarray" in annotation or "NDArray" in annotation else "same"
