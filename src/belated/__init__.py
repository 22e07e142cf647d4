"""belated: learning from feedback that comes late, and later for some choices than for others."""

import importlib
from typing import TYPE_CHECKING, Any

from belated.types import (
    BelatedError,
    BelatedWarning,
    ClosedTicketError,
    ConflictError,
    Feedback,
    HorizonExceededError,
    MissingExceededError,
    Setting,
    StateFormatError,
    Ticket,
    TicketError,
    TicketState,
    UnknownTicketError,
)

if TYPE_CHECKING:
    from belated.bandits import ConcealedBandit, PartiallyConcealedBandit
    from belated.experts import DelayedExperts
    from belated.saving import from_json

__version__ = "0.1.0"

__all__ = [
    "BelatedError",
    "BelatedWarning",
    "ClosedTicketError",
    "ConcealedBandit",
    "ConflictError",
    "DelayedExperts",
    "Feedback",
    "HorizonExceededError",
    "MissingExceededError",
    "PartiallyConcealedBandit",
    "Setting",
    "StateFormatError",
    "Ticket",
    "TicketError",
    "TicketState",
    "UnknownTicketError",
    "__version__",
    "from_json",
]


# The learners bring numba with them, so they are loaded on first use.
_HOMES = {
    "ConcealedBandit": "belated.bandits",
    "DelayedExperts": "belated.experts",
    "PartiallyConcealedBandit": "belated.bandits",
    "from_json": "belated.saving",
}


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(importlib.import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'belated' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
