"""Driving a learner by hand: the one place that knows the order in which its verbs are called.

The readable loop, the replay of logs, the service's replicas and the laws all drive learners with a
`Driver`. The compiled game (`play.engine`) and compiled ask and tell (`compiled.ask_tell`) are its
fast twins.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from belated.arrays import Floats
from belated.learners.contract import Learner
from belated.types import Setting

NO_ARM = -1  # in full information no single arm is played


class Driver:
    """A learner with its state, one round at a time: predict, play, then tell or withdraw losses.

    A prediction stands until the learner plays or learns something, so that it can be read as often
    as one likes. A state may need room for rounds to come: it is made for `room` rounds at a time.
    A game that is under way goes on from its state and the number of rounds that were played.
    """

    def __init__(self, learner: Learner, state: Any = None, rounds: int = 0, room: int = 1) -> None:
        self.learner = learner
        self.state = learner.start() if state is None else state
        self.rounds = rounds
        self._room = room
        self._prediction = learner.blank().brief()
        self._stands = False
        self._make_room()

    @property
    def is_bandit(self) -> bool:
        """Whether the learner plays one arm a round."""
        return self.learner.setting is not Setting.FULL_INFORMATION

    def weights(self) -> Floats:
        """q of the coming round; read it before the next call, which may overwrite it."""
        if not self._stands:
            self.learner.verbs.predict(self.state, self._prediction)
            self._stands = True
        return self._prediction.q

    def play(
        self, arm: int = NO_ARM, delay: float = np.nan, probability: float | None = None
    ) -> Floats:
        """Play the round; returns what was in force, a row for each loss that will be told.

        If somebody else drew the arm, `probability` is theirs. It takes the place of the learner's
        own, since a loss must be divided by the probability with which its arm was drawn.
        """
        weights = self.weights()
        if probability is not None:
            weights[arm] = probability
        plays = self.learner.commit(self.state, self._prediction, arm, delay)
        self.rounds += 1
        self._stands = False
        self._make_room()
        return plays

    def tell(self, play: Floats, arm: int, loss: float, missing: int = -1) -> None:
        """The loss of an arm has come; `play` is the row that its round froze for it."""
        self._stands = False
        self.learner.observe(self.state, play, arm, loss, missing)

    def withdraw(self, play: Floats, arm: int) -> None:
        """The loss of a play will not be told, and nothing is learned from it."""
        self._stands = False
        self.learner.withdraw(self.state, play, arm)

    def change_arms(self, kept: Sequence[int], added: int) -> None:
        """Go on with the arms kept, by place, and so many new ones after them.

        Outstanding plays of arms that are left out must have been withdrawn.
        """
        self.state = self.learner.with_arms(self.state, kept, added)
        self.learner = replace(self.learner, arms=len(kept) + added)
        self._prediction = self.learner.blank().brief()
        self._stands = False

    def _make_room(self) -> None:
        """Make sure that the state has room for the coming round."""
        if self.rounds % self._room == 0:
            self.state = self.learner.reserved(self.state, self._room)
