"""Figures as SVG: the text of a file, and elements of which one HTML page can hold many."""

import io
import re
from xml.etree import ElementTree

from matplotlib.figure import Figure

from belated.report.style import with_figure_settings

REFERENCE = re.compile(r"(url\(#|^#)([\w.:-]+)")  # to the id of another element
EXTRA_DIGITS = re.compile(r"(\.\d\d)\d+")  # after the second decimal
NAMESPACE = re.compile(r"\{[^}]*\}")


@with_figure_settings
def svg_text(figure: Figure) -> str:
    """Return a figure as the text of an SVG file; equal figures give equal text."""
    text = io.StringIO()
    figure.savefig(text, format="svg", metadata={"Date": None})
    return text.getvalue()


def svg_element(figure: Figure, prefix: str, description: str) -> str:
    """Return a figure as an `svg` element of an HTML page.

    All its ids begin with `prefix`, so that they are unique on the page. Screen readers read the
    `description`.
    """
    root = ElementTree.fromstring(svg_text(figure))
    for parent in list(root.iter()):
        for child in list(parent):
            if _tag_name(child) in ("metadata", "style"):
                parent.remove(child)
    used = {name for each in root.iter() for name in _references(each)}
    for each in root.iter():
        _adapt_to_html(each, prefix, used)
    box = root.get("viewBox", "0 0 1 1")
    root.attrib = {"viewBox": box, "role": "img", "aria-label": description}
    return ElementTree.tostring(root, encoding="unicode")


def _tag_name(element: ElementTree.Element) -> str:
    return NAMESPACE.sub("", element.tag)


def _references(element: ElementTree.Element) -> list[str]:
    values = [value for name, value in element.attrib.items() if _is_reference(name, value)]
    return [name for value in values for _, name in REFERENCE.findall(value)]


def _is_reference(name: str, value: str) -> bool:
    return name.endswith("href") or "url(#" in value


def _adapt_to_html(element: ElementTree.Element, prefix: str, used: set[str]) -> None:
    """Remove namespaces, ids without references and extra digits; prefix the other ids."""
    element.tag = _tag_name(element)
    element.tail = None
    if not (element.text or "").strip():
        element.text = None
    attributes = {}
    for name, value in element.attrib.items():
        if name == "id" and value not in used:
            continue
        if name == "id":
            value = prefix + value
        elif _is_reference(name, value):
            value = REFERENCE.sub(rf"\1{prefix}\2", value)
        elif name == "d":
            value = EXTRA_DIGITS.sub(r"\1", value)  # no screen shows less than 0.01 points
        attributes[NAMESPACE.sub("", name)] = value
    element.attrib = attributes
