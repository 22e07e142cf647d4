"""Why a request is refused: each kind has its HTTP status, and says one sentence."""

from typing import Any, ClassVar

from belated.types import BelatedError


class Refusal(BelatedError):
    """A request that is not done; nothing has changed by it."""

    status: ClassVar[int]
    kind: ClassVar[str]
    title: ClassVar[str]

    def __init__(self, sentence: str, **more: Any) -> None:
        super().__init__(sentence)
        self.more = more


class Unauthorized(Refusal):
    """No key, or not a valid one."""

    status, kind, title = 401, "unauthorized", "A valid key is needed"


class Forbidden(Refusal):
    """The key does not allow this."""

    status, kind, title = 403, "forbidden", "The key does not allow this"


class Unknown(Refusal):
    """There is no such thing."""

    status, kind, title = 404, "unknown", "There is no such thing"


class Conflict(Refusal):
    """It contradicts what stands."""

    status, kind, title = 409, "conflict", "This contradicts what stands"


class Expired(Refusal):
    """It came too late."""

    status, kind, title = 410, "expired", "The ticket has expired"


class TooLarge(Refusal):
    """More than is taken at once."""

    status, kind, title = 413, "too-large", "The request is too large"


class Invalid(Refusal):
    """It cannot be understood, or breaks a rule."""

    status, kind, title = 422, "invalid", "The request is not valid"


class TooMany(Refusal):
    """Too many requests in too short a time."""

    status, kind, title = 429, "too-many-requests", "Too many requests"


class Unavailable(Refusal):
    """It could not be committed; it may be sent again."""

    status, kind, title = 503, "unavailable", "This cannot be committed now"
