"""Vowpal Wabbit's squarecb as a learner of a comparison, told on arrival or with a window.

It is given every feature of a context for every action (`-q sa`), and the probability with which an
action was drawn. With a window, a play of which nothing has come by then is learned as a failure,
and what comes later is ignored, as practitioners do; without one it learns what arrives.
"""

from collections import deque
from types import SimpleNamespace
from typing import Any

import numpy as np

from belated.arrays import Floats
from belated.types import Setting

OPTIONS = "--cb_explore_adf --squarecb -q sa --quiet --random_seed 1"


class Vowpal:
    """A workspace of Vowpal Wabbit for one game; its learning rate and its window are options."""

    name = "vw squarecb"
    setting = Setting.CONCEALED
    takes_context = True

    def __init__(self, arms: int, learning_rate: float, window: int | None = None) -> None:
        self.arms, self.learning_rate, self.window = arms, learning_rate, window
        self.actions = [f"|a {arm}" for arm in range(arms)]

    def start(self) -> Any:
        """A new workspace, the shared features of the coming round, and plays without news."""
        from vowpalwabbit import Workspace

        workspace = Workspace(f"{OPTIONS} -l {self.learning_rate}")
        return SimpleNamespace(workspace=workspace, shared="shared |s", round=0, waiting=deque())

    def consider(self, state: Any, context: Floats, eligible: Floats | None = None) -> None:
        """Tell the context of the coming round, in which all arms may be drawn."""
        pairs = " ".join(f"{i}:{value:.6g}" for i, value in enumerate(context.tolist()))
        state.shared = f"shared |s {pairs}"

    def predict(self, state: Any) -> Any:
        """The probabilities of all actions."""
        q = np.array(state.workspace.predict([state.shared, *self.actions]))
        return SimpleNamespace(q=q / q.sum())

    def commit(self, state: Any, prediction: Any, arm: int) -> Any:
        """Keep what the action was drawn with; learn what the window says of an old play."""
        state.round += 1
        play = SimpleNamespace(
            shared=state.shared, q=float(prediction.q[arm]), arm=arm, round=state.round, known=False
        )
        if self.window is not None:
            state.waiting.append(play)
            while state.waiting and state.waiting[0].round + self.window <= state.round:
                old = state.waiting.popleft()
                if not old.known:
                    self.learn(state, old, 1.0)
        return [play]

    def observe(self, state: Any, play: Any, arm: int, loss: float, missing: int) -> None:
        """Learn a loss that has arrived, unless it came too late."""
        if not play.known:
            self.learn(state, play, loss)

    def learn(self, state: Any, play: Any, loss: float) -> None:
        """Learn the cost of a play, once."""
        play.known = True
        lines = [play.shared, *self.actions]
        lines[1 + play.arm] = f"0:{loss}:{play.q} {lines[1 + play.arm]}"
        state.workspace.learn(lines)
