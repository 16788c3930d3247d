"""Small results to make reports of, with names that want to break out."""

from __future__ import annotations

from typing import Any

HOSTILE = "<script>window.broken = 1</script>|`*_$\\frac{"


def claim(name: str, verdict: str, **more: Any) -> dict[str, Any]:
    return {
        "name": name,
        "statement": f"a statement {HOSTILE}",
        "source": "the paper",
        "corrects": None,
        "expected": verdict,
        "verdict": verdict,
        "as_expected": True,
        "methods": ["exact"],
        "relation": "<=",
        "computed": 1.0,
        "stated": 2.0,
        "tightness": 0.5,
        "detail": f"a detail {HOSTILE}",
        "witness": None,
        **more,
    }


def entry(rule: str, n: int, f: int, lower: float, upper: float, paper: float | None = None) -> dict[str, Any]:
    return {
        "rule": rule,
        "n": n,
        "f": f,
        "lower": lower,
        "upper": upper,
        "status": "exact" if lower == upper else "bracket",
        "paper": paper,
        "universal": f / (n - 2 * f),
        "lost": None if paper is None else paper / upper,
        "proof": None,
        "witness": f"witnesses/kappa/{rule.replace('+', '-')}-n{n}-f{f}.json",
        "certificate": f"certificates/{rule.rpartition('+')[2]}-n{n}-f{f}.certificate.json",
        "command": f"kappaguard exact {rule} -n {n} -f {f}",
    }


def drawing(title: str, x: float) -> dict[str, Any]:
    return {
        "title": title,
        "file": "witnesses/kappa/cwtm-n17-f4.json",
        "rule": HOSTILE,
        "n": 5,
        "f": 1,
        "d": 1,
        "ratio": "1",
        "projected": False,
        "honest": [[0.0, 0.0], [x, 0.0], [x, 0.0], [1.0, 0.0]],
        "byzantine": [[2 * x, 0.0]],
        "mean": [0.5, 0.0],
        "output": [x, 0.0],
    }


def rates() -> dict[str, Any]:
    """Errors that are 7/T exactly, and a floor that is the ratio times G^2 exactly."""
    horizons = [8, 16, 32, 64]
    common = {"problem": "quadratics", "rule": HOSTILE, "attack": "foe", "n": 17, "steps": 60}
    return {
        "command": f"kappaguard reproduce rates {HOSTILE}",
        "slopes": [
            {
                "algorithm": "D-GD",
                "rule": HOSTILE,
                "attack": "sf",
                "horizons": horizons,
                "errors": [7 / steps for steps in horizons],
                "slope": -1.0,
                "low": -1.01,
                "high": -0.99,
                "theorem": -1.0,
            }
        ],
        "floors": [
            {
                **common,
                "setting": f"G = {g}",
                "f": 4,
                "left": 0.2 * g**2,
                "ratio": 0.2,
                "heterogeneity_squared": g**2,
            }
            for g in (1, 2)
        ],
        "fit": {"slope": 1.0, "low": 0.9, "high": 1.1},
    }


def results() -> dict[str, Any]:
    table = [entry("cwtm", 17, f, f / (17 - 2 * f), f / (17 - 2 * f), 20 * f / (17 - 2 * f)) for f in range(1, 9)]
    table += [entry("cwtm", 16, 4, 0.5, 0.5, 5.0)]
    table += [entry("krum", 17, f, 2.0 * f, 2.0 * f, 3.0 * f) for f in range(1, 9)]
    table += [entry("nnm+cwtm", 17, 4, 4 * 4 / 9, 4 * 4 / 9), entry("nnm+krum", 17, 4, 1.0, 3.0, 9.0)]
    return {
        "schema": "kappaguard-results/1",
        "version": "0.1.0",
        "effort": "default",
        "complete": True,
        "changed": [],
        "claims": [
            claim("lemma-9", "refuted", computed=3.0, stated=2.0, witness="witnesses/lemma-9.json"),
            claim("theorem-9", "refuted", computed=2.5, stated=2.0, witness="witnesses/theorem-9.json"),
            claim("proposition-9", "proved"),
        ],
        "kappa": table,
        "drawings": [drawing(f"first {HOSTILE}", 1.0), drawing("second", -3.0), drawing("third", 2.0)],
        "searches": [
            {
                "rule": "krum",
                "n": 17,
                "f": 4,
                "seed": 0,
                "reference": 8.0,
                "evaluations": 100,
                "trace": [["levels", 10, 0.1, 4.0], ["cma-es", 50, 0.3, 7.9]],
                "command": "kappaguard search krum -n 17 -f 4",
            }
        ],
        "runs": [
            {
                "name": HOSTILE,
                "steps": [0, 1, 2],
                "ratio": [0.1, 0.2, 0.15],
                "command": f"kappaguard train {HOSTILE}",
            }
        ],
        "rates": rates(),
    }
