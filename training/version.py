"""Which code made a result: the version of the package, and a hash of the sources that a run depends on."""

from __future__ import annotations

import hashlib
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable

PARTS = ("rules", "search", "training")
KINDS = (".py", ".c", ".h", ".toml")


@cache
def code_hash() -> str:
    """Of the sources of rules, attacks and training, as they are installed; the same files give the same hash."""
    found = hashlib.sha256()
    for part in PARTS:
        for name, content in sorted(_sources(files("kappaguard").joinpath(part), part)):
            found.update(f"{name}\n{len(content)}\n".encode() + content)
    return found.hexdigest()[:12]


def _sources(folder: Traversable, path: str) -> list[tuple[str, bytes]]:
    result: list[tuple[str, bytes]] = []
    for entry in folder.iterdir():
        name = f"{path}/{entry.name}"
        if entry.is_dir():
            result += _sources(entry, name)
        elif entry.name.endswith(KINDS):
            result.append((name, entry.read_bytes()))
    return result
