"""README and docs: their Python runs, their commands exist, their links lead somewhere."""

import re
import shlex
import subprocess
import sys
from pathlib import Path

import click
import pytest

import belated
from belated.cli import main

ROOT = Path(__file__).parents[1]
DOCUMENTS = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
NOTEBOOKS = sorted((ROOT / "docs").rglob("*.ipynb"))
ADAPTERS = ("gymnasium", "mabwiser", "obp", "optuna", "poold", "river")  # libraries of `dev`
# What a document needs that plays whole games: they take some ten seconds each, interpreted.
SLOW = {
    "README.md": [pytest.mark.compiled, pytest.mark.core],
    "comparing.md": [pytest.mark.check],
    "sweeps.md": [pytest.mark.check],
    "tutorials": [pytest.mark.check],
    "guides": [pytest.mark.check],
    **{f"{each}.md": [pytest.mark.check] for each in ADAPTERS},
}
# Python, and what it prints if the document shows it.
BLOCK = re.compile(r"^```python\n(.*?)^```(?:\n+```text\n(.*?)^```)?", re.DOTALL | re.MULTILINE)
CONSOLE = re.compile(r"^```(?:console|sh)\n(.*?)^```", re.DOTALL | re.MULTILINE)
TARGET = re.compile(r"(?:\]\(|<img src=\"?)([^)#\s\"]+)")
END = "---- end of a block"


def with_python() -> list[Path]:
    """The documents that show Python."""
    return [path for path in DOCUMENTS if BLOCK.search(path.read_text())]


def place_of(path: Path) -> str:
    """The path of a document in the repository."""
    return path.relative_to(ROOT).as_posix()


def marks_of(path: Path) -> list[pytest.MarkDecorator]:
    """The marks of a document, by its name or by that of its folder."""
    return [*SLOW.get(path.name, []), *SLOW.get(path.parent.name, [])]


@pytest.mark.parametrize(
    "path",
    [pytest.param(each, id=place_of(each), marks=marks_of(each)) for each in with_python()],
)
def test_python_blocks_run_in_order(path: Path, tmp_path: Path) -> None:
    """The blocks of a document, one after the other, print what it shows."""
    blocks = BLOCK.findall(path.read_text())
    code = "\n".join(f"{block}\nprint({END!r})" for block, _ in blocks)
    command = [sys.executable, "-W", "error", "-c", code]
    run = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=300)
    assert run.returncode == 0, run.stderr
    printed = run.stdout.split(f"{END}\n")
    for (block, expected), found in zip(blocks, printed, strict=False):
        assert not expected or found == expected, block


def test_commands_that_are_shown_exist() -> None:
    """Each command of belated in a document, with each of its options."""
    assert isinstance(main, click.Group)
    shown = [
        (path.name, line)
        for path in DOCUMENTS
        for block in CONSOLE.findall(path.read_text())
        for line in re.findall(r"(?:^|[(;] ?)(belated [^|>&)#\n]+)", block, re.MULTILINE)
    ]
    assert len(shown) > 50
    for document, line in shown:
        command: click.Command = main
        for word in shlex.split(line.rstrip("\\"))[1:]:
            option = word.partition("=")[0]
            if isinstance(command, click.Group):
                found = command.get_command(click.Context(command), word)
                assert found is not None, (document, line, word)
                command = found
            elif re.match(r"--?[a-z]", word):
                known = {
                    name for each in command.params for name in (*each.opts, *each.secondary_opts)
                }
                assert option in known | {"--help"}, (document, line, word)


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


@pytest.mark.parametrize("path", [*DOCUMENTS, *NOTEBOOKS], ids=place_of)
def test_links_lead_to_files(path: Path) -> None:
    """Relative links point at files of the repository; `make docs` checks their anchors, too."""
    for target in TARGET.findall(path.read_text()):
        if not target.startswith("http"):
            assert (path.parent / target).is_file(), target


def test_every_document_is_in_the_site() -> None:
    """The navigation of mkdocs.yml names each page and each notebook of docs/, once."""
    named = re.findall(r": ([\w/.-]+\.md)$", (ROOT / "mkdocs.yml").read_text(), re.MULTILINE)
    pages = [*(ROOT / "docs").rglob("*.md"), *(ROOT / "docs").rglob("*.ipynb")]
    places = [path.relative_to(ROOT / "docs").with_suffix(".md").as_posix() for path in pages]
    assert sorted(each for each in named if not each.startswith("repository/")) == sorted(places)


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
