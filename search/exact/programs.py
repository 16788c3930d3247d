"""The exact programs by rule: an extremal input below, and the cells of a certificate above."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any

from kappaguard.search.exact import gm, krum, mda, multikrum, multikrum_inputs, nnm_mda, ordered
from kappaguard.search.exact.dual import Cell, Proof, prove

Report = Callable[[int, int], None]
"""Told how many cells of how many are done."""


@dataclass(frozen=True)
class Found:
    """What the finder has: an input with the honest indices, and a certificate that claims ``upper``.

    Nothing of it is to be believed before a judge has re-evaluated the one and checked the other.
    """

    x: list[list[Fraction]]
    honest: list[int]
    upper: Fraction
    cells: list[dict[str, Any]]
    programs: int


def _silent(done: int, total: int) -> None:
    del done, total


def find(rule: str, n: int, f: int, report: Report = _silent) -> Found:
    """The extremal input and the certificate of a rule in ``RULES``."""
    return RULES[rule](n, f, report)


def _ordered(rule: str) -> Callable[[int, int, Report], Found]:
    def program(n: int, f: int, report: Report) -> Found:
        report(1, 1)
        x = ordered.worst_input(rule, n, f) if f or rule == "cwmed" else [[Fraction(0)]] * n
        return Found(x, list(range(n - f)), ordered.kappa(rule, n, f), ordered.certificate(rule, n, f), 0)

    return program


def _gm(n: int, f: int, report: Report) -> Found:
    report(1, 1)
    return Found(gm.worst_input(n, f), list(range(n - f)), gm.kappa(n, f), [], 0)


def _prove(
    cells: Iterable[tuple[Any, list[list[str]], Cell]], total: int, report: Report
) -> tuple[Fraction, list[dict[str, Any]], Any]:
    """The largest kappa of the cells, their multipliers, and the key of the best one."""
    upper, best, written = Fraction(-1), None, []
    for index, (key, names, cell) in enumerate(cells):
        proof: Proof = prove(cell)
        if proof.kappa > upper:
            upper, best = proof.kappa, key
        multipliers = {
            name: str(value) for same, value in zip(names, proof.multipliers, strict=True) for name in same if value
        }
        written.append({"cell": list(key), "multipliers": multipliers})
        report(index + 1, total)
    return upper, written, best


def _krum(n: int, f: int, report: Report) -> Found:
    keys = list(krum.keys(n, f))
    upper, cells, best = _prove(((key, *krum.named(n, f, key)) for key in keys), len(keys), report)
    x, honest = krum.worst_input(n, f, best)
    return Found(x, honest, upper, cells, len(keys))


def _mda(n: int, f: int, report: Report) -> Found:
    keys = list(mda.keys(n, f))
    upper, cells, _ = _prove(((key, *mda.named(n, f, key)) for key in keys), len(keys), report)
    x = mda.worst_input(n, f) if f else [[Fraction(0)]] * n
    return Found(x, list(range(n - f)), upper, cells, len(keys))


def _nnm_mda(n: int, f: int, report: Report) -> Found:
    keys = list(mda.keys(n, f))
    upper, cells, _ = _prove(((key, *nnm_mda.named(n, f, key)) for key in keys), len(keys), report)
    return Found(mda.worst_input(n, f), list(range(n - f)), upper, cells, len(keys))


def _later(report: Report, before: int, done: int, total: int) -> None:
    report(before + done, total)


def _multikrum(n: int, f: int, report: Report) -> Found:
    """With the cell (f, 0) as a whole or divided, whichever bounds more."""
    groups = [[(f, 0)], [key for key in multikrum.keys(n, f) if key != (f, 0)]]
    groups += [list(multikrum.divided(n, f))] if n < 3 * f else []
    total, done, proofs = sum(map(len, groups)), 0, []
    for keys in groups:
        cells = ((key, *multikrum.named(n, f, key)) for key in keys)
        proofs.append(_prove(cells, total, partial(_later, report, done)))
        done += len(keys)
    chosen = min((proofs[0], *proofs[2:]), key=lambda proof: proof[0])
    upper, _, best = max((proofs[1], chosen), key=lambda proof: proof[0])
    x, honest = multikrum_inputs.worst_input(n, f, best) if f else ([[Fraction(0)]] * n, list(range(n)))
    return Found(x, honest, upper, proofs[1][1] + chosen[1], total)


RULES: dict[str, Callable[[int, int, Report], Found]] = {
    "cwtm": _ordered("cwtm"),
    "cwmed": _ordered("cwmed"),
    "meamed": _ordered("meamed"),
    "gm": _gm,
    "krum": _krum,
    "mda": _mda,
    "multikrum": _multikrum,
    "nnm+mda": _nnm_mda,
}
