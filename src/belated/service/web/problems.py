"""The routes of problems: create, look, pause, resume, archive, change the arms."""

import asyncio
import time
from typing import Any

from fastapi import APIRouter, Query
from fastapi.responses import JSONResponse

from belated.service.admin.change_arms import rearm
from belated.service.admin.export import Row, rows_of
from belated.service.admin.offline import named
from belated.service.core.errors import Invalid
from belated.service.core.problems import Served, checked_name, checked_spec, served
from belated.service.core.replica import Replica
from belated.service.core.requests import Change, Create
from belated.service.core.views import pending_view, problem_view, sight_view
from belated.service.run.metrics import REPEATED
from belated.service.store import Problem
from belated.service.web.auth import Principal
from belated.service.web.bridge import Front
from belated.service.web.dependencies import TheFront, Whoever, known_name
from belated.service.web.error_responses import BY_NAME, CHANGING
from belated.service.web.models import (
    Changed,
    Lineup,
    NewProblem,
    OtherArms,
    ProblemList,
    ProblemView,
)
from belated.service.web.monitoring_models import LogView, SightView

router = APIRouter(prefix="/v1/problems", tags=["problems"])


@router.post("", status_code=201, response_model=ProblemView, responses=CHANGING)
async def create(body: NewProblem, front: TheFront, who: Whoever) -> Any:
    """A new problem."""
    try:
        name = checked_name(body.name)
        who.needs("admin", name)
        given = body.model_dump(exclude={"name"}, exclude_none=True)
        spec = await asyncio.to_thread(tried, given)
    except ValueError as error:
        raise Invalid(str(error)) from None
    await front.do(Create(name, spec))
    view = await front.look(lambda store, replicas: problem_view(replicas.named(name)))
    return JSONResponse(view, 201)


def tried(given: dict[str, Any]) -> dict[str, Any]:
    """A spec, checked; its learner plays a round, so that nobody later waits for a compiler."""
    spec = checked_spec(given)
    rehearse(served(Problem("rehearsal", spec, 0.0)))
    return spec


def rehearse(problem: Served) -> None:
    """Use every verb of a learner once."""
    replica = Replica(problem)
    learner, state = replica.learner, replica.state
    replica.weights()
    for verb in ("observe", "withdraw"):
        rows = learner.commit(state, learner.predict(state), 0 if problem.is_bandit else -1)
        if verb == "observe":
            learner.observe(state, rows[0], 0, 0.5, 0 if problem.tells_missing else -1)
        else:
            learner.withdraw(state, rows[0], 0)


@router.get("", response_model=ProblemList, responses=BY_NAME)
async def list_problems(
    front: TheFront, who: Whoever, archived: bool = Query(False, description="Those, too.")
) -> Any:
    """All problems that the key may see."""

    def views(store: Any, replicas: Any) -> list[dict[str, Any]]:
        return [
            problem_view(each)
            for each in replicas.by_name.values()
            if (archived or each.standing != "archived") and who.may_see(each.problem.name)
        ]

    return JSONResponse({"problems": await front.look(views)})


@router.get("/{name}", response_model=ProblemView, responses=BY_NAME)
async def show(name: str, front: TheFront, who: Whoever) -> Any:
    """A problem as it stands."""
    check_visible(who, known_name(name))
    return JSONResponse(
        await front.look(lambda store, replicas: problem_view(replicas.named(name)))
    )


@router.get("/{name}/sight", response_model=SightView, responses=BY_NAME)
async def sight(name: str, front: TheFront, who: Whoever) -> Any:
    """All there is to see: weights over time, losses and delays by arm, what waits, last events."""
    check_visible(who, known_name(name))
    view: dict[str, Any] = await front.look(
        lambda store, replicas: sight_view(replicas.named(name))
    )
    view["waiting"] = await front.read(lambda store: pending_view(store, name))
    view["repeated_reports"] = front.metrics.total(f"{REPEATED}_total", problem=name)
    return JSONResponse(view)


@router.get("/{name}/log", response_model=LogView, responses=BY_NAME)
async def log(name: str, front: TheFront, who: Whoever) -> Any:
    """The whole journal, a row for each loss to be told, as `belated export` writes it."""
    who.needs("admin", known_name(name))
    problem = await front.read(lambda store: named(store, name))
    rows = await front.read(lambda store: rows_of(store, name))
    return JSONResponse({"arms": problem.spec["arms"], "columns": Row._fields, "rows": rows})


@router.post("/{name}/pause", response_model=Changed, responses=CHANGING)
async def pause(name: str, front: TheFront, who: Whoever) -> Any:
    """Hand out no decisions for now; outcomes still count."""
    return await changed(front, who, name, "paused")


@router.post("/{name}/resume", response_model=Changed, responses=CHANGING)
async def resume(name: str, front: TheFront, who: Whoever) -> Any:
    """Hand out decisions again."""
    return await changed(front, who, name, "resumed")


@router.post("/{name}/archive", response_model=Changed, responses=CHANGING)
async def archive(name: str, front: TheFront, who: Whoever) -> Any:
    """Hand out no decisions any more; outcomes of those that were still count."""
    return await changed(front, who, name, "archived")


@router.post("/{name}/arms", response_model=Lineup, responses=CHANGING)
async def change_arms(name: str, body: OtherArms, front: TheFront, who: Whoever) -> Any:
    """Add arms and remove others, where the learner can: what is so already stays so.

    Outcomes of plays of a removed arm are still taken, and teach nothing any more.
    """
    who.needs("admin", known_name(name))
    problem = await front.look(lambda store, replicas: replicas.named(name).problem)
    await asyncio.to_thread(rehearse_change, problem)
    now = time.time()
    arms = await front.look(
        lambda store, replicas: rearm(store, replicas, name, body.add, body.remove, now)
    )
    return JSONResponse({"name": name, "arms": list(arms)})


def rehearse_change(problem: Served) -> None:
    """Change the arms of a learner that nobody waits for, as it may have to be compiled first."""
    learner = problem.learner
    if learner.can_change_arms:
        learner.with_arms(learner.start(), [0], 1)


async def changed(front: Front, who: Principal, name: str, kind: str) -> JSONResponse:
    """Set the status of a problem."""
    who.needs("admin", known_name(name))
    status = await front.do(Change(name, kind))
    return JSONResponse({"name": name, "status": status})


def check_visible(who: Principal, name: str) -> None:
    """Refuse to show what the key has nothing to do with."""
    if not who.may_see(name):
        who.needs("admin", name)
