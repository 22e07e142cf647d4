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
from belated.compiled.ask_tell import (
    BANDIT,
    BOUNDED_BANDIT,
    COMMIT_ONLY,
    EXPERTS,
    PREDICT_ONLY,
    ROW_BANDIT,
    UNCHECKED,
    Runner,
    Steps,
    make_workspace,
)
from belated.compiled.dispatch import NO_ARM, NOT_TOLD
from belated.learners.branches import ANY, ASKED, TAKEN
from belated.learners.contract import Learner
from belated.learners.states import copied, copy_into
from belated.types import Need, Setting

_NO_STREAM = np.zeros(4, dtype=np.uint64)  # a driver is given its arms, and draws none


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
    A game in progress continues from its state and the number of rounds that were played.
    """

    def __init__(self, learner: Learner, state: Any = None, rounds: int = 0, room: int = 1) -> None:
        self.learner = learner
        self.rounds = rounds
        self._room = room
        self._use(learner.start() if state is None else state)
        self._make_room()

    def _use(self, state: Any) -> None:
        """Go on from a state."""
        learner = self.learner
        steps = steps_for(learner)
        space = make_workspace(learner, state, _NO_STREAM.copy(), steps)
        self._runner = Runner(space, steps, in_place=True)
        self.state, self._prediction, self._plays = state, space.prediction, space.plays
        self._given = space.given
        self._stands = False
        self._handed_out: Any = None  # the prediction of the round that was not played yet
        self._rows = np.zeros((learner.arms, learner.row_width)) if not self.is_bandit else None

    def go_on_from(self, state: Any, rounds: int) -> None:
        """Continue from a state after so many rounds; the state must have room for the next one."""
        self._use(state)
        self.rounds = rounds

    @property
    def is_bandit(self) -> bool:
        """Whether the learner plays one arm a round."""
        return self.learner.setting is not Setting.FULL_INFORMATION

    def advise(self, advice: Floats) -> None:
        """Tell what each policy advises for the coming round, which must be checked advice."""
        self.learner.advise(self.state, advice)
        self._stands, self._handed_out = False, None

    def consider(
        self, context: Floats | None, eligible: Floats | None = None, *actions: Floats
    ) -> None:
        """Tell the context of the coming round, and which arms may be drawn (None: all of them).

        A learner that takes features of arms may be told these, too.
        """
        learner: Any = self.learner
        learner.consider(self.state, context, eligible, *actions)
        self._stands, self._handed_out = False, None

    def tick(self, seconds: float) -> None:
        """Tell the time of what comes next, if the learner counts the ages of plays in seconds."""
        if self.learner.keeps_time:
            self.learner.tick(self.state, seconds)

    def declare_silence(self, default_loss: float | None) -> None:
        """Tell what a play that never reports has lost, from now on; None if no one knows."""
        self.learner.declare_silence(self.state, default_loss)
        self._stands, self._handed_out = False, None

    def predict(self) -> Any:
        """The whole prediction of the coming round, in arrays of its own.

        Playing the round fills in what its info says of the play.
        """
        self._prediction.detailed[0] = 1
        self._stands = False
        self.weights()
        self._prediction.detailed[0] = 0
        self._handed_out = copied(self._prediction)
        return self._handed_out

    def weights(self) -> Floats:
        """The weights q of the coming round; the next call may overwrite the array."""
        if not self._stands:
            self._runner.ask(self._runner.address, PREDICT_ONLY)
            self._stands = True
        q: Floats = self._prediction.q
        return q

    def weights_among(self, eligible: Floats | None) -> Floats:
        """The weights in proportion to which one of the eligible arms (None: all) is drawn."""
        weights = self.weights()
        if eligible is None:
            return weights
        return self.learner.weights_among(self.state, self._prediction, eligible)

    def branch(self) -> int | None:
        """In which way the coming round is played; None if the learner has only one."""
        if not self.learner.has_branches:
            return None
        self.weights()
        return int(self._prediction.info.branch[TAKEN])

    def play(
        self,
        arm: int = NO_ARM,
        delay: float = np.nan,
        probability: float | None = None,
        branch: int | None = None,
    ) -> Floats:
        """Play the round; returns what was in force, a row for each loss that will be told.

        `probability` is given if another program drew the arm. It replaces the learner's own weight
        of the arm, since a loss must be divided by the probability with which its arm was drawn.
        `branch` is given with it, if the learner has several: the round is played in this way, even
        if the present state would choose another.
        """
        weights = self.weights()
        if branch is not None and branch != self.branch():
            self._ask_for(branch)
            weights = self.weights()
        if probability is not None:
            weights[arm] = probability
        self._plays.fill(delay)
        self._given[0] = arm
        self._runner.ask(self._runner.address, COMMIT_ONLY)
        plays = self._plays.copy()
        if self._handed_out is not None:
            copy_into(self._handed_out.info, self._prediction.info)
            self._handed_out = None
        self.rounds += 1
        self._ask_for(ANY)
        self._make_room()
        return plays

    def _ask_for(self, branch: int) -> None:
        """Let the coming rounds be predicted for a branch, or for the learner's own choice."""
        if self.learner.has_branches:
            self._prediction.info.branch[ASKED] = branch
        self._stands = False

    def tell(self, play: Floats, arm: int, loss: float, missing: int = NOT_TOLD) -> None:
        """Report a loss that has arrived; `play` is the row that its round returned for its arm."""
        self._stands, self._handed_out = False, None
        runner = self._runner
        if self._rows is None:
            drawn = (arm, 0.0, *play.tolist())
            runner.tell(runner.address, drawn, float(loss), missing, UNCHECKED)
        else:
            self._rows[arm] = play
            runner.tell(runner.address, np.array([arm]), self._rows, np.array([float(loss)]))

    def withdraw(self, play: Floats, arm: int) -> None:
        """Report that the loss of a play will not come; nothing is learned from that play."""
        self.tell(play, arm, np.nan)

    def change_arms(self, kept: Sequence[int], added: int) -> None:
        """Continue with the arms kept, given by their places, followed by `added` new arms.

        Outstanding plays of arms that are removed must have been withdrawn.
        """
        state = self.learner.with_arms(self.state, kept, added)
        self.learner = replace(self.learner, arms=len(kept) + added)
        self._use(state)

    def _make_room(self) -> None:
        """Make sure that the state has room for the coming round."""
        if self.rounds % self._room == 0:
            state = self.learner.reserved(self.state, self._room)
            if state is not self.state:
                self._use(state)


def steps_for(learner: Learner) -> Steps:
    """Return the steps that drive a learner: those of experts, or of a bandit.

    The steps of a bandit that was promised max_missing watch the promise. Those of one whose
    options decide how wide the rows of plays are have the same code for all widths.
    """
    if learner.setting is Setting.FULL_INFORMATION:
        return EXPERTS
    if Need.MAX_MISSING in learner.needs:
        return BOUNDED_BANDIT
    return BANDIT if type(learner).row_width is Learner.row_width else ROW_BANDIT


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

    def advise(self, advice: Floats) -> None:
        """Tell what each policy advises for the coming round; for learners that take advice."""
        learner: Any = self.learner
        learner.advise(self.state, advice)

    def consider(self, context: Floats | None, eligible: Floats | None = None) -> None:
        """Tell the context of the coming round; for learners that take one."""
        learner: Any = self.learner
        learner.consider(self.state, context, eligible)

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
