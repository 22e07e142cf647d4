"""Elements of HTML. This is the only module that escapes text."""

import html
import re
from collections.abc import Sequence

from belated.report.formatting import clean


def escaped(text: str) -> str:
    """Escape text for HTML and put it on one line."""
    return html.escape(clean(text))


def prose(text: str) -> str:
    """Escape text and forbid line breaks inside "1 ± 2", "5 %" and names with hyphens."""
    words = [
        f'<span class="whole">{word}</span>' if "-" in word and len(word) < 30 else word
        for word in escaped(text).split(" ")
    ]
    return re.sub(r" (?=[±%])|(?<=±) ", "\N{NO-BREAK SPACE}", " ".join(words))


def element(name: str, content: str = "", **attributes: str) -> str:
    """Return an element with HTML as its content.

    In the names of attributes, underscores become hyphens and one at the end is dropped, so
    `class_` means class.
    """
    given = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{escaped(value)}"'
        for key, value in attributes.items()
    )
    return f"<{name}{given}>{content}</{name}>"


def paragraph(*sentences: str, class_: str = "") -> str:
    """Return a paragraph of unescaped sentences, or an empty string if there are none."""
    text = " ".join(each for each in sentences if each)
    if not text:
        return ""
    return element("p", prose(text), **({"class_": class_} if class_ else {}))


def table(id_: str, caption: str, heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a table of HTML cells that scrolls if it is too wide; first cells are row headings."""
    return grouped_table(id_, caption, heads, [("", rows)])


def grouped_table(
    id_: str,
    caption: str,
    heads: Sequence[str],
    groups: Sequence[tuple[str, Sequence[Sequence[str]]]],
) -> str:
    """Return a table whose rows are in groups, each below a heading unless that is empty."""
    head = "".join(element("th", text, scope="col") for text in heads)
    bodies = "".join(
        element("tbody", _group_heading(title, len(heads)) + "".join(map(_row, rows)))
        for title, rows in groups
    )
    inner = (
        element("caption", element("span", prose(caption)), id=id_)
        + element("thead", element("tr", head))
        + bodies
    )
    return element(
        "div",
        element("table", inner),
        class_="scroll",
        role="region",
        tabindex="0",
        aria_labelledby=id_,
    )


def _row(cells: Sequence[str]) -> str:
    heading = element("th", cells[0], scope="row")
    return element("tr", heading + "".join(element("td", cell) for cell in cells[1:]))


def _group_heading(title: str, columns: int) -> str:
    if not title:
        return ""
    text = element("span", prose(title))
    cell = element("th", text, scope="rowgroup", colspan=str(columns))
    return element("tr", cell, class_="group")


def definitions(pairs: Sequence[tuple[str, str]]) -> str:
    """Return a definition list of pairs (term, definition), both HTML."""
    return element("dl", "".join(element("dt", term) + element("dd", said) for term, said in pairs))
