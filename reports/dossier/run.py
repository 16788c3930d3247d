"""A whole dossier: the sections, several at a time, then the page."""

from __future__ import annotations

import json
import tempfile
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import kappaguard
from kappaguard.reports.dossier.agree import agreed
from kappaguard.reports.dossier.drawings import drawings
from kappaguard.reports.dossier.html import html_page
from kappaguard.reports.dossier.page import FOLDER, page
from kappaguard.reports.dossier.plan import Plan
from kappaguard.reports.dossier.sections import SECTIONS, TOGETHER
from kappaguard.reports.dossier.worker import BEGUN, ERROR, LATE, NAME, PLAN, RESULT, TRACE
from kappaguard.rules.base.errors import InputError
from kappaguard.rules.base.files import write
from kappaguard.rules.names import is_code
from kappaguard.verify.judge.subject import subject_of
from kappaguard.verify.process.job import end_all, run_module
from kappaguard.verify.process.run import RAISE

PAGE = "dossier.md"
HTML = "dossier.html"
NUMBERS = "dossier.json"
WITNESSES = "witnesses"


@dataclass(frozen=True)
class Dossier:
    """What was found, section by section; a section without data says why in ``failed``. ``interrupted`` says that the
    user stopped it."""

    plan: Plan
    data: dict[str, dict[str, Any]]
    failed: dict[str, str]
    seconds: float
    interrupted: bool = False

    def to_json(self) -> dict[str, Any]:
        """Everything, as JSON can hold it."""
        about = {"rule": self.plan.rule, "n": self.plan.n, "f": self.plan.f, "evaluations": self.plan.evaluations}
        about |= {"seed": self.plan.seed, "seconds": self.seconds, "version": kappaguard.__version__}
        return about | {"sections": self.data, "failed": self.failed, "interrupted": self.interrupted}


def stress(
    plan: Plan,
    out: Path,
    jobs: int = 1,
    sections: Sequence[str] | None = None,
    done: Callable[[str], None] = lambda name: None,
) -> Dossier:
    """Compute every section and write the folder; ``done`` is told of each section."""
    start = time.perf_counter()
    sections = SECTIONS if sections is None else sections
    plan = plan.at(witnesses=str((out / WITNESSES).resolve()))
    if not is_code(plan.rule):
        # a wrong name is told at once; somebody else's code is only run apart
        subject_of(plan.rule, plan.n, plan.f)
    outcomes: dict[str, dict[str, Any] | str] = {}

    def one(name: str) -> None:
        try:
            outcomes[name] = section_apart(name, plan)
        except InputError as error:
            outcomes[name] = str(error)
        done(name)

    interrupted = False
    try:
        if "health" in sections:
            # a rule that does not run at all is a wrong request, and told at once
            outcomes["health"] = section_apart("health", plan)
            done("health")
        _together(one, [name for name in TOGETHER if name in sections], jobs)
        # timings are taken when nothing else runs
        for name in sections:
            if name not in outcomes:
                one(name)
    except KeyboardInterrupt:
        interrupted = True
    for name in sections:
        outcomes.setdefault(name, "interrupted")
    data = {name: outcome for name in sections if isinstance(outcome := outcomes[name], dict)}
    failed = {name: outcome for name in sections if isinstance(outcome := outcomes[name], str)}
    if interrupted and not data:
        raise KeyboardInterrupt
    data = agreed(plan, data)
    if not data:
        raise InputError(f"{plan.rule}: {next(iter(failed.values()))}")
    dossier = Dossier(plan, data, failed, time.perf_counter() - start, interrupted)
    try:
        (out / FOLDER).mkdir(parents=True, exist_ok=True)
        write(out / NUMBERS, json.dumps(dossier.to_json(), indent=2, allow_nan=False) + "\n")
        pictures = drawings(data, f"kappaguard stress {plan.rule} -n {plan.n} -f {plan.f}")
        for picture in pictures.values():
            write(out / FOLDER / f"{picture.name}.svg", picture.svg + "\n")
        text = page(plan, data, failed, dossier.seconds, pictures)
        write(out / PAGE, text)
        write(out / HTML, html_page(text, pictures))
    except OSError as error:
        raise InputError(f"cannot write to {out}: {error.strerror or error}") from None
    return dossier


def _together(one: Callable[[str], None], names: Sequence[str], jobs: int) -> None:
    """Several sections at a time; Ctrl-C ends those that run, and begins no other."""
    pool = ThreadPoolExecutor(jobs)
    try:
        list(pool.map(one, names))
    except KeyboardInterrupt:
        pool.shutdown(wait=False, cancel_futures=True)
        end_all()
        raise
    finally:
        pool.shutdown(wait=True)


def section_apart(name: str, plan: Plan) -> dict[str, Any] | str:
    """The data of a section, or why the process brought none; InputError if the rule refuses."""
    with tempfile.TemporaryDirectory(prefix="kappaguard-", ignore_cleanup_errors=True) as place:
        folder = Path(place)
        (folder / PLAN).write_text(plan.to_json(), encoding="utf-8")
        (folder / NAME).write_text(name, encoding="utf-8")
        (folder / BEGUN).write_text(str(time.monotonic()), encoding="utf-8")
        ended = run_module("kappaguard.reports.dossier.worker", folder, plan.timeout, plan.memory)
        if (folder / RESULT).is_file():
            found: dict[str, Any] = json.loads((folder / RESULT).read_text(encoding="utf-8"))
            return found
        if (folder / ERROR).is_file():
            wrong = InputError((folder / ERROR).read_text(encoding="utf-8"))
            wrong.trace = (folder / TRACE).read_text(encoding="utf-8") if (folder / TRACE).is_file() else ""
            raise wrong
        if (folder / LATE).is_file():
            return (folder / LATE).read_text(encoding="utf-8")
        if ended.crossed == "time":
            return f"the rule did not return within {plan.timeout:g} s; {RAISE}"
        last = ended.printed.strip().splitlines()[-1:]
        return f"the process ended with {ended.how}" + (f": {last[0][:300]}" if last else "")
