"""What MkDocs calls while it builds the site: `hooks` in mkdocs.yml names this file."""

from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files, InclusionLevel
from mkdocs.utils import get_relative_url

from website.formulas import with_mathml
from website.notebooks import as_markdown, read
from website.reference import with_reference
from website.repository_links import DOCS, pages_outside, path_at, place_of, relinked

# A script that the theme takes from another host, so that the search works without a server; and
# the site's own, which does the same.
ELSEWHERE, OWN = "https://unpkg.com/iframe-worker/shim", "javascripts/file-worker.js"


def on_files(files: Files, *, config: Any) -> Files:
    """Add a page for each notebook, and for each file outside docs/ that a page links to."""
    texts = {}
    for each in list(files):
        path = DOCS + each.src_uri
        if path.endswith(".ipynb"):
            texts[path] = as_markdown(read(Path(each.abs_src_path)))
            files.append(File.generated(config, place_of(path), content=texts[path]))
        elif path.endswith(".md"):
            texts[path] = Path(each.abs_src_path).read_text(encoding="utf-8")
    for path, text in pages_outside(texts).items():
        inclusion = InclusionLevel.NOT_IN_NAV
        files.append(File.generated(config, place_of(path), content=text, inclusion=inclusion))
    return files


def on_page_markdown(markdown: str, *, page: Any, **_: Any) -> str:
    """Fill in the reference, and lead links to pages of the site."""
    return with_reference(relinked(markdown, path_at(page.file.src_uri)))


def on_page_content(html: str, **_: Any) -> str:
    """Draw the formulas."""
    return with_mathml(html)


def on_post_page(output: str, *, page: Any, **_: Any) -> str:
    """Ask no other host for a script."""
    return output.replace(ELSEWHERE, get_relative_url(OWN, page.url))


def on_post_template(output_content: str, **_: Any) -> str:
    """Ask no other host for a script, in the page for wrong addresses."""
    return output_content.replace(ELSEWHERE, f"/{OWN}")
