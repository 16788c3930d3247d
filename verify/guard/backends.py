"""A rule that takes NumPy arrays and torch tensors alike is two rules: both are judged."""

from __future__ import annotations

import dataclasses
from importlib.util import find_spec

from kappaguard.rules.base.errors import InputError
from kappaguard.rules.foreign.adapted import Adapted
from kappaguard.rules.grammar import split_pipeline
from kappaguard.verify.guard.health.inputs import differs, gap, plain
from kappaguard.verify.judge.judgement import Failed
from kappaguard.verify.judge.precision import measure
from kappaguard.verify.judge.subject import Subject

OPTION = "backend='torch'"
INPUTS = ((1, 0), (3, 0), (3, 1), (8, 2))
"""Dimensions and seeds of the plain inputs on which the two are compared."""


def on_tensors(subject: Subject) -> Subject | None:
    """The rule handed torch tensors, if it says nothing about what it takes, and takes them."""
    rule = subject.rule
    several = isinstance(subject.spec, str) and len(split_pipeline(subject.spec)) > 1
    if not isinstance(rule, Adapted) or rule.form != "same" or several or find_spec("torch") is None:
        return None
    try:
        import torch  # noqa: F401
    except Exception:
        # an installation that does not work, or does not fit into the memory that is allowed
        return None
    name = _named(subject.spec) if isinstance(subject.spec, str) else rule.name
    recipe = None if rule.recipe is None else dataclasses.replace(rule.recipe, spec=name)
    tensors = dataclasses.replace(rule, name=name, form="torch", recipe=recipe)
    try:
        precision = measure(tensors, subject.n, subject.f)
    except InputError:
        return None
    return dataclasses.replace(subject, spec=name, rule=tensors, precision=precision)


def _named(spec: str) -> str:
    """The name under which a witness finds the rule on tensors again."""
    text = spec.strip()
    if not text.endswith(")"):
        return f"{text}({OPTION})"
    inside = text[:-1].rstrip()
    return f"{inside}{OPTION})" if inside.endswith("(") else f"{inside}, {OPTION})"


def tensors_differ(arrays: Subject, tensors: Subject) -> str | None:
    """In words, how the outputs for arrays and for tensors differ on plain inputs, beyond the precision of either."""
    coarse = max(arrays, tensors, key=lambda each: each.epsilon)
    for d, seed in INPUTS[:1] if arrays.brief else INPUTS:
        x = plain(arrays.n, d, seed)
        try:
            here = arrays(x)
        except Failed:
            continue
        try:
            there = tensors(x)
        except Failed as failed:
            return f"on torch tensors the rule {failed}, on NumPy arrays it returns a vector"
        if differs(there, here, x, coarse):
            return f"on torch tensors the result differs from that on NumPy arrays by {gap(there, here):.3g}"
    return None
