"""Small pieces of HTML. Text is escaped here and nowhere else."""

import html
import re
from collections.abc import Sequence

from belated.report.formatting import clean


def escaped(text: str) -> str:
    """Text as HTML shows it, in one line."""
    return html.escape(clean(text))


def sentence(text: str) -> str:
    """Escaped text whose numbers and hyphenated names stay in one line."""
    words = [
        f'<span class="whole">{word}</span>' if "-" in word and len(word) < 30 else word
        for word in escaped(text).split(" ")
    ]
    return re.sub(r" (?=[±%])|(?<=±) ", "\N{NO-BREAK SPACE}", " ".join(words))


def element(name: str, content: str = "", **attributes: str) -> str:
    """An element around HTML; an attribute's trailing underscore is dropped."""
    given = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{escaped(value)}"'
        for key, value in attributes.items()
    )
    return f"<{name}{given}>{content}</{name}>"


def paragraph(*sentences: str, class_: str = "") -> str:
    """Plain sentences as a paragraph; nothing if there are none."""
    text = " ".join(sentence for sentence in sentences if sentence)
    if not text:
        return ""
    return element("p", sentence(text), **({"class_": class_} if class_ else {}))


def table(id_: str, caption: str, heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table of HTML cells, the first of each row its head; it scrolls by itself if it is wide."""
    head = "".join(element("th", text, scope="col") for text in heads)
    body = "".join(
        element(
            "tr",
            element("th", row[0], scope="row") + "".join(element("td", cell) for cell in row[1:]),
        )
        for row in rows
    )
    inner = (
        element("caption", element("span", sentence(caption)), id=id_)
        + element("thead", element("tr", head))
        + element("tbody", body)
    )
    return element(
        "div",
        element("table", inner),
        class_="scroll",
        role="region",
        tabindex="0",
        aria_labelledby=id_,
    )


def definitions(pairs: Sequence[tuple[str, str]]) -> str:
    """Terms and what is to be said of them, both HTML."""
    return element("dl", "".join(element("dt", term) + element("dd", said) for term, said in pairs))
