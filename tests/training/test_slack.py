"""The adversary that owns the slack, against numbers that follow by hand, and as an experiment with its witness."""

from __future__ import annotations

import json

import numpy as np
import pytest
import torch

from kappaguard.cli import main
from kappaguard.training.build import build
from kappaguard.training.configuration import preset
from kappaguard.training.folder import Folder
from kappaguard.training.run import run
from kappaguard.training.slack import Slack, is_slack, owner_of
from tests.training.stopping import stop_after


@pytest.mark.parametrize("kappa", [0.25, 1.0])
@pytest.mark.parametrize(("turns", "step", "sign"), [(True, 1, -1), (True, 2, 1), (True, 9, 1), (False, 9, -1)])
def test_it_moves_the_honest_mean_as_far_as_kappa_allows(kappa, turns, step, sign):
    """Honest (3, 5), (3, 3) and a Byzantine vector: mean (3, 4) of length 5, variance 1."""
    messages = torch.tensor([[3.0, 5.0], [3.0, 3.0], [100.0, -7.0]], dtype=torch.float64)
    moved = Slack(kappa, 2, turns).at(step)(messages).numpy()
    np.testing.assert_allclose(moved, np.array([3.0, 4.0]) * (1 + sign * kappa**0.5 / 5), rtol=1e-14)


def test_a_mean_of_zero_has_no_direction_and_is_moved_all_the_same():
    moved = Slack(4.0, 2)(torch.tensor([[1.0, 1.0], [-1.0, -1.0]], dtype=torch.float64))
    assert float(moved.norm()) == pytest.approx(8**0.5)


def by_hand(steps: int) -> tuple[float, float, float]:
    """In one dimension, kappa = G = L = 1: theta <- theta - (theta -+ 1) from 2.999; the output minimises |R_t|."""
    theta, seen = 2.999, []
    for step in range(steps):
        aggregate = theta + (1 if step else -1) * np.sign(theta)
        seen.append((abs(aggregate), theta**2))
        theta -= aggregate
    decay = 4 * 2.999**2 / 2 / steps
    return min(seen)[1], 4 + decay, 9 + decay


def test_the_experiment_prints_both_sides_and_keeps_what_crosses(tmp_path, capsys):
    command = ["reproduce", "theorem1-slack", "--out", str(tmp_path)]
    assert main(command) == 1
    printed = capsys.readouterr().out
    (table,) = tmp_path.glob("theorem1-slack-steps3-4-12-100-*.md")
    lines = [[word.strip() for word in line.split("|")[1:-1]] for line in table.read_text().splitlines()[4:]]
    assert [int(line[2]) for line in lines] == [3, 4, 12, 100]
    for line in lines:
        sides = float(line[3]), float(line[4]), float(line[6])
        assert sides == pytest.approx(by_hand(int(line[2])), rel=1e-3)
    assert [line[-1] for line in lines] == ["yes", *["corrected only"] * 3]
    folders = sorted((tmp_path / "crossed").iterdir())
    assert len(folders) == 3
    for folder, steps in zip(folders, (4, 12, 100), strict=True):
        assert f"T = {steps} (" in printed
        assert f"the corrected one holds: kappaguard train --replay {folder}\n" in printed
        assert main(["train", "--replay", str(folder)]) == 1
        assert f"all {steps} steps came out again" in capsys.readouterr().out
        assert json.loads((folder / "crossing.json").read_text())["steps"] == steps
    assert main(command) == 1
    assert sorted((tmp_path / "crossed").iterdir()) == folders


def test_the_horizon_can_be_chosen(tmp_path, capsys):
    assert main(["reproduce", "theorem1-slack", "--steps", "3", "--out", str(tmp_path)]) == 0
    assert "crossed" not in capsys.readouterr().out
    assert main(["reproduce", "theorem1-slack", "--steps", "5", "--out", str(tmp_path)]) == 1
    assert capsys.readouterr().out.count("--replay") == 1


def test_it_turns_in_the_second_step_of_the_run_also_after_a_resume(tmp_path):
    given = preset("theorem1").with_values({"rule": "slack", "kappa": 1.0, "attack": "none", "f": 0, "steps": 6})
    whole = Folder.create(tmp_path, "whole", given)
    run(build(given), given, whole)
    folder = Folder.create(tmp_path, "interrupted", given)
    with pytest.raises(KeyboardInterrupt):
        run(build(given), given, folder, stop_after(3))
    assert main(["train", "--resume", str(folder.path)]) == 0
    assert folder.rows() == whole.rows()


@pytest.mark.parametrize(
    ("name", "owner"),
    [("slack", None), ("slack-against", None), ("slack(krum)", "krum"), ("slack-against(nnm+cwtm)", "nnm+cwtm")],
)
def test_names_of_the_adversary(name, owner):
    assert is_slack(name)
    assert owner_of(name) == owner


@pytest.mark.parametrize("name", ["krum", "slacker", "slack()", "slack(krum", "nnm+slack"])
def test_names_of_others(name):
    assert not is_slack(name)
    assert owner_of(name) is None


def test_the_slack_of_a_rule_is_as_wide_as_its_coefficient():
    """What is claimed for the rule, unless another coefficient is given: the errors are exactly that large."""
    given = preset("theorem1").with_values({"rule": "slack(cwtm)", "attack": "none", "steps": 3, "dimension": 4})
    for kappa, expected in ((None, 6 * 4 / 9 * (1 + 4 / 9)), (0.25, 0.25)):
        training = build(given.with_values({"kappa": kappa}))
        ratios = [training.step()["ratio"] for _ in range(3)]
        assert ratios == pytest.approx([expected] * 3, rel=1e-6)


def test_reproduce_takes_the_certified_bound(tmp_path):
    """f/(n - 2f) for the trimmed mean; the run that crosses the bound as stated is kept."""
    only = ["--rule", "slack(cwtm)", "--rule", "slack-against(cwtm)"]
    assert main(["reproduce", "theorem1-adaptive", *only, "--out", str(tmp_path)]) == 1
    (table,) = tmp_path.glob("*.md")
    rows = [[each.strip() for each in line.split("|")] for line in table.read_text().splitlines() if "cwtm" in line]
    assert [row[8] for row in rows] == ["0.4444", "0.4444"]
    assert [row[10] for row in rows] == ["corrected only", "yes"]
    (crossed,) = (tmp_path / "crossed").iterdir()
    assert main(["train", "--replay", str(crossed)]) == 1
