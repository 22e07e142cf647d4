"""The learners' verbs as generic functions, which are resolved by the type of the state.

One loop over `predict`, `commit` and `observe` thus serves every learner, and is compiled once for
each kind of state with the learner's own functions inside it.
"""

from typing import Any

NO_ARM = -1  # in full information no single arm is played
NOT_TOLD = -1  # as a missing count, for learners that are not told how many losses are missing
VERBS: dict[type, Any] = {}  # kind of state -> the Verbs of its learner


def predict(state: Any, prediction: Any) -> None:
    """Compute the prediction of the coming round and write it to `prediction`."""
    VERBS[type(state)].predict(state, prediction)


def commit(state: Any, prediction: Any, arm: int, plays: Any) -> None:
    """Play the round, and write to `plays` what the learner needs when its losses arrive."""
    VERBS[type(state)].commit(state, prediction, arm, plays)


def withdraw(state: Any, play: Any, arm: Any) -> None:
    """Withdraw a play whose loss will never arrive."""
    VERBS[type(state)].withdraw(state, play, arm)


def observe(state: Any, play: Any, arm: Any, loss: float, missing: int) -> None:
    """Learn from a loss that has arrived."""
    VERBS[type(state)].observe(state, play, arm, loss, missing)
