"""The decision service as an app: FastAPI over a desk over a store."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi

from belated import __version__
from belated.service.run.metrics import Metrics
from belated.service.store import Store, open_store
from belated.service.store.sqlite_file import Durability
from belated.service.web import dashboard, decisions, keys, problems
from belated.service.web import monitoring as watching
from belated.service.web.auth import Guard
from belated.service.web.auth_gate import Gate
from belated.service.web.bridge import Front
from belated.service.web.compat import personalizer
from belated.service.web.error_responses import handle_errors
from belated.service.web.fast_routes import Direct
from belated.service.web.request_bodies import schemas
from belated.service.web.request_log import Tracing

ABOUT = """Ask for a decision, tell what came of it whenever that is known.

Every decision is a ticket. It is told once; telling the same again changes nothing, telling
something else is a conflict. Nothing is answered before it is durable."""

# The service has metrics and a log of its own. Versions of the framework that would also look for
# a collector elsewhere, at every request, are told not to; older ones take no notice of this.
QUIET: Any = {"tracing": False, "metrics": False, "logs": False}


@dataclass(frozen=True)
class Settings:
    """How the service runs; `rate` is the requests a second of one key, 0 for any number."""

    database: str
    guarded: bool = True
    durability: Durability = "full"
    most_bytes: int = 1_000_000
    rate: float = 5_000.0
    seed: int | None = None


def create_app(
    settings: Settings, opening: Callable[[str, Durability], Store] = open_store
) -> FastAPI:
    """The app; it opens its store when it starts, and closes it when it ends."""
    metrics = Metrics()

    @contextlib.asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        store = await asyncio.to_thread(opening, settings.database, settings.durability)
        with contextlib.closing(store):
            app.state.front = front = opened(store, settings, metrics)
            await front.open(settings.seed)
            renewal = asyncio.create_task(front.keep_keys_fresh())
            try:
                yield
            finally:
                renewal.cancel()
                await front.close()

    app = FastAPI(
        title="belated",
        version=__version__,
        description=ABOUT,
        lifespan=lifespan,
        docs_url=None,  # they would be fetched from elsewhere
        redoc_url=None,
        telemetry=QUIET,
    )
    app.add_middleware(Direct, routes=decisions.router.routes)
    app.add_middleware(Gate)
    app.add_middleware(Tracing, metrics=metrics, most_bytes=settings.most_bytes)
    handle_errors(app)
    for part in (decisions, problems, keys, watching, personalizer, dashboard):
        app.include_router(part.router)
    app.openapi = documented(app)  # type: ignore[method-assign]
    return app


def opened(store: Store, settings: Settings, metrics: Metrics) -> Front:
    """The front of a store, which knows the keys in it."""
    known = store.keys.all() if settings.guarded else None
    return Front(store, Guard(known, settings.rate), metrics, settings.guarded)


def documented(app: FastAPI) -> Callable[[], dict[str, object]]:
    """The OpenAPI document, with the form of errors that all routes share."""

    def document() -> dict[str, object]:
        if app.openapi_schema is None:
            made = get_openapi(
                title=app.title,
                version=app.version,
                description=app.description,
                routes=app.routes,
            )
            known = made.setdefault("components", {}).setdefault("schemas", {})
            made["components"]["schemas"] = {**schemas(), **known}
            app.openapi_schema = made
        return app.openapi_schema

    return document
