"""The practical bandit: missing losses are imputed, and the rates are those without delays.

Algorithm 1 predicts from Lhat^av + h_t. Here the hint h_t takes the place of the whole sum: it
stands for the losses that have arrived and for those that the learner has not seen, which are
those of pending plays and those of arms that were not played. It is t times an index of each
arm: an estimate of the arm's mean loss (`mean_loss`), lowered by its uncertainty. The losses of
pending plays are imputed by how long they have been pending (`delay_bias`). While imputed losses
predict worse than the mean over all arms (`trust`), the hint is not used. Rounds without the hint
are played by a repaired concealed bandit, the fallback, which sees no other rounds: they are its
first, second and so on, its Lhat^av has their losses alone, and its max_missing is the largest
number of plays of one arm that it ever had outstanding.

The order of a round: `predict` computes q_t from the indices. `commit` freezes the expected loss of
the play; then it updates the common shift, and computes the forecasts and the index of the arm
again or, in some rounds, those of all arms. A loss that arrives later scores the forecasts of that
moment, and the index of its arm is computed again. A test has the same learner written from the
records of the game, without any running sums.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from belated.arrays import Counts, Floats
from belated.checks import as_number
from belated.compiled.kernels import compiled
from belated.learners.branches import TAKEN, free_choice, take_branch
from belated.learners.contract import Learner, Prediction, Verbs
from belated.learners.paper import concealed
from belated.learners.paper.concealed import DIVISOR, WEIGHT, ConcealedInfo, ConcealedState
from belated.learners.practical import delay_bias, mean_loss
from belated.learners.practical.common_shift import settle, shift_now
from belated.learners.practical.delay_bias import DelayBias, bias_of, no_bias, power_of
from belated.learners.practical.mean_loss import (
    SLOW,
    MeanLoss,
    add_loss,
    decay_since_refresh,
    expected_loss,
    mixed_estimate,
    nothing_known,
    score,
    set_forecast,
    set_weights,
)
from belated.learners.practical.pending_plays import (
    PendingPlays,
    add_pending,
    mean_age,
    none_pending,
    recent_count,
    remove_pending,
)
from belated.learners.practical.trust import Trust, full_trust, is_trusted, score_forecasts
from belated.learners.states import ArmFloats, FreshFloats
from belated.solvers.tsallis import solve_tsallis
from belated.types import Covers, Setting

UNSEEN_RISE = 0.5  # the part of a rise of the common shift that an arm not played may lack
MOST = 1e9  # the largest value of an option; with larger ones products would overflow
EXPLORATION_FALL = -5.0 / 6.0  # the share of exploration is this power of the round
MOST_EXPLORATION = 0.5
ROUND, EXPECTED, OVERALL = range(2, 5)  # the columns of a play after those of the fallback's
WITH_HINT, BY_FALLBACK = range(2)  # the branches: how a round is played


class PracticalBanditOptions(NamedTuple):
    """The learner's options; uses_bias is 1 if pending plays are imputed by their age."""

    rate: Floats
    width: Floats
    checks: Floats
    patience: Floats
    uses_bias: Floats


class PracticalBanditState(NamedTuple):
    """The state of the practical bandit: the fallback, the estimates, and the parts of the hint.

    indices is h_t/t, the index of each arm, and shift_met the common shift as it was when the arm
    was last played. exploration is the share of rounds that explore, and multiplier the warm start
    of the solver.
    """

    fallback: ConcealedState
    round: Counts
    pending: PendingPlays
    means: MeanLoss
    indices: ArmFloats
    shift_met: ArmFloats
    bias: DelayBias
    trust: Trust
    exploration: Floats
    multiplier: FreshFloats
    options: PracticalBanditOptions


class PracticalBanditInfo(NamedTuple):
    """The multiplier and the passes of the solver, and the info of the fallback in its rounds.

    branch says which of the two plays the round (see `belated.learners.branches`).
    """

    multiplier: Floats
    passes: Counts
    fallback: ConcealedInfo
    branch: Counts


@compiled
def has_hint(state: PracticalBanditState) -> bool:
    """Whether the coming round is played with the hint, instead of by the fallback."""
    return is_trusted(state.trust, state.round[0], state.options.patience[0])


@compiled
def predict(state: PracticalBanditState, prediction: Prediction) -> None:
    """Fill q_t = argmin <q, h_t> - (1/eta_t) sum sqrt(q); without trust, that of th:concealed."""
    info = prediction.info
    own = WITH_HINT if has_hint(state) else BY_FALLBACK
    if take_branch(info.branch, own) == WITH_HINT:
        predict_from_hint(state, prediction)
    else:
        concealed.predict_with(state.fallback, prediction, info.fallback)
        info.passes[0] = info.fallback.passes[0]


@compiled
def predict_from_hint(state: PracticalBanditState, prediction: Prediction) -> None:
    """Compute the Tsallis argmin, mixed with a little exploration.

    Weights below the share of exploration over K are raised to it, and then all are divided by
    their sum. The share is 1/2 at first. The refresh of all arms in round t makes it `checks`
    t^(-5/6) times m/(1 - m), but no more than 1/2, where m is the slow mean over all arms: an arm
    can be better by m, and playing one that is not costs up to 1 - m.
    """
    q, root, info = prediction.q, math.sqrt(state.round[0]), prediction.info
    rate = state.options.rate[0]
    prediction.eta[0] = rate / root
    prediction.gamma[0] = np.inf
    info.multiplier[0], info.passes[0] = solve_tsallis(
        state.indices, 2.0 * rate * root, state.multiplier[0], q
    )
    least = state.exploration[0] / q.shape[0]
    sum_ = 0.0
    for i in range(q.shape[0]):
        q[i] = max(q[i], least)
        sum_ += q[i]
    scale = 1.0 / sum_
    for i in range(q.shape[0]):
        q[i] *= scale


@compiled
def commit(state: PracticalBanditState, prediction: Prediction, arm: int, plays: Floats) -> None:
    """Play the round: freeze the probability and two forecasts of the loss, and update the index.

    The forecasts are the expected loss of the arm and the mean over all arms.
    """
    if prediction.info.branch[TAKEN] == WITH_HINT:
        state.multiplier[0] = prediction.info.multiplier[0]
        plays[0, DIVISOR], plays[0, WEIGHT] = 0.0, 0.0
    else:
        fallback = state.fallback
        concealed.commit_with(fallback, prediction, prediction.info.fallback, arm, plays)
        most = fallback.max_missing[0]
        fallback.max_missing[0] = max(most, fallback.outstanding[arm])
    round_ = state.round[0]
    plays[0, ROUND] = round_
    plays[0, EXPECTED] = expected_loss(state.means, arm)
    plays[0, OVERALL] = state.means.all_means[SLOW]
    state.round[0] += 1
    add_pending(state.pending, arm, plays[0, ROUND])
    state.trust.pending_squares[0] += plays[0, ROUND] * plays[0, ROUND]
    settle(state.means.shift)
    state.shift_met[arm] = shift_now(state.means.shift)
    if round_ >= state.means.next_refresh[0]:
        refresh_all(state, round_)
    else:
        slow, fast = decay_since_refresh(state.means, round_)
        set_forecast(state.means, arm, slow, fast)
        set_index(state, arm)


@compiled
def refresh_all(state: PracticalBanditState, round_: int) -> None:
    """Update the estimates, the delay bias, the exploration and every arm's index to this round."""
    means = state.means
    mean_loss.refresh(means, round_)
    delay_bias.refresh(state.bias)
    mean = means.all_means[SLOW]
    share = state.options.checks[0] * mean / (1.0 - mean) * float(round_) ** EXPLORATION_FALL
    state.exploration[0] = min(MOST_EXPLORATION, share)
    for i in range(state.indices.shape[0]):
        set_weights(means, i)
        set_forecast(means, i, 1.0, 1.0)
        set_index(state, i)


@compiled
def set_index(state: PracticalBanditState, arm: int) -> None:
    """Compute the index of an arm again: its mean loss less its uncertainty.

    The estimates have mean m and count n together. Every pending play adds (s/t)^2 losses to them,
    which are worse than m by the delay bias of their mean age. The index is then
    m - width sqrt(p (1 - p) g / (n + 1)) with p = (m (n + 1) + 1)/(n + 3) within [0, 1] and
    g = 1 + ln(t / (K (n + 1))), but at least 1; less the `unseen_rise` of the arm. It is kept until
    it is computed again.
    """
    t, (slow, fast) = float(state.round[0]), decay_since_refresh(state.means, state.round[0] - 1)
    mean, count = mixed_estimate(state.means, arm, slow, fast)
    if state.pending.number[arm] > 0:
        recent, age = recent_count(state.pending, arm, t), mean_age(state.pending, arm, t)
        count += recent
        mean += recent / (count + 1.0) * bias_of(state.bias, arm, power_of(age))
    share = min(1.0, max(0.0, (mean * (count + 1.0) + 1.0) / (count + 3.0)))
    variance, due = share * (1.0 - share) / (count + 1.0), state.indices.shape[0] * (count + 1.0)
    if t > due:
        variance *= 1.0 + math.log(t / due)
    deviation = math.sqrt(variance)
    state.indices[arm] = mean - state.options.width[0] * deviation - unseen_rise(state, arm)


@compiled
def unseen_rise(state: PracticalBanditState, arm: int) -> float:
    """Return half of the rise of the common shift since the arm was last played, times its weight.

    The losses of the arm itself may not have risen: it was not played since.
    """
    shift = state.means.shift
    rise = max(0.0, shift_now(shift) - state.shift_met[arm])
    return float(UNSEEN_RISE * shift.weight[0] * rise)


@compiled
def withdraw(state: PracticalBanditState, play: Floats, arm: int) -> None:
    """Remove a play from the pending ones, and compute the arm's index again."""
    end_play(state, play, arm)
    set_index(state, arm)


@compiled
def end_play(state: PracticalBanditState, play: Floats, arm: int) -> None:
    """Remove a play from the pending ones, but leave the arm's index as it is."""
    if play[WEIGHT] > 0.0:
        concealed.withdraw(state.fallback, play, arm)
    remove_pending(state.pending, arm, play[ROUND])
    state.trust.pending_squares[0] -= play[ROUND] * play[ROUND]


@compiled
def observe(state: PracticalBanditState, play: Floats, arm: int, loss: float, missing: int) -> None:
    """Score the forecasts and add the loss; in a round of the fallback, also to its Lhat^av."""
    end_play(state, play, arm)
    if play[WEIGHT] > 0.0:
        state.fallback.losses[arm] += loss / play[DIVISOR]
    score_forecasts(state.trust, loss, play[EXPECTED], play[OVERALL])
    power = power_of(state.round[0] - play[ROUND])
    score(state.means, arm, loss, state.bias.of_delay[power])
    if state.options.uses_bias[0] > 0.0:
        residual = loss - expected_loss(state.means, arm)
        delay_bias.record(state.bias, arm, power, residual)
    add_loss(state.means, arm, loss, int(play[ROUND]))
    set_index(state, arm)


@dataclass(frozen=True)
class PracticalBandit(Learner):
    """The practical bandit, which needs no prior knowledge.

    Its options are for studies of what each part does. `rate` is eta_t sqrt(t), twelve times the
    paper's. `width` is the number of standard deviations by which an estimate is lowered. `checks`
    times t^(-5/6) is the share of rounds that explore if losses are about 1/2. `patience` is the
    excess of squared errors from which on the hint is dropped, infinite for never. `forgets` and
    `levels` say whether there are estimates that forget, and one that takes out the common shift.
    `listens` says whether the delay bias is used: pending plays are then imputed by their age, and
    what a delay explains of a loss is no sign of a common shift.
    """

    rate: float = 6.0
    width: float = 0.85
    checks: float = 5.0
    patience: float = 8.0
    forgets: bool = True
    levels: bool = True
    listens: bool = True

    name: ClassVar[str] = "practical-bandit"
    setting: ClassVar[Setting] = Setting.CONCEALED
    guarantee: ClassVar[str] = (
        "that of the repaired concealed bandit for its rounds without the hint, none for others"
    )
    covers: ClassVar[Covers] = Covers.NOTHING
    source: ClassVar[str] = "ours, on the frame of the paper's Algorithm 1"
    play_width: ClassVar[int] = 5
    has_branches: ClassVar[bool] = True
    can_change_arms: ClassVar[bool] = True
    can_leave_arms_out: ClassVar[bool] = True
    state: ClassVar[type] = PracticalBanditState
    verbs: ClassVar[Verbs] = Verbs(predict, commit, withdraw, observe)

    def __post_init__(self) -> None:
        super().__post_init__()
        for option, least in (("rate", 1e-9), ("width", 0.0), ("checks", 0.0)):
            number = as_number(getattr(self, option), option)
            if not least <= number <= MOST:
                raise ValueError(
                    f"{option} is {number!r}; it must be at least {least:g} and at most {MOST:g}"
                )
            object.__setattr__(self, option, number)
        forever = self.patience == math.inf
        patience = math.inf if forever else as_number(self.patience, "patience")
        if not patience >= 0.0:
            raise ValueError(f"patience is {patience!r}; it must be at least 0, or infinite")
        object.__setattr__(self, "patience", patience)

    def _fallback(self) -> concealed.Concealed:
        """The bandit that plays without the hint; `commit` finds out its max_missing."""
        return concealed.Concealed(self.arms, variant="repaired", gamma_bound="max_missing")

    def start(self) -> PracticalBanditState:
        given = (self.rate, self.width, self.checks, self.patience, bool(self.listens))
        state = PracticalBanditState(
            fallback=self._fallback().start(),
            round=np.ones(1, dtype=np.int64),
            pending=none_pending(self.arms),
            means=nothing_known(self.arms, bool(self.forgets), bool(self.levels)),
            indices=np.zeros(self.arms),
            shift_met=np.zeros(self.arms),
            bias=no_bias(self.arms),
            trust=full_trust(),
            exploration=np.full(1, MOST_EXPLORATION),
            multiplier=np.full(1, np.inf),
            options=PracticalBanditOptions(*(np.full(1, float(option)) for option in given)),
        )
        for i in range(self.arms):
            set_index(state, i)
        return state

    def with_arms(
        self, state: PracticalBanditState, kept: Sequence[int], added: int
    ) -> PracticalBanditState:
        """Return the state with other arms; all indices are computed again.

        A new arm has no losses yet. What was learned about all arms together is kept, including
        what came from the arms that are removed.
        """
        fallback = self._fallback()
        other: PracticalBanditState = super().with_arms(state, kept, added)
        entered = fallback.with_arms(state.fallback, kept, added)
        other = other._replace(fallback=entered)
        slow, fast = decay_since_refresh(other.means, other.round[0] - 1)
        for i in range(len(kept), len(kept) + added):
            other.shift_met[i] = shift_now(other.means.shift)
            set_forecast(other.means, i, slow, fast)
        for i in range(len(kept) + added):
            set_index(other, i)
        return other

    def losses(self, state: PracticalBanditState) -> Floats:
        """Return Lhat^av of the rounds without the hint."""
        return state.fallback.losses[:, np.newaxis]

    def blank(self) -> Prediction:
        info = PracticalBanditInfo(
            multiplier=np.zeros(1),
            passes=np.zeros(1, dtype=np.int64),
            fallback=ConcealedInfo.blank(self.arms),
            branch=free_choice(),
        )
        return Prediction.blank(self.arms, eta=1, gamma=1, info=info)

    def from_version_3(self, parts: Mapping[str, list[Any]]) -> dict[str, list[Any]]:
        """Rearrange the parts of a state saved in version 3: pending plays are put together."""
        names = [name for name in parts if name not in ("recent", "made")]
        place = names.index("pending") + 1
        order = (*names[:place], "recent", "made", *names[place:])
        return {name: parts[name] for name in order}
