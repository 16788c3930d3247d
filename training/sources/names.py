"""Sources by name: ``gaussian:d=100``, ``mnist:alpha=0.1,after=100``, a file of gradients, a run's folder."""

from __future__ import annotations

import difflib
from pathlib import Path
from typing import Any

from kappaguard.rules.base.checks import require_count
from kappaguard.rules.base.errors import InputError
from kappaguard.training.sources.dataset import SETTINGS, Gradients
from kappaguard.training.sources.families import FAMILIES, Family
from kappaguard.training.sources.files import READERS, File
from kappaguard.training.sources.folder import Messages
from kappaguard.training.sources.source import Source

DATASETS = ("digits", "mnist", "fashion-mnist", "cifar-10")
_INTEGERS = ("after", "batch", "samples", "d", "k", "rank")
_WORDS = ("split", "model")


def source_named(
    text: str,
    n: int,
    f: int,
    *,
    honest: tuple[int, ...] | None = None,
    seed: int = 0,
    everyone: bool = False,
    data_dir: str | None = None,
    device: str = "cpu",
    key: str | None = None,
) -> Source:
    """The source that a text names, for n workers of which f are Byzantine.

    A family or a data set has n - f honest workers, or n with ``everyone``. ``honest`` says who is in a file.
    """
    path = Path(text)
    name, _, inside = text.partition(":")
    if name in FAMILIES or name in DATASETS:
        if honest is not None or key is not None:
            raise InputError(f"{name} says itself who is honest: --honest and --key are for files")
        given = _parameters(name, inside)
        workers = n if everyone else n - f
        if name in FAMILIES:
            return Family(name, workers, seed, given)
        return _gradients(text, name, given, workers, 0 if everyone else f, seed, data_dir, device)
    if path.is_dir():
        if honest is not None or key is not None:
            raise InputError(
                f"{text} is the folder of a run, which says who is honest: --honest and --key are for files"
            )
        return Messages(text, n, f)
    if path.suffix in READERS or path.exists():
        return File(text, honest, n, key)
    known = [*FAMILIES, *DATASETS]
    near = difflib.get_close_matches(name, known, 1)
    hint = f"did you mean {near[0]}? There" if near else "there"
    raise InputError(f"no source is called {text[:60]!r}, and there is no such file; {hint} are {', '.join(known)}")


def _parameters(name: str, text: str) -> dict[str, Any]:
    given: dict[str, Any] = {}
    for part in filter(None, text.split(",")):
        key, sign, value = part.partition("=")
        key = key.strip()
        if not sign and key in ("iid", "extreme"):
            key, value = "split", key
        elif not sign or key in given:
            raise InputError(f"{name}: parameters are written name=number, each once, got {text[:60]!r}")
        given[key] = _value(name, key, value.strip())
    return given


def _value(name: str, key: str, text: str) -> Any:
    if key in _WORDS:
        return text
    if key == "clip" and text == "none":
        return None
    try:
        return int(text) if key in _INTEGERS else float(text)
    except ValueError:
        kind = "a whole number" if key in _INTEGERS else "a number"
        raise InputError(f"{name}: {key} must be {kind}, got {text[:40]!r}") from None


def _gradients(
    label: str, name: str, given: dict[str, Any], m: int, f: int, seed: int, data_dir: str | None, device: str
) -> Gradients:
    from kappaguard.training.configuration import preset

    after = given.pop("after", 0)
    require_count(after, 0, f"{name}: after")
    for key in given:
        if key not in SETTINGS:
            raise InputError(f"{name} has no parameter {key!r}; it has {', '.join((*SETTINGS, 'after'))}")
    if "alpha" in given and given.get("split", "dirichlet") != "dirichlet":
        raise InputError(f"{name}: alpha is for the Dirichlet split and not for {given['split']}")
    values = {"n": m + f, "f": f, "seed": seed, "data_dir": data_dir, "device": device, **given}
    return Gradients(preset(name).with_values(values), after, name=label)
