"""Rank and Reward: the routes of Azure Personalizer, for users who have to leave it.

A Rank is an ask and a Reward a tell. The event id is the idempotency key of the decision, so that
the store finds its ticket again. The features of the context and of the actions are used if the
problem's learner takes them; what is ignored is in a header of the answer.
"""

import json
import time
import uuid
from collections.abc import Awaitable, Callable, Sequence
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Path, Request, Response
from fastapi.responses import JSONResponse
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, WithJsonSchema

from belated.service.admin.change_arms import change_arms
from belated.service.contexts import canonical, circumstances
from belated.service.core.arms import check_may_leave_out
from belated.service.core.batch import keys_of
from belated.service.core.errors import (
    InvalidRequestError,
    NotFoundError,
    RequestError,
    StateConflictError,
)
from belated.service.core.problems import ServedProblem, with_arms
from belated.service.core.replicas import Replicas
from belated.service.core.requests import Ask, TicketReport
from belated.service.core.texts import EVENT_ID
from belated.service.store import Decision, Store
from belated.service.web.auth import Principal
from belated.service.web.bridge import Bridge
from belated.service.web.decisions import decided, short_hash, told
from belated.service.web.dependencies import Caller, TheBridge, bridge_of, known_name
from belated.service.web.error_responses import CHANGING, TELLING
from belated.service.web.models import ArmName, Number

router = APIRouter()

SHOWN = "/personalizer/v1.0"  # the prefix that the OpenAPI document shows
MOST_ACTIONS = 10_000
IGNORED = "X-Belated-Ignored"  # the header that says what of a request was not used
EventId = Annotated[str, AfterValidator(EVENT_ID.checked), WithJsonSchema(EVENT_ID.schema)]
Event = Annotated[EventId, Path(alias="eventId")]


class Action(BaseModel):
    """An arm; its features are ignored if each arm has a model of its own."""

    id: ArmName
    features: list[dict[str, Any]] | dict[str, Any] | None = None


class RankRequest(BaseModel):
    """Arms of the problem, in the order in which they are to be shown.

    Arms that are excluded or not sent are not drawn, if the problem's learner allows that.
    """

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
    contextFeatures: list[dict[str, Any]] | dict[str, Any] | None = Field(
        None,
        description="One context: of a name that is there twice the last value counts. Ignored if "
        "the problem's learner takes no context.",
    )
    excludedActions: list[ArmName] | None = Field(
        None, max_length=MOST_ACTIONS, description="Actions that are not to be drawn."
    )
    eventId: EventId | None = None
    deferActivation: bool | None = Field(
        None, description="Only where plays do not expire: what is never activated never counts."
    )


class Ranked(BaseModel):
    """An action with its probability; 0 if it was excluded."""

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
                        {"id": "red", "probability": 0.42},
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
    """The name of the problem in the path."""
    return known_name(name)


async def scoped(who: Caller) -> str:
    """The name of the only problem that the key is for."""
    names = {problem for _, problem in who.scopes}
    if len(names) != 1 or "*" in names:
        raise InvalidRequestError(
            "no problem is named, and the key is not for exactly one; use a key for one problem, "
            "or /v1/problems/NAME as the base of the address"
        )
    return names.pop()


def routes(base: str, problem: Callable[..., Awaitable[str]]) -> APIRouter:
    """The routes below a base path; `problem` is the dependency that names the problem."""
    found = APIRouter(prefix=base, tags=["rank and reward"])

    @found.post("/rank", status_code=201, response_model=RankResponse, responses=CHANGING)
    async def rank(
        request: Request, body: RankRequest, who: Caller, name: str = Depends(problem)
    ) -> Any:
        """One decision as a ranking; the same eventId and actions get the same ranking again."""
        return await ranked(request, who, name, body)

    @found.post("/events/{eventId}/reward", status_code=204, responses=TELLING)
    async def reward(
        request: Request,
        event: Event,
        body: RewardRequest,
        bridge: TheBridge,
        who: Caller,
        name: str = Depends(problem),
    ) -> Response:
        """The reward of an event; the first one stands."""
        decision = await decision_of(bridge, who, name, event)
        (result,) = await told(request, [TicketReport(decision.ticket, reward=body.value)])
        if isinstance(result, RequestError):
            raise result
        return Response(status_code=204)

    @found.post("/events/{eventId}/activate", status_code=204, responses=TELLING)
    async def activate(
        event: Event, bridge: TheBridge, who: Caller, name: str = Depends(problem)
    ) -> Response:
        """The event was used, which is assumed anyway: nothing changes."""
        await decision_of(bridge, who, name, event)
        return Response(status_code=204)

    for path in ("/rank", "/events/{eventId}/reward", "/events/{eventId}/activate"):
        found.add_api_route(
            f"/multislot{path}", refuse_slots, methods=["POST"], include_in_schema=False
        )
    return found


async def refuse_slots() -> None:
    """Refuse several slots: the actions of one would have to depend on those of another."""
    raise InvalidRequestError(
        "multi-slot requests are not served; send one Rank for each slot, with the actions of the "
        "other slots in excludedActions"
    )


for version in (SHOWN, "", "/personalizer", "/personalizer/v1.1-preview.3"):
    for part in (routes(version, scoped), routes(f"/v1/problems/{{name}}{version}", named)):
        router.include_router(part, include_in_schema=version == SHOWN)


async def ranked(request: Request, who: Principal, name: str, body: RankRequest) -> JSONResponse:
    """The ranking of an event; an error if the problem cannot rank these actions."""
    who.needs("ask", name)
    bridge = await bridge_of(request)
    problem: ServedProblem = await bridge.run_on_thread(
        lambda store, replicas: replicas.named(name).problem
    )
    actions = [action.id for action in body.actions]
    event = body.eventId or uuid.uuid4().hex
    new = [each for each in dict.fromkeys(actions) if each not in problem.places]
    if new and problem.takes_actions and who.may("admin", name):
        wanted = with_arms(problem, (*problem.arms, *new))
        check_rankable(wanted, actions, body)
        check_given(wanted, ask_of(wanted, event, body))
        problem = await with_added(bridge, name, new)
    try:
        check_rankable(problem, actions, body)
    except InvalidRequestError:  # the arms may have changed; an earlier decision stands
        if body.eventId is None or await found_decision(bridge, name, event) is None:
            raise
    (decision,) = await decided(request, ask_of(problem, event, body))
    if decision.arm not in actions:
        raise StateConflictError(
            f"the arms of {name!r} were changed just now; send those it has, with another eventId"
        )
    first = {"id": decision.arm, "probability": decision.probability}
    shares = decision.weights  # decisions of before they were kept have none
    others = [
        {"id": each, "probability": None if shares is None else shares.get(each, 0.0)}
        for each in actions
        if each != decision.arm
    ]
    found = {"ranking": [first, *others], "eventId": event, "rewardActionId": decision.arm}
    headers = {"X-Belated-Ticket": decision.ticket}
    if ignored := ignored_of(problem, body):
        headers[IGNORED] = ", ".join(ignored)
    return JSONResponse(found, 201, headers)


def check_given(problem: ServedProblem, ask: Ask) -> None:
    """Refuse a context or features that the learner of a problem cannot take."""
    try:
        circumstances(problem.learner, problem.arms, ask.contexts[0], ask.among, ask.actions)
    except ValueError as error:
        raise InvalidRequestError(str(error)) from None


async def with_added(bridge: Bridge, name: str, actions: list[str]) -> ServedProblem:
    """Make arms of new actions, whose learner knows them by their features; the problem then."""

    def add(store: Store, replicas: Replicas) -> ServedProblem:
        change_arms(store, replicas, name, actions, [], time.time())
        return replicas.named(name).problem

    problem: ServedProblem = await bridge.run_on_thread(add)
    return problem


def ignored_of(problem: ServedProblem, body: RankRequest) -> list[str]:
    """What was sent that the problem's learner does not take."""
    found = []
    if body.contextFeatures and not problem.takes_context:
        found.append("contextFeatures")
    if any(action.features for action in body.actions) and not problem.takes_actions:
        found.append("features")
    return found


def merged(features: list[dict[str, Any]] | dict[str, Any] | None) -> dict[str, Any]:
    """Features that were sent in parts, merged from left to right."""
    found: dict[str, Any] = {}
    for each in [features] if isinstance(features, dict) else features or ():
        found |= each
    return found


def text_of(features: dict[str, Any]) -> str:
    """Features as the journal keeps them; the framework's JSON also has what is no text."""
    try:
        json.dumps(features, ensure_ascii=False).encode()
        return canonical(features)
    except (UnicodeEncodeError, RecursionError):
        raise InvalidRequestError(
            "features have a text that is not Unicode, or are nested too deep; send plain values"
        ) from None


def drawable(problem: ServedProblem, body: RankRequest) -> frozenset[str] | None:
    """The actions that may be drawn; None if these are all arms of the problem."""
    allowed = {action.id for action in body.actions} - set(body.excludedActions or ())
    return None if allowed >= set(problem.arms) else frozenset(allowed)


def check_rankable(problem: ServedProblem, actions: Sequence[str], body: RankRequest) -> None:
    """Refuse actions that a problem cannot rank."""
    name, known = problem.name, set(problem.arms)
    if not problem.is_bandit:
        raise InvalidRequestError(f"problem {name!r} weighs experts; only a bandit can rank")
    unknown = [each for each in actions if each not in known]
    if unknown:
        raise InvalidRequestError(
            f"action {unknown[0]!r} is no arm of {name!r}; its actions are its arms"
        )
    if len(set(actions)) < len(actions):
        raise InvalidRequestError("an action is sent twice; each arm must be sent once")
    strange = [each for each in body.excludedActions or () if each not in actions]
    if strange:
        raise InvalidRequestError(f"action {strange[0]!r} is excluded, but it is not sent")
    allowed = drawable(problem, body)
    if allowed is not None:
        check_may_leave_out(problem)
        if not allowed:
            raise InvalidRequestError("all actions are excluded; at least one must be drawn")
    if body.deferActivation and problem.expires:
        raise InvalidRequestError(
            f"deferActivation is true, but plays of {name!r} expire: an event that is never "
            "activated would count with the default loss; use a problem that does not expire"
        )


def ask_of(problem: ServedProblem, event: str, body: RankRequest) -> Ask:
    """The ask of an event; the same actions, sent and excluded, and context: the same decision."""
    asked: Any = sorted(action.id for action in body.actions)
    contexts: list[str | None] = []
    actions = None
    if problem.takes_context:
        contexts.append(text_of(merged(body.contextFeatures)))
    if problem.takes_actions:
        actions = text_of({action.id: merged(action.features) for action in body.actions})
    if body.excludedActions or contexts:
        known = contexts if actions is None else [*contexts, actions]
        asked = [asked, sorted(body.excludedActions or ()), *known]
    key, among = key_of_event(event), drawable(problem, body)
    digest = short_hash(json.dumps(asked))
    return Ask(problem.name, 1, key, digest, among, contexts, True, actions)


def key_of_event(event: str) -> str:
    """The key of an event's decision; it has a space, so it is no client's Idempotency-Key."""
    return f"event {event}"


async def decision_of(bridge: Bridge, who: Principal, problem: str, event: str) -> Decision:
    """The decision of an event, if the caller may tell of it; NotFoundError if there is none."""
    who.needs("tell", problem)
    decision = await found_decision(bridge, problem, event)
    if decision is None:
        raise NotFoundError(f"there is no event {event!r} of {problem!r}")
    return decision


async def found_decision(bridge: Bridge, problem: str, event: str) -> Decision | None:
    """The decision of an event, or None."""
    (key,) = keys_of(Ask(problem, 1, key_of_event(event)))
    assert key is not None
    made = await bridge.read(lambda store: store.decided_under({(problem, key)}))
    decision: Decision | None = made.get((problem, key))
    return decision
