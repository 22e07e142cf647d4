"""README and docs: their Python runs, their commands exist, their links lead somewhere."""

import re
import subprocess
import sys
from pathlib import Path

import click
import pytest

import belated
from belated.cli import main

ROOT = Path(__file__).parents[1]
DOCUMENTS = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
ADAPTERS = ("gymnasium", "mabwiser", "obp", "optuna", "poold", "river")  # libraries of `dev`
# What a document needs that plays whole games: they take some ten seconds each, interpreted.
SLOW = {
    "README.md": [pytest.mark.compiled, pytest.mark.core],
    "comparing.md": [pytest.mark.check],
    "sweeps.md": [pytest.mark.check],
    **{f"{each}.md": [pytest.mark.check] for each in ADAPTERS},
}
BLOCK = re.compile(r"^```python\n(.*?)^```", re.DOTALL | re.MULTILINE)


def with_python() -> list[Path]:
    """The documents that show Python."""
    return [path for path in DOCUMENTS if BLOCK.search(path.read_text())]


@pytest.mark.parametrize(
    "path",
    [pytest.param(each, id=each.name, marks=SLOW.get(each.name, [])) for each in with_python()],
)
def test_python_blocks_run_in_order(path: Path) -> None:
    """The blocks of a document, one after the other, as a reader would type them."""
    code = "\n".join(BLOCK.findall(path.read_text()))
    command = [sys.executable, "-W", "error", "-c", code]
    run = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert run.returncode == 0, run.stderr


def test_every_command_is_documented() -> None:
    """Each command has its section, and each section its command."""
    text = (ROOT / "docs" / "command-line.md").read_text()
    assert isinstance(main, click.Group)
    context = click.Context(main)
    commands = {name: main.get_command(context, name) for name in main.list_commands(context)}
    assert set(re.findall(r"^## `belated (\S+)`$", text, re.MULTILINE)) == set(commands)
    for name, command in commands.items():
        assert command is not None
        section = text.split(f"## `belated {name}`")[1].split("\n## ")[0]
        for option in command.params:
            if isinstance(option, click.Option):
                assert option.opts[0] in section, (name, option.opts[0])


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_links_lead_to_files(path: Path) -> None:
    """Relative links point at something that is in the repository."""
    for target in re.findall(r"\]\(([^)#]+)\)", path.read_text()):
        if not target.startswith("http"):
            assert (path.parent / target).exists(), target


def test_readme_shows_its_own_commands() -> None:
    """The two commands of the README are targets of the Makefile."""
    makefile = (ROOT / "Makefile").read_text()
    for target in re.findall(r"^make (\w+)", (ROOT / "README.md").read_text(), re.MULTILINE):
        assert re.search(rf"^{target}:", makefile, re.MULTILINE), target


def test_the_citation_is_of_this_version() -> None:
    """CITATION.cff names the version of the package, and the paper."""
    citation = (ROOT / "CITATION.cff").read_text()
    assert re.findall(r"^version: (.+)$", citation, re.MULTILINE) == [belated.__version__]
    assert "Nonstochastic Bandits and Experts with Arm-Dependent Delays" in citation


def test_glossary_is_in_order_and_its_anchors_exist() -> None:
    """Words are sorted, and a link to a section names a heading of that page."""
    glossary = (ROOT / "docs" / "glossary.md").read_text()
    entries = re.findall(r"^\| (.+?) \|", glossary, re.MULTILINE)[1:]
    assert len(entries) > 30
    assert entries == sorted(entries)
    for page, anchor in re.findall(r"\]\(([^)#]+)#([^)]+)\)", glossary):
        headings = re.findall(r"^#+ (.+)$", (ROOT / "docs" / page).read_text(), re.MULTILINE)
        slugs = [re.sub(r"[^\w -]", "", each).lower().replace(" ", "-") for each in headings]
        assert anchor in slugs, (page, anchor)
