"""A report as a folder: index.html, graph.html, report.md and results.json beside the witnesses and certificates."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from kappaguard.reports.baseline import changes
from kappaguard.reports.graph import graph_page, linked
from kappaguard.reports.markdown import markdown
from kappaguard.reports.page import page
from kappaguard.reports.results import save
from kappaguard.reports.summary import told
from kappaguard.rules.base.errors import InputError
from kappaguard.rules.base.files import write

TITLE = "<title>kappaguard report</title>"
"""What tells a page of ours from another."""


def write_report(results: Mapping[str, Any], folder: Path, before: Mapping[str, Any] | None = None) -> Path:
    """Write all three and return the page's path; ``before`` is the results of the report to compare with."""
    save(results, folder)
    since = None if before is None else changes(results, before)
    write(folder / "report.md", markdown(results, since))
    write(folder / "index.html", page(results, since))
    if linked(told(results)):
        write(folder / "graph.html", graph_page(told(results)))
    return folder / "index.html"


def require_ours(folder: Path) -> None:
    """InputError if the folder holds an index.html that is no report: it would be written over."""
    page = folder / "index.html"
    if page.is_file() and TITLE not in page.read_text(encoding="utf-8", errors="replace"):
        raise InputError(f"{page} is not a report of kappaguard and would be written over: name another folder")


def copy_files(results: Mapping[str, Any], source: Path, folder: Path) -> list[str]:
    """Witnesses and certificates from where the results are to where the report goes; those that are not there."""
    entries = [*results["claims"], *results.get("kappa", [])]
    names = dict.fromkeys(entry[key] for entry in entries for key in ("witness", "certificate") if entry.get(key))
    if source.resolve() == folder.resolve():
        return [name for name in names if not (source / name).is_file()]
    missing = []
    for name in names:
        if not (source / name).is_file():
            missing.append(name)
            continue
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source / name, folder / name)
    return missing
