"""Replay: a learner along given losses, delays and plays, round by round.

The readable order of one round: predict, commit, then whatever arrives at its end. It serves the
compiled learners and the readable ones alike.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from belated.environments.delays import NEVER, missing_counts
from belated.simulation.case import Case
from belated.types import Setting


class Plays(Protocol):
    """What a learner must do to be replayed."""

    def start(self) -> Any: ...

    def predict(self, state: Any) -> Any: ...

    def commit(self, state: Any, prediction: Any, arm: int) -> Any: ...

    def observe(self, state: Any, play: Any, arm: int, loss: float, missing: int) -> None: ...


@dataclass(frozen=True)
class Replay:
    """The predictions of every round, and the state after the last."""

    predictions: list[Any]
    state: Any

    @property
    def q(self) -> NDArray[np.float64]:
        """q_t in row t-1."""
        return np.array([prediction.q for prediction in self.predictions])


def replay(case: Case, learner: Plays, progress: Callable[[], None] = lambda: None) -> Replay:
    """Run the learner through the case and keep all its predictions; progress after each round."""
    rounds, arms = case.losses.shape
    missing = missing_counts(case.delays)
    arrivals: dict[int, list[tuple[int, int, Any]]] = {}
    state = learner.start()
    predictions = []
    for t in range(rounds):
        prediction = learner.predict(state)
        predictions.append(prediction)
        played = range(arms) if case.arms is None else (int(case.arms[t]),)
        plays = learner.commit(state, prediction, -1 if case.arms is None else played[0])
        for play, arm in zip(plays, played, strict=True):
            if case.delays[t, arm] != NEVER:
                arrivals.setdefault(t + int(case.delays[t, arm]), []).append((t, arm, play))
        for s, arm, play in arrivals.pop(t, ()):
            loss = float(case.losses[s, arm])
            learner.observe(state, play, arm, loss, int(missing[s, arm]))
        progress()
    return Replay(predictions, state)


def learner_for(case: Case) -> Plays:
    """The compiled learner that a case asks for."""
    from belated.learners.concealed import Concealed
    from belated.learners.full_information import FullInformation
    from belated.learners.partially_concealed import PartiallyConcealed

    kinds: dict[Setting, Callable[..., Plays]] = {
        Setting.FULL_INFORMATION: FullInformation,
        Setting.PARTIALLY_CONCEALED: PartiallyConcealed,
        Setting.CONCEALED: Concealed,
    }
    return kinds[case.setting](**case.options)
