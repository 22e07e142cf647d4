"""The decision service as a FastAPI app over a store."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi

from belated import __version__
from belated.service.run.housekeeping import Housekeeping
from belated.service.store import Durability, Store, open_store
from belated.service.web import dashboard, decisions, keys, monitoring, problems
from belated.service.web.auth import Authenticator
from belated.service.web.auth_middleware import AuthMiddleware
from belated.service.web.bridge import Bridge
from belated.service.web.compat import personalizer
from belated.service.web.error_responses import handle_errors
from belated.service.web.fast_routes import FastRoutes
from belated.service.web.insight import beliefs, moves
from belated.service.web.metrics import Metrics
from belated.service.web.readiness import Readiness
from belated.service.web.request_bodies import schemas
from belated.service.web.request_log import RequestLog

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import TracerProvider

ABOUT = """Ask for a decision, tell what came of it whenever that is known.

Every decision is a ticket. It is told once; telling the same again changes nothing, telling
something else is a conflict. Nothing is answered before it is durable."""

# The service has metrics and a log of its own. This keeps newer versions of the framework from
# looking for another collector at every request; older ones ignore it.
QUIET: Any = {"tracing": False, "metrics": False, "logs": False}


@dataclass(frozen=True)
class Settings:
    """How the service runs.

    `rate` is the number of requests a second for one key, 0: no limit. It is not ready if what
    others have written is not read after `most_lag` seconds. What is older than `retain` seconds is
    folded into checkpoints, and its rows are archived in a folder or dropped.
    """

    database: str
    guarded: bool = True
    durability: Durability = "full"
    most_bytes: int = 1_000_000
    rate: float = 5_000.0
    most_lag: float = 60.0
    retain: float | None = None
    archive: str | None = None
    seed: int | None = None
    tracing: bool = False


def create_app(
    settings: Settings,
    opening: Callable[[str, Durability], Store] = open_store,
    tracer_provider: "TracerProvider | None" = None,
) -> FastAPI:
    """Create the app; it opens its store when it starts, and closes it when it ends.

    With a tracer provider it makes spans for OpenTelemetry.
    """
    metrics = Metrics()

    @contextlib.asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        store = await asyncio.to_thread(opening, settings.database, settings.durability)
        with contextlib.closing(store):
            app.state.bridge = bridge = bridge_to(store, settings, metrics)
            await bridge.open(settings.seed)
            app.state.readiness = Readiness(bridge, settings.most_lag)
            renewal = asyncio.create_task(bridge.keep_keys_fresh())
            housekeeping = Housekeeping(bridge, settings.retain, settings.archive)
            app.state.housekeeping = housekeeping
            try:
                yield
            finally:
                renewal.cancel()
                await housekeeping.stop()
                await bridge.close()

    app = FastAPI(
        title="belated",
        version=__version__,
        description=ABOUT,
        lifespan=lifespan,
        docs_url=None,  # the pages would load scripts from other hosts
        redoc_url=None,
        redirect_slashes=False,  # such an answer would repeat the Host of the request
        telemetry=QUIET,
    )
    app.add_middleware(FastRoutes, routes=decisions.router.routes)
    app.add_middleware(AuthMiddleware)
    if tracer_provider is not None:
        from belated.service.web.tracing import Tracing, TracingMiddleware  # libraries of an extra

        app.add_middleware(TracingMiddleware, tracing=Tracing(tracer_provider))
    app.add_middleware(RequestLog, metrics=metrics, most_bytes=settings.most_bytes)
    handle_errors(app)
    for part in (
        decisions,
        problems,
        moves,
        beliefs,
        keys,
        monitoring,
        personalizer,
        dashboard,
    ):
        app.include_router(part.router)
    app.openapi = documented(app)  # type: ignore[method-assign]
    return app


def bridge_to(store: Store, settings: Settings, metrics: Metrics) -> Bridge:
    """The bridge to a store, with the keys in it."""
    known = store.keys.all() if settings.guarded else None
    return Bridge(store, Authenticator(known, settings.rate), metrics, settings.guarded)


def documented(app: FastAPI) -> Callable[[], dict[str, object]]:
    """A function that makes the OpenAPI document, with the schemas that routes do not declare."""

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
