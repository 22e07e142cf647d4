"""Notebooks as pages: text, code, and what the code printed and drew when it was executed last."""

import base64
import html
import json
from pathlib import Path
from typing import Any

Cell = dict[str, Any]


def read(path: Path) -> list[Cell]:
    """Return the cells of a notebook."""
    cells: list[Cell] = json.loads(path.read_text(encoding="utf-8"))["cells"]
    return cells


def as_markdown(cells: list[Cell]) -> str:
    """Return a notebook as a page; each output follows its code."""
    parts: list[str] = []
    for cell in cells:
        text = joined(cell["source"])
        if cell["cell_type"] == "markdown":
            parts.append(text)
        else:
            parts.append(f"```python\n{text}\n```")
            parts += [shown(output) for output in cell["outputs"]]
    return "\n\n".join(parts) + "\n"


def shown(output: dict[str, Any]) -> str:
    """Return an output as Markdown: its figure, or its text."""
    data = output.get("data", {})
    if is_figure(output):
        if "image/png" in data:
            source = f"image/png;base64,{joined(data['image/png']).strip()}"
        else:
            drawn = base64.b64encode(joined(data["image/svg+xml"]).encode()).decode()
            source = f"image/svg+xml;base64,{drawn}"
        return f'<img class="drawn" alt="What the code above draws" src="data:{source}">'
    return f'<pre class="printed">{html.escape(printed(output).rstrip())}</pre>'


def printed(output: dict[str, Any]) -> str:
    """Return the text of an output; a figure has none."""
    if is_figure(output):
        return ""
    return joined(output.get("text", output.get("data", {}).get("text/plain", "")))


def is_figure(output: dict[str, Any]) -> bool:
    """Whether an output is a figure."""
    return not {"image/png", "image/svg+xml"}.isdisjoint(output.get("data", {}))


def joined(lines: str | list[str]) -> str:
    """Return what a notebook has as text or as a list of lines."""
    return lines if isinstance(lines, str) else "".join(lines)
