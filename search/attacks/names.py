"""Attacks by name: ``sf``, ``foe``, ``alie``, ``mimic``, ``adaptive``, with parameters as in ``foe(eta=2)``."""

from __future__ import annotations

import ast
import difflib
import re
from dataclasses import fields

from kappaguard.rules.base.errors import InputError
from kappaguard.search.attacks.adaptive import Adaptive
from kappaguard.search.attacks.base import Attack
from kappaguard.search.attacks.fall_of_empires import FallOfEmpires
from kappaguard.search.attacks.little_is_enough import LittleIsEnough
from kappaguard.search.attacks.mimic import Mimic
from kappaguard.search.attacks.sign_flip import SignFlipping

ATTACKS: dict[str, type[Attack]] = {
    cls.name: cls for cls in (LittleIsEnough, FallOfEmpires, SignFlipping, Mimic, Adaptive)
}

_CALL = re.compile(r"\s*([A-Za-z_]+)\s*(?:\((.*)\))?\s*", re.DOTALL)


def attack_named(text: str, others: tuple[str, ...] = ()) -> Attack:
    """The attack of that name; ``others`` are names that the caller takes as well, for the list of what there is."""
    match = _CALL.fullmatch(text)
    if match is None:
        raise InputError(f"not the name of an attack: {text.strip()!r}")
    name, inside = match.group(1).lower(), match.group(2) or ""
    if name not in ATTACKS:
        known = (*ATTACKS, *others)
        near = difflib.get_close_matches(name, known, 1)
        hint = f"did you mean {near[0]}? There" if near else "there"
        raise InputError(f"no attack is called {name!r}; {hint} are {', '.join(known)}")
    cls = ATTACKS[name]
    try:
        call = ast.parse(f"_({inside})", mode="eval").body
        assert isinstance(call, ast.Call)
        given = {str(keyword.arg): ast.literal_eval(keyword.value) for keyword in call.keywords}
        if call.args or len(given) < len(call.keywords):
            raise ValueError(inside)
    except (SyntaxError, ValueError, TypeError, AssertionError):
        raise InputError(f"{name}: parameters are written name=number, got {inside!r}") from None
    accepted = {field.name: field for field in fields(cls)}  # type: ignore[arg-type]
    for key in given:
        if key not in accepted:
            raise InputError(f"{name} has no parameter {key!r}; it has {', '.join(accepted) or 'none'}")
    try:
        return cls(**given)
    except TypeError as error:
        raise InputError(f"{name}: {error}") from None
