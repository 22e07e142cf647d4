"""Every error as application/problem+json, in one sentence and without what was sent."""

from collections.abc import Sequence
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException

from belated.service.core.errors import (
    Conflict,
    Expired,
    Forbidden,
    Invalid,
    Refusal,
    TooLarge,
    TooMany,
    Unauthorized,
    Unavailable,
    Unknown,
)

PROBLEM = "application/problem+json"
NOT_JSON = "the body is not JSON"
ALWAYS: tuple[type[Refusal], ...] = (Unauthorized, Forbidden, TooLarge, TooMany, Unavailable)
SENTENCES: dict[type[Refusal], str] = {
    Unauthorized: "a key is needed, as Authorization: Bearer KEY",
    Forbidden: "the key does not allow to admin 'ads'",
    Unknown: "there is no problem 'ads'",
    Conflict: "problem 'ads' is paused; it hands out no decisions",
    Expired: "ticket '06fq3k1zv8n9c5d2h7b4m0t6wx' has expired and counts as told",
    TooLarge: "the body is larger than 1000000 bytes",
    Invalid: "loss is 1.5; it must be in [0, 1]",
    TooMany: "more than 5000 requests a second",
    Unavailable: "the store cannot be used now: disk full; nothing was acknowledged, send it again",
}


def details(refusal: Refusal) -> dict[str, Any]:
    """A refusal as an object."""
    return {
        "type": f"urn:belated:{refusal.kind}",
        "title": refusal.title,
        "status": refusal.status,
        "detail": str(refusal),
        **refusal.more,
    }


def answer_of(refusal: Refusal, request_id: str | None) -> JSONResponse:
    """A refusal as an answer."""
    headers = {"WWW-Authenticate": "Bearer"} if isinstance(refusal, Unauthorized) else {}
    if isinstance(refusal, TooMany | Unavailable):
        headers["Retry-After"] = "1"
    body = {**details(refusal), "request_id": request_id}
    return JSONResponse(body, refusal.status, headers, media_type=PROBLEM)


def documented(*refusals: type[Refusal]) -> dict[int | str, dict[str, Any]]:
    """What the OpenAPI document says of the errors of a route."""
    schema = {"$ref": "#/components/schemas/ProblemDetails"}
    return {
        each.status: {
            "description": each.title,
            "content": {PROBLEM: {"schema": schema, "example": shown(each)}},
        }
        for each in sorted((*refusals, *ALWAYS), key=lambda each: each.status)
    }


def shown(refusal: type[Refusal]) -> dict[str, Any]:
    """A refusal of this kind, as an example."""
    return {**details(refusal(SENTENCES[refusal])), "request_id": "5f0c2f6b1d0e4a77"}


BY_NAME = documented(Unknown, Invalid)
CHANGING = documented(Unknown, Conflict, Invalid)
TELLING = documented(Unknown, Conflict, Expired, Invalid)


def handle_errors(app: FastAPI) -> None:
    """Answer all errors of an app in this way."""

    @app.exception_handler(Refusal)
    async def refused(request: Request, refusal: Refusal) -> JSONResponse:
        return answer_of(refusal, id_of(request))

    @app.exception_handler(RequestValidationError)
    async def invalid(request: Request, error: RequestValidationError) -> JSONResponse:
        return answer_of(Invalid(sentence(error.errors())), id_of(request))

    @app.exception_handler(HTTPException)
    async def plain(request: Request, error: HTTPException) -> JSONResponse:
        if error.status_code == 400:  # what the framework says of a body that is not even text
            return answer_of(Invalid(NOT_JSON), id_of(request))
        body = {
            "type": "about:blank",
            "title": str(error.detail),
            "status": error.status_code,
            "detail": f"{request.method} {request.url.path}: {error.detail}",
            "request_id": id_of(request),
        }
        return JSONResponse(body, error.status_code, error.headers, media_type=PROBLEM)

    @app.exception_handler(Exception)
    async def unexpected(request: Request, error: Exception) -> JSONResponse:
        body = {
            "type": "urn:belated:fault",
            "title": "A fault of the service",
            "status": 500,
            "detail": "the service failed; its log has the details under this request id",
            "request_id": id_of(request),
        }
        return JSONResponse(body, 500, media_type=PROBLEM)


def id_of(request: Request) -> str | None:
    """The id of a request."""
    found: str | None = request.scope.get("request_id")
    return found


def sentence(errors: Sequence[Any]) -> str:
    """The first thing that is wrong with a body, in one sentence."""
    first = errors[0]
    if first["type"] == "json_invalid":
        return NOT_JSON
    path = ".".join(str(part) for part in first["loc"] if part not in ("body", "header"))
    more = f" ({len(errors) - 1} more)" if len(errors) > 1 else ""
    return f"{path or 'the body'} is not valid: {first['msg']}{more}"
