"""docs/reference.md from the program itself: every command's help, every public function's signature and docstring.

python -m kappaguard.reference docs
"""

from __future__ import annotations

import inspect
import io
import re
import sys
from collections.abc import Callable
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

import kappaguard
from kappaguard.rules.base.files import write

PUBLIC = ("rule", "exact", "search", "check", "assert_robust", "estimate", "Estimator", "Monitor")
WIDTH = "100"


def reference() -> str:
    """The page of the reference, as Markdown."""
    lines = ["# Reference", "", "Written by `python -m kappaguard.reference docs`.", "", "## Commands", ""]
    lines += ["```text", _help(), "```", ""]
    for name in commands():
        lines += [f"### kappaguard {name}", "", "```text", _help(name), "```", ""]
    lines += ["## Python", "", "`import kappaguard as kg`", ""]
    for name in PUBLIC:
        function = _function(name)
        lines += [f"### kg.{name}", "", "```text", f"{name}{_signature(function)}", "```", ""]
        lines += [inspect.getdoc(function) or "", ""]
        for method, what in _methods(function):
            lines += [f"- `{method}`: {(inspect.getdoc(what) or '').partition(chr(10))[0]}"]
        lines += [""] if _methods(function) else []
    return "\n".join(lines)


def _signature(function: Callable[..., Any]) -> str:
    # a default that is a function has an address in it, which is another one every time
    return re.sub(r"<function [^>]*>", "...", str(inspect.signature(function)).replace("kappaguard.", ""))


def _methods(function: Callable[..., Any]) -> list[tuple[str, Any]]:
    """The public methods and properties of a class, in the order of the code."""
    found: list[tuple[str, Any]] = []
    for name, value in vars(function).items() if inspect.isclass(function) else ():
        if isinstance(value, property):
            found.append((name, value))
        elif not name.startswith("_") and (inspect.isfunction(value) or isinstance(value, classmethod)):
            plain = value.__func__ if isinstance(value, classmethod) else value
            names = [each for each in inspect.signature(plain).parameters if each not in ("self", "cls")]
            found.append((f"{name}({', '.join(names)})", plain))
    return found


def commands() -> list[str]:
    """All commands, in the order of their names."""
    from kappaguard.cli import app

    return sorted(str(each.name or each.callback.__name__) for each in app.registered_commands if each.callback)


def _function(name: str) -> Callable[..., Any]:
    if name == "search":
        from kappaguard.verify.judge.search import search

        return search
    public: Callable[..., Any] = getattr(kappaguard, name)
    return public


def _help(*command: str) -> str:
    """What ``--help`` prints, with one width whatever the terminal."""
    import os

    from kappaguard.cli import main

    before = os.environ.get("COLUMNS")
    os.environ["COLUMNS"] = WIDTH
    stream = io.StringIO()
    try:
        with redirect_stdout(stream):
            main([*command, "--help"])
    finally:
        if before is None:
            del os.environ["COLUMNS"]
        else:
            os.environ["COLUMNS"] = before
    return "\n".join(line.rstrip() for line in stream.getvalue().strip().splitlines())


if __name__ == "__main__":
    write(Path(sys.argv[1] if len(sys.argv) > 1 else "docs") / "reference.md", reference())
