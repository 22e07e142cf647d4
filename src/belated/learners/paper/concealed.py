"""The concealed bandit (section "Concealed bandit setting", th:concealed).

A Tsallis regularizer controls the variance of the estimates, and an entropy the cost of delay. The
rate of the entropy depends on the learner's own plays that were still outstanding when the same arm
was played again: this is all that the learner can observe of the delays. In the paper it also rests
on a promise, max_missing; the repaired variant needs none (Proposition 2 of
docs/beyond-the-paper.md).
"""

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np

from belated.arrays import Counts, Floats
from belated.checks import MOST_ROUNDS, as_count
from belated.compiled.dispatch import NO_ARM
from belated.compiled.kernels import compiled, compiled_apart
from belated.learners.contract import PaperLearner, Prediction, SolverInfo, Verbs
from belated.learners.new_arms import with_entrants
from belated.learners.paper.skipping import (
    SkippablePlays,
    check_slots,
    end_play,
    no_plays,
    put_in,
    skip_costly_plays,
    skips,
    waiting_after_skips,
    with_free_slots,
)
from belated.learners.states import ArmCounts, ArmFloats, FreshFloats
from belated.numerics.exact_sums import add_exactly
from belated.solvers.concealed import WORK, solve_concealed
from belated.solvers.concealed_safe import solve_concealed_safely
from belated.types import Need, Setting

DIVISOR, WEIGHT = range(2)  # the columns of a play; with skipping, its slot is in the second
FIRST_ROOM = 1  # for outstanding plays, with skipping; `reserved` makes more
GammaWeight = Literal["q", "q+eps"]
GammaBound = Literal["max_missing", "waiting"]


# Parts that states saved before format version 5 lack, and one that they have.
ADDED_IN_VERSION_5 = ("most_waiting", "last_arm", "bound_by_promise", "skippable")
OLDER_PART = "weight_with_epsilon"


class ConcealedState(NamedTuple):
    """The state of the concealed bandit.

    `losses` is Lhat^av, and `waiting` is the sum of the weights of each arm's outstanding plays. It
    has two rows, a sum and its rounding error: weights of very different size are added and
    subtracted, and their difference must stay exact. `overlap` is the double sum of
    eq:censoredgamma, and `dual` the warm start of the solver. `most_waiting` is the largest sum in
    `waiting` at the start of any round played so far, W_t of Proposition 2, and `last_arm` the arm
    played last. `skippable` has the plays that may be skipped; those that are do not wait.
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
    most_waiting: Floats
    last_arm: Counts
    bound_by_promise: Counts
    skippable: SkippablePlays


def added_in_version_5(names: Collection[str]) -> dict[str, str]:
    """Return which parts of a state version 5 added, each with an older part beside it."""
    beside = {name.removesuffix(OLDER_PART): name for name in names if name.endswith(OLDER_PART)}
    return {
        name: older
        for name in names
        for above, older in beside.items()
        if name.startswith(above) and name[len(above) :].partition(".")[0] in ADDED_IN_VERSION_5
    }


class ConcealedInfo(NamedTuple):
    """How the solver found the weights, and what the entropy's rate rests on.

    dual has the solver's multipliers, passes its passes over the arms, and work its working space.
    overlap is the double sum of eq:censoredgamma over the rounds before; `commit` adds this round's
    part to it, and it is Z_t of Theorem 9. most_waiting is W_t of Proposition 2, and skipped counts
    the plays skipped in the rounds up to this one.
    """

    dual: Floats
    passes: Counts
    work: Floats
    overlap: Floats
    most_waiting: Floats
    skipped: Counts

    @classmethod
    def blank(cls, arms: int) -> "ConcealedInfo":
        """Make an empty record for this number of arms."""
        solver = SolverInfo.blank(arms, dual=1 + arms, work=WORK)
        skipped = np.zeros(1, dtype=np.int64)
        return cls(*solver, overlap=np.zeros(1), most_waiting=np.zeros(1), skipped=skipped)


@compiled
def epsilon_now(state: ConcealedState) -> float:
    """Return epsilon_t = 1/sqrt(t) of th:concealed, or 1/sqrt(K t) in the repaired variant."""
    return 1.0 / math.sqrt(state.exploration[0] * state.round[0])


@compiled
def most_waiting_now(state: ConcealedState) -> float:
    """Return W_t of Proposition 2: the most that one arm's outstanding plays have ever weighed.

    It is taken over the starts of all rounds up to this one. An arm's plays weigh more only when it
    is played, so that only the arm played last can exceed the maximum of the earlier rounds.
    """
    most, last = state.most_waiting[0], state.last_arm[0]
    if last < 0:
        return float(most)
    if skips(state.skippable):
        left = waiting_after_skips(state.skippable, state.waiting, last, state.overlap[0])
        return float(max(most, left))
    return float(max(most, state.waiting[0, last] + state.waiting[1, last]))


@compiled
def entropy_rate(state: ConcealedState) -> float:
    """Return the rate of the entropy, eq:censoredgamma, or that of Proposition 2.

    While no loss can be missing it is infinite, which means that there is no entropy.
    """
    if state.bound_by_promise[0] == 1:
        cost = state.max_missing[0] / epsilon_now(state) + state.overlap[0]
    else:
        cost = most_waiting_now(state) + state.overlap[0]
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
    fill_rates(state, prediction, info)
    info.passes[0] = solve_concealed(
        state.losses,
        prediction.eta[0],
        prediction.gamma[0],
        state.dual,
        prediction.q,
        info.dual,
        info.work,
    )


@compiled
def fill_rates(state: ConcealedState, prediction: Prediction, info: ConcealedInfo) -> None:
    """Compute the rates eta_t = 1/(2 sqrt(t)) and gamma_t, and what the latter rests on."""
    prediction.eta[0] = 0.5 / math.sqrt(state.round[0])
    prediction.gamma[0] = entropy_rate(state)
    info.overlap[0] = state.overlap[0]
    info.most_waiting[0] = most_waiting_now(state)


@compiled_apart
def predict_safely(state: ConcealedState, prediction: Prediction, info: ConcealedInfo) -> None:
    """Compute the weights and rates by the safe solver, which is slower and quickly compiled.

    This is for a learner that seldom needs it; `info` is a part of that learner's info.
    """
    fill_rates(state, prediction, info)
    info.dual[0], info.passes[0] = solve_concealed_safely(
        state.losses, prediction.eta[0], prediction.gamma[0], state.dual[0], prediction.q
    )


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
    info.skipped[0] = state.skippable.skipped[0]
    for i in range(state.dual.shape[0]):
        state.dual[i] = info.dual[i]


@compiled
def commit_play(state: ConcealedState, q: float, arm: int, plays: Floats) -> None:
    """Freeze the play of an arm that had the probability q, and count it as outstanding."""
    plays[0, DIVISOR] = q + epsilon_now(state)
    weight = 1.0 / plays[0, DIVISOR] if state.weight_with_epsilon[0] == 1 else 1.0 / q
    plays[0, WEIGHT] = weight
    state.most_waiting[0] = most_waiting_now(state)
    if skips(state.skippable):
        if state.last_arm[0] >= 0:
            last = state.last_arm[0]
            skip_costly_plays(state.skippable, state.waiting, last, state.overlap[0])
        plays[0, WEIGHT] = put_in(state.skippable, arm, state.round[0], weight)
    state.last_arm[0] = arm
    state.overlap[0] += state.waiting[0, arm] + state.waiting[1, arm]
    add_exactly(state.waiting, arm, weight)
    state.outstanding[arm] += 1
    state.round[0] += 1


@compiled
def withdraw(state: ConcealedState, play: Floats, arm: int) -> None:
    """Remove a play of an arm from its outstanding plays."""
    end(state, play, arm)


@compiled
def end(state: ConcealedState, play: Floats, arm: int) -> bool:
    """Remove a play of an arm from its outstanding plays; returns whether its loss counts."""
    state.outstanding[arm] -= 1
    if skips(state.skippable):
        return end_play(state.skippable, state.waiting, arm, int(play[WEIGHT]))
    add_exactly(state.waiting, arm, -play[WEIGHT])
    if state.outstanding[arm] == 0:
        state.waiting[:, arm] = 0.0
    return True


@compiled
def observe(state: ConcealedState, play: Floats, arm: int, loss: float, missing: int) -> None:
    """Add ltil_s = l / (q_s + epsilon_s) to Lhat^av; there are no corrections (th:concealed)."""
    if end(state, play, arm):
        state.losses[arm] += loss / play[DIVISOR]


@dataclass(frozen=True)
class Concealed(PaperLearner):
    """The paper's concealed bandit; `variant="repaired"` needs no promise and explores less.

    Implicit exploration costs K epsilon_t a round, not epsilon_t, so th:concealed fails for many
    arms; the repair takes epsilon_t = 1/sqrt(K t). `gamma_weight` chooses the weights in
    eq:censoredgamma: 1/q as the paper writes, or 1/(q + epsilon) as its proof needs. `gamma_bound`
    chooses what bounds the cost of the coming play there: "max_missing", the promise that the paper
    asks for. Or it is "waiting", the largest cost seen so far, with which the repaired variant does
    without a promise (Proposition 2); max_missing is then only watched. With `skipping` the
    repaired variant ignores plays that have cost too much by being outstanding (Theorem 9).
    """

    max_missing: int | None = None
    gamma_weight: GammaWeight | None = None
    gamma_bound: GammaBound | None = None
    skipping: bool = False

    name: ClassVar[str] = "concealed"
    setting: ClassVar[Setting] = Setting.CONCEALED
    needs: ClassVar[tuple[Need, ...]] = (Need.MAX_MISSING,)
    guarantee: ClassVar[str] = (
        "expected regret at most 9 sqrt(KT) + 3 sqrt(ln K E sum_t <q_t,rho_t>) + max_missing/2 "
        "(Theorem 3 of the paper; fails with thousands of arms, where variant='repaired' has a "
        "similar bound that needs no max_missing)"
    )
    can_change_arms: ClassVar[bool] = True
    state: ClassVar[type] = ConcealedState
    verbs: ClassVar[Verbs] = Verbs(predict, commit, withdraw, observe)

    def __post_init__(self) -> None:
        super().__post_init__()
        paper = self.variant == "paper"
        self._choose("gamma_weight", ("q", "q+eps"), default="q" if paper else "q+eps")
        bounds = ("max_missing", "waiting")
        self._choose("gamma_bound", bounds, default="max_missing" if paper else "waiting")
        if not isinstance(self.skipping, bool):
            raise ValueError(f"skipping is {self.skipping!r}; it must be True or False")
        if self.skipping and (paper or self.rests_on_promise or self.gamma_weight == "q"):
            raise ValueError(
                "skipping is True; it must be False unless variant is 'repaired' with its own "
                "gamma_weight and gamma_bound"
            )
        most = 0 if self.max_missing is None and self.rests_on_promise else self.max_missing
        if most is not None:
            most = as_count(most, "max_missing", 0, MOST_ROUNDS)
        object.__setattr__(self, "max_missing", most)

    def _choose(self, option: str, choices: tuple[str, str], default: str) -> None:
        """Fill in the default of an option, or make sure that its value is one of the choices."""
        value = getattr(self, option)
        if value is None:
            object.__setattr__(self, option, default)
        elif value not in choices:
            raise ValueError(f"{option} is {value!r}; it must be {' or '.join(map(repr, choices))}")

    @property
    def rests_on_promise(self) -> bool:
        """Whether the rate of the entropy, and so the guarantee, rests on max_missing."""
        return self.gamma_bound == "max_missing"

    @classmethod
    def needs_with(cls, options: Mapping[str, Any]) -> tuple[Need, ...]:
        paper = options.get("variant", "paper") == "paper"
        bound = options.get("gamma_bound") or ("max_missing" if paper else "waiting")
        return cls.needs if bound == "max_missing" else ()

    def start(self) -> ConcealedState:
        most = MOST_ROUNDS if self.max_missing is None else self.max_missing
        return ConcealedState(
            losses=np.zeros(self.arms),
            outstanding=np.zeros(self.arms, dtype=np.int64),
            waiting=np.zeros((2, self.arms)),
            overlap=np.zeros(1),
            max_missing=np.full(1, most, dtype=np.int64),
            round=np.ones(1, dtype=np.int64),
            dual=np.full(1 + self.arms, np.inf),
            exploration=np.full(1, 1.0 if self.variant == "paper" else float(self.arms)),
            weight_with_epsilon=np.full(1, int(self.gamma_weight == "q+eps"), dtype=np.int64),
            most_waiting=np.zeros(1),
            last_arm=np.full(1, NO_ARM, dtype=np.int64),
            bound_by_promise=np.full(1, int(self.rests_on_promise), dtype=np.int64),
            skippable=no_plays(self.arms, room=FIRST_ROOM if self.skipping else 0),
        )

    def reserved(self, state: ConcealedState, rounds: int) -> ConcealedState:
        if not self.skipping or state.skippable.free[0] >= rounds:
            return state
        return state._replace(skippable=with_free_slots(state.skippable, rounds))

    def check_saved(self, state: ConcealedState, plays: Iterable[Sequence[float]]) -> None:
        if not NO_ARM <= state.last_arm[0] < self.arms:
            raise ValueError(f"the arm played last is {state.last_arm[0]}; there is no such arm")
        if self.skipping:
            check_slots(state.skippable, [play[WEIGHT] for play in plays])

    def with_arms(self, state: ConcealedState, kept: Sequence[int], added: int) -> ConcealedState:
        # The arm played last has its new place before a prediction is made from the state.
        last = int(state.last_arm[0])
        place = list(kept).index(last) if last in kept else NO_ARM
        moved = state._replace(last_arm=np.full(1, place, dtype=np.int64))
        entered: ConcealedState = with_entrants(self, moved, kept, added)
        return entered

    def blank(self) -> Prediction:
        return Prediction.blank(self.arms, eta=1, gamma=1, info=ConcealedInfo.blank(self.arms))
