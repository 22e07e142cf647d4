"""Links that leave docs/: the site has a page for each file of the repository that they name.

Pages link to each other, and to sources, as files of the repository, so that they can be read
there, too. A path here is that of a file from the root of the repository; a place is that of a page
of the site, which is relative to docs/.
"""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from posixpath import dirname, join, normpath, relpath

ROOT = Path(__file__).parents[1]
DOCS = "docs/"
OUTSIDE = "repository/"  # the place of files from outside docs/
# Code, in which nothing is a link, or the target of a link.
CODE_OR_TARGET = re.compile(
    r"(?P<code>^ *(?P<fence>`{3,}).*?^ *(?P=fence)\s*$|(?P<ticks>`+)(?!`).+?(?<!`)(?P=ticks)(?!`))"
    r"|(?<=\]\()(?P<target>[^)\s]+)(?=\))",
    re.DOTALL | re.MULTILINE,
)
ELSEWHERE = re.compile(r"[a-z]+:|#")
LANGUAGES = {".py": "python", ".ts": "typescript", ".json": "json", ".cff": "yaml", ".yml": "yaml"}


def place_of(path: str) -> str:
    """Return the place of a file of the repository."""
    if path.startswith(DOCS):
        place = path.removeprefix(DOCS)
        return place.removesuffix(".ipynb") + ".md" if place.endswith(".ipynb") else place
    return OUTSIDE + path if path.endswith(".md") else f"{OUTSIDE}{path}.md"


def path_at(place: str) -> str:
    """Return the path of the file that a page shows, which its links are relative to."""
    return place.removeprefix(OUTSIDE) if place.startswith(OUTSIDE) else DOCS + place


def target_path(target: str, path: str) -> tuple[str, str]:
    """Return the path that a link in a file leads to, and its anchor with the sign before it."""
    file, sign, anchor = target.partition("#")
    return normpath(join(dirname(path), file)), sign + anchor


def links(text: str) -> Iterator[str]:
    """Yield the targets of all links of a page that lead to files."""
    for match in CODE_OR_TARGET.finditer(text):
        if match["target"] and not ELSEWHERE.match(match["target"]):
            yield match["target"]


def relinked(text: str, path: str) -> str:
    """Return the text of the file at this path with links to the places of the site."""

    def place(match: re.Match[str]) -> str:
        target = match["target"]
        if not target or ELSEWHERE.match(target):
            return match[0]
        file, anchor = target_path(target, path)
        return relpath(place_of(file), dirname(place_of(path)) or ".") + anchor

    return CODE_OR_TARGET.sub(place, text)


def pages_outside(texts: Mapping[str, str]) -> dict[str, str]:
    """Return the pages for files outside docs/ that are linked from these texts, by path.

    Markdown is taken as it is, and its own links are followed. Any other file is shown as it reads.
    """
    found: dict[str, str] = {}
    waiting = list(texts.items())
    while waiting:
        path, text = waiting.pop()
        is_linking = path in texts or path.endswith(".md")
        if not path.startswith(DOCS):
            found[path] = text if is_linking else as_source(path, text)
        linked = {target_path(each, path)[0] for each in links(text)} if is_linking else set()
        waiting += [
            (each, (ROOT / each).read_text(encoding="utf-8"))
            for each in linked
            if not each.startswith(DOCS) and each not in found
        ]
    return found


def as_source(path: str, text: str) -> str:
    """Return a page that shows a source file."""
    return f"# {path}\n\n````{LANGUAGES.get(Path(path).suffix, 'text')}\n{text.rstrip()}\n````\n"
