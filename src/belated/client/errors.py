"""The errors of the clients: the library's own errors where it has one, else a `ServiceError`."""

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
    """The service refused a request or did not answer; `status` is its HTTP status, or None."""

    def __init__(
        self, sentence: str, status: int | None = None, request_id: str | None = None
    ) -> None:
        super().__init__(sentence)
        self.status, self.request_id = status, request_id


class ServiceUnavailable(ServiceError):
    """Until the deadline, the service could not be reached or could not commit."""


class NotAllowedError(ServiceError):
    """The key is missing, not valid, or does not allow the request."""


class UnknownProblemError(ServiceError, LookupError):
    """There is no problem of this name."""


class ProblemConflictError(ServiceError):
    """The problem exists already, makes no decisions now, or cannot be changed in this way."""


UNAVAILABLE = (429, 502, 503, 504)  # the request is fine and may be sent again
CLOSED = (TicketState.CANCELLED.value, TicketState.EXPIRED.value)


def error_of(
    status: int, details: Mapping[str, Any], request_id: str | None, *, cancelling: bool = False
) -> Exception:
    """The error for an answer with this status and problem+json body."""
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
    """The library's error about a ticket, or None if the answer is not about a ticket."""
    state = details.get("state")
    if status == 404 and "ticket" in details:
        return UnknownTicketError(sentence)
    if status == 410 or state in CLOSED or (state is not None and cancelling):
        return ClosedTicketError(sentence)
    return ConflictError(sentence) if state is not None else None
