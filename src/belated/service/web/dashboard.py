"""The dashboard: a page and its files, the same for everybody; it fetches data with a key."""

from importlib.resources import files

from fastapi import APIRouter, Response

from belated import __version__
from belated.service.core.errors import NotFoundError
from belated.service.web.dependencies import TheBridge

router = APIRouter(include_in_schema=False)

HERE = files("belated.service").joinpath("dashboard")
KINDS = {".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}
FILES = (
    "page.css", "page.js", "panels.js", "figures.js", "trust.js", "charts.js", "estimates.js",
    "elements.js", "formatting.js", "service.js", "forms.js", "terms.js", "new_problem.js",
    "manage.js", "values.js", "moves.js", "beliefs.js",
    "uplift.js", "icon.svg",
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
async def page(bridge: TheBridge) -> Response:
    """The page, with a mark that says whether it must ask for a key."""
    text = HERE.joinpath("index.html").read_text(encoding="utf-8")
    text = text.replace("{guarded}", "yes" if bridge.guarded else "no")
    text = text.replace("{version}", __version__)
    return Response(text, media_type="text/html", headers=HEADERS)


@router.get("/dashboard/{name}")
async def file(name: str) -> Response:
    """A script, style sheet or image of the page."""
    if name not in FILES:
        raise NotFoundError(f"the dashboard has no file {name!r}")
    found = HERE.joinpath(name)
    kind = KINDS[name[name.rindex(".") :]]
    return Response(found.read_bytes(), media_type=kind, headers=HEADERS)
