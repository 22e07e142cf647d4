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
    from belated.asktell.bandits import ConcealedBandit, PartiallyConcealedBandit
    from belated.asktell.chosen import Bandit, Experts
    from belated.asktell.experts import DelayedExperts
    from belated.asktell.saving import from_json
    from belated.comparison.compare import compare
    from belated.comparison.result import Comparison
    from belated.environments.environment import Environment
    from belated.environments.files import environment_from_arrays, environment_from_file
    from belated.environments.scenarios import scenario, scenarios
    from belated.report.page import write_report

__version__ = "0.1.0"

__all__ = [
    "Bandit",
    "BelatedError",
    "BelatedWarning",
    "ClosedTicketError",
    "Comparison",
    "ConcealedBandit",
    "ConflictError",
    "DelayedExperts",
    "Environment",
    "Experts",
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
    "compare",
    "environment_from_arrays",
    "environment_from_file",
    "from_json",
    "scenario",
    "scenarios",
    "write_report",
]


# The learners bring numba with them, so they are loaded on first use.
_HOMES = {
    "Bandit": "belated.asktell.chosen",
    "Comparison": "belated.comparison.result",
    "ConcealedBandit": "belated.asktell.bandits",
    "DelayedExperts": "belated.asktell.experts",
    "Environment": "belated.environments.environment",
    "Experts": "belated.asktell.chosen",
    "PartiallyConcealedBandit": "belated.asktell.bandits",
    "compare": "belated.comparison.compare",
    "environment_from_arrays": "belated.environments.files",
    "environment_from_file": "belated.environments.files",
    "from_json": "belated.asktell.saving",
    "scenario": "belated.environments.scenarios",
    "scenarios": "belated.environments.scenarios",
    "write_report": "belated.report.page",
}


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(importlib.import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'belated' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
