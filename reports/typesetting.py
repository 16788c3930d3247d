"""Formulas in plain characters, set with the signs that readers know."""

from __future__ import annotations

import re
from typing import Any

SIGNS = (
    ("==", "="),
    ("<=", "≤"),
    (">=", "≥"),
    ("||", "‖"),
    ("^2", "²"),
    ("^3", "³"),
    (" -> ", " → "),
    (" - ", " \N{MINUS SIGN} "),
)


def typeset(text: object) -> str:
    """The text with ``<=`` as one sign, and so on; a difference gets a minus sign, a name with a hyphen keeps it."""
    shown = str(text)
    for plain, sign in SIGNS:
        shown = shown.replace(plain, sign)
    return shown


LETTERS = {
    "theta": "θ",
    "sigma": "\N{GREEK SMALL LETTER SIGMA}",
    "beta": "β",
    "gamma": "\N{GREEK SMALL LETTER GAMMA}",
    "lambda": "λ",
    "delta": "δ",
    "Delta": "Δ",
    "epsilon": "ε",
    "xi": "ξ",
    "mu": "μ",
    "grad": "∇",
    "sqrt": "√",
}
"""Names of letters as letters; kappa stays the word that all pages use."""

NAMED = re.compile(rf"(?<![A-Za-z-])({'|'.join(LETTERS)})(?![A-Za-z])")
LOWERED = re.compile(r"(?<![A-Za-z])([A-Za-zΔ\u03b1-\u03c9]|mean|hat)_(?:\{([^}]*)\}|([A-Za-z0-9]+))")
RAISED = re.compile(r"\^(?:\(([^()]*)\)|([A-Za-z0-9]+))")


def formulas(text: object) -> Any:
    """The same for a page of HTML, with Greek letters, and what is raised or lowered set so; all else is escaped."""
    from markupsafe import Markup, escape

    shown = NAMED.sub(lambda found: LETTERS[found[1]], str(escape(typeset(text))))
    shown = re.sub(r"\bF o ", "F ∘ ", shown)
    shown = LOWERED.sub(lambda found: f"{found[1]}<sub>{found[2] or found[3]}</sub>", shown)
    return Markup(RAISED.sub(lambda found: f"<sup>{found[1] or found[2]}</sup>", shown))


def place(source: str) -> str:
    """Where a statement stands, without the label in the source of the paper."""
    return re.sub(r" ?\([a-z_-]+:[^)]*\)", "", source)
