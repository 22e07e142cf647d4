"""Typed clients of the decision service: `Client`, and `AsyncClient` for asyncio.

They need httpx: pip install 'belated[client]'. The command line uses `Client`, too.

- `clients`: `Client` and `AsyncClient`
- `calls`: the requests, and how their answers are read; one definition for both clients
- `retrying`: `Patience`, and the attempts at one request
- `models`: `Problem`, `Report` and `TicketDetails`
- `errors`: the errors that an answer can stand for
"""

try:
    import httpx as _httpx  # noqa: F401
except ImportError:
    raise ImportError("belated.client needs httpx: pip install 'belated[client]'") from None

from belated.client.clients import AsyncClient, Client
from belated.client.errors import (
    NotAllowedError,
    ProblemConflictError,
    ServiceError,
    ServiceUnavailable,
    UnknownProblemError,
)
from belated.client.models import (
    LateReport,
    NamedReport,
    Problem,
    Report,
    TicketDetails,
    TicketOutcome,
)
from belated.client.retrying import Patience

__all__ = [
    "AsyncClient",
    "Client",
    "LateReport",
    "NamedReport",
    "NotAllowedError",
    "Patience",
    "Problem",
    "ProblemConflictError",
    "Report",
    "ServiceError",
    "ServiceUnavailable",
    "TicketDetails",
    "TicketOutcome",
    "UnknownProblemError",
]
