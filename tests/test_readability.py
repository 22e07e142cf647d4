"""README, docs and docstrings: short sentences, and the words of the field."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
LONGEST = 35  # words in a sentence

FENCE = re.compile(r"^ *```.*?^ *```", re.DOTALL | re.MULTILINE)
FORMULA = re.compile(r"\$\$.*?\$\$|\$[^$\n]+\$|\\\[.*?\\\]", re.DOTALL)
NEW_ITEM = re.compile(r"^\s*(?:[-*+]|\d+\.)\s+")
SENTENCE_END = re.compile(r"(?<!e\.g\.)(?<!i\.e\.)(?<=[.!?])[*_)\"”]*\s+(?=[\"“(*_`\[A-Z0-9])")


def blocks(text: str) -> Iterator[str]:
    """Yield the running text: paragraphs and list items, without code, tables, headings, formulas."""
    text = FORMULA.sub("x", FENCE.sub("\n", text))
    block: list[str] = []
    for line in [*text.splitlines(), ""]:
        table_or_heading = line.lstrip().startswith(("|", "#", "<"))
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
