"""Upper bounds on kappa* without a certificate of their own: from that of the rule behind a stage, or from a proof."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction

from kappaguard.rules.base.rule import Rule
from kappaguard.rules.pipeline import Pipeline
from kappaguard.rules.recipe.rule import RecipeRule
from kappaguard.verify.judge.result import KappaResult

SHARP = "kappa' <= 4f/(n-f) (kappa + 1), the claim lemma-1-nnm-sharp, with the certified kappa of {rule}"
DIRECTED = (
    "kappa' <= 4f/(n-f)^2 (n + (n+f)/2 kappa), the claim lemma-1-nnm-directions, with the certified kappa of {rule}"
)
CLIPPED = (
    "kappa' <= kappa + k/(n-f-k) with k = floor(2f(n-f)/n), the claim arc-robust, with the certified kappa of {rule}"
)
LEAST = "the claim rotation-free: cwtm's output lies in all balls, so they meet, and the centre lies in all of them"
FLATTEST = "4f/(n-2f), the claim closed-form-smea"


@dataclass(frozen=True)
class Upper:
    """An upper bound with what proves it: a certificate, a sentence, or both."""

    value: Fraction | None
    certificate: str | None = None
    proof: str | None = None
    programs: int = 0


def behind_stage(rule: Rule, n: int, f: int) -> tuple[str, Rule] | None:
    """The stage, nnm or arc, and the rule behind it; None if there is no such stage, or more than one."""
    if isinstance(rule, Pipeline):
        stages = [step.label for step in rule.steps]
        return (stages[0], rule.rule) if stages in (["nnm"], ["arc"]) else None
    if isinstance(rule, RecipeRule) and rule.given.mixing == (n - f,):
        return "nnm", RecipeRule(replace(rule.given, mixing=()))
    return None


def by_lemma(stage: str, behind: KappaResult, n: int, f: int) -> Upper:
    """What the lemma about a stage makes of the bound of the rule behind it."""
    kappa, m = behind.upper, n - f
    if not isinstance(kappa, Fraction):
        return Upper(None)
    if stage == "nnm":
        sharp, directed = Fraction(4 * f, m) * (kappa + 1), Fraction(4 * f, m**2) * (n + Fraction(n + f, 2) * kappa)
        value, lemma = (sharp, SHARP) if sharp <= directed else (directed, DIRECTED)
    else:
        k = 2 * f * m // n
        value, lemma = kappa + Fraction(k, m - k), CLIPPED
    return Upper(value, behind.certificate, lemma.format(rule=behind.rule), behind.stats.programs)


def by_proof(label: str, n: int, f: int) -> Upper:
    """What is proved of a rule that has neither a recipe nor a certificate."""
    if f == 0 and label == "average":
        return Upper(Fraction(0), None, "the output is the mean")
    if label == "chebyshev":
        return Upper(Fraction(f, n - 2 * f), None, LEAST)
    if label == "smea":
        return Upper(Fraction(4 * f, n - 2 * f), None, FLATTEST)
    return Upper(None)


def smaller(first: Upper, second: Upper) -> Upper:
    """The bound that says more."""
    if first.value is None or (second.value is not None and second.value < first.value):
        return second
    return first
