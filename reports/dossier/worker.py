"""One section of a dossier in a process of its own."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

from kappaguard.reports.dossier.plan import plan_from_json
from kappaguard.reports.dossier.sections import section
from kappaguard.rules.base.errors import InputError, OutOfTime, trace_of
from kappaguard.rules.base.files import write
from kappaguard.verify.process.deadline import deadline
from kappaguard.verify.process.job import end_with_parent, limit_memory
from kappaguard.verify.process.run import RAISE

PLAN, NAME, RESULT, ERROR, TRACE, LATE = "plan.json", "section", "result.json", "error", "trace", "late"
BEGUN = "begun"
TRAIN = ("torch", "sklearn", "pooch")
"""What the extra train brings."""


def work(folder: Path) -> None:
    """Compute the section that the folder names, and leave the result or the refusal there."""
    plan = plan_from_json((folder / PLAN).read_text(encoding="utf-8"))
    end_with_parent()
    limit_memory(plan.memory)
    try:
        with deadline(plan.timeout, float((folder / BEGUN).read_text())):
            found = section((folder / NAME).read_text(encoding="utf-8"))(plan)
        write(folder / RESULT, json.dumps(found, allow_nan=False))
    except OutOfTime:
        write(folder / LATE, f"unfinished within {plan.timeout:g} s; {RAISE}")
    except ModuleNotFoundError as error:
        if error.name not in TRAIN:
            raise
        write(folder / LATE, f"it needs {error.name}: pip install 'kappaguard[train]'")
    except InputError as error:
        write(folder / ERROR, " ".join(str(error).split()))
        write(folder / TRACE, trace_of(error))


if __name__ == "__main__":
    work(Path(sys.argv[1]))
    sys.stdout.flush()
    os._exit(0)
