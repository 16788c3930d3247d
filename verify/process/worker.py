"""The other side of the sandbox: one task, its result in a file, then the end of the process."""

from __future__ import annotations

import gc
import json
import os
import sys
import traceback
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

from kappaguard.rules.base.errors import InputError, trace_of
from kappaguard.rules.base.files import write
from kappaguard.rules.foreign.parameters import one_line
from kappaguard.rules.witness import from_json
from kappaguard.verify.guard.course import check_claim
from kappaguard.verify.guard.verdict import Verdict
from kappaguard.verify.process.deadline import deadline
from kappaguard.verify.process.job import end_with_parent, limit_memory
from kappaguard.verify.process.request import (
    DRAFT,
    ERROR,
    FAILURE,
    FORKS,
    PHASE,
    REQUEST,
    RESULT,
    TRACE,
    request_from_data,
)
from kappaguard.verify.process.results import found_to_json, replay_to_json

Begin = Callable[[str], None]
Keep = Callable[[Verdict], None]


def work(folder: Path) -> None:
    """Carry out the request in the folder, and leave there its result, what is wrong with it, or our own error.

    What a rule raises is caught where it is called. An exception that gets here is one of ours, and must not be taken
    for the end of a rule.
    """
    data = json.loads((folder / REQUEST).read_text(encoding="utf-8"))
    end_with_parent()
    limit_memory(data["memory"])
    forks = 0

    def forked() -> None:
        nonlocal forks
        forks += 1

    def begin(phase: str) -> None:
        write(folder / PHASE, phase)
        # some rules collect garbage in every call, and would walk through all that we and they have imported
        gc.freeze()

    def keep(draft: Verdict) -> None:
        write(folder / DRAFT, draft.to_json())

    os.register_at_fork(before=forked)
    try:
        result = TASKS[data["task"]](data, begin, keep)
    except InputError as error:
        write(folder / TRACE, trace_of(error))
        write(folder / ERROR, " ".join(str(error).split()))
        return
    except MemoryError:
        write(folder / ERROR, f"it needs more than {data['memory'] >> 20} MiB of memory; raise --memory")
        return
    except Exception as error:
        write(folder / TRACE, "".join(traceback.format_exception(error)))
        where = traceback.extract_tb(error.__traceback__)[-1]
        write(folder / FAILURE, f"{one_line(error)} in {Path(where.filename).name}, line {where.lineno}")
        return
    write(folder / FORKS, str(forks))
    write(folder / RESULT, result)


def _check(data: dict[str, Any], begin: Begin, keep: Keep) -> str:
    request = request_from_data(data)
    with deadline(request.seconds, request.begun):
        return check_claim(request.claim_check, request.known, begin, keep=keep).to_json()


def _replay(data: dict[str, Any], begin: Begin, _: Keep) -> str:
    from kappaguard.verify.judge.replay import replay

    witness = from_json(data["witness"])
    begin("the replay")
    return replay_to_json(replay(witness))


def _search(data: dict[str, Any], begin: Begin, _: Keep) -> str:
    from kappaguard.verify.judge.search import search

    begin("the search")
    options = {key: data[key] for key in ("d", "budget", "evaluations", "seed")}
    options["tolerance"] = None if data["tolerance"] is None else Fraction(data["tolerance"])
    return found_to_json(search(data["rule"], data["n"], data["f"], **options))


def _trace(data: dict[str, Any], begin: Begin, _: Keep) -> str:
    from kappaguard.rules.recipe.trace.refusal import Untraceable
    from kappaguard.verify.judge.traced import refused_text, to_text, trace_here

    begin("the trace")
    try:
        return to_text(trace_here(data["rule"], data["n"], data["f"]))
    except Untraceable as refused:
        return refused_text(refused)


def _evaluate(data: dict[str, Any], begin: Begin, _: Keep) -> str:
    import numpy as np

    from kappaguard.rules.foreign.convert import as_numpy
    from kappaguard.rules.names import rule as rule_named

    begin("its outputs")
    rule = rule_named(data["rule"], f=data["f"])
    return json.dumps([as_numpy(rule(np.array(x))).tolist() for x in data["inputs"]])


TASKS: dict[str, Callable[[dict[str, Any], Begin, Keep], str]] = {
    "check_claim": _check,
    "replay": _replay,
    "search": _search,
    "trace": _trace,
    "evaluate": _evaluate,
}


if __name__ == "__main__":
    work(Path(sys.argv[1]))
    sys.stdout.flush()
    # threads and exit hooks of the rule are not waited for
    os._exit(0)
