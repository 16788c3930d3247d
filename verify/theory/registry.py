"""All claims, by paper: a folder of ``packs`` each, whose ``MODULES`` are in the order of the paper.

A pack is found by its folder: it exports MODULES, the names of its modules, and RESTS_ON, which claims the proof of a
claim uses. A module exports CLAIM, or CLAIMS.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from importlib import import_module
from importlib.resources import files

from kappaguard.rules.base.errors import InputError
from kappaguard.verify.theory.claim import Claim

FRAMEWORK = (
    *("algebra", "claim", "closed_form", "coefficient", "coefficients", "instance", "registry"),
    *("krum_upper", "run", "store", "term", "trained", "worst"),
)
"""The modules of this folder; none of them holds a claim."""
PACKS = "kappaguard.verify.theory.packs"


def papers() -> list[str]:
    """The papers of which there are claims, as ``--paper`` takes them."""
    folders = (each.name for each in files(PACKS).iterdir() if each.is_dir() and each.joinpath("__init__.py").is_file())
    return sorted(name.replace("_", "-") for name in folders)


def modules(paper: str) -> tuple[str, ...]:
    """The modules of a pack, in the order of the paper."""
    found: tuple[str, ...] = import_module(_pack(paper)).MODULES
    return found


@lru_cache(maxsize=8)
def claims(paper: str | None = None) -> tuple[Claim, ...]:
    """Every claim, or those of one paper; the modules import nothing heavy before a check is run."""
    chosen = papers() if paper is None else [paper]
    return tuple(claim for name in chosen for module in modules(name) for claim in claims_of(module, name))


def claims_of(module: str, paper: str = "fixing-by-mixing") -> tuple[Claim, ...]:
    """The claims of one module: its CLAIMS, or its one CLAIM."""
    loaded = import_module(f"{_pack(paper)}.{module}")
    found: tuple[Claim, ...] = tuple(loaded.CLAIMS) if hasattr(loaded, "CLAIMS") else (loaded.CLAIM,)
    return found


@lru_cache(maxsize=1)
def rests_on() -> Mapping[str, tuple[str, ...]]:
    """Which claims the proof of a claim uses, over all packs."""
    return {name: used for paper in papers() for name, used in import_module(_pack(paper)).RESTS_ON.items()}


def _pack(paper: str) -> str:
    if paper not in papers():
        raise InputError(f"no pack of claims is called {paper!r}; there are {', '.join(papers())}")
    return f"{PACKS}.{paper.replace('-', '_')}"
