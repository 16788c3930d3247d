"""What the README says can be run as it stands."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

pytestmark = pytest.mark.solver

README = Path(__file__).parents[2] / "README.md"


def test_the_table_of_results_is_what_exact_says():
    import kappaguard as kg

    rows = re.findall(r"^\| (\w+) \| ([0-9.]+) \|", README.read_text(), re.MULTILINE)
    found = {
        rule: value for rule, value in rows if rule in ("cwtm", "cwmed", "gm", "multikrum", "meamed", "mda", "krum")
    }
    assert len(found) == 7
    for rule, value in found.items():
        assert float(kg.exact(rule, n=17, f=4).upper) == pytest.approx(float(value), abs=6e-5)
