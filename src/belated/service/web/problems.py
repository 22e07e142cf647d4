"""The routes of problems: create, show, pause, resume, archive, delete, change arms and terms."""

import asyncio
import time
from collections.abc import Iterator
from typing import Any

from fastapi import APIRouter, Query, Request
from fastapi.responses import JSONResponse, StreamingResponse

from belated.service.admin import change_arms as arm_changes
from belated.service.admin import change_terms as term_changes
from belated.service.admin import forget as forgetting
from belated.service.admin.delete import delete_served
from belated.service.admin.export import ExportRow, retained_of, rows_of
from belated.service.admin.offline import named
from belated.service.admin.uplift import uplift_of
from belated.service.core.errors import InvalidRequestError
from belated.service.core.problems import checked_spec
from belated.service.core.requests import CreateProblem, SetStatus
from belated.service.core.status import ARCHIVED
from belated.service.core.texts import PROBLEM_NAME
from belated.service.upkeep import sealing
from belated.service.upkeep.retention import rest_as_long
from belated.service.upkeep.sealing import Seal
from belated.service.web.auth import Principal
from belated.service.web.bridge import Bridge
from belated.service.web.dependencies import Caller, TheBridge, known_name, known_ticket
from belated.service.web.error_responses import BY_NAME, CHANGING
from belated.service.web.json_response import ENCODER, FastJSONResponse
from belated.service.web.metrics import REPEATED
from belated.service.web.models import (
    ArmsBody,
    ChangeArmsBody,
    DeletedBody,
    ForgetBody,
    ForgottenBody,
    NewProblemBody,
    ProblemBody,
    ProblemListBody,
    StatusBody,
    TermsBody,
)
from belated.service.web.monitoring_models import InRange, LogBody, ProblemStatsBody, UpliftBody
from belated.service.web.views import (
    RangeParts,
    add_waiting,
    problem_view,
    range_parts,
    stats_view,
)

router = APIRouter(prefix="/v1/problems", tags=["problems"])

JSON = "application/json"
LOG_PAGE = 500  # rows of a log that are encoded at once


@router.post("", status_code=201, response_model=ProblemBody, responses=CHANGING)
async def create(body: NewProblemBody, bridge: TheBridge, who: Caller) -> Any:
    """Create a problem."""
    try:
        name = PROBLEM_NAME.checked(body.name)
        who.needs("admin", name)
        given = body.model_dump(exclude={"name"}, exclude_none=True)
        spec = checked_spec(given)
    except ValueError as error:
        raise InvalidRequestError(str(error)) from None
    await bridge.do(CreateProblem(name, spec))
    view = await bridge.run_on_thread(lambda store, replicas: problem_view(replicas.named(name)))
    return JSONResponse(view, 201)


@router.get("", response_model=ProblemListBody, responses=BY_NAME)
async def list_problems(
    bridge: TheBridge,
    who: Caller,
    archived: bool = Query(False, description="Include archived problems."),
) -> Any:
    """All problems that the key allows to see, and why some of them cannot be served."""

    def views(store: Any, replicas: Any) -> dict[str, Any]:
        shown = [
            each.problem.name
            for each in replicas.by_name.values()
            if (archived or each.status_in_force != ARCHIVED) and who.may_see(each.problem.name)
        ]
        served = [view for name in shown if (view := replicas.sound(name, problem_view))]
        broken = [
            {"name": name, "reason": reason}
            for name, reason in sorted(replicas.broken.items())
            if who.may_see(name)
        ]
        return {"problems": served, "broken": broken, "scopes": who.listed()}

    return JSONResponse(await bridge.run_on_thread(views))


@router.get("/{name}", response_model=ProblemBody, responses=BY_NAME)
async def show(name: str, bridge: TheBridge, who: Caller) -> Any:
    """A problem: its specification, status, round, open tickets and weights."""
    who.needs_sight(known_name(name))
    return JSONResponse(
        await bridge.run_on_thread(lambda store, replicas: problem_view(replicas.named(name)))
    )


@router.patch("/{name}", response_model=ProblemBody, responses=CHANGING)
async def change_terms(name: str, body: TermsBody, bridge: TheBridge, who: Caller) -> Any:
    """Change when tickets expire, and with which loss; what is not given stays.

    A new deadline is for decisions to come, a new default loss for plays that expire from now on.
    """
    who.needs("admin", known_name(name))
    wanted = (name, body.model_dump(exclude_unset=True), time.time())

    def changed(store: Any, replicas: Any) -> dict[str, Any]:
        term_changes.change_terms(store, replicas, *wanted)
        return problem_view(replicas.named(name))

    return JSONResponse(await bridge.run_on_thread(changed))


@router.delete("/{name}", response_model=DeletedBody, responses=CHANGING)
async def delete(name: str, request: Request, bridge: TheBridge, who: Caller) -> Any:
    """Delete a problem that is archived, with all its decisions and outcomes, for good.

    Its name is free when all its rows are deleted, which takes a moment.
    """
    who.needs("admin", known_name(name))
    wanted = (name, time.time())
    await bridge.run_on_thread(lambda store, replicas: delete_served(store, replicas, *wanted))
    request.app.state.housekeeping.wake()
    return JSONResponse({"name": name, "status": "deleted"})


@router.post("/{name}/forget", response_model=ForgottenBody, responses=BY_NAME)
async def forget(name: str, body: ForgetBody, bridge: TheBridge, who: Caller) -> Any:
    """Blank the idempotency keys and event ids of decisions, which may be personal.

    Contexts are blanked as well if that is asked for; the problem gets a checkpoint before.
    """
    who.needs("admin", known_name(name))
    ticket = None if body.ticket is None else known_ticket(body.ticket)
    loop = asyncio.get_running_loop()

    def write(seal: Seal) -> bool:
        """Write a checkpoint on the commit thread, which this thread waits for."""
        work = bridge.run_on_thread(lambda store, replicas: sealing.commit(store, replicas, seal))
        return bool(asyncio.run_coroutine_threadsafe(work, loop).result())

    wanted = (name, ticket, body.older_than, time.time(), rest_as_long, body.contexts, write)
    number = await bridge.read_at_length(lambda store: forgetting.forget(store, *wanted))
    return JSONResponse({"name": name, "forgotten": number})


@router.get("/{name}/stats", response_model=ProblemStatsBody, responses=BY_NAME)
async def stats(name: str, bridge: TheBridge, who: Caller, range_: InRange = "all") -> Any:
    """Weights over time, losses and delays by arm, open tickets by age, and the latest events.

    A range selects decisions by their time, for `range` and `weights_over_time`; all else is of all
    time.
    """
    who.needs_sight(known_name(name))

    def now(store: Any, replicas: Any) -> tuple[dict[str, Any], RangeParts]:
        replica = replicas.named(name)
        return stats_view(replica, range_), range_parts(replica, range_)

    view, parts = await bridge.run_on_thread(now)
    await bridge.read(lambda store: add_waiting(view, parts, store))
    view["repeated_reports"] = bridge.metrics.total(f"{REPEATED}_total", problem=name)
    return JSONResponse(view)


@router.get("/{name}/log", response_model=LogBody, responses=BY_NAME)
async def log(name: str, bridge: TheBridge, who: Caller) -> Any:
    """The whole journal, a row for each loss to be told, as `belated export` writes it."""
    who.needs("admin", known_name(name))
    problem = await bridge.read(lambda store: named(store, name))
    rows = await bridge.read_at_length(lambda store: rows_of(store, problem))
    retained = await bridge.read(lambda store: retained_of(store, name))
    about = {"arms": problem.spec["arms"], "retained": retained}
    return StreamingResponse(pages_of_log(about, rows), media_type=JSON)


@router.get("/{name}/uplift", response_model=UpliftBody, responses=BY_NAME)
async def uplift(
    name: str,
    bridge: TheBridge,
    who: Caller,
    within: float | None = Query(
        None, gt=0, le=1e10, description="Seconds after which silence is final, if none expires."
    ),
    by: str | None = Query(
        None, max_length=200, description="A field of the context: the uplift of each segment."
    ),
) -> Any:
    """What the learner has earned more than the control of the holdout, valid at every look.

    It is computed from the whole journal, so ask for it once a minute at most. Segments show what
    is in contexts, which may be personal, so that they need a key with admin.
    """
    who.needs_sight(known_name(name))
    if by is not None:
        who.needs("admin", name)
    problem, now = await bridge.read(lambda store: named(store, name)), time.time()
    return FastJSONResponse(
        await bridge.read_at_length(lambda store: uplift_of(store, problem, now, within, by))
    )


@router.post("/{name}/pause", response_model=StatusBody, responses=CHANGING)
async def pause(name: str, bridge: TheBridge, who: Caller) -> Any:
    """Issue no decisions for now; outcomes still count."""
    return await set_status(bridge, who, name, "paused")


@router.post("/{name}/resume", response_model=StatusBody, responses=CHANGING)
async def resume(name: str, bridge: TheBridge, who: Caller) -> Any:
    """Issue decisions again."""
    return await set_status(bridge, who, name, "resumed")


@router.post("/{name}/archive", response_model=StatusBody, responses=CHANGING)
async def archive(name: str, bridge: TheBridge, who: Caller) -> Any:
    """Issue no decisions any more; outcomes of earlier decisions still count."""
    return await set_status(bridge, who, name, "archived")


@router.post("/{name}/arms", response_model=ArmsBody, responses=CHANGING)
async def change_arms(name: str, body: ChangeArmsBody, bridge: TheBridge, who: Caller) -> Any:
    """Add arms and remove others, if the learner can; an arm already added or removed is no error.

    Outcomes of plays of a removed arm are still accepted, but nothing is learned from them.
    """
    who.needs("admin", known_name(name))
    wanted = (name, body.add, body.remove, time.time())
    arms = await bridge.run_on_thread(
        lambda store, replicas: arm_changes.change_arms(store, replicas, *wanted)
    )
    return JSONResponse({"name": name, "arms": list(arms)})


async def set_status(bridge: Bridge, who: Principal, name: str, kind: str) -> JSONResponse:
    """Pause, resume or archive a problem, if the caller may."""
    who.needs("admin", known_name(name))
    status = await bridge.do(SetStatus(name, kind))
    return JSONResponse({"name": name, "status": status})


def pages_of_log(about: dict[str, Any], rows: list[ExportRow]) -> Iterator[str]:
    """A log as JSON in pages: to encode all at once would hold up all other requests."""
    head = ENCODER.encode({**about, "columns": ExportRow._fields, "rows": []})
    yield head.removesuffix("]}")
    for first in range(0, len(rows), LOG_PAGE):
        text = ENCODER.encode(rows[first : first + LOG_PAGE])
        yield ("," if first else "") + text[1:-1]
    yield "]}"
