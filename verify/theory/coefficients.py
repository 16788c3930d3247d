"""Every closed form of the paper ("Fixing by Mixing"), and ours of kappa* itself, with source, domain and LaTeX.

``expression`` is arithmetic in n, f (and kappa where the statement turns one coefficient into another), as
``kappaguard.rules.base.expression`` reads it; ``symbolic`` is the same in sympy, which is imported on first use.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any, Literal

from kappaguard.rules.base.errors import InputError
from kappaguard.rules.base.expression import evaluate
from kappaguard.rules.base.rule import Coefficient
from kappaguard.rules.cwmed import Median
from kappaguard.rules.cwtm import TrimmedMean
from kappaguard.rules.gm import GeometricMedian
from kappaguard.rules.krum import Krum
from kappaguard.rules.nnm import LEMMA_1

Kind = Literal["upper", "lower", "exact", "amplification", "implication", "table"]


@dataclass(frozen=True)
class ClosedForm:
    """One closed form: what it bounds, where it is stated, and where it holds."""

    name: str
    kind: Kind
    expression: str
    source: str
    domain: str
    rules: tuple[str, ...] = ()

    @property
    def symbolic(self) -> Any:
        """As a sympy expression in the positive integers n and f (and kappa >= 0)."""
        return to_sympy(self.expression)

    @property
    def latex(self) -> str:
        """The closed form in LaTeX."""
        import sympy

        return str(sympy.latex(self.symbolic))

    def __call__(self, n: int, f: int, kappa: Fraction | None = None) -> Fraction | float:
        """The value at (n, f); InputError outside the domain."""
        if not self.holds(n, f):
            raise InputError(f"{self.name} is stated for {self.domain}, not for n = {n} and f = {f}")
        if ("kappa" in self.expression) != (kappa is not None):
            raise InputError(f"{self.name} {'needs' if kappa is None else 'does not take'} kappa")
        text = self.expression if kappa is None else self.expression.replace("kappa", f"({Fraction(kappa)})")
        return evaluate(text, n, f)

    def holds(self, n: int, f: int) -> bool:
        """Whether (n, f) is in the domain."""
        return DOMAINS[self.domain](n, f)


DOMAINS: Mapping[str, Callable[[int, int], bool]] = {
    "0 <= f < n/2": lambda n, f: n >= 1 and f >= 0 and 2 * f < n,
    "1 <= f < n/2": lambda n, f: f >= 1 and 2 * f < n,
    "1 <= f < n/2, n - f even": lambda n, f: f >= 1 and 2 * f < n and (n - f) % 2 == 0,
    "1 <= f < n/2, n - f odd": lambda n, f: f >= 1 and 2 * f < n and (n - f) % 2 == 1,
    "1 <= f < (n-1)/2": lambda n, f: f >= 1 and 2 * f < n - 1,
    "3f <= n <= 17": lambda n, f: 0 <= 3 * f <= n <= 17,
    "n = 2f + 1, 3 <= f <= 8": lambda n, f: n == 2 * f + 1 and 3 <= f <= 8,
    "2f < n <= 3f, n <= 17": lambda n, f: 2 * f < n <= min(3 * f, 17),
    "0 <= f < n": lambda n, f: n >= 1 and 0 <= f < n,
}

PAPER = "Fixing by Mixing"


def _proposition(name: str, rule: str, stated: Coefficient) -> ClosedForm:
    """What the appendix proves for a rule, which says its coefficient itself."""
    return ClosedForm(
        name, "upper", stated.expression, f"{PAPER}, appendix, proposition on {name}", "0 <= f < n/2", (rule,)
    )


CWTM = _proposition("CWTM", "cwtm", TrimmedMean.coefficient)
KRUM = _proposition("Krum", "krum", Krum.coefficient)
GM = _proposition("GM", "gm", GeometricMedian.coefficient)
CWMED = _proposition("CWMed", "cwmed", Median.coefficient)
NNM = ClosedForm("NNM", "amplification", LEMMA_1, f"{PAPER}, Lemma 1", "0 <= f < n/2")
UNIVERSAL = ClosedForm(
    "Lower bound", "lower", "f/(n-2*f)", f"{PAPER}, appendix, universal lower bound on kappa", "0 <= f < n/2"
)
_SPECIFIC = f"{PAPER}, appendix, rule-specific lower bound on kappa"
_SPECIFIC_RULES = ("gm", "cwmed", "krum")
SPECIFIC_EVEN = ClosedForm("Even", "lower", "1", _SPECIFIC, "1 <= f < n/2, n - f even", _SPECIFIC_RULES)
SPECIFIC_ODD = ClosedForm("Odd", "lower", "(n-f-1)/(n-f+1)", _SPECIFIC, "1 <= f < n/2, n - f odd", _SPECIFIC_RULES)
SPECIFIC_ANY = ClosedForm("Any parity", "lower", "1/3", _SPECIFIC, "1 <= f < n/2", _SPECIFIC_RULES)
LAMBDA = ClosedForm(
    "lambda", "implication", "sqrt(kappa/2)", f"{PAPER}, appendix, kappa implies resilient averaging", "0 <= f < n"
)
ARAGG = ClosedForm("c", "implication", "kappa*n/(2*f)", f"{PAPER}, appendix, kappa implies ARAgg", "1 <= f < n/2")

_TABLE = f"{PAPER}, Table 1 (ignoring numerical constants)"
TABLE_GM = ClosedForm("GM", "table", "(1+f/(n-2*f))**2", _TABLE, "0 <= f < n/2", ("gm",))
TABLE_CWTM = ClosedForm("CWTM", "table", "f/(n-2*f)*(1+f/(n-2*f))", _TABLE, "0 <= f < n/2", ("cwtm",))
TABLE_CWMED = ClosedForm("CWMed", "table", "(1+f/(n-2*f))**2", _TABLE, "0 <= f < n/2", ("cwmed",))
TABLE_KRUM = ClosedForm("Krum", "table", "1+f/(n-2*f)", _TABLE, "0 <= f < n/2", ("krum",))
TABLE_LOWER = ClosedForm("Lower bound", "table", "f/(n-2*f)", _TABLE, "0 <= f < n/2")

OURS = {
    "cwtm": ClosedForm("CWTM", "exact", "f/(n-2*f)", "kappaguard, closed-form-cwtm", "0 <= f < n/2", ("cwtm",)),
    "cwmed": ClosedForm(
        "CWMed",
        "exact",
        "(n-1-floor(n/2))/(floor(n/2)+1-f)",
        "kappaguard, closed-form-cwmed",
        "0 <= f < n/2",
        ("cwmed",),
    ),
    "gm": ClosedForm("GM", "exact", "floor(n/2)/(ceil(n/2)-f)", "kappaguard, closed-form-gm", "1 <= f < n/2", ("gm",)),
    "meamed": ClosedForm(
        "MeaMed",
        "exact",
        "4*f*(floor(n/2)+1)/((floor(n/2)+1-f)*(n-f))",
        "kappaguard, closed-form-meamed",
        "0 <= f < n/2",
        ("meamed",),
    ),
    "mda": ClosedForm(
        "MDA",
        "exact",
        "((f+1)**2+f**2+f**2/(n-2*f-1)+f-1)/(n-f)",
        "kappaguard, closed-form-mda",
        "1 <= f < (n-1)/2",
        ("mda",),
    ),
    "multikrum": ClosedForm(
        "MultiKrum", "exact", "4*f/(n-2*f)", "kappaguard, closed-form-multikrum", "3f <= n <= 17", ("multikrum",)
    ),
    "krum": ClosedForm(
        "Krum", "exact", "n**2/(f*(n-2*f))", "kappaguard, closed-form-krum", "2f < n <= 3f, n <= 17", ("krum",)
    ),
}
"""kappa* itself, where it has a closed form, by rule."""
MULTIKRUM_NARROW = ClosedForm(
    "MultiKrum",
    "exact",
    "2*f*(2*f**3+f-1)/((f-1)*(f+1)**2)",
    "kappaguard, closed-form-multikrum-narrow",
    "n = 2f + 1, 3 <= f <= 8",
    ("multikrum",),
)
"""kappa* of MultiKrum with one honest vector more than needed."""
STATED = {"cwtm": CWTM, "krum": KRUM, "gm": GM, "cwmed": CWMED}


def lost(rule: str, n: int, f: int) -> float:
    """The factor by which the paper's coefficient exceeds kappa*, where both are closed forms."""
    if rule not in STATED:
        raise InputError(f"the paper states no coefficient for {rule}")
    return float(STATED[rule](n, f)) / float(OURS[rule](n, f))


APPENDIX = (CWTM, KRUM, GM, CWMED, UNIVERSAL, SPECIFIC_EVEN, SPECIFIC_ODD, SPECIFIC_ANY)
ALL = (*APPENDIX, NNM, LAMBDA, ARAGG, TABLE_GM, TABLE_CWTM, TABLE_CWMED, TABLE_KRUM, TABLE_LOWER)


@dataclass(frozen=True)
class Row:
    """One column of the paper's Table 1: what the table says, what the appendix proves, and their quotient."""

    name: str
    table: ClosedForm
    appendix: ClosedForm
    constant: Fraction


def table_one() -> tuple[Row, ...]:
    """Table 1 in the paper's order, each entry checked to be the appendix's up to a constant."""
    pairs = (
        (TABLE_GM, GM),
        (TABLE_CWTM, CWTM),
        (TABLE_CWMED, CWMED),
        (TABLE_KRUM, KRUM),
        (TABLE_LOWER, UNIVERSAL),
    )
    return tuple(Row(table.name, table, appendix, _constant(table, appendix)) for table, appendix in pairs)


def table_one_latex() -> str:
    """Table 1 as LaTeX."""
    rows = table_one()
    head = " & ".join(["Aggregation", *(row.name for row in rows)])
    body = " & ".join([r"$\kappa$", *(f"${row.table.latex}$" for row in rows)])
    columns = "c|" + "c" * (len(rows) - 1) + "|c"
    return f"\\begin{{tabular}}{{{columns}}}\n{head} \\\\\n\\hline\n{body} \\\\\n\\end{{tabular}}\n"


def _constant(table: ClosedForm, appendix: ClosedForm) -> Fraction:
    import sympy

    quotient = sympy.simplify(appendix.symbolic / table.symbolic)
    if not quotient.is_Rational:
        raise ValueError(f"{appendix.name}: appendix and table differ by {quotient}, which is not a constant")
    return Fraction(int(quotient.p), int(quotient.q))


def amplified(inner: str) -> str:
    """The coefficient of NNM in front of a rule with the given one (Lemma 1)."""
    return NNM.expression.replace("kappa", f"({inner})")


@lru_cache(maxsize=256)
def to_sympy(expression: str) -> Any:
    """An expression in n, f and kappa, as ``kappaguard.rules.base.expression`` allows it, in sympy."""
    import ast

    import sympy

    names = {
        "n": sympy.Symbol("n", integer=True, positive=True),
        "f": sympy.Symbol("f", integer=True, positive=True),
        "kappa": sympy.Symbol("kappa", nonnegative=True),
    }
    functions = {
        "sqrt": sympy.sqrt,
        "min": sympy.Min,
        "max": sympy.Max,
        "floor": sympy.floor,
        "ceil": sympy.ceiling,
    }

    def convert(node: ast.expr) -> Any:
        match node:
            case ast.Constant(value=int() | float() as number) if not isinstance(number, bool):
                return sympy.Rational(repr(number))
            case ast.Name(id=name) if name in names:
                return names[name]
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                return -convert(operand)
            case ast.BinOp(left=left, op=op, right=right):
                a, b = convert(left), convert(right)
                match op:
                    case ast.Add():
                        return a + b
                    case ast.Sub():
                        return a - b
                    case ast.Mult():
                        return a * b
                    case ast.Div():
                        return a / b
                    case ast.FloorDiv():
                        return sympy.floor(a / b)
                    case ast.Pow():
                        return a**b
            case ast.Call(func=ast.Name(id=name), args=arguments, keywords=[]) if name in functions:
                return functions[name](*map(convert, arguments))
        raise InputError(f"not an expression in n, f and kappa: {expression!r}")

    try:
        tree = ast.parse(expression, mode="eval")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise InputError(f"not an expression in n, f and kappa: {expression!r}") from None
    return convert(tree.body)
