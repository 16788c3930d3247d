"""The commands of README and docs, and how the long ones are shortened before they are run."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
GUIDES = [page for page in PAGES if page.name != "reference.md"]
"""Pages with commands to type; those of the reference are what the program says of itself."""

PLACEHOLDER = re.compile(r"\b([A-Z]{3,}|N|F|K|T)\b")
"""A word that the reader is to replace: such a command is a form, not a command."""

SHORTER = {
    r"--budget \d+": "--budget 0.5",
    r"--seeds 100 --engine (dask|ray) --address \S+": "--seeds 1 --evaluations 100 --jobs 1",
    r"--at 17,4 --at 17,8 --seeds 3$": "--at 5,1 --seeds 1 --evaluations 200 --jobs 1",
    r"^(kappaguard verify --only theorem-1)$": r"\1 --quick",
    r"^(kappaguard check .* -f \d+)( --claim \S+)?$": r"\1\2 --evaluations 400",
    r"^(kappaguard train)( --device auto)?$": r"\1\2 --steps 3",
    r"^(kappaguard train) --preset mnist(?:-authors)?( .*?)?( --steps \d+)?(?: --device cuda)?( --json)?$": (
        r"\1 --preset digits\2 --steps 3\4"
    ),
    r"(--resume \.kappaguard/runs)/mnist": r"\1/digits",
    r"^kappaguard reproduce (theorem[12])\b.*$": r"kappaguard reproduce \1 --steps 3 --rule cwtm --attack sf",
}
"""What is put in for what, so that a command takes seconds: smaller budgets, fewer seeds and steps, this machine
instead of a cluster (tests/verify/process/test_sweep.py has the engines), digits instead of MNIST, some cells instead
of all."""

LONG = {
    r"kappaguard (estimate|train --preset) .*(mnist:|cifar-10.*foe)": "needs the data: elsewhere on digits",
    r"kappaguard atlas": "half a minute at the least: tests/reports/test_atlas.py makes a short one",
    r"kappaguard stress": "half a minute at the least: tests/reports/test_dossier.py runs a short one",
    r"kappaguard reproduce (?!theorem|rates)": "needs MNIST, and hours: tests/training/ runs small ones",
    r"kappaguard report .*--worst-inputs": "minutes: tests/training/test_witnessed.py measures fewer and shows them",
    r"kappaguard (reproduce |.*--)rates": "minutes: tests/reports/test_rates.py measures fewer and shows them",
    r"torchrun": "tests/training/ runs it with two ranks",
}
"""What is not run here, by a pattern of its beginning, and why."""


def blocks(kind: str) -> list[tuple[str, str]]:
    """The code blocks of a kind, with their pages."""
    found = []
    for page in PAGES:
        for code in re.findall(rf"```{kind}\n(.*?)```", page.read_text(), re.DOTALL):
            found.append((str(page.relative_to(ROOT)), code))
    return found


def commands(page: Path) -> list[str]:
    """The commands of a page, in order: in console blocks, indented, or within a line if they have arguments."""
    kept = {"console": r"\2"}
    text = re.sub(
        r"```(\w*)\n(.*?)```", lambda block: block.expand(kept.get(block[1], "")), page.read_text(), flags=re.DOTALL
    )
    found = []
    for block, line, inline in re.findall(
        r"(?m)^\$ (.*)$|^    ((?:kappaguard|torchrun) .*)$|`(kappaguard [^`]*)`", text
    ):
        if inline and (len(inline.split()) < 3 or PLACEHOLDER.search(inline)):
            continue
        found.append(shlex.join(shlex.split(block or line or inline, comments=True)))
    return list(dict.fromkeys(found))


def excuse(command: str) -> str | None:
    """Why a command is not run, if it is not."""
    return next((reason for beginning, reason in LONG.items() if re.match(beginning, command)), None)


def shortened(command: str) -> str:
    """The command with everything put in that makes it short."""
    for pattern, replacement in SHORTER.items():
        command = re.sub(pattern, replacement, command)
    return command
