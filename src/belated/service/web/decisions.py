"""The routes of decisions: ask, tell, cancel."""

import functools
import hashlib
from typing import Any

from fastapi import APIRouter, Request

from belated.service.core.errors import Invalid, Refusal, Unknown
from belated.service.core.reports import state_of
from belated.service.core.requests import Allowed, Ask, Cancel, Report, Tell, Verdict
from belated.service.store import Decision
from belated.service.web import models
from belated.service.web.dependencies import (
    TheFront,
    Whoever,
    front_in,
    known_name,
    known_ticket,
    principal_of,
)
from belated.service.web.error_responses import BY_NAME, CHANGING, TELLING, details
from belated.service.web.json_response import Answer
from belated.service.web.models import (
    AskMany,
    Decided,
    DecidedMany,
    TicketView,
    Told,
    ToldMany,
    VerdictMany,
)
from belated.service.web.request_bodies import no_body, path_parameter, read, taking

router = APIRouter(prefix="/v1", tags=["decisions"])

MOST_LETTERS = 200  # in a key
TICKET_PATH = path_parameter("ticket")
NAME_PATH = path_parameter("name")
KEY = {
    "name": "Idempotency-Key",
    "in": "header",
    "required": False,
    "schema": {"type": "string", "pattern": "^[!-~]+$", "minLength": 1, "maxLength": MOST_LETTERS},
    "description": "The same key with the same body gets the same answer again.",
}

# These routes are asked very often, so they do by hand what the framework would do at length: its
# part of a request would cost more than all the rest. `taking` tells the document about it.


@router.post(
    "/problems/{name}/ask",
    response_model=Decided,
    responses=CHANGING,
    openapi_extra=taking(None, NAME_PATH, KEY),
)
async def ask(request: Request) -> Any:
    """One decision."""
    await no_body(request)
    name, key = known_name(request.path_params["name"]), key_of(request)
    made = await handed_out(request, Ask(name, 1, key, digest_of("ask")))
    return Answer(shown(made[0]))


@router.post(
    "/problems/{name}/ask:batch",
    response_model=DecidedMany,
    responses=CHANGING,
    openapi_extra=taking(AskMany, NAME_PATH, KEY),
)
async def ask_many(request: Request) -> Any:
    """Several decisions at once."""
    name, key = known_name(request.path_params["name"]), key_of(request)
    number = (await read(request, AskMany)).count
    made = await handed_out(request, Ask(name, number, key, digest_of(f"ask:batch {number}")))
    return Answer({"decisions": [shown(each) for each in made]})


@router.post(
    "/tickets/{ticket}/tell",
    response_model=models.Verdict,
    responses=TELLING,
    openapi_extra=taking(Told, TICKET_PATH),
)
async def tell(request: Request) -> Any:
    """What came of a decision; telling the same again changes nothing."""
    ticket = known_ticket(request.path_params["ticket"])
    body = await read(request, Told)
    report = Report(ticket, body.loss, body.reward, body.missing, body.arm)
    (result,) = await told(request, [report])
    if isinstance(result, Refusal):
        raise result
    return Answer(result._asdict())


@router.post(
    "/tell:batch", response_model=VerdictMany, responses=BY_NAME, openapi_extra=taking(ToldMany)
)
async def tell_many(request: Request) -> Any:
    """What came of several decisions; each report is answered by itself."""
    reports = [
        Report(each.ticket, each.loss, each.reward, each.missing, each.arm)
        for each in (await read(request, ToldMany)).reports
    ]
    results = await told(request, reports)
    return Answer(
        {
            "results": [
                {**details(result), "ticket": report.ticket}
                if isinstance(result, Refusal)
                else result._asdict()
                for report, result in zip(reports, results, strict=True)
            ]
        }
    )


@router.post(
    "/tickets/{ticket}/cancel",
    response_model=models.Verdict,
    responses=TELLING,
    openapi_extra=taking(None, TICKET_PATH),
)
async def cancel(request: Request) -> Any:
    """The decision was not used; nothing will be told of it."""
    await no_body(request)
    ticket, who = known_ticket(request.path_params["ticket"]), principal_of(request)
    front = front_in(request)
    allowed: Allowed = functools.partial(who.may, "tell")
    verdict: Verdict = await front.do(Cancel(ticket, allowed))
    front.metrics.outcomes.labels("cancelled" if verdict.counted else "duplicate").inc()
    return Answer(verdict._asdict())


@router.get("/tickets/{ticket}", response_model=TicketView, responses=BY_NAME)
async def show_ticket(ticket: str, front: TheFront, who: Whoever) -> Any:
    """What was decided, and what came of it."""
    name = known_ticket(ticket)
    record = await front.read(lambda store: store.ticket(name))
    if record is None or not who.may_see(record.decision.problem):
        raise Unknown(f"there is no ticket {ticket!r}")
    decision = record.decision
    return Answer(
        {
            "ticket": ticket,
            "problem": decision.problem,
            "round": decision.round,
            "arm": decision.arm,
            "probability": decision.probability,
            "weights": decision.weights,
            "at": decision.at,
            "state": state_of(record),
            "outcomes": [
                {"arm": each.arm, "kind": each.kind, "loss": each.loss, "at": each.at}
                for each in record.outcomes
            ],
        }
    )


async def handed_out(request: Request, ask: Ask) -> list[Decision]:
    """The decisions that were asked for."""
    principal_of(request).needs("ask", ask.problem)
    front = front_in(request)
    made: list[Decision] = await front.do(ask)
    front.metrics.decisions.inc(len(made))
    return made


async def told(request: Request, reports: list[Report]) -> list[Verdict | Refusal]:
    """What became of reports."""
    front, who = front_in(request), principal_of(request)
    tell = Tell(reports, functools.partial(who.may, "tell"))
    results: list[Verdict | Refusal] = await front.do(tell)
    for result in results:
        became = "counted"
        if isinstance(result, Refusal):
            became = result.kind
        elif not result.counted:
            became = "duplicate"
        front.metrics.outcomes.labels(became).inc()
    return results


def key_of(request: Request) -> str | None:
    """The idempotency key of a request."""
    given: bytes | None = request.scope["by_name"].get(b"idempotency-key")
    if given is None:
        return None
    key = given.decode("latin-1")
    plain = key.isascii() and key.isprintable() and " " not in key
    if not plain or not 1 <= len(key) <= MOST_LETTERS:
        raise Invalid(
            f"Idempotency-Key is {key!r}; it must be 1 to {MOST_LETTERS} printable ASCII letters"
        )
    return key


def shown(decision: Decision) -> dict[str, Any]:
    """A decision as it is handed out."""
    found: dict[str, Any] = {"ticket": decision.ticket, "round": decision.round}
    if decision.arm is None:
        return {**found, "weights": decision.weights}
    return {**found, "arm": decision.arm, "probability": decision.probability}


@functools.lru_cache
def digest_of(request: str) -> str:
    """Stands for what was requested, beside the problem."""
    return hashlib.sha256(request.encode()).hexdigest()[:16]
