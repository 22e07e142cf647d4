"""The concealed bandit (section "Concealed bandit setting", th:concealed).

Tsallis regularizer for the bandit's variance, entropy for the delay. The entropy's rate follows the
learner's own plays that were still unanswered when the same arm was played again: the one trace of
the delays that it can see.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal, NamedTuple, Protocol

import numpy as np

from belated.arrays import Counts, Floats
from belated.checks import MOST_ROUNDS, as_count
from belated.compiled.jit import compiled
from belated.learners.contract import PaperLearner, Prediction, Verbs, fill_p
from belated.learners.new_arms import with_entrants
from belated.numerics.exact_sums import add_exactly
from belated.solvers.concealed import WORK, solve_concealed
from belated.types import Need, Setting

GammaWeight = Literal["q", "q+eps"]


class Concealing(Protocol):
    """The parts of a state that the concealed bandit's verbs work on; others may have more."""

    @property
    def losses(self) -> Floats: ...

    @property
    def outstanding(self) -> Counts: ...

    @property
    def waiting(self) -> Floats: ...

    @property
    def overlap(self) -> Floats: ...

    @property
    def max_missing(self) -> Counts: ...

    @property
    def round(self) -> Counts: ...

    @property
    def dual(self) -> Floats: ...

    @property
    def exploration(self) -> Floats: ...

    @property
    def weight_with_epsilon(self) -> Counts: ...


class ConcealedState(NamedTuple):
    """losses is Lhat^av; waiting is the sum of the weights of each arm's outstanding plays.

    `waiting` has two rows, a sum and what its rounding lost: weights of very different size come
    and go, and their difference must stay exact. `overlap` is the double sum of eq:censoredgamma.
    """

    losses: Floats
    outstanding: Counts
    waiting: Floats
    overlap: Floats
    max_missing: Counts
    round: Counts
    dual: Floats
    exploration: Floats
    weight_with_epsilon: Counts


@compiled
def epsilon_now(state: Concealing) -> float:
    """epsilon_t = 1/sqrt(t) of th:concealed; 1/sqrt(K t) when repaired."""
    return 1.0 / math.sqrt(state.exploration[0] * state.round[0])


@compiled
def entropy_rate(state: Concealing) -> float:
    """eq:censoredgamma; infinite, which is no entropy at all, while nothing can be missing."""
    cost = state.max_missing[0] / epsilon_now(state) + state.overlap[0]
    if cost == 0.0:
        return np.inf
    return math.sqrt(math.log(state.losses.shape[0]) / cost)


@compiled
def predict(state: Concealing, prediction: Prediction) -> None:
    """q_t, the argmin of eq:frameworkprediction with eta_t = 1/(2 sqrt(t))."""
    prediction.eta[0] = 0.5 / math.sqrt(state.round[0])
    prediction.gamma[0] = entropy_rate(state)
    prediction.passes[0] = solve_concealed(
        state.losses,
        prediction.eta[0],
        prediction.gamma[0],
        state.dual,
        prediction.q,
        prediction.dual,
        prediction.work,
    )
    fill_p(prediction)


@compiled
def commit(state: Concealing, prediction: Prediction, arm: int, plays: Floats) -> None:
    """Freeze q_t(i_t) + epsilon_t and the play's weight in eq:censoredgamma; it is outstanding."""
    commit_play(state, prediction.q[arm], arm, plays)
    for i in range(state.dual.shape[0]):
        state.dual[i] = prediction.dual[i]


@compiled
def commit_play(state: Concealing, q: float, arm: int, plays: Floats) -> None:
    """The same without the dual."""
    plays[0, 0] = q + epsilon_now(state)
    plays[0, 1] = 1.0 / plays[0, 0] if state.weight_with_epsilon[0] == 1 else 1.0 / q
    state.overlap[0] += state.waiting[0, arm] + state.waiting[1, arm]
    add_exactly(state.waiting, arm, plays[0, 1])
    state.outstanding[arm] += 1
    state.round[0] += 1


@compiled
def withdraw(state: Concealing, play: Floats, arm: int) -> None:
    """The play is no longer outstanding."""
    state.outstanding[arm] -= 1
    add_exactly(state.waiting, arm, -play[1])
    if state.outstanding[arm] == 0:
        state.waiting[:, arm] = 0.0


@compiled
def observe(state: Concealing, play: Floats, arm: int, loss: float, missing: int) -> None:
    """Add ltil_s = l / (q_s + epsilon_s); there are no corrections (th:concealed)."""
    withdraw(state, play, arm)
    state.losses[arm] += loss / play[0]


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
    by_arm: ClassVar[tuple[str, ...]] = ("losses", "outstanding", "waiting")
    by_number: ClassVar[tuple[str, ...]] = ("dual", "exploration")
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

    def overlap(self, state: ConcealedState) -> float:
        return float(state.overlap[0])

    def blank(self) -> Prediction:
        return Prediction.blank(self.arms, eta=1, gamma=1, dual=1 + self.arms, work=WORK)
