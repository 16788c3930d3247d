"""A foreign rule under guard: private input, fresh object, fixed randomness, faults instead of crashes."""

from __future__ import annotations

import math
import os
import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from numbers import Real
from typing import Any

import array_api_compat
import numpy as np

from kappaguard.rules.base.arrays import Array, as_array, is_exact, namespace
from kappaguard.rules.base.errors import FaultKind, InputError, RuleFault
from kappaguard.rules.foreign.convert import Form, all_finite, has_nan, in_form, like
from kappaguard.rules.foreign.forks import end_copy
from kappaguard.rules.foreign.parameters import one_line
from kappaguard.rules.foreign.seeding import preserved, seed_all


@dataclass(frozen=True)
class Outcome:
    """What a rule made of an input: either a value or a fault. For a batch, the first fault."""

    value: Array | None
    fault: RuleFault | None


@dataclass(frozen=True)
class Origin:
    """The call of ``resolve`` that makes an adapter again, so that it can be sent to another process."""

    make: Callable[..., Any]
    spec: str
    f: int
    n: int | None
    seed: int
    options: tuple[tuple[str, Any], ...]


def follow(recipe: Origin) -> Any:
    """The adapter that ``recipe`` describes."""
    return recipe.make(recipe.spec, recipe.f, recipe.n, seed=recipe.seed, **dict(recipe.options))


@dataclass(frozen=True, eq=False)
class Guarded(ABC):
    """What ``Adapted`` and ``PreAdapted`` share.

    ``run`` takes one private (n, d) float64 matrix in the form ``form`` and returns what the foreign code
    returned. It builds the foreign object anew each time, so that no state leaks from call to call. Every matrix
    of a batch is evaluated with the same ``seed``: a batch equals a loop.
    """

    name: str
    f: int
    run: Callable[[Array], Any] = field(repr=False)
    form: Form = "same"
    seed: int = 0
    recipe: Origin | None = field(default=None, repr=False)

    def __call__(self, x: Array) -> Array:
        """The result for x of shape (..., n, d), in the family and dtype of x; raises ``RuleFault``."""
        array = checked(as_array(x))
        rows, columns = array.shape[-2:]
        batch = tuple(array.shape[:-2])
        xp = namespace(array)
        matrices = xp.reshape(array, (math.prod(batch), rows, columns))
        with preserved(), warnings.catch_warnings(), np.errstate(all="ignore"):
            # The verdict must not depend on the caller's warning filters.
            warnings.simplefilter("ignore")
            results = [like(self._finite(matrices[index]), array) for index in range(matrices.shape[0])]
        shapes = {tuple(result.shape) for result in results}
        if len(shapes) > 1:
            raise RuleFault(self.name, "shape", f"returned different shapes within a batch: {sorted(shapes)}")
        return xp.reshape(xp.stack(results), batch + shapes.pop())

    def outcome(self, x: Array) -> Outcome:
        """The result for x, or the fault; a wrong request (``InputError``) still raises."""
        try:
            return Outcome(self(x), None)
        except RuleFault as fault:
            return Outcome(None, fault)

    def produce(self, matrix: Array) -> Array:
        """What the foreign code makes of one matrix: an array of the right shape, not necessarily finite."""
        private = in_form(matrix, self.form)
        seed_all(self.seed)
        process = os.getpid()
        try:
            output = self.run(private)
        except InputError:
            raise
        except RuleFault as fault:
            raise RuleFault(self.name, fault.kind, f"{fault.rule} {fault.detail}") from fault
        except (Exception, SystemExit) as error:
            raise self._fault("exception", f"raised {one_line(error)}") from error
        finally:
            end_copy(process)
        return self._array(output, tuple(matrix.shape))

    def _finite(self, matrix: Array) -> Array:
        """``produce``, where NaN is a fault, and infinity one unless the input was not finite either."""
        output = self.produce(matrix)
        if all_finite(output):
            return output
        if has_nan(output):
            raise self._fault("nan", "returned NaN")
        if all_finite(matrix):
            raise self._fault("infinite", "returned an infinite entry for finite input")
        return output

    def _array(self, output: Any, shape: tuple[int, ...]) -> Array:
        if output is None:
            raise self._fault("none", "returned None")
        if np.ma.isMaskedArray(output) and np.any(np.ma.getmaskarray(output)):
            count = int(np.sum(np.ma.getmaskarray(output)))
            raise self._fault("nan", f"returned a masked array with {count} of {output.size} entries missing")
        if isinstance(output, list | tuple):
            output = self._vector(output)
        if not isinstance(output, np.generic) and not array_api_compat.is_array_api_obj(output):
            raise self._fault("type", f"returned {type(output).__name__}, not an array")
        xp = np if isinstance(output, np.generic) else namespace(output)
        if output.dtype != object and xp.isdtype(output.dtype, "integral"):
            output = xp.astype(output, xp.float64)
        if output.dtype == object or not xp.isdtype(output.dtype, "real floating"):
            raise self._fault("type", f"returned an array of {output.dtype}, not of floats")
        if not self._fits(tuple(output.shape), shape):
            raise self._fault("shape", f"returned shape {tuple(output.shape)} for input of shape {shape}")
        return output

    def _vector(self, output: list[Any] | tuple[Any, ...]) -> Array:
        """A flat list of numbers as the vector that it stands for."""
        if not all(isinstance(value, Real) and not isinstance(value, bool) for value in output):
            raise self._fault("type", f"returned {type(output).__name__}, not an array and not a list of numbers")
        try:
            return np.array([float(value) for value in output], dtype=np.float64)
        except OverflowError:
            raise self._fault("infinite", "returned a number that is too large for a float") from None

    def _fault(self, kind: FaultKind, detail: str) -> RuleFault:
        return RuleFault(self.name, kind, detail)

    @abstractmethod
    def _fits(self, output: tuple[int, ...], shape: tuple[int, ...]) -> bool:
        """Whether an output of this shape is legal for an input of shape (n, d)."""

    def __reduce_ex__(self, protocol: Any) -> Any:
        if self.recipe is not None:
            return follow, (self.recipe,)
        return super().__reduce_ex__(protocol)


@dataclass(frozen=True, eq=False)
class Adapted(Guarded):
    """A foreign rule: (..., n, d) -> (..., d)."""

    def _fits(self, output: tuple[int, ...], shape: tuple[int, ...]) -> bool:
        return output == shape[1:]


@dataclass(frozen=True, eq=False)
class PreAdapted(Guarded):
    """A foreign pre-aggregation: (..., n, d) -> (..., m, d)."""

    def _fits(self, output: tuple[int, ...], shape: tuple[int, ...]) -> bool:
        return len(output) == 2 and output[0] >= 1 and output[1] == shape[1]


def checked(array: Array) -> Array:
    """``array`` if it is a non-empty (..., n, d) array of floats."""
    if is_exact(array):
        raise InputError("a rule of another library takes floats, not exact fractions")
    if array.ndim < 2 or 0 in tuple(array.shape):
        raise InputError(f"x must have shape (..., n, d) with no empty axis, got {tuple(array.shape)}")
    return array
