"""Rates: measured, stored, read again, and shown."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from kappaguard.cli import main
from kappaguard.reports import rates
from kappaguard.reports.page import page
from kappaguard.reports.pictures.training import _fitted
from kappaguard.reports.results import save
from kappaguard.rules.base.errors import InputError
from kappaguard.training.reproduce import rates as measuring

from . import example


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What the command leaves, with fewer runs than it usually makes."""
    where = tmp_path_factory.mktemp("rates")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(measuring, "GD", [("cwtm", "sf")])
        patch.setattr(measuring, "SHB", [("cwtm", "sf")])
        patch.setattr(measuring, "SHARES", [(17, 1, 1.0), (17, 2, 1.0), (17, 4, 1.0)])
        patch.setattr(measuring, "ALPHAS", [1.0])
        patch.setattr(measuring, "FLOOR", ("cwtm", "foe"))
        assert main(["reproduce", "rates", "--steps", "32", "--out", str(where)]) == 0
    return where / "rates.json"


def test_slopes_are_those_of_the_stored_errors(stored: Path) -> None:
    found = rates.read(stored)
    assert [each["algorithm"] for each in found["slopes"]] == ["D-GD", "D-SHB"]
    for each in found["slopes"]:
        assert each["horizons"] == [2, 4, 8, 16, 32]
        slope = np.polyfit(np.log(each["horizons"]), np.log(each["errors"]), 1)[0]
        assert each["slope"] == pytest.approx(slope)
        assert each["low"] < slope < each["high"]


def test_floors_are_fitted_against_kappa_g_squared(stored: Path) -> None:
    found = rates.read(stored)
    here = [each for each in found["floors"] if each["problem"] == "quadratics"]
    assert [each["f"] for each in here] == [1, 2, 4]
    x = [each["ratio"] * each["heterogeneity_squared"] for each in here]
    assert found["fit"]["slope"] == pytest.approx(np.polyfit(np.log(x), np.log([each["left"] for each in here]), 1)[0])


def test_the_fitted_line_of_a_power_law_goes_through_its_points() -> None:
    (each,) = example.rates()["slopes"]
    assert _fitted(each) == pytest.approx(each["errors"])


def test_a_report_shows_them(stored: Path, tmp_path: Path) -> None:
    save(example.results() | {"rates": None, "kappa": [], "searches": [], "runs": []}, tmp_path / "first")
    assert main(["report", str(tmp_path / "first"), "--out", str(tmp_path / "second"), "--rates", str(stored)]) == 0
    text = (tmp_path / "second" / "index.html").read_text()
    first = rates.read(stored)["slopes"][0]
    assert f"{first['slope']:.3f} ({first['low']:.3f} to {first['high']:.3f})" in text
    assert "kappaguard reproduce rates --steps 32 --seeds 1" in text
    assert f"{first['slope']:.4f}" in (tmp_path / "second" / "report.md").read_text().replace("\\", "")
    assert json.loads((tmp_path / "second" / "results.json").read_text())["rates"] == rates.read(stored)


def test_without_them_the_page_says_how_to_make_them() -> None:
    bare = {key: example.results()[key] for key in ("version", "effort", "complete", "changed", "claims")}
    text = page(bare)
    assert "<code>kappaguard reproduce rates</code>" in text
    assert "<code>kappaguard report . --out . --rates FILE</code>" in text
    assert "--run DIR" in text


def test_wrong_requests(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["reproduce", "rates", "--steps", "16", "--out", str(tmp_path)]) == 2
    assert capsys.readouterr().err == "kappaguard: rates need at least 32 steps, for 5 horizons; 16 were asked for\n"
    (tmp_path / "rates.json").write_text('{"slopes": []}')
    with pytest.raises(InputError, match="damaged"):
        rates.read(tmp_path)
    with pytest.raises(InputError, match="cannot read"):
        rates.read(tmp_path / "none.json")
