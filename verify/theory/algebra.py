"""Steps of a proof, most of them checked with sympy: each raises with the label of the step that does not hold."""

from __future__ import annotations

from typing import Any


class StepFails(AssertionError):
    """A step of a proof does not hold."""


def demand(holds: object, step: str) -> None:
    """A step of a proof; if it fails, the check fails loudly instead of answering."""
    if not holds:
        raise StepFails(f"this step does not hold: {step}")


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


def require_equal(label: str, left: Any, right: Any) -> None:
    """Two expressions are the same."""
    import sympy

    difference = sympy.simplify(sympy.expand(sympy.sympify(left) - sympy.sympify(right)))
    if difference != 0:
        raise StepFails(f"{label}: the sides differ by {difference}")


def require_at_most(label: str, left: Any, right: Any, variable: Any, low: Any, high: Any) -> None:
    """left <= right for every value of one variable between two rational numbers; both quotients of polynomials.

    Between consecutive roots of the numerator and the denominator of right - left the sign is constant, so that it is
    enough to look at one rational point between any two of them, and at the two ends.
    """
    import sympy

    top, bottom = sympy.fraction(sympy.together(sympy.sympify(right) - sympy.sympify(left)))
    low, high = sympy.Rational(low), sympy.Rational(high)
    product = sympy.Poly(sympy.expand(top * bottom), variable)
    isolated = [] if product.is_ground else product.intervals(inf=low, sup=high, eps=sympy.Rational(1, 10**6))
    gaps = [low, *(end for ends, _ in isolated for end in ends), high]
    between = [(first + last) / 2 for first, last in zip(gaps[::2], gaps[1::2], strict=True)]
    for point in (low, high, *between):
        if product.eval(point) < 0:
            raise StepFails(f"{label}: fails at {variable} = {point}")


def require_nonnegative_coefficients(label: str, expression: Any, *variables: Any) -> None:
    """A polynomial with no negative coefficient is non-negative wherever its variables are."""
    import sympy

    polynomial = sympy.Poly(sympy.expand(expression), *variables)
    if any(not coefficient.is_nonnegative for coefficient in polynomial.coeffs()):
        raise StepFails(f"{label}: {polynomial.as_expr()} has a negative coefficient")
