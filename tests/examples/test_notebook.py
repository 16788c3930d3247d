"""The notebook runs from top to bottom."""

from __future__ import annotations

from pathlib import Path

import pytest

pytestmark = pytest.mark.solver

NOTEBOOK = Path(__file__).parents[2] / "examples" / "median.ipynb"


@pytest.mark.filterwarnings("ignore")
def test_it_runs_and_proves_what_it_says(tmp_path: Path) -> None:
    nbformat = pytest.importorskip("nbformat", reason="nbformat is not installed")
    nbclient = pytest.importorskip("nbclient", reason="nbclient is not installed")
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    nbclient.NotebookClient(notebook, timeout=120, resources={"metadata": {"path": str(tmp_path)}}).execute()
    texts = [
        output.get("text") or output["data"]["text/plain"]
        for cell in notebook.cells
        if cell.cell_type == "code"
        for output in cell.outputs
    ]
    assert any("Fraction(3, 2)" in text for text in texts)
    assert any(text.startswith("refused:") for text in texts)


def test_it_is_stored_without_outputs() -> None:
    nbformat = pytest.importorskip("nbformat", reason="nbformat is not installed")
    cells = nbformat.read(NOTEBOOK, as_version=4).cells
    assert all(not cell.outputs and cell.execution_count is None for cell in cells if cell.cell_type == "code")
