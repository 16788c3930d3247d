"""Small tools of the symbolic checks."""

from __future__ import annotations

from typing import Any


def demand(holds: object, step: str) -> None:
    """A step of a proof; if it fails, the check fails loudly instead of answering."""
    if not holds:
        raise AssertionError(f"this step does not hold: {step}")


def nonnegative(expression: Any) -> bool:
    """Whether a rational function is non-negative for all non-negative values of its symbols, as far as signs show.

    Numerator and denominator are expanded; it is, if all their coefficients are non-negative.
    """
    import sympy

    top, bottom = sympy.fraction(sympy.cancel(sympy.together(expression)))
    return (_plain(top) and _plain(bottom)) or (_plain(-top) and _plain(-bottom))


def _plain(polynomial: Any) -> bool:
    import sympy

    symbols = sorted(polynomial.free_symbols, key=str)
    if not symbols:
        return bool(polynomial >= 0)
    return all(coefficient >= 0 for coefficient in sympy.Poly(polynomial, *symbols).coeffs())


def equal(left: Any, right: Any) -> bool:
    """Whether two expressions are the same."""
    import sympy

    return bool(sympy.simplify(left - right) == 0)


def symbols(names: str) -> Any:
    """Symbols for non-negative numbers."""
    import sympy

    return sympy.symbols(names, nonnegative=True)
