"""Links of the site: from files of the repository to pages."""

import pytest

from website.repository_links import ROOT, pages_outside, path_at, place_of, relinked


@pytest.mark.parametrize(
    ("path", "place"),
    [
        ("docs/asktell.md", "asktell.md"),
        ("docs/guides/fastapi.md", "guides/fastapi.md"),
        ("docs/notebooks/gallery.ipynb", "notebooks/gallery.md"),
        ("docs/study.csv", "study.csv"),
        ("README.md", "repository/README.md"),
        ("src/belated/specs.py", "repository/src/belated/specs.py.md"),
    ],
)
def test_every_file_has_its_place(path: str, place: str) -> None:
    """Below docs/ it is that of the repository; a notebook and a source are pages."""
    assert place_of(path) == place


@pytest.mark.parametrize(
    ("path", "text", "expected"),
    [
        ("docs/a.md", "[x](b.md#c)", "[x](b.md#c)"),
        ("docs/a.md", "[x](../CHANGELOG.md)", "[x](repository/CHANGELOG.md)"),
        ("docs/guides/a.md", "[`x`](../../src/x.py)", "[`x`](../repository/src/x.py.md)"),
        ("docs/guides/a.md", "[x](../notebooks/n.ipynb)", "[x](../notebooks/n.md)"),
        ("README.md", "![x](docs/images/a.svg)", "![x](../images/a.svg)"),
        ("docs/a.md", "[x](#here) [y](http://example.org/z)", None),
        ("docs/a.md", "`[x](../y.md)` and\n```python\na[0](../y.md)\n```\n", None),
    ],
)
def test_links_lead_to_places(path: str, text: str, expected: str | None) -> None:
    """Relative ones do; code, anchors and addresses stay as they are."""
    assert relinked(text, path) == (text if expected is None else expected)


def test_pages_know_their_files() -> None:
    """The place of a Markdown file leads back to it."""
    for path in ("docs/guides/fastapi.md", "README.md"):
        assert path_at(place_of(path)) == path


def test_linked_files_get_pages() -> None:
    """Markdown as it is, with what it links to in turn; a source in a fence."""
    pages = pages_outside(
        {path: (ROOT / path).read_text() for path in ("docs/index.md", "docs/adding-a-learner.md")}
    )
    assert pages["CONTRIBUTING.md"] == (ROOT / "CONTRIBUTING.md").read_text()
    source = pages["src/belated/learners/adversarial/exp3.py"]
    assert source.startswith("# src/belated/learners/adversarial/exp3.py\n\n````python\n")
    assert not any(path.startswith("docs/") for path in pages)
