"""Exp3-Coop with a single agent (Cesa-Bianchi, Gentile, Mansour and Minora 2016), for one delay d.

These are exponential weights that use the loss of round t in round t + d, at a rate so low that the
weights hardly change in between. A loss that arrives earlier is delayed until then, as if every
delay were d.
"""

import math
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from belated.arrays import Counts, Floats
from belated.compiled.kernels import compiled
from belated.learners.contract import Facts, Learner, Prediction, Verbs
from belated.numerics.exponential_weights import weigh_exponentially
from belated.types import Covers, Need, Origin, Setting


class CoopExp3State(NamedTuple):
    """State of Exp3-Coop: losses is the sum of the loss estimates used so far, by arm.

    The loss of round s is held at index s modulo d + 1: `held` has its estimate and `held_arms` its
    arm, or -1 if no loss is held there.
    """

    losses: Floats
    held: Floats
    held_arms: Counts
    eta: Floats
    round: Counts


@compiled
def predict(state: CoopExp3State, prediction: Prediction) -> None:
    """Fill in q_t(i), in proportion to q_{t-1}(i) exp(-eta lhat(i)), from the sum of all lhat."""
    prediction.eta[0] = state.eta[0]
    weigh_exponentially(state.losses, state.eta[0], prediction.q)


@compiled
def commit(state: CoopExp3State, prediction: Prediction, arm: int, plays: Floats) -> None:
    """Freeze q_t(i_t) and t; at the end of the round use the loss held from round t - d."""
    plays[0, 0] = prediction.q[arm]
    plays[0, 1] = state.round[0]
    state.round[0] += 1
    due = state.round[0] % state.held.shape[0]  # t - d and t + 1 have the same index
    if state.held_arms[due] >= 0:
        state.losses[state.held_arms[due]] += state.held[due]
        state.held_arms[due] = -1


@compiled
def withdraw(state: CoopExp3State, play: Floats, arm: int) -> None:
    """Do nothing: this learner keeps no record of the plays that are outstanding."""


@compiled
def observe(state: CoopExp3State, play: Floats, arm: int, loss: float, missing: int) -> None:
    """Hold l / q_s until the end of round s + d, or use it now if that round is already over."""
    made = int(play[1])
    if state.round[0] - 1 >= made + state.held.shape[0] - 1:
        state.losses[arm] += loss / play[0]
        return
    place = made % state.held.shape[0]
    state.held[place] = loss / play[0]
    state.held_arms[place] = arm


@dataclass(frozen=True)
class CoopExp3(Learner):
    """Exp3-Coop for one agent, with the rate that minimises its regret bound."""

    horizon: int = 1
    max_delay: int = 0

    name: ClassVar[str] = "coop-exp3"
    setting: ClassVar[Setting] = Setting.CONCEALED
    needs: ClassVar[tuple[Need, ...]] = (Need.HORIZON, Need.MAX_DELAY)
    guarantee: ClassVar[str] = (
        "expected regret at most 2d + ln K/eta + eta T (Ke/(2 - 2/e) + 3(d + 1)), of order "
        "sqrt((K + d) T ln K), if every loss comes within d rounds"
    )
    covers: ClassVar[Covers] = Covers.ANY  # the learner makes all delays equal
    origin: ClassVar[Origin] = Origin.READ
    source: ClassVar[str] = "Cesa-Bianchi et al. 2016, Theorem 3, read; its rate rewritten"
    state: ClassVar[type] = CoopExp3State
    verbs: ClassVar[Verbs] = Verbs(predict, commit, withdraw, observe)

    def __post_init__(self) -> None:
        super().__post_init__()
        self._check_count("horizon", 1)
        self._check_count("max_delay", 0)

    @property
    def cost(self) -> float:
        """The factor of eta T in the regret bound: Ke/(2 - 2/e) + 3(d + 1)."""
        return self.arms * math.e / (2.0 - 2.0 / math.e) + 3.0 * (self.max_delay + 1)

    @property
    def eta(self) -> float:
        """The rate that minimises the bound, at most 1/(Ke(d + 1)), up to which the bound holds."""
        best = math.sqrt(math.log(self.arms) / (self.horizon * self.cost))
        return min(best, 1.0 / (self.arms * math.e * (self.max_delay + 1)))

    def start(self) -> CoopExp3State:
        return CoopExp3State(
            losses=np.zeros(self.arms),
            held=np.zeros(self.max_delay + 1),
            held_arms=np.full(self.max_delay + 1, -1, dtype=np.int64),
            eta=np.full(1, self.eta),
            round=np.ones(1, dtype=np.int64),
        )

    def blank(self) -> Prediction:
        return Prediction.blank(self.arms, eta=1)

    def bound(self, facts: Facts) -> float | None:
        if facts.longest_wait > self.max_delay:
            return None
        logs = 0.0 if self.arms == 1 else math.log(self.arms) / self.eta
        return 2.0 * self.max_delay + logs + self.eta * facts.rounds * self.cost
