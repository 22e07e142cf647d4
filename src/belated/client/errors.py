"""The refusals of the service as errors: the library's own where it has one."""

from collections.abc import Mapping
from typing import Any

from belated.types import (
    BelatedError,
    ClosedTicketError,
    ConflictError,
    TicketState,
    UnknownTicketError,
)


class ServiceError(BelatedError):
    """The service refused, or did not answer; `status` is that of HTTP, if there was an answer."""

    def __init__(
        self, sentence: str, status: int | None = None, request_id: str | None = None
    ) -> None:
        super().__init__(sentence)
        self.status, self.request_id = status, request_id


class ServiceUnavailable(ServiceError):
    """It could not be reached or could not commit, however often it was tried."""


class NotAllowedError(ServiceError):
    """No valid key, or one that does not allow this."""


class UnknownProblemError(ServiceError, LookupError):
    """There is no problem of this name."""


class ProblemConflictError(ServiceError):
    """A problem that exists already, or hands out no decisions now."""


UNAVAILABLE = (429, 502, 503, 504)  # nothing is wrong with the request: it may be sent again
CLOSED = (TicketState.CANCELLED.value, TicketState.EXPIRED.value)


def error_of(
    status: int, details: Mapping[str, Any], request_id: str | None, *, cancelling: bool = False
) -> Exception:
    """The error that an answer with this status and problem+json stands for."""
    sentence = str(details.get("detail") or f"the service answered {status}")
    if status == 422:
        return ValueError(sentence)
    of_ticket = ticket_error(status, details, sentence, cancelling)
    if of_ticket is not None:
        return of_ticket
    kind = ServiceError
    if status in UNAVAILABLE:
        kind = ServiceUnavailable
    elif status in (401, 403):
        kind = NotAllowedError
    elif details.get("type") == "urn:belated:unknown":
        kind = UnknownProblemError
    elif status == 409:
        kind = ProblemConflictError
    return kind(sentence, status, request_id)


def ticket_error(
    status: int, details: Mapping[str, Any], sentence: str, cancelling: bool
) -> BelatedError | None:
    """The library's error about a ticket, if this is about one."""
    state = details.get("state")
    if status == 404 and "ticket" in details:
        return UnknownTicketError(sentence)
    if status == 410 or state in CLOSED or (state is not None and cancelling):
        return ClosedTicketError(sentence)
    return ConflictError(sentence) if state is not None else None
