"""Arithmetic in n and f, as people write coefficients: ``6*f/(n-2*f)*(1+f/(n-2*f))``.

Parsed into a syntax tree of which a short list of node types is evaluated, never by ``eval``. Values are exact
fractions as long as the operations allow it; ``sqrt`` of a number that is not a square gives a float.
"""

from __future__ import annotations

import ast
import math
import operator
import re
import warnings
from collections.abc import Callable
from fractions import Fraction

from kappaguard.rules.base.errors import InputError

MOST_CHARACTERS = 1000
MOST_EXPONENT = 64
MOST_BITS = 4096

Number = Fraction | float

_ADJACENT = re.compile(r"(\d|\)|\b[nf])\s*(?=[nf(])()")
_COMPARISON = re.compile(r"(<=|>=|==|!=|<|>)")
COMPARISONS: dict[str, Callable[[Number, Number], bool]] = {
    "<=": operator.le,
    ">=": operator.ge,
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    ">": operator.gt,
}
_DECIMAL = re.compile(r"([\d_]{1,100}\.?[\d_]{0,100}|\.[\d_]{1,100})([eE][+-]?\d{1,3})?", re.ASCII)


def evaluate(expression: str, n: int, f: int) -> Number:
    """The value of an expression in n and f; InputError names what is not allowed in it or not defined at (n, f)."""
    if len(expression) > MOST_CHARACTERS:
        raise InputError(f"an expression may have {MOST_CHARACTERS} characters, this one has {len(expression)}")
    text = expression.strip()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(text, mode="eval")
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        raise InputError(f"not an arithmetic expression in n and f: {expression!r}{_hint(text)}") from None
    try:
        value = _value(tree.body, {"n": Fraction(n), "f": Fraction(f)}, text)
    except InputError:
        raise
    except ZeroDivisionError:
        raise InputError(f"{text!r} divides by zero at n = {n} and f = {f}") from None
    except (OverflowError, ValueError) as error:
        raise InputError(f"{text!r} is not defined at n = {n} and f = {f}: {error}") from None
    except RecursionError:
        raise InputError("the expression is nested too deeply") from None
    if isinstance(value, float) and not math.isfinite(value):
        raise InputError(f"{text!r} is not finite at n = {n} and f = {f}")
    return value


def _hint(text: str) -> str:
    """What was probably meant: a product is written with a star, a power with two."""
    meant = _ADJACENT.sub(r"\1*\2", text).replace("^", "**")
    if meant == text:
        return ""
    try:
        ast.parse(meant, mode="eval")
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return ""
    return f"; did you mean {meant!r}?"


def satisfies(condition: str, n: int, f: int) -> bool:
    """Whether comparisons of such expressions hold, as in ``n >= 4*f+3`` or ``2*f < n <= 3*f``."""
    parts = _COMPARISON.split(condition)
    if len(parts) < 3 or len(condition) > MOST_CHARACTERS:
        raise InputError(f"not a condition on n and f, as 'n >= 4*f+3' is one: {condition[:80]!r}")
    values = [evaluate(each, n, f) for each in parts[::2]]
    return all(COMPARISONS[sign](*values[place : place + 2]) for place, sign in enumerate(parts[1::2]))


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


def _literal(node: ast.Constant, text: str) -> Fraction:
    """A decimal number, as it is written."""
    written = ast.get_source_segment(text, node) or ""
    if not _DECIMAL.fullmatch(written):
        raise InputError(f"not a decimal number: {written[:80]!r}")
    return Fraction(written.replace("_", ""))


def _value(node: ast.expr, variables: dict[str, Fraction], text: str) -> Number:
    match node:
        case ast.Constant(value=int() | float() as constant) if not isinstance(constant, bool):
            result: Number = _literal(node, text)
        case ast.Name(id=name) if name in variables:
            result = variables[name]
        case ast.BinOp(left=left, op=op, right=right) if type(op) in BINARY:
            result = BINARY[type(op)](_value(left, variables, text), _value(right, variables, text))
        case ast.UnaryOp(op=sign, operand=operand) if type(sign) in UNARY:
            result = UNARY[type(sign)](_value(operand, variables, text))
        case ast.Call(func=ast.Name(id=name), args=args, keywords=[]) if name in FUNCTIONS:
            least, most = ARGUMENTS[name]
            if not least <= len(args) <= most:
                raise InputError(f"{name} takes {least} to {most} arguments, got {len(args)}")
            result = FUNCTIONS[name](*(_value(argument, variables, text) for argument in args))
        case _:
            raise InputError(f"not allowed in an expression in n and f: {ast.unparse(node)[:80]!r}{_hint(text)}")
    if isinstance(result, Fraction) and max(result.numerator.bit_length(), result.denominator.bit_length()) > MOST_BITS:
        raise InputError("the numbers in the expression are too large")
    return result
