"""Figures as SVG: whole files, and fragments that many of share one page."""

import io
import re
from xml.etree import ElementTree

from matplotlib.figure import Figure

from belated.report.style import in_this_look

REFERENCE = re.compile(r"(url\(#|^#)([\w.:-]+)")
DIGITS = re.compile(r"(\.\d\d)\d+")
NAMESPACE = re.compile(r"\{[^}]*\}")


@in_this_look
def svg_text(figure: Figure) -> str:
    """The figure as the text of an SVG file, the same for the same figure."""
    text = io.StringIO()
    figure.savefig(text, format="svg", metadata={"Date": None})
    return text.getvalue()


def fragment(figure: Figure, prefix: str, description: str) -> str:
    """The figure as an svg element for a page, its ids begun by `prefix` and described for those
    who cannot see it."""
    root = ElementTree.fromstring(svg_text(figure))
    for parent in list(root.iter()):
        for child in list(parent):
            if _name(child) in ("metadata", "style"):
                parent.remove(child)
    used = {name for each in root.iter() for name in _references(each)}
    for each in root.iter():
        _rename(each, prefix, used)
    box = root.get("viewBox", "0 0 1 1")
    root.attrib = {"viewBox": box, "role": "img", "aria-label": description}
    return ElementTree.tostring(root, encoding="unicode")


def _name(element: ElementTree.Element) -> str:
    return NAMESPACE.sub("", element.tag)


def _references(element: ElementTree.Element) -> list[str]:
    values = [value for name, value in element.attrib.items() if _refers(name, value)]
    return [name for value in values for _, name in REFERENCE.findall(value)]


def _refers(name: str, value: str) -> bool:
    return name.endswith("href") or "url(#" in value


def _rename(element: ElementTree.Element, prefix: str, used: set[str]) -> None:
    """Plain names, as HTML has them; ids that nothing refers to are dropped."""
    element.tag = _name(element)
    element.tail = None
    if not (element.text or "").strip():
        element.text = None
    attributes = {}
    for name, value in element.attrib.items():
        if name == "id" and value not in used:
            continue
        if name == "id":
            value = prefix + value
        elif _refers(name, value):
            value = REFERENCE.sub(rf"\1{prefix}\2", value)
        elif name == "d":
            value = DIGITS.sub(r"\1", value)  # a hundredth of a point is finer than any screen
        attributes[NAMESPACE.sub("", name)] = value
    element.attrib = attributes
