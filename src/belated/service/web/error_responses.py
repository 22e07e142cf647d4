"""Errors as application/problem+json: one sentence, which never repeats the body of the request."""

import re
from collections.abc import Sequence
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException

from belated.service.core.errors import (
    ForbiddenError,
    InvalidRequestError,
    MediaTypeError,
    NotFoundError,
    RateLimitError,
    RequestError,
    StateConflictError,
    TicketExpiredError,
    TicketRetainedError,
    TooLargeError,
    UnauthorizedError,
    UnavailableError,
)

PROBLEM = "application/problem+json"
NOT_JSON = "the body is not JSON"
# On the routes of Personalizer an error is shown in the form that its clients read, too.
OF_PERSONALIZER = re.compile(r"/(rank|events/[^/]+/(reward|activate))/?$")
ALWAYS: tuple[type[RequestError], ...] = (
    UnauthorizedError,
    ForbiddenError,
    TooLargeError,
    MediaTypeError,
    RateLimitError,
    UnavailableError,
)  # by any route
SENTENCES: dict[type[RequestError], str] = {
    UnauthorizedError: "a key is needed, as Authorization: Bearer KEY",
    ForbiddenError: "the key does not allow to admin 'ads'",
    NotFoundError: "there is no problem 'ads'",
    StateConflictError: "problem 'ads' is paused; it issues no decisions",
    TicketExpiredError: "ticket '06fq3k1zv8n9c5d2h7b4m0t6wx' has expired and counts as told",
    TicketRetainedError: "ticket '06fq3k1zv8n9c5d2h7b4m0t6wx' is from 2026-01-31, and of tickets…",
    TooLargeError: "the body is larger than 1000000 bytes",
    MediaTypeError: "Content-Type is 'text/plain'; a body must be sent as application/json",
    InvalidRequestError: "loss is 1.5; it must be in [0, 1]",
    RateLimitError: "more than 5000 requests a second",
    UnavailableError: (
        "the store cannot be used now: disk full; nothing was acknowledged, send it again"
    ),
}


def details(error: RequestError) -> dict[str, Any]:
    """An error as an object for JSON."""
    return {
        "type": f"urn:belated:{error.kind}",
        "title": error.title,
        "status": error.status,
        "detail": str(error),
        **error.more,
    }


def error_response(error: RequestError, request_id: str | None, path: str = "") -> JSONResponse:
    """An error as a response to a request for this path."""
    headers = {"WWW-Authenticate": "Bearer"} if isinstance(error, UnauthorizedError) else {}
    if isinstance(error, RateLimitError | UnavailableError):
        headers["Retry-After"] = str(error.more.get("retry_after", 1))
    body = {**details(error), "request_id": request_id}
    if OF_PERSONALIZER.search(path):
        body["error"] = {"code": error.kind, "message": str(error)}
    return JSONResponse(body, error.status, headers, media_type=PROBLEM)


def documented(*errors: type[RequestError]) -> dict[int | str, dict[str, Any]]:
    """The errors of a route, as the OpenAPI document describes them."""
    schema = {"$ref": "#/components/schemas/ProblemDetails"}
    return {
        each.status: {
            "description": each.title,
            "content": {PROBLEM: {"schema": schema, "example": example_of(each)}},
        }
        for each in sorted((*errors, *ALWAYS), key=lambda each: each.status)
    }


def example_of(kind: type[RequestError]) -> dict[str, Any]:
    """An error of this kind, as an example."""
    return {**details(kind(SENTENCES[kind])), "request_id": "5f0c2f6b1d0e4a77"}


BY_NAME = documented(NotFoundError, InvalidRequestError)
CHANGING = documented(NotFoundError, StateConflictError, InvalidRequestError)
OF_TICKET = documented(NotFoundError, TicketRetainedError, InvalidRequestError)
TELLING = documented(NotFoundError, StateConflictError, TicketExpiredError, InvalidRequestError)


def handle_errors(app: FastAPI) -> None:
    """Register the handlers that answer all errors of an app in this form."""

    @app.exception_handler(RequestError)
    async def refused(request: Request, error: RequestError) -> JSONResponse:
        return error_response(error, id_of(request), request.url.path)

    @app.exception_handler(RequestValidationError)
    async def not_valid(request: Request, error: RequestValidationError) -> JSONResponse:
        invalid = InvalidRequestError(sentence(error.errors()))
        return error_response(invalid, id_of(request), request.url.path)

    @app.exception_handler(HTTPException)
    async def plain(request: Request, error: HTTPException) -> JSONResponse:
        if error.status_code == 400:  # the framework's answer to a body that is not even text
            return error_response(InvalidRequestError(NOT_JSON), id_of(request))
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
        return fault_response(id_of(request))


def fault_response(request_id: str | None) -> JSONResponse:
    """The answer to a request on which the service has failed; nothing of the fault is told."""
    body = {
        "type": "urn:belated:fault",
        "title": "A fault of the service",
        "status": 500,
        "detail": "the service failed; its log has the details under this request id",
        "request_id": request_id,
    }
    return JSONResponse(body, 500, media_type=PROBLEM)


def id_of(request: Request) -> str | None:
    """The id of a request."""
    found: str | None = request.scope.get("request_id")
    return found


def sentence(errors: Sequence[Any]) -> str:
    """The first fault of a body in one sentence."""
    first = errors[0]
    if first["type"] == "json_invalid":
        return NOT_JSON
    if first["type"] == "value_error":  # a rule of our own, which says it all
        return str(first["ctx"]["error"])
    path = ".".join(str(part) for part in first["loc"] if part not in ("body", "header"))
    more = f" ({len(errors) - 1} more)" if len(errors) > 1 else ""
    return f"{path or 'the body'} is not valid: {first['msg']}{more}"
