"""One section of a dossier in a process of its own."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

from kappaguard.reports.dossier.plan import plan_from_json
from kappaguard.reports.dossier.sections import section
from kappaguard.rules.errors import InputError
from kappaguard.rules.files import write
from kappaguard.verify.sandbox.process import end_with_parent, limit_memory

PLAN, NAME, RESULT, ERROR = "plan.json", "section", "result.json", "error"


def work(folder: Path) -> None:
    """Compute the section that the folder names, and leave the result or the refusal there."""
    plan = plan_from_json((folder / PLAN).read_text(encoding="utf-8"))
    end_with_parent()
    limit_memory(plan.memory)
    compute, _ = section((folder / NAME).read_text(encoding="utf-8"))
    try:
        write(folder / RESULT, json.dumps(compute(plan), allow_nan=False))
    except InputError as error:
        write(folder / ERROR, " ".join(str(error).split()))


if __name__ == "__main__":
    work(Path(sys.argv[1]))
    sys.stdout.flush()
    os._exit(0)
