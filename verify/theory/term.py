"""The numbers that a statement names, as data: its prose is written from them and its check reads them.

A claim that could say more without its check noticing proves nothing: ``scaled`` moves a term a little towards the
stronger statement, and a test sees that the verdict changes then.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Literal

from kappaguard.rules.base.expression import evaluate
from kappaguard.verify.theory.coefficients import to_sympy

Direction = Literal[-1, 0, 1]


@dataclass(frozen=True)
class Term:
    """Arithmetic in n and f. ``stronger`` is the direction in which the statement would say more, 0 for either."""

    expression: str
    stronger: Direction = -1
    factor: Fraction = Fraction(1)

    def __call__(self, n: int = 1, f: int = 0) -> Fraction:
        """The value at (n, f)."""
        return self.factor * Fraction(evaluate(self.expression, n, f))

    def symbolic(self, n: Any = 1, f: Any = 0) -> Any:
        """The value at expressions of sympy."""
        import sympy

        plain = to_sympy(self.expression)
        values = {symbol: {"n": n, "f": f}[str(symbol)] for symbol in plain.free_symbols}
        scale = sympy.Rational(self.factor.numerator, self.factor.denominator)
        return scale * plain.subs(values, simultaneous=True)

    @property
    def text(self) -> str:
        """As people write it: 6f/(n-2f) for 6*f/(n-2*f)."""
        plain = self.expression.replace("**", "^")
        joined = re.sub(r"(?<=[\d)])\*(?=[a-z(])|(?<=[nf])\*(?=\()", "", plain)
        return joined if self.factor == 1 else f"{self.factor} ({joined})"

    def __str__(self) -> str:
        return self.text

    def scaled(self, factor: Fraction) -> Term:
        """The same times a number."""
        return replace(self, factor=self.factor * factor)
