"""The routes of whoever watches over the service."""

from typing import Any

from fastapi import APIRouter, Response
from fastapi.responses import JSONResponse
from prometheus_client import CONTENT_TYPE_LATEST

from belated import __version__
from belated.service.admin.verify import fingerprints, verified
from belated.service.core.errors import Forbidden
from belated.service.run.metrics import WORKERS, Standing
from belated.service.web.auth import VERBS
from belated.service.web.dependencies import TheFront, Whoever
from belated.service.web.error_responses import documented
from belated.service.web.monitoring_models import Health, Verified

router = APIRouter(tags=["watching"])

STOPPED: dict[str, Any] = {"model": Health, "description": "It sees to no requests any more"}
NUMBERS = {"text/plain": {"example": "belated_decisions_total 6.0"}}


@router.get("/healthz", response_model=Health, responses={**documented(), 503: STOPPED})
async def health(front: TheFront) -> Any:
    """Whether the worker that answers sees to requests, and how many workers do."""
    well = front.is_well
    body = {
        "status": "ok" if well else "stopped",
        "version": __version__,
        "store": front.store.library,
        "workers": front.metrics.total(WORKERS),
    }
    return JSONResponse(body, 200 if well else 503)


@router.post("/v1/verify", response_model=Verified, responses=documented())
async def verify(front: TheFront, who: Whoever) -> Any:
    """Fold the whole journal again, and compare it with the state in use."""
    who.needs_all()

    def live(store: Any, replicas: Any) -> Any:
        return fingerprints(replicas), store.end() if store.one_owner else replicas.position

    states, end = await front.look(live)
    found = await front.read(lambda store: verified(store, states, end))
    return JSONResponse(
        {
            "clean": all(finding.is_clean for finding in found),
            "problems": [finding.shown() for finding in found],
        }
    )


@router.get(
    "/metrics",
    response_class=Response,
    responses={200: {"description": "Numbers", "content": NUMBERS}, **documented()},
)
async def metrics(front: TheFront, who: Whoever) -> Response:
    """Numbers for Prometheus; for keys that are valid for all problems."""
    if not any(who.may(verb, "*") for verb in VERBS):
        raise Forbidden("the key is not valid for all problems, and the metrics are of all")

    def standing(store: Any, replicas: Any) -> dict[str, Standing]:
        named = replicas.by_name.items()
        return {name: Standing(each.round, len(each.open)) for name, each in named}

    text = front.metrics.text(await front.look(standing))
    return Response(text, media_type=CONTENT_TYPE_LATEST)
