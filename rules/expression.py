"""Arithmetic in n and f, as people write coefficients: ``6*f/(n-2*f)*(1+f/(n-2*f))``.

Parsed into a syntax tree of which a short list of node types is evaluated, never by ``eval``. Values are exact
fractions as long as the operations allow it; ``sqrt`` of a number that is not a square gives a float.
"""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Callable
from fractions import Fraction

from kappaguard.rules.errors import InputError

MOST_CHARACTERS = 1000
MOST_EXPONENT = 64
MOST_BITS = 4096

Number = Fraction | float


def evaluate(expression: str, n: int, f: int) -> Number:
    """The value of an expression in n and f; InputError names what is not allowed in it or not defined at (n, f)."""
    if len(expression) > MOST_CHARACTERS:
        raise InputError(f"an expression may have {MOST_CHARACTERS} characters, this one has {len(expression)}")
    try:
        tree = ast.parse(expression.strip(), mode="eval")
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        raise InputError(f"not an arithmetic expression in n and f: {expression!r}") from None
    try:
        value = _value(tree.body, {"n": Fraction(n), "f": Fraction(f)})
    except ZeroDivisionError:
        raise InputError(f"{expression} divides by zero at n = {n} and f = {f}") from None
    except (OverflowError, ValueError) as error:
        raise InputError(f"{expression} is not defined at n = {n} and f = {f}: {error}") from None
    except RecursionError:
        raise InputError("the expression is nested too deeply") from None
    if isinstance(value, float) and not math.isfinite(value):
        raise InputError(f"{expression} is not finite at n = {n} and f = {f}")
    return value


def _root(value: Number) -> Number:
    if float(value) < 0:
        raise ValueError("the square root of a negative number")
    exact = Fraction(value)
    top, bottom = math.isqrt(exact.numerator), math.isqrt(exact.denominator)
    if top * top == exact.numerator and bottom * bottom == exact.denominator:
        return Fraction(top, bottom)
    return math.sqrt(float(value))


def _power(base: Number, exponent: Number) -> Number:
    if exponent != int(exponent) or abs(int(exponent)) > MOST_EXPONENT:
        raise ValueError(f"an exponent must be an integer of at most {MOST_EXPONENT}, got {exponent}")
    result: Number = base ** int(exponent)
    return result


BINARY: dict[type[ast.operator], Callable[[Number, Number], Number]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: lambda a, b: Fraction(a // b),
    ast.Pow: _power,
}
UNARY: dict[type[ast.unaryop], Callable[[Number], Number]] = {ast.UAdd: lambda a: a, ast.USub: lambda a: -a}
FUNCTIONS: dict[str, Callable[..., Number]] = {
    "sqrt": _root,
    "min": min,
    "max": max,
    "floor": lambda a: Fraction(math.floor(a)),
    "ceil": lambda a: Fraction(math.ceil(a)),
}
ARGUMENTS = {"sqrt": (1, 1), "floor": (1, 1), "ceil": (1, 1), "min": (2, 8), "max": (2, 8)}


def _value(node: ast.expr, variables: dict[str, Fraction]) -> Number:
    match node:
        case ast.Constant(value=int() | float() as constant) if not isinstance(constant, bool):
            # through its shortest decimal form, so that 0.1 is one tenth
            result: Number = Fraction(repr(constant))
        case ast.Name(id=name) if name in variables:
            result = variables[name]
        case ast.BinOp(left=left, op=op, right=right) if type(op) in BINARY:
            result = BINARY[type(op)](_value(left, variables), _value(right, variables))
        case ast.UnaryOp(op=sign, operand=operand) if type(sign) in UNARY:
            result = UNARY[type(sign)](_value(operand, variables))
        case ast.Call(func=ast.Name(id=name), args=args, keywords=[]) if name in FUNCTIONS:
            least, most = ARGUMENTS[name]
            if not least <= len(args) <= most:
                raise InputError(f"{name} takes {least} to {most} arguments, got {len(args)}")
            result = FUNCTIONS[name](*(_value(argument, variables) for argument in args))
        case _:
            raise InputError(f"not allowed in an expression in n and f: {ast.unparse(node)[:80]}")
    if isinstance(result, Fraction) and max(result.numerator.bit_length(), result.denominator.bit_length()) > MOST_BITS:
        raise InputError("the numbers in the expression are too large")
    return result
