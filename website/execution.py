"""Execute notebooks: `python -m website.execution NOTEBOOK [RESULT]` writes the outputs again."""

import sys
from pathlib import Path

import nbformat
from nbclient import NotebookClient

SECONDS = 600  # for a cell, on the slowest machine


def execute(source: Path, result: Path) -> None:
    """Execute a notebook in a kernel of its own, and write it with its outputs."""
    notebook = nbformat.read(source, as_version=4)
    NotebookClient(notebook, timeout=SECONDS, kernel_name="python3", record_timing=False).execute()
    for output in (each for cell in notebook.cells for each in cell.get("outputs", ())):
        if "image/png" in output.get("data", {}):
            output.data = {"image/png": output.data["image/png"]}  # the smallest of its forms
    nbformat.write(notebook, result)


if __name__ == "__main__":
    execute(Path(sys.argv[1]), Path(sys.argv[-1]))
