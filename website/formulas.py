"""Formulas: TeX becomes MathML when the site is built, so that no script has to draw it."""

import html
import re

from latex2mathml.converter import convert

# What the extension arithmatex makes of $...$ and $$...$$.
FORMULA = re.compile(
    r'<(?P<tag>span|div) class="arithmatex">\\[(\[](?P<tex>.*?)\\[)\]]</(?P=tag)>', re.DOTALL
)


def with_mathml(page: str) -> str:
    """Return a page whose formulas are MathML."""

    def drawn(match: re.Match[str]) -> str:
        display = "block" if match["tag"] == "div" else "inline"
        return str(convert(html.unescape(match["tex"]), display=display))

    return FORMULA.sub(drawn, page)
