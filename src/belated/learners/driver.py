"""Driving a learner round by round: the one place that knows the order in which it is called.

The readable loop, the replay of logs, the service's replicas and the laws all drive learners with a
`Driver`. A learner that is not a `Learner`, such as those of `belated.ftrl` and those that users
write in plain Python, is driven by a `PlainDriver`, which can do less. The compiled game
(`play.engine`) and compiled ask and tell (`compiled.ask_tell`) are their fast twins.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Protocol

import numpy as np

from belated.arrays import Floats
from belated.learners.contract import Learner
from belated.types import Setting

NO_ARM = -1  # in full information no single arm is played
NOT_TOLD = -1  # as a missing count, for learners that are not told how many losses are missing


class PlayableLearner(Protocol):
    """The least that a learner must have to play: a state and three methods.

    `predict` returns an object whose `q` has a weight for each arm. `commit` returns one play for
    each loss that will be told, K of them in full information; `observe` gets it back with the
    loss.
    """

    @property
    def setting(self) -> Setting: ...

    def start(self) -> Any: ...

    def predict(self, state: Any) -> Any: ...

    def commit(self, state: Any, prediction: Any, arm: int) -> Any: ...

    def observe(self, state: Any, play: Any, arm: int, loss: float, missing: int) -> None: ...


class Driver:
    """A learner with its state, one round at a time: predict, play, then tell or withdraw losses.

    A prediction stands until the learner plays or learns something, so that it can be read as often
    as needed. A state may need room for the rounds to come: it is made for `room` rounds at a time.
    A game that is under way goes on from its state and the number of rounds that were played.
    """

    def __init__(self, learner: Learner, state: Any = None, rounds: int = 0, room: int = 1) -> None:
        self.learner = learner
        self.state = learner.start() if state is None else state
        self.rounds = rounds
        self._room = room
        self._brief = learner.blank().brief()
        self._standing: Any = None
        self._make_room()

    @property
    def is_bandit(self) -> bool:
        """Whether the learner plays one arm a round."""
        return self.learner.setting is not Setting.FULL_INFORMATION

    def predict(self) -> Any:
        """The whole prediction of the coming round, in arrays of its own."""
        self._standing = self.learner.predict(self.state)
        return self._standing

    def weights(self) -> Floats:
        """The weights q of the coming round; the next call may overwrite the array."""
        if self._standing is None:
            self.learner.verbs.predict(self.state, self._brief)
            self._standing = self._brief
        q: Floats = self._standing.q
        return q

    def play(
        self, arm: int = NO_ARM, delay: float = np.nan, probability: float | None = None
    ) -> Floats:
        """Play the round; returns what was in force, a row for each loss that will be told.

        `probability` is given if another program drew the arm. It replaces the learner's own weight
        of the arm, since a loss must be divided by the probability with which its arm was drawn.
        """
        weights = self.weights()
        if probability is not None:
            weights[arm] = probability
        plays = self.learner.commit(self.state, self._standing, arm, delay)
        self.rounds += 1
        self._standing = None
        self._make_room()
        return plays

    def tell(self, play: Floats, arm: int, loss: float, missing: int = NOT_TOLD) -> None:
        """Report a loss that has arrived; `play` is the row that its round returned for its arm."""
        self._standing = None
        self.learner.observe(self.state, play, arm, loss, missing)

    def withdraw(self, play: Floats, arm: int) -> None:
        """Report that the loss of a play will not come; nothing is learned from that play."""
        self._standing = None
        self.learner.withdraw(self.state, play, arm)

    def change_arms(self, kept: Sequence[int], added: int) -> None:
        """Continue with the arms kept, given by their places, followed by `added` new arms.

        Outstanding plays of arms that are removed must have been withdrawn.
        """
        self.state = self.learner.with_arms(self.state, kept, added)
        self.learner = replace(self.learner, arms=len(kept) + added)
        self._brief = self.learner.blank().brief()
        self._standing = None

    def _make_room(self) -> None:
        """Make sure that the state has room for the coming round."""
        if self.rounds % self._room == 0:
            self.state = self.learner.reserved(self.state, self._room)


class PlainDriver:
    """Drives a learner that is not a `Learner`: predict, play, and tell losses."""

    def __init__(self, learner: PlayableLearner, state: Any = None) -> None:
        self.learner = learner
        self.state = learner.start() if state is None else state
        self._standing: Any = None

    @property
    def is_bandit(self) -> bool:
        """Whether the learner plays one arm a round."""
        return self.learner.setting is not Setting.FULL_INFORMATION

    def predict(self) -> Any:
        """The prediction of the coming round."""
        self._standing = self.learner.predict(self.state)
        return self._standing

    def play(self, arm: int = NO_ARM, delay: float = np.nan) -> Any:
        """Play the round that was predicted; returns a play for each loss that will be told.

        A delay that is known in advance is for `Learner`s that declare that they need it.
        """
        return self.learner.commit(self.state, self._standing, arm)

    def tell(self, play: Any, arm: int, loss: float, missing: int = NOT_TOLD) -> None:
        """Report a loss that has arrived; `play` is what its round returned for its arm."""
        self.learner.observe(self.state, play, arm, loss, missing)


def driver_for(learner: PlayableLearner, state: Any = None) -> Driver | PlainDriver:
    """The driver that suits the learner, from its start or from a given state."""
    if isinstance(learner, Learner):
        return Driver(learner, state)
    return PlainDriver(learner, state)
