"""Tests for a learner of one's own: every law that belated's own learners obey.

`check_learner(kind)` plays a learner class through random games, and says in a sentence what it
does wrong. It needs hypothesis, which the extra `testing` installs.

- `check`: `check_learner`, which runs all laws and collects what fails
- `trials`: random games with a learner, and the laws as a list
- `game_laws`: laws of playing a game
- `hands`: the games asked and told by hand, through `Bandit` and `Experts`
- `hand_laws`: laws of ask and tell
- `digests`: long random games, and a digest of every bit that a learner computes in them
"""

import importlib.util
from typing import TYPE_CHECKING, Any

from belated.lazy import lazy_exports

if TYPE_CHECKING:
    from belated.testing.check import LearnerFaultError, check_learner

__all__ = ["LearnerFaultError", "check_learner"]

_get = lazy_exports(__name__, dict.fromkeys(__all__, "belated.testing.check"))


def __getattr__(name: str) -> Any:
    if name in __all__ and importlib.util.find_spec("hypothesis") is None:
        raise ImportError(f"{name} needs hypothesis: pip install 'belated[testing]'")
    return _get(name)
