"""The atlas as a folder: computed on an engine, each entry stored when it is finished, then written as one page."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import kappaguard
from kappaguard.reports.atlas.entry import bounds, ordinary, refused, trained
from kappaguard.reports.atlas.page import atlas_page
from kappaguard.reports.atlas.place import AtlasPlace
from kappaguard.reports.atlas.table import atlas_csv
from kappaguard.rules.base.errors import InputError
from kappaguard.rules.base.files import write
from kappaguard.search.engines import Died, distribute
from kappaguard.search.ledger import Ledger, ledger

PAGE, NUMBERS, TABLE, STORE = "index.html", "atlas.json", "atlas.csv", "atlas.sqlite"
TITLE = "<title>kappaguard atlas</title>"
"""What tells a page of ours from another."""
DIED = "its process died: the rule crashed it, or used up the memory"

Entry = dict[str, Any]
Report = Callable[[int, int], None]


@dataclass(frozen=True)
class Atlas:
    """The entries that are finished, of how many, and whether the user stopped it."""

    entries: list[Entry]
    wanted: int
    interrupted: bool


def make_atlas(
    wanted: Sequence[AtlasPlace],
    folder: Path,
    command: str,
    *,
    engine: str = "local",
    address: str | None = None,
    jobs: int | None = None,
    report: Report = lambda done, total: None,
    train: bool = False,
) -> Atlas:
    """Compute what the folder does not have yet, and write page, numbers, table, witnesses and certificates.

    Ctrl-C ends it with what there is. Times are taken one after the other, when nothing else of ours runs. With
    ``train`` the rules are also trained with, at the largest (n, f).
    """
    _require_ours(folder)
    interrupted = False
    with ledger(folder / STORE) as finished:
        died: list[AtlasPlace] = []
        try:
            _compute(wanted, finished, died, report, engine, address, jobs)
            if train:
                _train(wanted, finished, died, report)
        except KeyboardInterrupt:
            interrupted = True
        found = {place: entry for place in wanted if (entry := _stored(finished, place)) is not None}
        # not stored: the next time there may be memory
        found |= {place: refused(place, DIED) for place in died}
        entries = [found[place] for place in wanted if place in found]
    if interrupted and not entries:
        raise KeyboardInterrupt
    entries = [_filed(entry, folder) for entry in agreed(entries)]
    about = {"version": kappaguard.__version__, "command": command, "wanted": len(wanted), "interrupted": interrupted}
    write(folder / NUMBERS, json.dumps(about | {"entries": entries}, indent=1, allow_nan=False) + "\n")
    write(folder / TABLE, atlas_csv(entries))
    write(folder / PAGE, atlas_page(entries, about))
    return Atlas(entries, len(wanted), interrupted)


def _compute(
    wanted: Sequence[AtlasPlace],
    finished: Ledger,
    died: list[AtlasPlace],
    report: Report,
    engine: str,
    address: str | None,
    jobs: int | None,
) -> None:
    """First the bounds, on the engine, then error and cost here of all whose process lived."""
    missing = [place for place in wanted if _key("bounds", place) not in finished]
    untimed = [place for place in wanted if _key("ordinary", place) not in finished]
    total = 2 * len(wanted)
    done = total - len(missing) - len(untimed)
    report(done, total)
    if missing:
        for index, entry in distribute(bounds, missing, engine, address, jobs):
            place = missing[index]
            if isinstance(entry, Died):
                died.append(place)
            else:
                finished[_key("bounds", place)] = json.dumps(entry)
            done += 1
            report(done, total)
    for place in untimed:
        if place in died:
            continue
        finished[_key("ordinary", place)] = json.dumps(ordinary(place))
        done += 1
        report(done, total)


def _train(wanted: Sequence[AtlasPlace], finished: Ledger, died: list[AtlasPlace], report: Report) -> None:
    """Short training runs of every rule at the largest (n, f), one after the other."""
    largest = max((place.n, place.f) for place in wanted)
    here = [place for place in wanted if (place.n, place.f) == largest and place not in died]
    for done, place in enumerate(here):
        report(done, len(here))
        if _key("trained", place) not in finished:
            finished[_key("trained", place)] = json.dumps(trained(place))


def _key(kind: str, place: AtlasPlace) -> str:
    return f"{kind} {place.key}"


def _stored(finished: Ledger, place: AtlasPlace) -> Entry | None:
    """The whole entry; without what was not finished, and None if that is all of it."""
    found: Entry = {}
    for kind in ("bounds", "ordinary", "trained"):
        key = _key(kind, place)
        if key in finished:
            found |= json.loads(finished[key])
    return found if "refused" in found else None


def agreed(entries: Sequence[Entry]) -> list[Entry]:
    """The entries, where a rule with an infinite witness at (n, f) has broken at f, whatever few inputs were tried."""
    infinite: dict[tuple[str, int], Entry] = {}
    for entry in entries:
        if entry.get("lower") == "inf":
            key = entry["rule"], entry["n"]
            if key not in infinite or entry["f"] < infinite[key]["f"]:
                infinite[key] = entry
    return [_broken(entry, infinite.get((entry["rule"], entry["n"]))) for entry in entries]


def _broken(entry: Entry, infinite: Entry | None) -> Entry:
    """The entry, and that the rule has broken where another one (or itself) is infinite, if that is at a smaller f."""
    at = entry.get("breaks_at")
    if infinite is None or entry["refused"] or (at is not None and at <= infinite["f"]):
        return entry
    stands_to = min(entry["stands_to"] or 0, infinite["f"] - 1)
    return entry | {"breaks_at": infinite["f"], "stands_to": stands_to, "breakdown_text": infinite["witness_text"]}


def _filed(entry: Entry, folder: Path) -> Entry:
    """The entry with its texts written to files, and their names instead; with the command that computes it again."""
    entry = dict(entry)
    stem = f"{re.sub(r'[^A-Za-z0-9]+', '-', entry['rule']).strip('-')[:80]}-n{entry['n']}-f{entry['f']}"
    files = {
        "witness": f"witnesses/{stem}.json",
        "breakdown": f"witnesses/{stem}-breakdown.json",
        "certificate": f"certificates/{stem}.certificate.json",
    }
    for name, path in files.items():
        text = entry.pop(f"{name}_text", None)
        entry[name] = path if text else None
        if text:
            write(folder / path, text if text.endswith("\n") else text + "\n")
    proved = entry.get("certificate") or entry.get("proof")
    kind = "exact" if proved else "search"
    more = "" if proved else f" --evaluations {entry['evaluations']} --seed {entry['seed']}"
    entry["command"] = f"kappaguard {kind} '{entry['rule']}' -n {entry['n']} -f {entry['f']}{more}"
    return entry


def _require_ours(folder: Path) -> None:
    """InputError if the folder holds an index.html that is no atlas: it would be written over."""
    page = folder / PAGE
    if page.is_file() and TITLE not in page.read_text(encoding="utf-8", errors="replace"):
        raise InputError(f"{page} is not an atlas of kappaguard and would be written over: name another folder")
