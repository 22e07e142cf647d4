"""The routes of decisions: ask, tell, cancel, and tickets."""

import functools
import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any

from fastapi import APIRouter, Request

from belated.service.contexts import canonical
from belated.service.core.errors import InvalidRequestError, RequestError
from belated.service.core.requests import Ask, Cancel, ReportResult, Tell, TicketReport
from belated.service.core.texts import IDEMPOTENCY_KEY, TICKET
from belated.service.core.texts import shown as text_shown
from belated.service.core.ticket_lookup import unknown_ticket
from belated.service.store import Decision
from belated.service.web.dependencies import (
    Caller,
    TheBridge,
    bridge_of,
    caller_of,
    known_name,
    known_ticket,
    no_ticket,
)
from belated.service.web.error_responses import BY_NAME, CHANGING, OF_TICKET, TELLING, details
from belated.service.web.forgery import has_no_body
from belated.service.web.json_response import FastJSONResponse
from belated.service.web.models import (
    AskBatchBody,
    AskBody,
    DecisionBatchBody,
    DecisionBody,
    ReportBatchBody,
    ReportBody,
    ReportResultBatchBody,
    ReportResultBody,
    TicketBody,
)
from belated.service.web.request_bodies import (
    EMPTY,
    described,
    no_body,
    path_parameter,
    read,
    validated,
)
from belated.service.web.views import ticket_view

router = APIRouter(prefix="/v1", tags=["decisions"])

TICKET_PATH = path_parameter("ticket")
NAME_PATH = path_parameter("name")
KEY = {
    "name": "Idempotency-Key",
    "in": "header",
    "required": False,
    "schema": IDEMPOTENCY_KEY.schema,
    "description": "The same key with the same body gets the same answer again.",
}
ALL = {
    "name": "all",
    "in": "query",
    "required": False,
    "schema": {"type": "boolean", "default": False},
    "description": "Show the probabilities of all arms that could be drawn.",
}

# The POST routes here are fast routes (see `fast_routes`): they read their requests themselves,
# because the framework's part of a request would cost more than everything else. `described` puts
# their bodies and parameters into the OpenAPI document.


@router.post(
    "/problems/{name}/ask",
    response_model=DecisionBody,
    responses=CHANGING,
    openapi_extra=described(AskBody, NAME_PATH, KEY, ALL, required=False),
)
async def ask(request: Request) -> Any:
    """One decision, in a context and among some arms if these are given."""
    headers, shows_all = request.scope["by_name"], wants_all(request)
    body = b"" if has_no_body(headers) else await request.body()
    name = known_name(request.path_params["name"])
    made = await decided(request, single_ask(name, headers, body, shows_all))
    return FastJSONResponse(shown(made[0], shows_all))


@router.post(
    "/problems/{name}/ask:batch",
    response_model=DecisionBatchBody,
    responses=CHANGING,
    openapi_extra=described(AskBatchBody, NAME_PATH, KEY, ALL),
)
async def ask_many(request: Request) -> Any:
    """Several decisions at once: so many, or one for each context."""
    name, key = known_name(request.path_params["name"]), key_in(request.scope["by_name"])
    body, shows_all = await read(request, AskBatchBody), wants_all(request)
    contexts = [text_of(each) for each in body.contexts or ()]
    actions = text_of(body.actions)
    digest = digest_of(f"ask:batch {body.number}", *contexts, arms=body.arms, actions=actions)
    among = among_of(body)
    ask = Ask(name, body.number, key, digest, among, contexts, shows_all, actions)
    made = await decided(request, ask)
    return FastJSONResponse({"decisions": [shown(each, shows_all) for each in made]})


@router.post(
    "/tickets/{ticket}/tell",
    response_model=ReportResultBody,
    responses=TELLING,
    openapi_extra=described(ReportBody, TICKET_PATH),
)
async def tell(request: Request) -> Any:
    """Report the loss or reward of a decision; the same report again changes nothing."""
    ticket = known_ticket(request.path_params["ticket"])
    report = report_on(ticket, await read(request, ReportBody))
    (result,) = await told(request, [report])
    if isinstance(result, RequestError):
        raise result
    return FastJSONResponse(result._asdict())


@router.post(
    "/tell:batch",
    response_model=ReportResultBatchBody,
    responses=BY_NAME,
    openapi_extra=described(ReportBatchBody),
)
async def tell_many(request: Request) -> Any:
    """Several reports at once; each is answered by itself."""
    reports = [
        report_on(each.ticket, each) for each in (await read(request, ReportBatchBody)).reports
    ]
    results = await told(request, reports)
    return FastJSONResponse(
        {
            "results": [
                {**details(result), "ticket": report.ticket}
                if isinstance(result, RequestError)
                else result._asdict()
                for report, result in zip(reports, results, strict=True)
            ]
        }
    )


@router.post(
    "/tickets/{ticket}/cancel",
    response_model=ReportResultBody,
    responses=TELLING,
    openapi_extra=described(None, TICKET_PATH),
)
async def cancel(request: Request) -> Any:
    """Close a ticket whose decision was not used; nothing is learned from it."""
    await no_body(request)
    ticket, who = known_ticket(request.path_params["ticket"]), await caller_of(request)
    bridge = await bridge_of(request)
    result: ReportResult = await bridge.do(Cancel(ticket, functools.partial(who.may, "tell")))
    bridge.metrics.reported("cancelled" if result.counted else "duplicate")
    return FastJSONResponse(result._asdict())


@router.get("/tickets/{ticket}", response_model=TicketBody, responses=OF_TICKET)
async def show_ticket(ticket: str, bridge: TheBridge, who: Caller) -> Any:
    """The decision of a ticket, its outcomes, and what was reported after it had expired."""
    name = known_ticket(ticket)
    may_see, is_admin = who.may_see, functools.partial(who.may, "admin")
    view = await bridge.read(lambda store: ticket_view(store, name, may_see, is_admin))
    if view is None:
        raise unknown_ticket(ticket, await bridge.read(lambda store: store.checkpoints.reached()))
    return FastJSONResponse(view)


async def decided(request: Request, ask: Ask) -> list[Decision]:
    """Have the commit thread make decisions, if the caller may ask for them."""
    (await caller_of(request)).needs("ask", ask.problem)
    bridge = await bridge_of(request)
    made: list[Decision] = await bridge.do(ask)
    bridge.metrics.decisions.inc(len(made))
    if "tracing" in request.scope:
        request.scope["tracing"].decided(made)
    return made


async def told(request: Request, reports: list[TicketReport]) -> list[ReportResult | RequestError]:
    """Have the commit thread take reports; a result or an error for each.

    A ticket that cannot exist is not looked for: a database may refuse the very text.
    """
    bridge, who = await bridge_of(request), await caller_of(request)
    possible = [each for each in reports if TICKET.fits(each.ticket)]
    tell = Tell(possible, functools.partial(who.may, "tell"))
    taken: list[ReportResult | RequestError] = await bridge.do(tell) if possible else []
    if len(possible) < len(reports):
        of_possible = iter(taken)
        taken = [
            next(of_possible) if TICKET.fits(each.ticket) else no_ticket(each.ticket)
            for each in reports
        ]
    if "tracing" in request.scope:
        request.scope["tracing"].told(each.ticket for each in possible)
    for result in taken:
        bridge.metrics.reported(became(result))
    return taken


def became(result: ReportResult | RequestError) -> str:
    """What became of a report, in one word for the metrics."""
    if isinstance(result, RequestError):
        return result.kind
    return "counted" if result.counted else "duplicate"


def single_ask(
    name: str, headers: Mapping[bytes, bytes], body: bytes = b"", keeps_all: bool = False
) -> Ask:
    """The ask for one decision that a request with these headers and this body makes."""
    key = key_in(headers)
    if body.strip() in EMPTY:
        return Ask(name, 1, key, digest_of("ask"), keeps_all=keeps_all)
    said = validated(body, AskBody)
    context = text_of(said.context)
    contexts, actions = () if context is None else (context,), text_of(said.actions)
    digest = digest_of("ask", *contexts, arms=said.arms, actions=actions)
    return Ask(name, 1, key, digest, among_of(said), contexts, keeps_all, actions)


def text_of(context: Any) -> str | None:
    """A context, or the features of arms, as text; None if there are none."""
    return None if context is None else canonical(context)


def among_of(body: AskBody | AskBatchBody) -> frozenset[str] | None:
    """The arms that may be drawn, None if all may: those that are named, and have features."""
    if body.actions is None:
        return None if body.arms is None else frozenset(body.arms)
    named = frozenset(body.actions)
    strange = sorted(arm for arm in body.arms or () if arm not in named)
    if strange:
        raise InvalidRequestError(f"arms names {strange[0]!r}, of which actions has no features")
    return named if body.arms is None else frozenset(body.arms)


def wants_all(request: Request) -> bool:
    """Whether the probabilities of all arms are to be shown."""
    given = request.query_params.get("all", "false") if request.scope["query_string"] else "false"
    if given not in ("true", "false"):
        raise InvalidRequestError(f"all is {text_shown(given)}; it must be true or false")
    return given == "true"


def report_on(ticket: str, body: ReportBody) -> TicketReport:
    """The report that a body makes on a ticket."""
    told = (body.loss, body.reward, body.missing, body.arm)
    return TicketReport(ticket, *told, body.outcome, body.revision)


def key_in(headers: Mapping[bytes, bytes]) -> str | None:
    """The idempotency key of a request; InvalidRequestError if it is not valid."""
    given = headers.get(b"idempotency-key")
    if given is None:
        return None
    try:
        return IDEMPOTENCY_KEY.checked(given.decode("latin-1"))
    except ValueError as error:
        raise InvalidRequestError(str(error)) from None


def shown(decision: Decision, shows_all: bool = False) -> dict[str, Any]:
    """A decision as an object for JSON; with the probabilities of all arms if these are wanted."""
    found: dict[str, Any] = {"ticket": decision.ticket, "round": decision.round}
    if decision.arm is None:
        return {**found, "weights": decision.weights}
    found |= {"arm": decision.arm, "probability": decision.probability}
    if shows_all:
        found["probabilities"] = decision.weights
    return found if decision.cohort is None else {**found, "cohort": decision.cohort}


def digest_of(
    request: str,
    *contexts: str | None,
    arms: Sequence[str] | None = None,
    actions: str | None = None,
) -> str:
    """A short hash that identifies what was requested under an idempotency key."""
    if not contexts and arms is None and actions is None:
        return digest_of_plain(request)
    among = None if arms is None else sorted(arms)
    return short_hash(json.dumps([request, contexts, among, actions]))


def short_hash(text: str) -> str:
    """A hash of a text, short enough to be kept with each decision."""
    return hashlib.sha256(text.encode()).hexdigest()[:16]


digest_of_plain = functools.lru_cache(short_hash)
