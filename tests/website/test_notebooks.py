"""Notebooks: as pages, and executed."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from website.notebooks import Cell, as_markdown, printed, read

ROOT = Path(__file__).parents[2]
NOTEBOOKS = sorted((ROOT / "docs" / "notebooks").glob("*.ipynb"))


def outputs(cells: list[Cell]) -> list[str]:
    """Return what each cell with code printed; parts of one cell are joined."""
    code = [cell for cell in cells if cell["cell_type"] == "code"]
    return ["".join(map(printed, cell["outputs"])) for cell in code]


def test_a_notebook_as_a_page() -> None:
    """Text, code, what it printed, and what it drew."""
    cells = [
        {"cell_type": "markdown", "source": ["# Title\n", "text"]},
        {
            "cell_type": "code",
            "source": "print('a < b')",
            "outputs": [
                {"output_type": "stream", "text": ["a < b\n"]},
                {"data": {"image/png": "QUJD\n", "text/plain": "<Figure>"}},
                {"data": {"image/svg+xml": ["<svg/>"], "text/plain": "<Figure>"}},
            ],
        },
    ]
    page = as_markdown(cells)
    assert page.startswith("# Title\ntext\n\n```python\nprint('a < b')\n```\n\n")
    assert '<pre class="printed">a &lt; b</pre>' in page
    assert 'src="data:image/png;base64,QUJD"' in page
    assert 'src="data:image/svg+xml;base64,PHN2Zy8+"' in page
    assert outputs(cells) == ["a < b\n"]


@pytest.mark.check
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebooks_show_what_their_code_does(path: Path, tmp_path: Path) -> None:
    """Executed again, each cell prints what the notebook shows, and none fails."""
    result = tmp_path / path.name
    command = [sys.executable, "-m", "website.execution", str(path), str(result)]
    folder = {"IPYTHONDIR": str(tmp_path / "ipython"), "JUPYTER_PLATFORM_DIRS": "1"}
    done = subprocess.run(
        command, cwd=ROOT, env={**os.environ, **folder}, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert outputs(read(result)) == outputs(read(path))
