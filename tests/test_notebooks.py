"""The notebooks in examples/, run from top to bottom as a person runs them."""

import sys
from pathlib import Path

import pytest

NOTEBOOKS = sorted((Path(__file__).parents[1] / "examples").glob("*.ipynb"))


@pytest.fixture(scope="module", autouse=True)
def slow(request):
    if request.config.getoption("--quick"):
        pytest.skip("starts a process")


def play(path, directory):
    import nbformat
    from nbclient import NotebookClient

    book = nbformat.read(path, 4)
    try:
        NotebookClient(book, timeout=240, resources={"metadata": {"path": directory}}).execute()
    finally:
        sys.modules.pop(
            "ipykernel", None
        )  # whose presence says that we are in a notebook, and tests after this are not
    return book


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs_and_shows_something(path, tmp_path):
    book = play(path, tmp_path)
    shown = [output for cell in book.cells for output in cell.get("outputs", [])]
    kinds = {kind for output in shown for kind in output.get("data", {})}
    assert "text/html" in kinds or any(output.output_type == "stream" for output in shown)
    if path.stem == "first-steps":
        assert sum("image/png" in output.get("data", {}) for output in shown) == 1  # the curves, once
    warned = [output.text for output in shown if output.output_type == "stream" and output.name == "stderr"]
    assert warned == []


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebooks_are_kept_without_outputs(path):
    import nbformat

    assert all(not cell.outputs for cell in nbformat.read(path, 4).cells if cell.cell_type == "code")
