"""A Markdown extension: <q, L> in a formula is text, not a tag.

Python-Markdown takes everything in angle brackets for HTML, which a browser then hides. Here only
the few tags that the pages use are HTML.
"""

from typing import Any

from markdown import Markdown
from markdown.extensions import Extension
from markdown.inlinepatterns import HtmlInlineProcessor

TAGS = r"(</?(?:br|img|kbd|sub|sup)\b[^<>]*>)"
PRIORITY = 90  # that of the pattern it replaces


class PlainAngles(Extension):
    """Inline HTML of known tags only."""

    def extendMarkdown(self, md: Markdown) -> None:
        """Replace the pattern for inline HTML."""
        md.inlinePatterns.register(HtmlInlineProcessor(TAGS, md), "html", PRIORITY)


def makeExtension(**options: Any) -> PlainAngles:
    """Return the extension; Python-Markdown calls it by this name."""
    return PlainAngles(**options)
