"""The learners' verbs as generic functions, which compiled code resolves by the type of the state.

One loop over `predict`, `commit` and `observe` thus serves every learner, and is compiled once for
each kind of state with the learner's own functions inside it.
"""

from collections.abc import Callable
from typing import Any

from numba.extending import overload

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


# Not strict: otherwise numba requires a verb to have the annotations of its generic function.
@overload(predict, strict=False, jit_options={"forceinline": True, "error_model": "numpy"})
def _predict(state: Any, prediction: Any) -> Callable[..., None]:
    verb = VERBS[state.instance_class].predict
    return lambda state, prediction: verb(state, prediction)


@overload(commit, strict=False, jit_options={"forceinline": True, "error_model": "numpy"})
def _commit(state: Any, prediction: Any, arm: Any, plays: Any) -> Callable[..., None]:
    verb = VERBS[state.instance_class].commit
    return lambda state, prediction, arm, plays: verb(state, prediction, arm, plays)


@overload(withdraw, strict=False, jit_options={"forceinline": True, "error_model": "numpy"})
def _withdraw(state: Any, play: Any, arm: Any) -> Callable[..., None]:
    verb = VERBS[state.instance_class].withdraw
    return lambda state, play, arm: verb(state, play, arm)


@overload(observe, strict=False, jit_options={"forceinline": True, "error_model": "numpy"})
def _observe(state: Any, play: Any, arm: Any, loss: Any, missing: Any) -> Callable[..., None]:
    verb = VERBS[state.instance_class].observe
    return lambda state, play, arm, loss, missing: verb(state, play, arm, loss, missing)
