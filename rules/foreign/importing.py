"""Finding the object that a name stands for: in a module, in a file, or below a package too heavy to import."""

from __future__ import annotations

import difflib
import importlib
import importlib.util
import itertools
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

from kappaguard.rules.base.errors import InputError
from kappaguard.rules.base.files import is_file
from kappaguard.rules.foreign.parameters import listed, one_line

FILE_COUNT = itertools.count()
PYTHONPATH = "KAPPAGUARD_PYTHONPATH"


@contextmanager
def also_on_path(folder: Path) -> Iterator[None]:
    """Let imports fall back on ``folder``; installed packages come first."""
    entry = str(folder)
    sys.path.append(entry)
    try:
        yield
    finally:
        # The imported code may have changed the list: remove the last entry like ours, if any.
        for index in range(len(sys.path) - 1, -1, -1):
            if sys.path[index] == entry:
                del sys.path[index]
                break


@contextmanager
def passing_by(packages: Sequence[str]) -> Iterator[None]:
    """Import modules below ``packages`` without running the packages' own code.

    Each package is stood in for by an empty module that only knows its folder. The stand-ins are gone afterwards,
    so that a later import of the package is the real one and finds the same modules below it.
    """
    stand_ins = {}
    try:
        for package in packages:
            specification = None if package in sys.modules else importlib.util.find_spec(package)
            if specification is not None:
                stand_ins[package] = sys.modules[package] = importlib.util.module_from_spec(specification)
        yield
    finally:
        for package, stand_in in stand_ins.items():
            if sys.modules.get(package) is stand_in:
                del sys.modules[package]


def project_folders() -> list[Path]:
    """Where the user's own modules may be: the folders that KAPPAGUARD_PYTHONPATH lists, the current one, its src."""
    given = os.environ.get(PYTHONPATH, "")
    folders = [Path(each) for each in given.split(os.pathsep) if each]
    return [*folders, *(folder for folder in (Path.cwd(), Path.cwd() / "src") if folder.is_dir())]


def load_module(name: str, shells: Sequence[str] = ()) -> ModuleType:
    """The module ``name``, importable as usual or from the folders of the project."""
    try:
        with ExitStack() as stack:
            for folder in project_folders():
                stack.enter_context(also_on_path(folder))
            stack.enter_context(passing_by(shells))
            return importlib.import_module(name)
    except Exception as error:
        raise InputError(f"module {name} cannot be imported: {one_line(error)}") from error


def require_file(path: Path) -> None:
    """InputError that names the files that are there if ``path`` is not."""
    if is_file(path):
        return
    folder = path.parent
    try:
        there = listed(entry.name for entry in folder.glob("*.py")) if folder.is_dir() else None
    except (OSError, ValueError):
        there = None
    raise InputError(
        f"file {path} does not exist; "
        + (f"folder {folder} does not exist either" if there is None else f"Python files in {folder}: {there}")
    )


def load_file(path: Path) -> ModuleType:
    """The module in the file ``path``, under a private name; read again each time."""
    require_file(path)
    name = f"_kappaguard_file_{next(FILE_COUNT)}_{path.stem}"
    specification = importlib.util.spec_from_file_location(name, path)
    if specification is None or specification.loader is None:
        raise InputError(f"file {path} is not a Python module")
    module = importlib.util.module_from_spec(specification)
    # Dataclasses look their own module up while they are defined.
    sys.modules[name] = module
    try:
        with also_on_path(path.resolve().parent):
            specification.loader.exec_module(module)
    except ImportError as error:
        del sys.modules[name]
        root, dotted = package_of(path)
        if "relative import" not in str(error) or "." not in dotted:
            raise InputError(f"file {path} does not load: {one_line(error)}") from error
        # part of a package: its relative imports work where it is imported as that
        with also_on_path(root):
            return load_module(dotted)
    except Exception as error:
        del sys.modules[name]
        raise InputError(f"file {path} does not load: {one_line(error)}") from error
    return module


def package_of(path: Path) -> tuple[Path, str]:
    """The folder from which a file can be imported as part of its package, and its name there."""
    folder, parts = path.resolve().parent, [path.stem]
    while (folder / "__init__.py").is_file() and folder.parent != folder:
        parts.insert(0, folder.name)
        folder = folder.parent
    return folder, ".".join(parts)


def attribute(modules: Sequence[ModuleType], where: str, dotted: str) -> Any:
    """The attribute ``dotted`` of the first of ``modules`` that has it."""
    first, *rest = dotted.split(".")
    holder = next((module for module in modules if hasattr(module, first)), None)
    if holder is None:
        raise InputError(f"{where} has no attribute {first}; {suggestion(modules, first)}")
    found: Any = getattr(holder, first)
    for name in rest:
        if not hasattr(found, name):
            raise InputError(f"{where}:{dotted} does not exist: there is no attribute {name}")
        found = getattr(found, name)
    return found


def suggestion(modules: Sequence[ModuleType], name: str) -> str:
    """What is there instead: near matches if any, else the public callables."""
    public = {
        key for module in modules for key, value in vars(module).items() if not key.startswith("_") and callable(value)
    }
    near = difflib.get_close_matches(name, sorted(public), n=3)
    return f"did you mean {' or '.join(near)}?" if near else f"it has: {listed(public)}"


def is_path(where: str) -> bool:
    """Whether the part of a name before the colon is a file rather than a module."""
    return where.endswith(".py") or os.sep in where or "/" in where
