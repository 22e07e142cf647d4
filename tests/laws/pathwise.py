"""What the proofs of Theorems 6 and 9 say of every round, asserted while a learner plays."""

import math
from typing import Any

import numpy as np

from belated.arrays import Floats
from belated.learners.advice.advice_bandit import AdviceBandit
from belated.learners.contract import Learner
from belated.learners.paper.concealed import Concealed
from belated.learners.paper.skipping import skipped_rounds
from belated.learners.states import copied

ROUNDING = 1e-9


class Pathwise:
    """Checks the rounds of one run; learners that Theorems 6 and 9 are not about pass unseen.

    Each round it is shown the state before it, the prediction after it, the arm and its loss.
    """

    def __init__(self, learner: Learner) -> None:
        self.learner = learner
        self.told_truly = learner.window is None
        self.rate = math.inf
        self.estimates: list[tuple[int, Floats]] = []  # round, and what it adds to the losses
        self.skipped: set[int] = set()

    def before(self, state: Any) -> Any:
        """A copy of the state before a round, if the round will be checked."""
        return copied(state) if isinstance(self.learner, AdviceBandit | Concealed) else None

    def check(self, state: Any, prediction: Any, arm: int, loss: float) -> None:
        """Check the round that was played from a state."""
        if isinstance(self.learner, AdviceBandit):
            self._theorem_6(state, prediction, arm, loss)
        elif isinstance(self.learner, Concealed) and not self.learner.rests_on_promise:
            self._theorem_9(state, prediction, arm, loss)

    def _never_rises(self, gamma: float) -> None:
        assert gamma <= self.rate
        self.rate = gamma

    def _all_losses(self, round_: int, new: Floats) -> Floats:
        """Lhat_t: the estimates of all rounds so far, arrived or not, but for skipped plays."""
        self.estimates.append((round_, new))
        return np.sum([each for s, each in self.estimates if s not in self.skipped], axis=0)

    def _theorem_6(self, state: Any, prediction: Any, arm: int, loss: float) -> None:
        """v + z is bounded before the draw, and the drift is at most gamma (v + z)."""
        info, t, arms = prediction.info, int(state.round[0]), self.learner.arms
        gamma, cost = float(prediction.gamma[0]), float(info.all_spent[0] - info.spent[0])
        self._never_rises(gamma)
        assert cost <= math.sqrt(arms * t) / 4.0 + info.most_waiting[0] + ROUNDING
        new = state.advice[:, arm] / (prediction.q[arm] + 1.0 / math.sqrt(arms * t)) * loss
        exponents = state.log_prior - gamma * self._all_losses(t, new)
        later = np.exp(exponents - exponents.max())
        drift = (info.weights - later / later.sum()) @ new
        assert not self.told_truly or drift <= gamma * cost + ROUNDING

    def _theorem_9(self, state: Any, prediction: Any, arm: int, loss: float) -> None:
        """The drift is at most the right-hand side of lem:drift; few plays are skipped."""
        info, t, arms = prediction.info, int(state.round[0]), self.learner.arms
        if arms == 1:
            return
        gamma, q = float(prediction.gamma[0]), float(prediction.q[arm])
        self._never_rises(gamma)
        skipping = getattr(self.learner, "skipping", False)
        self.skipped |= skipped_rounds(state.skippable) if skipping else set()
        most = 2.0 * math.sqrt(math.log(arms) * info.overlap[0]) if skipping else 0.0
        assert info.skipped[0] <= most
        new = np.zeros(arms)
        new[arm] = loss / (q + 1.0 / math.sqrt(arms * t))
        everything = self._all_losses(t, new)
        missing = everything[arm] - state.losses[arm]
        state.losses[:] = everything
        drift = (q - float(self.learner.predict(state).q[arm])) * new[arm]
        hessian = 0.25 / prediction.eta[0] / q**1.5 + 1.0 / (gamma * q)
        assert not self.told_truly or drift <= new[arm] * missing / hessian + ROUNDING
