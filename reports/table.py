"""kappa* of the rules over a grid of (n, f): exact bounds, what the paper says, and the files that prove them."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

from kappaguard.rules.base.files import write
from kappaguard.rules.names import parse
from kappaguard.search.engines import distribute
from kappaguard.search.ledger import ledger
from kappaguard.verify.guard.verdict import number
from kappaguard.verify.judge.exact import exact
from kappaguard.verify.theory.coefficients import UNIVERSAL
from kappaguard.verify.theory.run import FINISHED
from kappaguard.verify.theory.store import shared_hash

RULES = ("cwtm", "cwmed", "gm", "multikrum", "meamed", "mda", "krum")
N, F = 17, 4
"""Where the table of results is taken."""
MOST_DENOMINATOR = 1000


@dataclass(frozen=True)
class Place:
    """One rule at one (n, f)."""

    rule: str
    n: int
    f: int

    @property
    def command(self) -> str:
        """What computes it again."""
        return f"kappaguard exact {self.rule} -n {self.n} -f {self.f}"

    @property
    def stem(self) -> str:
        """The first part of the names of its files."""
        return f"{self.rule.replace('+', '-')}-n{self.n}-f{self.f}"


def places(effort: str) -> list[Place]:
    """Quick: the table at (17, 4). Else also all f at n = 17, nnm in front, and all (n, f) with n <= 17."""
    every = [Place(rule, N, F) for rule in RULES] + [Place(f"nnm+{rule}", N, F) for rule in RULES]
    if effort != "quick":
        every += [Place(f"{pre}{rule}", N, f) for pre in ("", "nnm+") for rule in RULES for f in range(1, N // 2 + 1)]
        every += [Place(rule, n, f) for rule in RULES for n in range(3, N + 1) for f in range(1, (n + 1) // 2)]
    return list(dict.fromkeys(every))


def compute(place: Place) -> dict[str, Any]:
    """The entry of results.json, with the texts of witness and certificate."""
    result = exact(place.rule, place.n, place.f, brief=True)
    claim = parse(place.rule, f=place.f).claim
    paper = None if claim is None else _value(claim.expression, place)
    lost = None if paper is None or not result.upper else float(paper / result.upper)
    return {
        **asdict(place),
        "lower": number(result.lower),
        "upper": number(result.upper),
        "fraction": in_short(result.lower, result.upper),
        "status": result.status.value,
        "paper": number(paper),
        "expression": None if claim is None else claim.expression,
        "universal": float(UNIVERSAL(place.n, place.f)),
        "lost": lost,
        "proof": result.proof,
        "command": place.command,
        "witness_text": None if result.witness is None else result.witness.to_json(),
        "certificate_text": result.certificate,
    }


def in_short(lower: Fraction | float, upper: Fraction | float | None) -> str | None:
    """The upper bound, or kappa* if the bounds are equal, as a fraction with few digits; None if it is none."""
    if not isinstance(upper, Fraction) or not 1 < upper.denominator <= MOST_DENOMINATOR:
        return None
    return f"{'=' if lower == upper else '≤'} {upper}"


def _value(expression: str, place: Place) -> Fraction:
    from kappaguard.rules.base.expression import evaluate

    return Fraction(evaluate(expression, place.n, place.f))


def table(
    wanted: Sequence[Place],
    folder: Path,
    report: Callable[[int, int], None] = lambda done, total: None,
    jobs: int | None = None,
) -> list[dict[str, Any]]:
    """All entries, computed on all cores; finished ones are kept in the folder for the next time."""
    with ledger(folder / FINISHED) as finished:
        keys = {place: json.dumps([shared_hash(), asdict(place)], sort_keys=True) for place in wanted}
        missing = [place for place in wanted if keys[place] not in finished]
        report(len(wanted) - len(missing), len(wanted))
        if missing:
            for done, (index, entry) in enumerate(
                distribute(compute, missing, jobs=jobs), len(wanted) - len(missing) + 1
            ):
                finished[keys[missing[index]]] = json.dumps(entry)
                report(done, len(wanted))
        entries = [json.loads(finished[keys[place]]) for place in wanted]
    return [_filed(entry, place, folder) for entry, place in zip(entries, wanted, strict=True)]


def _filed(entry: dict[str, Any], place: Place, folder: Path) -> dict[str, Any]:
    """The entry with its witness and certificate written to files, and their names instead of their texts.

    A certificate is named after the rule that it is about: that of a pipeline may be its last rule's.
    """
    witness, certificate = entry.pop("witness_text"), entry.pop("certificate_text")
    entry["witness"] = f"witnesses/kappa/{place.stem}.json" if witness else None
    certified = replace(place, rule=json.loads(certificate)["rule"]) if certificate else place
    entry["certificate"] = f"certificates/{certified.stem}.certificate.json" if certificate else None
    if witness:
        write(folder / entry["witness"], witness)
    if certificate:
        write(folder / entry["certificate"], certificate + "\n")
    return entry
