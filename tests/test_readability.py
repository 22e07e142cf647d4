"""README, docs, messages and docstrings: short sentences, and the words of the field."""

import ast
import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
OTHERS = [
    "README.md", "CHANGELOG.md", "CONTRIBUTING.md", "clients/typescript/README.md",
    "examples/plugin/README.md",
]  # fmt: skip
PAGES = [
    *(ROOT / name for name in OTHERS),
    *sorted(DOCS.rglob("*.md")),
    *sorted(DOCS.rglob("*.ipynb")),
]
LONGEST = 35  # words in a sentence

FENCE = re.compile(r"^ *```.*?^ *```", re.DOTALL | re.MULTILINE)
FORMULA = re.compile(r"\$\$.*?\$\$|\$[^$\n]+\$|\\\[.*?\\\]", re.DOTALL)
NO_PROSE = re.compile(r"\s*(?:\||#+ |<img )")
NEW_ITEM = re.compile(r"^\s*(?:[-*+]|\d+\.)\s+")
SQL = re.compile(r"\s*(?:insert|with|select|create|update|delete|drop|alter)\s")
EXAMPLE = re.compile(r"^ *>>>.*?(?:\n\s*\n|\Z)", re.DOTALL | re.MULTILINE)
ARGUMENT = re.compile(r"\n +(?=\w+: )|\n(?:Args|Raises|Returns|Example):")
SMALL_BEGINNING = re.compile(r"(?<!e\.g)(?<!i\.e)(?<!cf)(?<=[a-z0-9)\]`\"'][.!?;]) +(?=[a-z`])")
SENTENCE_END = re.compile(
    r"(?<!et al\.)(?<!e\.g\.)(?<!i\.e\.)(?<=[.!?∎])[*_)\"”]*\s+(?=[\"“(*_`\[A-Z0-9])"
)


def place_of(page: Path) -> str:
    """Return the path of a page in the repository."""
    return page.relative_to(ROOT).as_posix()


def text_of(page: Path) -> str:
    """Return the text of a page; of a notebook, that of its cells without code."""
    if page.suffix != ".ipynb":
        return page.read_text()
    cells = json.loads(page.read_text())["cells"]
    return "\n\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown")


def blocks(text: str) -> Iterator[str]:
    """Yield paragraphs and list items, without code, tables, headings and formulas."""
    text = FORMULA.sub("x", FENCE.sub("\n", text))
    block: list[str] = []
    for line in [*text.splitlines(), ""]:
        table_or_heading = NO_PROSE.match(line) is not None
        formula = line.startswith("    ") and not block
        if not line.strip() or table_or_heading or formula or NEW_ITEM.match(line):
            if block:
                yield " ".join(block)
            block = []
        if line.strip() and not table_or_heading and not formula:
            block.append(NEW_ITEM.sub("", line).strip())


def plain(block: str) -> str:
    """Return a block as it is read: links as their text, inline code as one word."""
    block = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", block)
    return re.sub(r"`[^`]*`", "`x`", block)


def sentences(text: str) -> list[str]:
    """Return the sentences of a page, in order."""
    return [each for block in blocks(text) for each in SENTENCE_END.split(plain(block))]


def words(sentence: str) -> int:
    """Return the number of words: signs without a letter or digit count as none."""
    return sum(1 for word in sentence.split() if re.search(r"\w", word))


# House dialect, and what to write instead.
DIALECT = {
    r"whoever": "name the person or the learner",
    r"whosoever|whatsoever": "any",
    r"reckon\w*": "compute, count",
    r"of late(?=[.,;:)])": "recently",
    r"held back|holds? back": "delayed",
    r"for ever": "without limit, never expires",
    r"under way": "outstanding, in progress",
    r"hears? of|heard of": "observes, is reported",
    r"nobody": "no one, or say what is the case",
    r"anew": "again",
    r"alike": "equal, the same",
    r"brought to \[": "clipped to [",
    r"sees? to the": "manages",
    r"lacks? \d": "outstanding",
    r"on the error output": "to stderr",
    r"first news|next news|no news": "feedback",
    r"boldness": "large learning rates",
    r"dearer|as dear": "costs more, costs as much",
    r"some (?:ten|twenty|sixty|hundred|thousand)": "about ten, a few hundred",
    r"hand(?:s|ed)? out": "issue, make",
    r"goes on as|goes on where|goes on later": "continues",
    r"may be had|to be had": "is available",
    r"it is said|is said in|is said when": "is in the log, is printed",
    r"what is told|what was told": "the outcome, the loss",
    r"who (?:loses|learns|needs|wants|wins)": "name the subject",
    r"as of the last": "since the last",
    r"nine in ten|9 in 10": "90th percentile",
    r"low is good": "lower is better",
    r"dwells?|thereof|wherein|hitherto|thrice|betwixt": "use a common word",
}
# Words that only the sources still have, where they name variables or are about proofs.
DIALECT_OF_PAGES = DIALECT | {
    r"foret(?:ells?|old|elling)": "predict",
    r"go(?:es|ing)? on|went on": "continue",
    r"for good(?=[.,;:)]| \||$)": "permanently",
    r"somebody|everybody|anybody": "someone, all",
    r"without news|the news of": "without a report, the feedback about",
    r"need be|needs be": "need to be",
    r"after so (?:many|long)|in so many": "say how many",
}


def spotter(dialect: dict[str, str]) -> re.Pattern[str]:
    """Return the pattern of all words of a dialect."""
    return re.compile("|".join(rf"\b(?:{each})(?!\w)" for each in dialect), re.IGNORECASE)


SAID, SAID_IN_PAGES = spotter(DIALECT), spotter(DIALECT_OF_PAGES)


@pytest.mark.parametrize("path", PAGES, ids=place_of)
def test_sentences_are_short(path: Path) -> None:
    """No sentence of a page has more than 35 words."""
    long = [(words(each), each) for each in sentences(text_of(path)) if words(each) > LONGEST]
    assert not long, "\n".join(f"{count} words: {each}" for count, each in long)


@pytest.mark.parametrize("path", PAGES, ids=place_of)
def test_pages_use_the_words_of_the_field(path: Path) -> None:
    """No page has a word of the house dialect, in its text or in its tables."""
    found = SAID_IN_PAGES.findall(" ".join(FENCE.sub(" ", text_of(path)).split()))
    assert not found, f"{found}: see DIALECT in {Path(__file__).name} for what to write instead"


def docstrings() -> Iterator[tuple[str, str]]:
    """Yield where each docstring of the package is, and its text."""
    for path in sorted((ROOT / "src").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
                text = ast.get_docstring(node)
                if text:
                    line = getattr(node, "lineno", 1)
                    yield f"{path.relative_to(ROOT)}:{line}", text


def test_docstrings_make_sense_alone() -> None:
    """No docstring begins with a reference to another one: a tooltip shows it alone."""
    found = [where for where, text in docstrings() if text.startswith(("The same", "Likewise"))]
    assert not found, found


def shown_texts() -> Iterator[tuple[str, str]]:
    """Yield where each text of the package is that users read: messages, help texts, captions.

    Parts of one sentence that stand beside each other count as one text; what is filled in counts
    as one word.
    """
    for path in sorted((ROOT / "src").rglob("*.py")):
        tree = ast.parse(path.read_text())
        inside = {
            part
            for node in ast.walk(tree)
            if isinstance(node, ast.JoinedStr)
            for part in ast.walk(node)
            if part is not node
        }
        for node in ast.walk(tree):
            if isinstance(node, ast.Expr):  # a docstring
                inside.add(node.value)
        for node in ast.walk(tree):
            if node in inside or not isinstance(node, ast.JoinedStr | ast.Constant):
                continue
            text = shown_text(node)
            if " " in text.strip() and not SQL.match(text):
                yield f"{path.relative_to(ROOT)}:{node.lineno}", text


def shown_text(node: ast.JoinedStr | ast.Constant) -> str:
    """Return a string, or a formatted one with one word for each value in it."""
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else ""
    return "".join(
        part.value if isinstance(part, ast.Constant) and isinstance(part.value, str) else "x"
        for part in node.values
    )


def spoken(text: str) -> list[str]:
    """Return the sentences of a docstring or a message: without examples, arguments one by one.

    A sentence of a docstring may begin with the name of a variable, in small letters.
    """
    prose = ARGUMENT.sub("\n- ", EXAMPLE.sub("\n", text))
    return [part for each in sentences(prose) for part in SMALL_BEGINNING.split(each)]


def test_docstrings_and_messages_have_short_sentences() -> None:
    """No sentence of a docstring, a message, a help text or a caption has more than 35 words."""
    long = {
        f"{where}: {words(each)} words: {each}"
        for where, text in [*docstrings(), *shown_texts()]
        for each in spoken(text)
        if words(each) > LONGEST
    }
    assert not long, "\n".join(sorted(long))


def test_docstrings_and_messages_use_the_words_of_the_field() -> None:
    """No docstring, message, help text or caption has a word of the house dialect."""
    found = {
        f"{where}: {SAID.findall(text)}"
        for where, text in [*docstrings(), *shown_texts()]
        if SAID.search(" ".join(text.split()))
    }
    assert not found, "\n".join(sorted(found))


def test_the_checks_find_what_they_look_for() -> None:
    """Long sentences are found across lines; code, tables and formulas are not text."""
    long = " ".join(["word"] * 34)
    two = sentences(f"Three short words. More {long}\n[a link](x.md) more.")
    assert [words(each) for each in two] == [3, 38]
    assert [words(each) for each in sentences(f"- {long}:\n- {long}.")] == [34, 34]
    quiet = (
        f"```python\n{long}\n```\n| {long} | {long} |\n# {long}\n\n    {long} {long}\n\n`{long}`"
    )
    assert [words(each) for each in sentences(quiet)] == [1]
    assert SAID.findall("Whoever reckons, for ever") == ["Whoever", "reckons", "for ever"]
    assert not SAID.findall("for every learner that is of late news")
    assert SAID_IN_PAGES.findall("It goes on and on, foretold for good") == [
        "goes on", "foretold", "for good"
    ]  # fmt: skip
    assert len(list(docstrings())) > 1000
