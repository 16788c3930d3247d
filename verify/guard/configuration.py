"""``[tool.kappaguard]`` in pyproject.toml: rules and a grid of (n, f), so that CI runs plain ``kappaguard check``.

    [tool.kappaguard]
    grid = [[17, 4], [10, 2]]                 # pairs (n, f)
    rules = [
        "krum",                               # the paper's coefficient
        { rule = "mylib.rules:Mine", claim = "6*f/(n-2*f)", grid = [[9, 2]] },
    ]
    evaluations = 20000                       # of the search for each rule and (n, f)
    seed = 0

For one rule ``requires = "n >= 4*f+3"`` is the domain of its claim: other pairs of the grid are left out.
``suppress = { rotation = "works by coordinates" }`` hides findings of health checks, each with a reason; also for one
rule. ``pythonpath = ["src"]`` says where modules are, and ``backend``, ``method``, ``f`` and ``n`` of one rule how it
is called. Also ``timeout`` (seconds for one check in all), ``memory`` (MiB), ``jobs``, ``strict`` (every finding
counts), ``tolerance`` and ``witnesses`` (a folder), and for one rule ``evaluations``, ``tolerance`` and ``rotates``.
"""

from __future__ import annotations

import difflib
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from kappaguard.rules.base.checks import require_seconds
from kappaguard.rules.base.errors import InputError
from kappaguard.rules.base.expression import satisfies
from kappaguard.rules.names import is_code
from kappaguard.verify.guard.check import Job
from kappaguard.verify.guard.claim_check import EVALUATIONS, ClaimCheck
from kappaguard.verify.guard.store import FOLDER
from kappaguard.verify.guard.suppression import suppression
from kappaguard.verify.process.job import MEMORY
from kappaguard.verify.process.run import TIMEOUT, Limits, mebibytes

FILE = "pyproject.toml"
MOST_BYTES = 4 << 20
MOST_CHECKS = 10_000
MOST_COUNT = 1 << 63
KEYS = (
    *("rules", "grid", "evaluations", "seed", "timeout", "memory", "jobs", "witnesses", "tolerance", "strict"),
    *("suppress", "pythonpath"),
)
INTERFACE = ("backend", "method", "f", "n")
"""How a rule is called: see ``kappaguard.rules.foreign.callables``."""
RULE_KEYS = (
    *("rule", "claim", "grid", "evaluations", "tolerance", "rotates", "suppress", "requires"),
    *INTERFACE,
)
GONE = {"budget": "is counted in evaluations now: evaluations = 20000 takes about 3 s"}
"""Keys of earlier versions."""


@dataclass(frozen=True)
class GuardSettings:
    """The checks of a project, how many of them run at a time (None: as many as there are cores)."""

    checks: tuple[Job, ...]
    jobs: int | None = None
    seed: int = 0
    pythonpath: tuple[str, ...] = ()


def find(folder: Path) -> Path:
    """The pyproject.toml of a folder."""
    if not (folder / FILE).is_file():
        raise InputError(f"name a RULE with -n and -f, or list rules under [tool.kappaguard] in a {FILE} right here")
    return folder / FILE


def read(path: Path, evaluations: int | None = None, seed: int | None = None) -> GuardSettings:
    """The configuration in a file; evaluations or a seed given here take the place of the file's."""
    try:
        with path.open("rb") as stream:
            content = stream.read(MOST_BYTES + 1)
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror or error}") from None
    if len(content) > MOST_BYTES:
        raise InputError(f"{path} is larger than {MOST_BYTES} bytes")
    try:
        return from_toml(content.decode("utf-8"), evaluations, seed)
    except UnicodeDecodeError:
        raise InputError(f"{path} is not text in UTF-8") from None
    except InputError as error:
        raise InputError(f"{path}: {error}") from None


def from_toml(text: str, evaluations: int | None = None, seed: int | None = None) -> GuardSettings:
    """The configuration that a TOML text holds."""
    try:
        data: Any = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError, ValueError) as error:
        raise InputError(f"not TOML: {str(error)[:200]}") from None
    for name in ("tool", "kappaguard"):
        data = data.get(name) if isinstance(data, dict) else None
    if not isinstance(data, dict):
        raise InputError("there is no section [tool.kappaguard]; or name a RULE with -n and -f")
    _only(data, KEYS, "[tool.kappaguard]")
    given_seed = data.get("seed", 0) if seed is None else seed
    limits = Limits(_seconds(data["timeout"], "timeout") if "timeout" in data else TIMEOUT, _memory(data))
    strict = data.get("strict", False)
    if not isinstance(strict, bool):
        raise InputError("strict must be true or false")
    folder = data.get("witnesses", str(FOLDER))
    if not isinstance(folder, str) or not folder or "\0" in folder:
        raise InputError("witnesses must be the path of a folder")
    usual = _count(data.get("evaluations", EVALUATIONS), 1, "evaluations")
    checks = [
        Job(claim_check, Path(folder), None, limits, strict, _suppress(entry, data))
        for entry in _list(data.get("rules"), "rules")
        for claim_check in _claim_checks(entry, data, usual, evaluations, _count(given_seed, 0, "seed"))
    ]
    if not checks:
        raise InputError("there is nothing to check: rules = [...] or grid = [[n, f], ...] is empty")
    if len(checks) > MOST_CHECKS:
        raise InputError(f"{len(checks)} checks are more than the {MOST_CHECKS} that one run may have")
    jobs = _count(data["jobs"], 1, "jobs") if "jobs" in data else None
    folders = _list(data.get("pythonpath", []), "pythonpath")
    if not all(isinstance(each, str) and each and "\0" not in each for each in folders):
        raise InputError('pythonpath must be a list of folders, as in pythonpath = ["src"]')
    return GuardSettings(tuple(checks), jobs, given_seed, tuple(folders))


def _claim_checks(entry: Any, data: Mapping[str, Any], usual: int, forced: int | None, seed: int) -> list[ClaimCheck]:
    table = {"rule": entry} if isinstance(entry, str) else entry
    if not isinstance(table, dict) or not isinstance(table.get("rule"), str) or not table["rule"].strip():
        raise InputError("an entry of rules is a name or a table { rule = ..., claim = ... }")
    _only(table, RULE_KEYS, f"the entry of {table['rule']}")
    name = _with_interface(table)
    claim = table.get("claim")
    if claim is not None and (isinstance(claim, bool) or not isinstance(claim, str | int | float)):
        raise InputError(f"the claim of {name} must be an expression in n and f, or a number")
    evaluations = _count(table.get("evaluations", usual), 1, f"the evaluations of {name}")
    tolerance = table.get("tolerance", data.get("tolerance"))
    if tolerance is not None:
        if isinstance(tolerance, bool) or not isinstance(tolerance, int | float) or not 0 <= tolerance < 1:
            raise InputError(f"the tolerance of {name} must be at least 0 and less than 1")
        tolerance = Fraction(tolerance)
    rotates = table.get("rotates", False)
    if not isinstance(rotates, bool):
        raise InputError(f"rotates of {name} must be true or false")
    grid = table.get("grid", data.get("grid"))
    if grid is None:
        raise InputError(f"no grid for {name}: grid = [[n, f], ...]")
    tried = evaluations if forced is None else forced
    requires = table.get("requires")
    if requires is not None and not isinstance(requires, str):
        raise InputError(f"requires of {name} must be a condition on n and f, as in 'n >= 4*f+3'")
    pairs = [(n, f) for n, f in map(_pair, _list(grid, "grid")) if requires is None or satisfies(requires, n, f)]
    if not pairs:
        raise InputError(f"no pair of the grid satisfies what {name} requires: {requires}")
    return [ClaimCheck(name, n, f, claim, tried, seed, tolerance, rotates) for n, f in pairs]


def _with_interface(table: Mapping[str, Any]) -> str:
    """The name of a rule, with what the entry says about how it is called written into its parentheses."""
    name = str(table["rule"]).strip()
    given = {key: table[key] for key in INTERFACE if key in table}
    if not given:
        return name
    if not is_code(name) or not all(isinstance(value, str) for value in given.values()):
        raise InputError(f"{', '.join(given)} of {name}: texts that say how somebody's code is called")
    said = ", ".join(f"{key}={value!r}" for key, value in given.items())
    return f"{name[:-1]}, {said})" if name.endswith(")") else f"{name}({said})"


def _suppress(entry: Any, data: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    """What is suppressed for every rule, and for this one."""
    own = entry.get("suppress", {}) if isinstance(entry, dict) else {}
    return tuple(dict(suppression(data.get("suppress", {})) + suppression(own)).items())


def _pair(value: Any) -> tuple[int, int]:
    if not isinstance(value, list) or len(value) != 2:
        raise InputError("an entry of grid is a pair [n, f]")
    return _count(value[0], 1, "n"), _count(value[1], 0, "f")


def _only(table: Mapping[str, Any], keys: tuple[str, ...], where: str) -> None:
    for key in table:
        if key not in keys and key in GONE:
            raise InputError(f"{where}: {key} {GONE[key]}")
        if key not in keys:
            near = difflib.get_close_matches(key, keys, 1)
            hint = f"did you mean {near[0]}?" if near else f"there are {', '.join(keys)}"
            raise InputError(f"{where} has no key {key[:60]!r}; {hint}")


def _list(value: Any, name: str) -> list[Any]:
    if not isinstance(value, list) or len(value) > MOST_CHECKS:
        raise InputError(f"{name} must be a list of at most {MOST_CHECKS} entries")
    return value


def _seconds(value: Any, name: str) -> float:
    require_seconds(value, name)
    return float(value)


def _count(value: Any, least: int, name: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value < MOST_COUNT:
        raise InputError(f"{name} must be an integer from {least} to 2^63 - 1")
    return value


def _memory(data: Mapping[str, Any]) -> int:
    return mebibytes(data["memory"], "memory") if "memory" in data else MEMORY
