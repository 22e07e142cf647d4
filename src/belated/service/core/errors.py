"""The errors that a request can end with: each has an HTTP status and one sentence."""

from typing import Any, ClassVar

from belated.types import BelatedError


class RequestError(BelatedError):
    """A request was refused, and nothing was changed by it; `more` goes into the answer."""

    status: ClassVar[int]
    kind: ClassVar[str]
    title: ClassVar[str]

    def __init__(self, sentence: str, **more: Any) -> None:
        super().__init__(sentence)
        self.more = more


class UnauthorizedError(RequestError):
    """The request has no key, or one that is not valid."""

    status, kind, title = 401, "unauthorized", "A valid key is needed"


class ForbiddenError(RequestError):
    """The key does not allow the request."""

    status, kind, title = 403, "forbidden", "The key does not allow this"


class NotFoundError(RequestError):
    """The problem, ticket or key does not exist."""

    status, kind, title = 404, "unknown", "There is no such thing"


class StateConflictError(RequestError):
    """The request contradicts the present state of a problem or ticket."""

    status, kind, title = 409, "conflict", "The request conflicts with the present state"


class TicketExpiredError(RequestError):
    """The report came after its ticket had expired."""

    status, kind, title = 410, "expired", "The ticket has expired"


class TicketRetainedError(RequestError):
    """The ticket is so old that only its part in a checkpoint is kept."""

    status, kind, title = 410, "retained", "The ticket is no longer kept"


class TooLargeError(RequestError):
    """The body of the request is too large."""

    status, kind, title = 413, "too-large", "The request is too large"


class MediaTypeError(RequestError):
    """The body of the request is not declared as JSON."""

    status, kind, title = 415, "media-type", "The body must be JSON"


class InvalidRequestError(RequestError):
    """The request cannot be understood, or breaks a rule."""

    status, kind, title = 422, "invalid", "The request is not valid"


class RateLimitError(RequestError):
    """The key sends too many requests a second."""

    status, kind, title = 429, "too-many-requests", "Too many requests"


class FaultError(RequestError):
    """The service failed on the request, which is not the caller's fault as far as it knows."""

    status, kind, title = 500, "fault", "A fault of the service"


class UnavailableError(RequestError):
    """The request could not be committed now; it may be sent again."""

    status, kind, title = 503, "unavailable", "This cannot be committed now"
