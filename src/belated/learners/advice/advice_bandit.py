"""Policies in the concealed setting (Theorem 6 of docs/beyond-the-paper.md).

Exponential weights over policies, on estimates that divide a loss by the probability of its play.
The rate is set by what the learner has seen of its own plays: how much their estimates vary, and
how much weight of each policy was outstanding when it played.
"""

import math
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from belated.arrays import Counts, Floats
from belated.compiled.kernels import compiled
from belated.learners.advice.policies import OverPolicies, mix
from belated.learners.contract import Prediction, Verbs
from belated.numerics.exact_sums import add_exactly
from belated.numerics.exponential_weights import weigh_exponentially
from belated.types import Setting


class AdviceBanditState(NamedTuple):
    """The advice of the coming round, by policy and arm, and what is known of the policies.

    losses is Lhat(n). waiting is w_t(n), the weights b_s(n) of all outstanding plays, as a sum and
    its rounding error; outstanding is the number of these plays. most_waiting is the largest w of
    any policy at the start of a round played so far, and spent the sum of v_s + z_s.
    """

    advice: Floats
    losses: Floats
    log_prior: Floats
    waiting: Floats
    outstanding: Counts
    most_waiting: Floats
    spent: Floats
    round: Counts


class AdviceBanditInfo(NamedTuple):
    """The weights of the policies and what they rest on.

    weights is p_t(n), waiting is w_t(n), most_waiting is W_t and spent the sum of v_s + z_s over
    the rounds before. `commit` fills in all_spent, this sum with the round itself. exponents is
    working space.
    """

    weights: Floats
    waiting: Floats
    most_waiting: Floats
    spent: Floats
    all_spent: Floats
    exponents: Floats


@compiled
def rate_now(arms: int, policies: int, round_: int, most_waiting: float, spent: float) -> float:
    """Return gamma_t = sqrt(ln N / (sqrt(K t)/4 + W_t + sum_{s<t} (v_s + z_s))) of Theorem 6."""
    root = math.sqrt(float(arms * round_))
    return math.sqrt(math.log(policies) / (0.25 * root + most_waiting + spent))


@compiled
def predict(state: AdviceBanditState, prediction: Prediction) -> None:
    """Compute p_t(n), in proportion to pi(n) exp(-gamma_t Lhat(n)), and the mixture q_t."""
    info, advice, size = prediction.info, state.advice, state.losses.shape[0]
    most = state.most_waiting[0]
    for n in range(size):
        info.waiting[n] = state.waiting[0, n] + state.waiting[1, n]
        most = max(most, info.waiting[n])
    gamma = rate_now(advice.shape[1], size, state.round[0], most, state.spent[0])
    for n in range(size):
        info.exponents[n] = gamma * state.losses[n] - state.log_prior[n]
    weigh_exponentially(info.exponents, 1.0, info.weights)
    mix(info.weights, advice, prediction.q)
    prediction.gamma[0] = gamma
    info.most_waiting[0] = most
    info.spent[0] = state.spent[0]


@compiled
def commit(state: AdviceBanditState, prediction: Prediction, arm: int, plays: Floats) -> None:
    """Freeze b_t(n) = xi_t(n, i_t) / (q_t(i_t) + epsilon_t), with epsilon_t = 1/sqrt(K t).

    v_t + z_t = sum_n p_t(n) b_t(n) (b_t(n) + w_t(n)) is added to what was spent.
    """
    info, advice = prediction.info, state.advice
    root = math.sqrt(float(advice.shape[1] * state.round[0]))
    share, spent = 1.0 / (prediction.q[arm] + 1.0 / root), 0.0
    for n in range(advice.shape[0]):
        weight = advice[n, arm] * share
        plays[0, n] = weight
        spent += info.weights[n] * weight * (weight + info.waiting[n])
        add_exactly(state.waiting, n, weight)
    state.most_waiting[0] = info.most_waiting[0]
    state.spent[0] += spent
    info.all_spent[0] = state.spent[0]
    state.outstanding[0] += 1
    state.round[0] += 1


@compiled
def withdraw(state: AdviceBanditState, play: Floats, arm: int) -> None:
    """Take a play out of the weights that wait; where no play is outstanding they are zero."""
    state.outstanding[0] -= 1
    for n in range(state.losses.shape[0]):
        add_exactly(state.waiting, n, -play[n])
    if state.outstanding[0] == 0:
        state.waiting[:, :] = 0.0


@compiled
def observe(state: AdviceBanditState, play: Floats, arm: int, loss: float, missing: int) -> None:
    """Add b_s(n) l to Lhat(n), with the weights of the round of the play."""
    withdraw(state, play, arm)
    for n in range(state.losses.shape[0]):
        state.losses[n] += play[n] * loss


@dataclass(frozen=True)
class AdviceBandit(OverPolicies):
    """Weighs policies that give advice, and is told the losses of the arms that it plays."""

    name: ClassVar[str] = "advice-bandit"
    setting: ClassVar[Setting] = Setting.CONCEALED
    guarantee: ClassVar[str] = (
        "expected regret against every policy at most 2 sqrt(KT) + 3 sqrt(ln N (sum_t S_t + A_T)) "
        "+ E sqrt(ln N (sqrt(KT)/4 + W_T)), S_t = sum_i max_n xi_t(n,i) <= min(K, N), with an even "
        "prior (Theorem 6)"
    )
    source: ClassVar[str] = "ours: Theorem 6 of docs/beyond-the-paper.md"
    state: ClassVar[type] = AdviceBanditState
    verbs: ClassVar[Verbs] = Verbs(predict, commit, withdraw, observe)

    @property
    def row_width(self) -> int:
        return self.size

    def start(self) -> AdviceBanditState:
        return AdviceBanditState(
            advice=self.first_advice(),
            losses=np.zeros(self.size),
            log_prior=np.log(np.array(self.prior)),
            waiting=np.zeros((2, self.size)),
            outstanding=np.zeros(1, dtype=np.int64),
            most_waiting=np.zeros(1),
            spent=np.zeros(1),
            round=np.ones(1, dtype=np.int64),
        )

    def blank(self) -> Prediction:
        size = self.size
        info = AdviceBanditInfo(
            weights=np.zeros(size),
            waiting=np.zeros(size),
            most_waiting=np.zeros(1),
            spent=np.zeros(1),
            all_spent=np.zeros(1),
            exponents=np.zeros(size),
        )
        return Prediction.blank(self.arms, gamma=1, info=info)
