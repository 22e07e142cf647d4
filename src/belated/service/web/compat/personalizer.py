"""Rank and Reward: the routes of Azure Personalizer, for those who have to leave it.

A Rank is an ask and a Reward a tell. The event id is the key under which the decision is made, so
that the store finds its ticket again. Features are read by nobody: the learners know no context.
"""

import hashlib
import json
import uuid
from collections.abc import Awaitable, Callable, Sequence
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Path, Request, Response
from fastapi.responses import JSONResponse
from pydantic import BaseModel, ConfigDict, Field

from belated.service.core.batch import keys_of
from belated.service.core.errors import Conflict, Invalid, Refusal, Unknown
from belated.service.core.problems import Served
from belated.service.core.requests import Ask, Report
from belated.service.store import Decision
from belated.service.web.auth import Principal
from belated.service.web.bridge import Front
from belated.service.web.decisions import handed_out, told
from belated.service.web.dependencies import TheFront, Whoever, front_in, known_name
from belated.service.web.error_responses import CHANGING, TELLING
from belated.service.web.models import Number

router = APIRouter()

EVENT = r"^[!-.0-~]{1,200}$"  # no slash: it stands in a path
SHOWN = "/personalizer/v1.0"  # the others mean the same
MOST_ACTIONS = 10_000
Event = Annotated[str, Path(alias="eventId", pattern=EVENT)]


class Action(BaseModel):
    """An arm; what is said of its features is not looked at."""

    id: str = Field(max_length=200)
    features: Any = None


class RankRequest(BaseModel):
    """The arms of the problem, all of them, in the order in which they are to be shown."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "eventId": "visit-17",
                    "contextFeatures": [{"hour": 9}],
                    "actions": [{"id": "red", "features": [{"warm": 1}]}, {"id": "green"}],
                }
            ]
        }
    )

    actions: list[Action] = Field(min_length=1, max_length=MOST_ACTIONS)
    contextFeatures: Any = Field(None, description="Not looked at.")
    excludedActions: list[str] | None = Field(None, description="Must be empty.")
    eventId: Annotated[str, Field(pattern=EVENT)] | None = None
    deferActivation: bool | None = Field(
        None, description="Only where plays do not expire: what is never activated never counts."
    )


class Ranked(BaseModel):
    """An action; the probability of the one that was drawn, null for the others."""

    id: str
    probability: float | None


class RankResponse(BaseModel):
    """The action that was drawn first, then the others in the order that was sent."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "ranking": [
                        {"id": "green", "probability": 0.58},
                        {"id": "red", "probability": None},
                    ],
                    "eventId": "visit-17",
                    "rewardActionId": "green",
                }
            ]
        }
    )

    ranking: list[Ranked]
    eventId: str
    rewardActionId: str


class RewardRequest(BaseModel):
    """A reward in the problem's loss_range."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"value": 1.0}]})

    value: Number


async def named(name: str) -> str:
    """The problem in the path."""
    return known_name(name)


async def scoped(who: Whoever) -> str:
    """The only problem that the key is for."""
    names = {problem for _, problem in who.scopes}
    if len(names) != 1 or "*" in names:
        raise Invalid(
            "no problem is named, and the key is not for exactly one; use a key for one problem, "
            "or /v1/problems/NAME as the base of the address"
        )
    return names.pop()


def routes(base: str, problem: Callable[..., Awaitable[str]]) -> APIRouter:
    """The routes below a base; `problem` finds out which one is meant."""
    found = APIRouter(prefix=base, tags=["rank and reward"])

    @found.post("/rank", status_code=201, response_model=RankResponse, responses=CHANGING)
    async def rank(
        request: Request, body: RankRequest, who: Whoever, name: str = Depends(problem)
    ) -> Any:
        """One decision, as a ranking; the same eventId with the same actions gets the same."""
        return await ranked(request, who, name, body)

    @found.post("/events/{eventId}/reward", status_code=204, responses=TELLING)
    async def reward(
        request: Request,
        event: Event,
        body: RewardRequest,
        front: TheFront,
        who: Whoever,
        name: str = Depends(problem),
    ) -> Response:
        """What came of an event; the first reward stands."""
        decision = await decision_of(front, who, name, event)
        (result,) = await told(request, [Report(decision.ticket, reward=body.value)])
        if isinstance(result, Refusal):
            raise result
        return Response(status_code=204)

    @found.post("/events/{eventId}/activate", status_code=204, responses=TELLING)
    async def activate(
        event: Event, front: TheFront, who: Whoever, name: str = Depends(problem)
    ) -> Response:
        """The event was used, which is taken for granted here: nothing changes."""
        await decision_of(front, who, name, event)
        return Response(status_code=204)

    return found


for version in (SHOWN, "", "/personalizer", "/personalizer/v1.1-preview.3"):
    for part in (routes(version, scoped), routes(f"/v1/problems/{{name}}{version}", named)):
        router.include_router(part, include_in_schema=version == SHOWN)


async def ranked(request: Request, who: Principal, name: str, body: RankRequest) -> JSONResponse:
    """The decision that an event gets, if the problem can make it."""
    who.needs("ask", name)
    problem: Served = await front_in(request).look(
        lambda store, replicas: replicas.named(name).problem
    )
    actions = [action.id for action in body.actions]
    event = body.eventId or uuid.uuid4().hex
    try:
        check_rankable(problem, actions, body)
    except Invalid:  # the arms may be others by now; what was decided stands
        if body.eventId is None or await decided(front_in(request), name, event) is None:
            raise
    (decision,) = await handed_out(request, asked(name, event, actions))
    if decision.arm not in actions:
        raise Conflict(
            f"the arms of {name!r} were changed just now; send those it has, with another eventId"
        )
    first = {"id": decision.arm, "probability": decision.probability}
    others = [{"id": each, "probability": None} for each in actions if each != decision.arm]
    found = {"ranking": [first, *others], "eventId": event, "rewardActionId": decision.arm}
    return JSONResponse(found, 201, {"X-Belated-Ticket": decision.ticket})


def check_rankable(problem: Served, actions: Sequence[str], body: RankRequest) -> None:
    """Refuse what the learner of a problem cannot do."""
    name, known = problem.name, set(problem.arms)
    if not problem.is_bandit:
        raise Invalid(f"problem {name!r} weighs experts; only a bandit can rank")
    unknown = [each for each in actions if each not in known]
    if unknown:
        raise Invalid(f"action {unknown[0]!r} is no arm of {name!r}; its actions are its arms")
    if len(set(actions)) < len(actions):
        raise Invalid("an action is sent twice; each arm must be sent once")
    if len(actions) < len(known) or body.excludedActions:
        raise Invalid(
            f"{'some actions are excluded' if body.excludedActions else 'some arms are not sent'}; "
            f"{name!r} draws from all its {len(known)} arms every time, so send all of them and "
            "exclude none, or create a problem for each choice of actions"
        )
    if body.deferActivation and problem.expires:
        raise Invalid(
            f"deferActivation is true, but plays of {name!r} expire: an event that is never "
            "activated would count with the default loss; use a problem that does not expire"
        )


def asked(problem: str, event: str, actions: Sequence[str]) -> Ask:
    """The ask of an event; no Idempotency-Key has a space, so it cannot be one of those."""
    digest = hashlib.sha256(json.dumps(sorted(actions)).encode()).hexdigest()[:16]
    return Ask(problem, 1, f"event {event}", digest)


async def decision_of(front: Front, who: Principal, problem: str, event: str) -> Decision:
    """The decision that was made for an event."""
    who.needs("tell", problem)
    decision = await decided(front, problem, event)
    if decision is None:
        raise Unknown(f"there is no event {event!r} of {problem!r}")
    return decision


async def decided(front: Front, problem: str, event: str) -> Decision | None:
    """The same, if there is one."""
    (key,) = keys_of(asked(problem, event, ()))
    assert key is not None
    made = await front.read(lambda store: store.decided_under({(problem, key)}))
    decision: Decision | None = made.get((problem, key))
    return decision
