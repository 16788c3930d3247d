"""Verdicts as a JUnit file: one test case for each rule and (n, f)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from xml.etree import ElementTree

from kappaguard.reports.guard.explanation import decimal, explain
from kappaguard.rules.base.text import printable
from kappaguard.verify.guard.verdict import Verdict

_FORBIDDEN = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def junit(outcomes: Sequence[Verdict], errors: Sequence[str] = ()) -> str:
    """The file's content; checks that could not be carried out are errors."""
    suite = ElementTree.Element("testsuite", name="kappaguard")
    for verdict in outcomes:
        name = f"{verdict.rule} n={verdict.n} f={verdict.f} kappa <= {verdict.claim}"
        case = ElementTree.SubElement(suite, "testcase", classname="kappaguard.check", name=_text(name))
        case.set("time", f"{verdict.effort.seconds:.3f}")
        if verdict.verdict == "refuted":
            said = f"kappa* >= {decimal(verdict.lower)} > {decimal(verdict.bound)}"
            ElementTree.SubElement(case, "failure", message=_text(said), type="refuted").text = _body(explain(verdict))
        elif verdict.strict and verdict.findings:
            said = f"{len(verdict.findings)} findings, and every one counts"
            ElementTree.SubElement(case, "failure", message=said, type="finding").text = _body(explain(verdict))
        elif verdict.verdict == "unfinished":
            said = verdict.trouble or verdict.reason
            failed = ElementTree.SubElement(case, "error", message=_text(said), type="unfinished")
            failed.text = _body(explain(verdict))
        else:
            ElementTree.SubElement(case, "system-out").text = _body(explain(verdict))
    for place, error in enumerate(errors):
        case = ElementTree.SubElement(suite, "testcase", classname="kappaguard.check", name=f"request {place + 1}")
        ElementTree.SubElement(case, "error", message=_text(error), type="wrong request")
    troubled = sum(verdict.verdict == "unfinished" for verdict in outcomes)
    suite.set("tests", str(len(outcomes) + len(errors)))
    suite.set("failures", str(len(list(suite.iter("failure")))))
    suite.set("errors", str(troubled + len(errors)))
    suite.set("time", f"{sum(verdict.effort.seconds for verdict in outcomes):.3f}")
    ElementTree.indent(suite)
    return '<?xml version="1.0" encoding="utf-8"?>\n' + ElementTree.tostring(suite, encoding="unicode") + "\n"


def _text(text: str) -> str:
    return _FORBIDDEN.sub("?", printable(text))


def _body(text: str) -> str:
    return _FORBIDDEN.sub("?", text)
