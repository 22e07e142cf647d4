"""The dashboard: a page and its few files, the same for everybody; data it fetches with a key."""

from importlib.resources import files

from fastapi import APIRouter, Response

from belated import __version__
from belated.service.core.errors import Unknown
from belated.service.web.dependencies import TheFront

router = APIRouter(include_in_schema=False)

HERE = files("belated.service").joinpath("dashboard")
KINDS = {".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}
FILES = (
    "page.css", "page.js", "panels.js", "figures.js", "charts.js", "estimates.js", "elements.js",
    "words.js", "icon.svg",
)  # fmt: skip
HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
        "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-cache",
}


@router.get("/")
async def page(front: TheFront) -> Response:
    """The page; it is told whether it has to ask for a key."""
    text = HERE.joinpath("index.html").read_text(encoding="utf-8")
    text = text.replace("{guarded}", "yes" if front.guarded else "no")
    text = text.replace("{version}", __version__)
    return Response(text, media_type="text/html", headers=HEADERS)


@router.get("/dashboard/{name}")
async def file(name: str) -> Response:
    """What the page is made of."""
    if name not in FILES:
        raise Unknown(f"the dashboard has no file {name!r}")
    found = HERE.joinpath(name)
    kind = KINDS[name[name.rindex(".") :]]
    return Response(found.read_bytes(), media_type=kind, headers=HEADERS)
