"""The routes for monitoring: health, verification and metrics."""

from typing import Any

from fastapi import APIRouter, Request, Response
from fastapi.responses import JSONResponse
from prometheus_client import CONTENT_TYPE_LATEST

from belated import __version__
from belated.compiled.background import queue
from belated.service.admin.keys import VERBS
from belated.service.admin.verify import fingerprints, verified
from belated.service.core.errors import ForbiddenError
from belated.service.web.dependencies import Caller, TheBridge
from belated.service.web.error_responses import documented
from belated.service.web.metrics import WORKERS
from belated.service.web.monitoring_models import HealthBody, ReadinessBody, VerificationBody
from belated.service.web.problem_metrics import JournalCollector, journal_numbers
from belated.service.web.readiness import Readiness, readiness_view

router = APIRouter(tags=["monitoring"])

STOPPED: dict[str, Any] = {"model": HealthBody, "description": "The commit thread has stopped"}
UNREADY: dict[str, Any] = {"model": ReadinessBody, "description": "It cannot commit, or lags"}
NUMBERS = {"text/plain": {"example": "belated_decisions_total 6.0"}}


@router.get("/healthz", response_model=HealthBody, responses={**documented(), 503: STOPPED})
async def health(bridge: TheBridge) -> Any:
    """Whether the worker that answers is alive, and how many workers run."""
    well = bridge.is_alive
    body = {
        "status": "ok" if well else "stopped",
        "version": __version__,
        "store": bridge.store.library,
        "workers": bridge.metrics.total(WORKERS),
    }
    return JSONResponse(body, 200 if well else 503)


@router.get("/readyz", response_model=ReadinessBody, responses={**documented(), 503: UNREADY})
async def readiness(request: Request) -> Any:
    """Whether the worker that answers can commit and has read the journal; 503 if not.

    `broken` has the problems that it cannot serve; all others it can. What is `interpreted` runs
    so until it is compiled, with the same results, only slower.
    """
    examined: Readiness = request.app.state.readiness
    report = await examined.report()
    body = readiness_view(report, queue.interpreted())
    return JSONResponse(body, 503 if report.reasons else 200)


@router.post("/v1/verify", response_model=VerificationBody, responses=documented())
async def verify(bridge: TheBridge, who: Caller) -> Any:
    """Fold the whole journal again, and compare it with the states in use."""
    who.needs_all()

    def live(store: Any, replicas: Any) -> Any:
        return fingerprints(replicas), store.end() if store.one_owner else replicas.position

    states, end = await bridge.run_on_thread(live)
    found = await bridge.read_at_length(lambda store: verified(store, states, end))
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
    text = bridge.metrics.text(JournalCollector(await journal_numbers(bridge)))
    return Response(text, media_type=CONTENT_TYPE_LATEST)
