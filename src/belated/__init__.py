"""belated: learning from feedback that comes late, and later for some choices than for others.

The most important names can be imported from here. They are loaded on first use.

Ask and tell (`belated.asktell`):
- `ConcealedBandit`, `PartiallyConcealedBandit`, `DelayedExperts`: the paper's three learners
- `Bandit`, `Experts`: any registered learner, by its name
- `from_json`: a learner that was saved with `to_json`
- `Ticket`, `Feedback`, `TicketState`, and the errors and warnings

Comparing learners:
- `scenario`, `scenarios`: the built-in environments (`belated.environments`)
- `Environment`, `environment_from_arrays`, `environment_from_file`, `environment_from_frame`: your
  own data; `export_game`: one game in a file
- `compare`, `Comparison`: learners on the same games (`belated.comparison`)
- `write_report`: a comparison as an HTML page (`belated.report`)

Evaluating policies on logs (`belated.evaluation`):
- `evaluate`, `Evaluation`: what other policies would have earned
- `read_log`, `Journal`: logs of decisions, with what has been told of them so far
"""

from typing import TYPE_CHECKING

from belated.lazy import lazy_exports
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
    from belated.asktell.bandits import Bandit, ConcealedBandit, PartiallyConcealedBandit
    from belated.asktell.experts import DelayedExperts, Experts
    from belated.asktell.loading import from_json
    from belated.comparison.compare import compare
    from belated.comparison.result import Comparison
    from belated.environments.environment import Environment
    from belated.environments.files import (
        environment_from_arrays,
        environment_from_file,
        environment_from_frame,
    )
    from belated.environments.game_files import export_game
    from belated.environments.scenarios import scenario, scenarios
    from belated.evaluation.evaluate import Evaluation, evaluate
    from belated.evaluation.logs.journal import Journal
    from belated.evaluation.logs.log_sources import read_log
    from belated.report.page import write_report

__version__ = "0.2.0"

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
    "Evaluation",
    "Experts",
    "Feedback",
    "HorizonExceededError",
    "Journal",
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
    "environment_from_frame",
    "evaluate",
    "export_game",
    "from_json",
    "read_log",
    "scenario",
    "scenarios",
    "write_report",
]

__getattr__ = lazy_exports(
    __name__,
    {
        "Bandit": "belated.asktell.bandits",
        "Comparison": "belated.comparison.result",
        "ConcealedBandit": "belated.asktell.bandits",
        "DelayedExperts": "belated.asktell.experts",
        "Environment": "belated.environments.environment",
        "Evaluation": "belated.evaluation.evaluate",
        "Experts": "belated.asktell.experts",
        "Journal": "belated.evaluation.logs.journal",
        "PartiallyConcealedBandit": "belated.asktell.bandits",
        "compare": "belated.comparison.compare",
        "environment_from_arrays": "belated.environments.files",
        "environment_from_file": "belated.environments.files",
        "environment_from_frame": "belated.environments.files",
        "evaluate": "belated.evaluation.evaluate",
        "export_game": "belated.environments.game_files",
        "from_json": "belated.asktell.loading",
        "read_log": "belated.evaluation.logs.log_sources",
        "scenario": "belated.environments.scenarios",
        "scenarios": "belated.environments.scenarios",
        "write_report": "belated.report.page",
    },
)


def __dir__() -> list[str]:
    return __all__
