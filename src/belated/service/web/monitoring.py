"""The routes for monitoring: health, verification and metrics."""

from typing import Any

from fastapi import APIRouter, Response
from fastapi.responses import JSONResponse
from prometheus_client import CONTENT_TYPE_LATEST

from belated import __version__
from belated.compiled.background import queue
from belated.service.admin.keys import VERBS
from belated.service.admin.verify import fingerprints, verified
from belated.service.core.errors import ForbiddenError
from belated.service.web.dependencies import Caller, TheBridge
from belated.service.web.error_responses import documented
from belated.service.web.metrics import WORKERS, ProblemGauges
from belated.service.web.monitoring_models import HealthBody, ReadinessBody, VerificationBody

router = APIRouter(tags=["monitoring"])

STOPPED: dict[str, Any] = {"model": HealthBody, "description": "The commit thread has stopped"}
NUMBERS = {"text/plain": {"example": "belated_decisions_total 6.0"}}


@router.get("/healthz", response_model=HealthBody, responses={**documented(), 503: STOPPED})
async def health(bridge: TheBridge) -> Any:
    """Whether the worker that answers carries out requests, and how many workers run."""
    well = bridge.is_alive
    body = {
        "status": "ok" if well else "stopped",
        "version": __version__,
        "store": bridge.store.library,
        "workers": bridge.metrics.total(WORKERS),
    }
    return JSONResponse(body, 200 if well else 503)


@router.get("/readyz", response_model=ReadinessBody, responses={**documented(), 503: STOPPED})
async def readiness(bridge: TheBridge) -> Any:
    """Whether the worker that answers carries out requests, and what it still runs interpreted.

    Until a step is compiled it runs interpreted, with the same results, only slower.
    """
    well = bridge.is_alive
    body = {"status": "ready" if well else "stopped", "interpreted": queue.interpreted()}
    return JSONResponse(body, 200 if well else 503)


@router.post("/v1/verify", response_model=VerificationBody, responses=documented())
async def verify(bridge: TheBridge, who: Caller) -> Any:
    """Fold the whole journal again, and compare it with the states in use."""
    who.needs_all()

    def live(store: Any, replicas: Any) -> Any:
        return fingerprints(replicas), store.end() if store.one_owner else replicas.position

    states, end = await bridge.run_on_thread(live)
    found = await bridge.read(lambda store: verified(store, states, end))
    return JSONResponse(
        {
            "clean": all(result.is_clean for result in found),
            "problems": [result.shown() for result in found],
        }
    )


@router.get(
    "/metrics",
    response_class=Response,
    responses={200: {"description": "Numbers", "content": NUMBERS}, **documented()},
)
async def metrics(bridge: TheBridge, who: Caller) -> Response:
    """Numbers for Prometheus; for keys that are valid for all problems."""
    if not any(who.may(verb, "*") for verb in VERBS):
        raise ForbiddenError("the key is not valid for all problems, and the metrics are of all")

    def gauges(store: Any, replicas: Any) -> dict[str, ProblemGauges]:
        named = replicas.by_name.items()
        return {name: ProblemGauges(each.round, len(each.open)) for name, each in named}

    text = bridge.metrics.text(await bridge.run_on_thread(gauges))
    return Response(text, media_type=CONTENT_TYPE_LATEST)
