"""The practical bandit: likely best arms, mean losses that may forget, and what silence says.

An arm is drawn with a probability proportional to how likely its losses are if it were as good as
the arm that looks best (Maillard sampling with a Kullback-Leibler divergence). Its mean loss comes
from the memory that foresees best (`memories`), and pending plays count as what their silence says
(`silence`). Every arm is played often enough to keep the account of Theorem 4 within its budget
(`certified_trust`); rounds in which it is not are played by a repaired concealed bandit, the
fallback, which sees no other rounds. So the regret is bounded whatever the losses and delays are.

The order of a round: `predict` computes q_t. `commit` freezes what the memories expect of the play,
lets the round pass for memories and silence, and now and then computes again what silence says. A
loss that arrives later scores the frozen forecasts and is added to its arm.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, NamedTuple

import numpy as np

from belated.arrays import Counts, Floats
from belated.checks import LossRange, as_number
from belated.compiled.kernels import compiled
from belated.compiled.lean import LeftOut
from belated.learners.branches import TAKEN, free_choice, take_branch
from belated.learners.contract import UNIT, Learner, Prediction, TrustStanding, Verbs
from belated.learners.following import ENDED, NO_MEANING, places_after
from belated.learners.paper import concealed
from belated.learners.paper.concealed import DIVISOR, WEIGHT, ConcealedInfo, ConcealedState
from belated.learners.practical.certified_trust import (
    TrustAccount,
    begin_round,
    explore_on_demand,
    is_certified,
    no_trusted_plays,
    tell_trusted,
    trust_budget,
    with_new_arms,
)
from belated.learners.practical.memories import (
    LONG,
    MEMORIES,
    Memories,
    next_round,
    nothing_remembered,
    remember,
    score,
)
from belated.learners.practical.silence import (
    Silence,
    end_silence,
    follow,
    has_meaning,
    judge_silence,
    nothing_heard,
    weigh_silence,
    with_room,
)
from belated.learners.practical.trust_standing import trust_standing
from belated.learners.states import ArmCounts, ArmFloats
from belated.numerics.exponential_weights import weigh_exponentially
from belated.numerics.lanes import total
from belated.types import Covers, Setting

# The columns of a play after the two of the fallback's.
ROUND, EVIDENCE, LONG_FORECAST, SHORT_FORECAST, WIDTH = range(2, 7)
TRUSTED, BY_FALLBACK = range(2)  # the branches: how a round is played
PRIOR = 1.0  # how many losses of the mean over all arms an arm starts with
LEAST = 1e-9  # a mean is taken to be at least this far from 0 and from 1
NARROWEST = 1e-3  # the least variance of losses, compared to coins
REFRESH = 20  # what silence says is computed again when the rounds are 1/20 more
MOST = 1e9  # the largest value of an option; with larger ones products would overflow


class Estimates(NamedTuple):
    """The mean loss of each arm in the memory that is used, and how much it rests on.

    `counts` is the number of losses, with those that silence counts as. `entropies` is counts times
    m ln m + (1 - m) ln(1 - m). `pooled` is the mean over all arms, in each memory.
    """

    means: ArmFloats
    counts: ArmFloats
    entropies: ArmFloats
    pooled: Floats


class Variance(NamedTuple):
    """Sums over all losses that were told, by which their variance is compared to that of coins.

    `explained` is the sum over arms of (sum of losses)^2/(number of losses).
    """

    losses: Floats
    squares: Floats
    explained: Floats


class PracticalBanditOptions(NamedTuple):
    """The learner's options, as numbers; those that are True or False are 1 or 0."""

    spread: Floats
    beta: Floats
    exploration: Floats
    certified: Floats
    forgets: Floats


class PracticalBanditState(NamedTuple):
    """The state of the practical bandit; `next_refresh` is when silence is judged again."""

    round: Counts
    next_refresh: Counts
    outstanding: ArmCounts
    estimates: Estimates
    variance: Variance
    memories: Memories
    silence: Silence
    account: TrustAccount
    fallback: ConcealedState
    options: PracticalBanditOptions


class PracticalBanditInfo(NamedTuple):
    """Which branch plays the round, the budget of trust, and the info of the fallback's rounds."""

    branch: Counts
    budget: Floats
    unlikeliness: Floats
    fallback: ConcealedInfo


@compiled
def predict(state: PracticalBanditState, prediction: Prediction) -> None:
    """Compute q_t from the estimates; without trust, that of the repaired concealed bandit."""
    info, round_ = prediction.info, state.round[0]
    budget = trust_budget(state.account, state.options.beta[0], round_)
    trusted = state.options.certified[0] == 0.0 or is_certified(state.account, budget)
    info.budget[0] = budget
    if take_branch(info.branch, TRUSTED if trusted else BY_FALLBACK) == TRUSTED:
        fill_unlikeliness(state.estimates, info.unlikeliness)
        spread = state.options.spread[0]
        scale = narrowness(state.variance) * spread * spread
        weigh_exponentially(info.unlikeliness, 1.0 / scale, prediction.q)
        exploration = state.options.exploration[0]
        explore_on_demand(state.account, budget, exploration, round_, prediction.q)
        prediction.eta[0], prediction.gamma[0] = np.inf, np.inf
    else:
        predict_by_fallback(state.fallback, prediction, info.fallback)


@compiled
def fill_unlikeliness(estimates: Estimates, result: Floats) -> None:
    """Fill in n_i kl(m_i, m*) for every arm, where m* is the smallest mean.

    That is by how much the losses of an arm are less likely under the mean m* than under its own.
    """
    least = estimates.means.min()
    of_loss, of_rest = math.log(least), math.log(1.0 - least)
    for i in range(result.shape[0]):
        mean = estimates.means[i]
        crossed = estimates.counts[i] * (mean * of_loss + (1.0 - mean) * of_rest)
        result[i] = max(0.0, estimates.entropies[i] - crossed)


@compiled
def narrowness(variance: Variance) -> float:
    """Return the variance of losses within arms, divided by that of coins of the same means."""
    coins = 1.0 + variance.losses[0] - variance.explained[0]
    ratio = (1.0 + variance.squares[0] - variance.explained[0]) / coins
    return float(min(1.0, max(NARROWEST, ratio)))


@compiled
def commit(state: PracticalBanditState, prediction: Prediction, arm: int, plays: Floats) -> None:
    """Play the round: freeze the probability and the forecasts, and let the round pass."""
    info, round_, memories = prediction.info, state.round[0], state.memories
    trusted = info.branch[TAKEN] == TRUSTED
    if trusted:
        plays[0, DIVISOR], plays[0, WEIGHT] = prediction.q[arm], 0.0
    else:
        commit_by_fallback(state.fallback, prediction, info.fallback, arm, plays)
    begin_round(state.account, trusted)
    freeze_forecasts(state, arm, plays)
    plays[0, ROUND] = round_
    state.outstanding[arm] += 1
    state.round[0] += 1
    follow(state.silence, arm, round_)
    may_forget = state.options.forgets[0] == 1.0 and not has_meaning(state.silence)
    changed = next_round(memories, may_forget)
    pool(state)
    if round_ >= state.next_refresh[0]:
        refresh_silence(state)
    elif changed or memories.used[0] > 0:
        estimate_all(state)


@compiled
def freeze_forecasts(state: PracticalBanditState, arm: int, plays: Floats) -> None:
    """Freeze what each memory expects of the play, and how much its loss will say about them.

    Plays that are made on the same few losses share their errors. With n losses told of the arm and
    p plays outstanding the play counts (n + 1)/(n + 1 + p).
    """
    for k in range(MEMORIES):
        sum_, count = remembered(state, k, arm)
        plays[0, LONG_FORECAST + k] = (PRIOR * state.estimates.pooled[k] + sum_) / (PRIOR + count)
    told = 1.0 + state.memories.weights[LONG, arm]
    plays[0, EVIDENCE] = told / (told + state.outstanding[arm])


@compiled
def remembered(state: PracticalBanditState, k: int, arm: int) -> tuple[float, float]:
    """Return the sum and the number of an arm's losses in a memory, with what silence counts as."""
    fresh, silent = state.memories.fresh[k], max(0.0, state.silence.counts[arm])
    sum_ = state.memories.sums[k, arm] / fresh + max(0.0, state.silence.losses[arm])
    return sum_, state.memories.weights[k, arm] / fresh + silent


@compiled
def estimate(state: PracticalBanditState, arm: int) -> None:
    """Compute the estimate of an arm again, mixed with PRIOR losses of the mean over all arms."""
    estimates, used = state.estimates, state.memories.used[0]
    sum_, count = remembered(state, used, arm)
    mean = (PRIOR * estimates.pooled[used] + sum_) / (PRIOR + count)
    mean = min(max(mean, LEAST), 1.0 - LEAST)
    estimates.means[arm], estimates.counts[arm] = mean, PRIOR + count
    entropy = mean * math.log(mean) + (1.0 - mean) * math.log(1.0 - mean)
    estimates.entropies[arm] = (PRIOR + count) * entropy


@compiled
def estimate_all(state: PracticalBanditState) -> None:
    """Compute the estimates of all arms again."""
    for i in range(state.outstanding.shape[0]):
        estimate(state, i)


@compiled
def pool(state: PracticalBanditState) -> None:
    """Compute the mean loss over all arms again, in each memory; it starts as 1/2."""
    memories, silent = state.memories, total(state.silence.counts)
    for k in range(MEMORIES):
        losses = 0.5 + total(state.silence.losses)
        losses += memories.all_sums[k] / memories.fresh[k]
        count = 1.0 + silent + memories.all_weights[k] / memories.fresh[k]
        state.estimates.pooled[k] = losses / count


@compiled
def refresh_silence(state: PracticalBanditState) -> None:
    """Compute again what silence says, and all estimates."""
    state.next_refresh[0] = state.round[0] + state.round[0] // REFRESH
    judge_silence(state.silence)
    for i in range(state.outstanding.shape[0]):
        weigh_silence(state.silence, i, state.estimates.means[i])
    pool(state)
    estimate_all(state)


@compiled
def withdraw(state: PracticalBanditState, play: Floats, arm: int) -> None:
    """Remove a play from the pending ones; in the account of Theorem 4 it stays outstanding."""
    if play[WEIGHT] > 0.0:
        withdraw_from_fallback(state.fallback, play, arm)
    end_play(state, play, arm, np.nan)


@compiled
def end_play(state: PracticalBanditState, play: Floats, arm: int, loss: float) -> None:
    """End a play with its loss, or with NaN, and compute the estimate of its arm again."""
    state.outstanding[arm] -= 1
    end_silence(state.silence, arm, int(play[ROUND]), state.round[0], loss)
    estimate(state, arm)


@compiled
def observe(state: PracticalBanditState, play: Floats, arm: int, loss: float, missing: int) -> None:
    """Score the forecasts and add the loss; in a round of the fallback, also to its Lhat^av."""
    if play[WEIGHT] > 0.0:
        tell_fallback(state.fallback, play, arm, loss, missing)
    else:
        tell_trusted(state.account, arm, loss, play[DIVISOR])
    memories, variance = state.memories, state.variance
    if not has_meaning(state.silence):
        score(memories, loss, play[LONG_FORECAST], play[SHORT_FORECAST], play[EVIDENCE])
    before = explained(memories, arm)
    remember(memories, arm, loss)
    variance.losses[0] += loss
    variance.squares[0] += loss * loss
    variance.explained[0] += explained(memories, arm) - before
    end_play(state, play, arm, loss)


@compiled
def explained(memories: Memories, arm: int) -> float:
    """Return (sum of losses)^2/(number of losses) of an arm, of all that were told."""
    sum_, count = memories.sums[LONG, arm], memories.weights[LONG, arm]
    return float(sum_ * sum_ / count) if count > 0.0 else 0.0


# -- the fallback's rounds, which are left out of lean steps; see belated.compiled.lean


@compiled
def predict_by_fallback(
    fallback: ConcealedState | None, prediction: Prediction, info: ConcealedInfo | None
) -> None:
    """Compute q_t of the repaired concealed bandit."""
    if fallback is None or info is None:
        raise LeftOut
    concealed.predict_safely(fallback, prediction, info)


@compiled
def commit_by_fallback(
    fallback: ConcealedState | None,
    prediction: Prediction,
    info: ConcealedInfo | None,
    arm: int,
    plays: Floats,
) -> None:
    """Play a round of the repaired concealed bandit."""
    if fallback is None or info is None:
        raise LeftOut
    concealed.commit_with(fallback, prediction, info, arm, plays)


@compiled
def withdraw_from_fallback(fallback: ConcealedState | None, play: Floats, arm: int) -> None:
    """Withdraw a play of the repaired concealed bandit."""
    if fallback is None:
        raise LeftOut
    concealed.withdraw(fallback, play, arm)


@compiled
def tell_fallback(
    fallback: ConcealedState | None, play: Floats, arm: int, loss: float, missing: int
) -> None:
    """Tell the repaired concealed bandit the loss of one of its plays."""
    if fallback is None:
        raise LeftOut
    concealed.observe(fallback, play, arm, loss, missing)


@dataclass(frozen=True)
class PracticalBandit(Learner):
    """The practical bandit, which needs no prior knowledge.

    `default_loss` is what a play that never reports has lost, if that is known. If it is
    `certified`, Theorem 4 bounds the regret: rounds above the budget beta sqrt(K t), plus the most
    outstanding plays, go to a repaired concealed bandit. It is by default, unless there is a
    default loss: the account of the theorem knows told losses only, and could not trust an arm that
    is rightly given up because it never reports. `exploration` is the c of the exploration that
    keeps the account within the budget. `spread` scales the standard deviations of the estimates,
    and `forgets` says whether the memory that forgets may be used.
    """

    default_loss: float | None = None
    certified: bool | None = None
    spread: float = 0.5
    beta: float = 5.0
    exploration: float = 0.3
    forgets: bool = True

    name: ClassVar[str] = "practical-bandit"
    setting: ClassVar[Setting] = Setting.CONCEALED
    guarantee: ClassVar[str] = (
        "expected regret at most 1 + beta sqrt(KT) + the most outstanding plays + the bound of the "
        "repaired concealed bandit (Theorem 4; none with certified=False)"
    )
    covers: ClassVar[Covers] = Covers.NOTHING
    source: ClassVar[str] = "ours"
    play_width: ClassVar[int] = WIDTH
    has_branches: ClassVar[bool] = True
    can_change_arms: ClassVar[bool] = True
    can_leave_arms_out: ClassVar[bool] = True
    state: ClassVar[type] = PracticalBanditState
    verbs: ClassVar[Verbs] = Verbs(predict, commit, withdraw, observe)
    seldom: ClassVar[tuple[str, ...]] = ("fallback",)

    def __post_init__(self) -> None:
        super().__post_init__()
        for option in ("certified", "forgets"):
            if getattr(self, option) not in (None, True, False):
                raise ValueError(f"{option} is {getattr(self, option)!r}; it must be True or False")
        least = {"spread": 1e-3, "beta": 0.0, "exploration": 0.0}
        if self.default_loss is not None:
            least["default_loss"] = 0.0
        for option, smallest in least.items():
            number = as_number(getattr(self, option), option)
            most = 1.0 if option == "default_loss" else MOST
            if not smallest <= number <= most:
                raise ValueError(
                    f"{option} is {number!r}; it must be at least {smallest:g} and at most {most:g}"
                )
            object.__setattr__(self, option, number)

    @property
    def is_certified(self) -> bool:
        """Whether Theorem 4 bounds the regret."""
        return self.default_loss is None if self.certified is None else bool(self.certified)

    def _fallback(self) -> concealed.Concealed:
        return concealed.Concealed(self.arms, variant="repaired")

    def start(self) -> PracticalBanditState:
        given = (self.spread, self.beta, self.exploration, self.is_certified, bool(self.forgets))
        means, counts, entropies = np.zeros((3, self.arms))
        state = PracticalBanditState(
            round=np.ones(1, dtype=np.int64),
            next_refresh=np.ones(1, dtype=np.int64),
            outstanding=np.zeros(self.arms, dtype=np.int64),
            estimates=Estimates(means, counts, entropies, pooled=np.zeros(MEMORIES)),
            variance=Variance(*np.zeros((3, 1))),
            memories=nothing_remembered(self.arms),
            silence=nothing_heard(self.arms, self.default_loss),
            account=no_trusted_plays(self.arms),
            fallback=self._fallback().start(),
            options=PracticalBanditOptions(*(np.full(1, float(option)) for option in given)),
        )
        pool(state)
        estimate_all(state)
        return state

    def reserved(self, state: PracticalBanditState, rounds: int) -> PracticalBanditState:
        roomy = with_room(state.silence, int(state.round[0]) + rounds)
        return state if roomy is state.silence else state._replace(silence=roomy)

    def with_arms(
        self, state: PracticalBanditState, kept: Sequence[int], added: int
    ) -> PracticalBanditState:
        """Return the state with other arms, in which a new arm has the mean over all arms.

        What was learned about all arms together is kept. In the account of Theorem 4 a new arm
        starts with a regret of zero, or with the largest of the others if that is more.
        """
        other: PracticalBanditState = super().with_arms(state, kept, added)
        arms, before = state.silence.followed_arm, state.silence
        stays = np.isin(arms, list(kept))
        silence = other.silence._replace(
            followed_arm=places_after(arms, list(kept)),
            followed_bin=np.where(stays, before.followed_bin, ENDED),
            followed_loss=before.followed_loss,
        )
        other = other._replace(
            silence=silence,
            account=with_new_arms(other.account, len(kept)),
            fallback=self._fallback().with_arms(state.fallback, kept, added),
        )
        pool(other)
        estimate_all(other)
        return other

    def check_saved(self, state: PracticalBanditState, plays: Iterable[Sequence[float]]) -> None:
        followed = state.silence.followed_arm
        if not ((followed >= 0) & (followed < self.arms)).all():
            raise ValueError("a play that is followed is of an arm that does not exist")
        if not followed.size == state.silence.followed_bin.size == state.silence.followed_loss.size:
            raise ValueError("what is kept of the plays that are followed has several lengths")
        self._fallback().check_saved(state.fallback, plays)

    def concern(self, state: PracticalBanditState, bounds: LossRange = UNIT) -> str | None:
        """Say that all losses told so far are equal, and no one declared what silence means."""
        number, sum_ = state.memories.all_weights[LONG], state.memories.all_sums[LONG]
        is_guessed = state.silence.default_loss[0] == NO_MEANING and has_meaning(state.silence)
        if not is_guessed or sum_ not in (0.0, number) or state.outstanding.sum() == 0:
            return None
        told = 0.0 if sum_ == 0.0 else 1.0
        return (
            f"all {number:.0f} losses told so far are {bounds.loss_of(told):g}; silence is taken "
            f"to mean a loss of {bounds.loss_of(1.0 - told):g}; set default_loss to say what it "
            "means"
        )

    def declare_silence(self, state: PracticalBanditState, default_loss: float | None) -> None:
        """From now on act as if the learner had been made with this default loss."""
        other = replace(self, default_loss=default_loss)
        state.silence.default_loss[0] = NO_MEANING if default_loss is None else default_loss
        state.options.certified[0] = float(other.is_certified)
        refresh_silence(state)

    def trust(self, state: PracticalBanditState) -> TrustStanding | None:
        """Return where the account of Theorem 4 stands; None if the learner is not certified."""
        if state.options.certified[0] == 0.0:
            return None
        return trust_standing(
            state.account, state.options.beta[0], int(state.round[0]) - 1, state.fallback
        )

    def losses(self, state: PracticalBanditState) -> Floats:
        """Return Lhat^av of the rounds of the fallback."""
        return state.fallback.losses[:, np.newaxis]

    def blank(self) -> Prediction:
        info = PracticalBanditInfo(
            branch=free_choice(),
            budget=np.zeros(1),
            unlikeliness=np.zeros(self.arms),
            fallback=ConcealedInfo.blank(self.arms),
        )
        return Prediction.blank(self.arms, eta=1, gamma=1, info=info)
