"""The examples of the guard at run time: silent for sound servers, and an alarm in every round of broken ones."""

from __future__ import annotations

import runpy
import sys
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples" / "monitor"


def test_a_plain_pytorch_loop(tmp_path: Path) -> None:
    example = runpy.run_path(str(EXAMPLES / "pytorch_loop.py"))
    sound, broken = example["train"](2, tmp_path), example["train"](0, tmp_path)
    assert (sound.rounds, len(sound.alarms)) == (30, 0)
    assert len(broken.alarms) == broken.rounds == 30


@pytest.mark.filterwarnings("ignore")
def test_a_flower_strategy(tmp_path: Path) -> None:
    pytest.importorskip("flwr", reason="Flower is not installed")
    example = runpy.run_path(str(EXAMPLES / "flower_strategy.py"))
    sound, broken = (example["serve"](example[name], tmp_path) for name in ("FedMedian", "FedAvg"))
    assert (sound.rounds, len(sound.alarms)) == (5, 0)
    assert len(broken.alarms) == broken.rounds == 5


@pytest.mark.filterwarnings("ignore")
def test_the_server_of_byzfl(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if find_spec("byzfl") is None:
        pytest.skip("ByzFL is not installed")
    # its package imports its benchmark, and that torchvision, which the server does without
    monkeypatch.setitem(sys.modules, "byzfl.benchmark", ModuleType("byzfl.benchmark"))
    for name in [name for name in sys.modules if name.partition(".")[0] == "byzfl" and name != "byzfl.benchmark"]:
        monkeypatch.delitem(sys.modules, name)
    example = runpy.run_path(str(EXAMPLES / "byzfl_server.py"))
    sound, broken = example["serve"](2, tmp_path), example["serve"](0, tmp_path)
    assert (sound.rounds, len(sound.alarms)) == (5, 0)
    assert len(broken.alarms) == broken.rounds == 5
    for name in [name for name in sys.modules if name.partition(".")[0] == "byzfl"]:
        monkeypatch.delitem(sys.modules, name)
