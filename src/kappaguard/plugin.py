"""The pytest plugin: a marker that guards a rule, and options for the search.

    @pytest.mark.kappa(n=17, f=4, claim="6*f/(n-2*f)*(1+f/(n-2*f))")
    def my_rule():
        return MyRule(f=4)

A class of rules may be marked as well; it is constructed with f if its constructor has such a parameter, or without.
A marked function is a factory: what it returns is the rule, and the test passes unless the claim is refuted. It may
have any name and take fixtures; several marks make several claims. pytest allows no marks on fixtures: a marked test
that returns nothing guards the value of its fixture ``rule``, or of the one that ``fixture="name"`` names.

pytest imports this module in every run of everybody who has kappaguard installed, so it imports nothing of the library
before a marked test runs.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

MARKER = "kappa(n, f, claim, fixture='rule', **options): the returned rule, or the fixture, satisfies kappa* <= claim."
OPTIONS = (
    ("evaluations", int, "K", "inputs that the search tries for one claim"),
    ("seed", int, "K", "the seed of the search"),
    ("tolerance", float, "T", "the relative error of rules that iterate"),
)
WITNESSES = ".kappaguard/witnesses"


def pytest_addoption(parser: pytest.Parser) -> None:
    """The options of the search."""
    group = parser.getgroup("kappaguard", "worst case of aggregation rules")
    for name, kind, shown, words in OPTIONS:
        group.addoption(f"--kappa-{name}", type=kind, metavar=shown, help=words)


def pytest_configure(config: pytest.Config) -> None:
    """Register the marker, and tell ``kg.assert_robust`` in this process what the options say."""
    config.addinivalue_line("markers", MARKER)
    for name, *_ in OPTIONS:
        variable, value = f"KAPPAGUARD_{name.upper()}", config.getoption(f"--kappa-{name}")
        if value is not None:
            before = os.environ.get(variable)
            os.environ[variable] = str(value)
            config.add_cleanup(partial(_restore, variable, before))


def _restore(variable: str, value: str | None) -> None:
    if value is None:
        os.environ.pop(variable, None)
    else:
        os.environ[variable] = value


def pytest_pycollect_makeitem(collector: Any, name: str, obj: object) -> list[Any] | None:
    """Collect marked factories and marked classes of rules, whatever they are called."""
    if not callable(obj) or (not isinstance(obj, type) and collector.istestfunction(obj, name)):
        return None
    marks = getattr(obj, "pytestmark", None)
    if not isinstance(marks, list) or not any(getattr(mark, "name", None) == "kappa" for mark in marks):
        return None
    return _of_class(collector, name, obj) if isinstance(obj, type) else list(collector._genfunctions(name, obj))


def _of_class(collector: Any, name: str, obj: type) -> list[Any] | None:
    """A test of the class itself if its objects can be called; a mark on a class of tests is for its methods."""
    if any("__call__" in vars(base) for base in obj.__mro__):
        factory = partial(_itself, obj)
        factory.pytestmark = obj.pytestmark  # type: ignore[attr-defined]
        return [pytest.Function.from_parent(collector, name=name, callobj=factory)]
    if collector.istestclass(obj, name):
        return None
    raise collector.CollectError(
        f"the class {name} has the mark kappa, and is no class of tests and no rule: no __call__"
    )


def _itself(rule: type) -> type:
    return rule


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """Call the factory, and check what it returns."""
    marks = list(pyfuncitem.iter_markers("kappa"))
    if not marks:
        return None
    arguments = {name: pyfuncitem.funcargs[name] for name in pyfuncitem._fixtureinfo.argnames}
    returned = pyfuncitem.obj(**arguments)
    failures = [text for mark in marks for text in _failures(pyfuncitem, mark, returned)]
    if failures:
        pytest.fail("\n\n".join(failures), pytrace=False)
    return True


def _failures(item: pytest.Function, mark: pytest.Mark, returned: Any) -> Iterator[str]:
    """What one mark finds wrong."""
    from kappaguard.reports.guard.explanation import explain
    from kappaguard.rules.base.errors import InputError
    from kappaguard.verify.guard.check import check

    options = dict(mark.kwargs)
    fixture = options.pop("fixture", "rule")
    rule: Any = item.funcargs.get(fixture) if returned is None else returned
    if rule is None:
        yield f"kappaguard: {item.name} returns no rule and takes no fixture {fixture!r}"
        return
    root = item.config.rootpath
    options.setdefault("witnesses", WITNESSES if root == Path.cwd() else root / WITNESSES)
    try:
        verdict = check(rule, *mark.args, **options)
    except InputError as error:
        yield f"kappaguard: {' '.join(str(error).split())}"
    except TypeError as error:
        if "check()" not in str(error):
            raise
        yield f"kappaguard: the mark is written kappa(n=..., f=..., claim=...): {error}"
    else:
        text = explain(verdict)
        if verdict.holds:
            item.add_report_section("call", "kappaguard", text)
        else:
            yield text
