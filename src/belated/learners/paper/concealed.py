"""The concealed bandit (section "Concealed bandit setting", th:concealed).

A Tsallis regularizer controls the variance of the estimates, and an entropy the cost of delay. The
rate of the entropy depends on the learner's own plays that were still outstanding when the same arm
was played again: this is all that the learner can observe of the delays.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal, NamedTuple

import numpy as np

from belated.arrays import Counts, Floats
from belated.checks import MOST_ROUNDS, as_count
from belated.compiled.kernels import compiled
from belated.learners.contract import PaperLearner, Prediction, SolverInfo, Verbs
from belated.learners.new_arms import with_entrants
from belated.learners.states import ArmCounts, ArmFloats, FreshFloats
from belated.numerics.exact_sums import add_exactly
from belated.solvers.concealed import WORK, solve_concealed
from belated.types import Need, Setting

DIVISOR, WEIGHT = range(2)  # the columns of a play
GammaWeight = Literal["q", "q+eps"]


class ConcealedState(NamedTuple):
    """The state of the concealed bandit.

    `losses` is Lhat^av, and `waiting` is the sum of the weights of each arm's outstanding plays. It
    has two rows, a sum and its rounding error: weights of very different size are added and
    subtracted, and their difference must stay exact. `overlap` is the double sum of
    eq:censoredgamma, and `dual` the warm start of the solver.
    """

    losses: ArmFloats
    outstanding: ArmCounts
    waiting: ArmFloats
    overlap: Floats
    max_missing: Counts
    round: Counts
    dual: FreshFloats
    exploration: FreshFloats
    weight_with_epsilon: Counts


class ConcealedInfo(NamedTuple):
    """How the solver found the weights, and the double sum of eq:censoredgamma.

    dual has the solver's multipliers, passes its passes over the arms, and work its working space.
    overlap is that of the rounds before; `commit` adds this round's part to it.
    """

    dual: Floats
    passes: Counts
    work: Floats
    overlap: Floats

    @classmethod
    def blank(cls, arms: int) -> "ConcealedInfo":
        """Make an empty record for this number of arms."""
        return cls(*SolverInfo.blank(arms, dual=1 + arms, work=WORK), overlap=np.zeros(1))


@compiled
def epsilon_now(state: ConcealedState) -> float:
    """Return epsilon_t = 1/sqrt(t) of th:concealed, or 1/sqrt(K t) in the repaired variant."""
    return 1.0 / math.sqrt(state.exploration[0] * state.round[0])


@compiled
def entropy_rate(state: ConcealedState) -> float:
    """Return the rate of the entropy, eq:censoredgamma.

    While no loss can be missing it is infinite, which means that there is no entropy.
    """
    cost = state.max_missing[0] / epsilon_now(state) + state.overlap[0]
    if cost == 0.0:
        return np.inf
    return math.sqrt(math.log(state.losses.shape[0]) / cost)


@compiled
def predict(state: ConcealedState, prediction: Prediction) -> None:
    """Compute q_t, the argmin of eq:frameworkprediction with eta_t = 1/(2 sqrt(t))."""
    predict_with(state, prediction, prediction.info)


@compiled
def predict_with(state: ConcealedState, prediction: Prediction, info: ConcealedInfo) -> None:
    """Compute the weights and rates; `info` may be a part of another learner's info."""
    prediction.eta[0] = 0.5 / math.sqrt(state.round[0])
    prediction.gamma[0] = entropy_rate(state)
    info.passes[0] = solve_concealed(
        state.losses,
        prediction.eta[0],
        prediction.gamma[0],
        state.dual,
        prediction.q,
        info.dual,
        info.work,
    )
    info.overlap[0] = state.overlap[0]


@compiled
def commit(state: ConcealedState, prediction: Prediction, arm: int, plays: Floats) -> None:
    """Play the round: freeze q_t(i_t) + epsilon_t and the play's weight in eq:censoredgamma."""
    commit_with(state, prediction, prediction.info, arm, plays)


@compiled
def commit_with(
    state: ConcealedState, prediction: Prediction, info: ConcealedInfo, arm: int, plays: Floats
) -> None:
    """Play the round; `info` may be a part of another learner's info."""
    commit_play(state, prediction.q[arm], arm, plays)
    info.overlap[0] = state.overlap[0]
    for i in range(state.dual.shape[0]):
        state.dual[i] = info.dual[i]


@compiled
def commit_play(state: ConcealedState, q: float, arm: int, plays: Floats) -> None:
    """Freeze the play of an arm that had the probability q, and count it as outstanding."""
    plays[0, DIVISOR] = q + epsilon_now(state)
    plays[0, WEIGHT] = 1.0 / plays[0, DIVISOR] if state.weight_with_epsilon[0] == 1 else 1.0 / q
    state.overlap[0] += state.waiting[0, arm] + state.waiting[1, arm]
    add_exactly(state.waiting, arm, plays[0, WEIGHT])
    state.outstanding[arm] += 1
    state.round[0] += 1


@compiled
def withdraw(state: ConcealedState, play: Floats, arm: int) -> None:
    """Remove a play of an arm from its outstanding plays."""
    state.outstanding[arm] -= 1
    add_exactly(state.waiting, arm, -play[WEIGHT])
    if state.outstanding[arm] == 0:
        state.waiting[:, arm] = 0.0


@compiled
def observe(state: ConcealedState, play: Floats, arm: int, loss: float, missing: int) -> None:
    """Add ltil_s = l / (q_s + epsilon_s) to Lhat^av; there are no corrections (th:concealed)."""
    withdraw(state, play, arm)
    state.losses[arm] += loss / play[DIVISOR]


@dataclass(frozen=True)
class Concealed(PaperLearner):
    """The paper's concealed bandit; `variant="repaired"` explores less and weighs with epsilon.

    Implicit exploration costs K epsilon_t a round, not epsilon_t, so th:concealed fails for many
    arms; the repair takes epsilon_t = 1/sqrt(K t). `gamma_weight` chooses the weights in
    eq:censoredgamma: 1/q as the paper writes, or 1/(q + epsilon) as its proof needs.
    """

    max_missing: int = 0
    gamma_weight: GammaWeight | None = None

    name: ClassVar[str] = "concealed"
    setting: ClassVar[Setting] = Setting.CONCEALED
    needs: ClassVar[tuple[Need, ...]] = (Need.MAX_MISSING,)
    guarantee: ClassVar[str] = (
        "expected regret at most 9 sqrt(KT) + 3 sqrt(ln K E sum_t <q_t,rho_t>) + max_missing/2 "
        "(th:concealed; fails with thousands of arms, where variant='repaired' has a like bound)"
    )
    can_change_arms: ClassVar[bool] = True
    state: ClassVar[type] = ConcealedState
    verbs: ClassVar[Verbs] = Verbs(predict, commit, withdraw, observe)

    def __post_init__(self) -> None:
        super().__post_init__()
        most = as_count(self.max_missing, "max_missing", 0, MOST_ROUNDS)
        object.__setattr__(self, "max_missing", most)
        if self.gamma_weight is None:
            default = "q" if self.variant == "paper" else "q+eps"
            object.__setattr__(self, "gamma_weight", default)
        if self.gamma_weight not in ("q", "q+eps"):
            raise ValueError(f"gamma_weight is {self.gamma_weight!r}; it must be 'q' or 'q+eps'")

    def start(self) -> ConcealedState:
        return ConcealedState(
            losses=np.zeros(self.arms),
            outstanding=np.zeros(self.arms, dtype=np.int64),
            waiting=np.zeros((2, self.arms)),
            overlap=np.zeros(1),
            max_missing=np.full(1, self.max_missing, dtype=np.int64),
            round=np.ones(1, dtype=np.int64),
            dual=np.full(1 + self.arms, np.inf),
            exploration=np.full(1, 1.0 if self.variant == "paper" else float(self.arms)),
            weight_with_epsilon=np.full(1, int(self.gamma_weight == "q+eps"), dtype=np.int64),
        )

    def with_arms(self, state: ConcealedState, kept: Sequence[int], added: int) -> ConcealedState:
        entered: ConcealedState = with_entrants(self, state, kept, added)
        return entered

    def blank(self) -> Prediction:
        return Prediction.blank(self.arms, eta=1, gamma=1, info=ConcealedInfo.blank(self.arms))
