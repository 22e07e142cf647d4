"""The practical learner for experts: it imputes missing losses, and measures what that costs.

A *steady* strategy plays the exponential weights of all losses so far, in which every missing loss
is replaced by the mean of the losses of its expert that have arrived. This is Algorithm 1 with a
hint. Its rate follows from the drift of the run itself, as in AdaHedge, and is higher than there
while the drift is small. Two *trackers* forget old losses, and so follow losses that change.
Exponential weights over these three strategies, at a rate that is found in the same way, mix them.
docs/theory-practical.md proves a bound on the regret of every run, for any delays.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from belated.arrays import Counts, Floats
from belated.checks import as_number
from belated.compiled.kernels import compiled, inlined
from belated.learners.contract import (
    Certificate,
    GameOutcome,
    Learner,
    Prediction,
    RunOutcome,
    Verbs,
)
from belated.learners.practical.drift import (
    BOLD,
    SOBER,
    DriftAccount,
    follow,
    follow_prior,
    keep,
    opened,
    sobering_temperature,
)
from belated.learners.practical.experts_certificate import (
    Player,
    PracticalCertificate,
    closed,
    even_prior,
)
from belated.learners.states import ArmCounts, ArmFloats, FreshFloats
from belated.numerics.exact_sums import add_exactly, add_lanes_exactly, lanes_sum
from belated.numerics.exponential_weights import weigh_exponentially
from belated.numerics.lanes import (
    LANES,
    Lanes,
    exponential,
    lane,
    load_whole,
    side_by_side,
    spread,
    store_whole,
    total,
)
from belated.types import Covers, Setting

# These values were chosen on half of the scenarios, so that the other half can judge them.
FORGETTING = (0.998, 0.98)  # gamma of the trackers: they remember some 500 and 50 rounds
TRACKER_PULL = 8.0  # their rate is this times the root of the number of rounds remembered
TRACKERS_SHARE = 1 / 256  # their share of the prior, small since it costs regret if nothing changes
LEAST_MIXING_DRIFT = 16.0  # D'max begins here: a smaller lead of one strategy may be chance

TRACKERS = len(FORGETTING)
LOG_FORGETTING = tuple(math.log(gamma) for gamma in FORGETTING)
STRATEGIES = 1 + TRACKERS
MIXING_PULL = math.log(TRACKERS / TRACKERS_SHARE)  # ln(1/pi) of a tracker
SUPPOSED, LEANING = 2.0, 0.25  # the number of supposed losses of an expert, and how bad they are
FIRST_GUESS = 0.5 + 0.5 * LEANING  # the guess for every loss before any has arrived
OUT_OF_THE_QUESTION = -1e6  # ln pi of a strategy that is never played
MOST_BOLD = 1e6  # with more, c ln K/Dmax would be so high that rounding decides

MIXTURE = STRATEGIES  # the mixture's place after those of the strategies: together they fill lanes
ROUND = STRATEGIES + 1  # the column of a play after the weights
WIDTH = STRATEGIES + 2
EXACT = 2 * LANES  # numbers in an exact sum of lanes
STEADY, MIXING = range(2)  # the two rates of a prediction


class PracticalExpertsOptions(NamedTuple):
    """The options: if missing losses are imputed (1 or 0), the first c, and ln pi of strategies."""

    imputes: Floats
    bold: Floats
    log_prior: Floats


class PracticalExpertsState(NamedTuple):
    """The state of the practical experts.

    told counts the losses of an expert that have arrived; due also counts those that are missing.
    own is the loss of the strategies and the mixture from the losses that were told. waiting has,
    for each expert, the sum of the weights that they gave it in rounds in which its loss is
    missing. These two and losses are exact sums. recent has the trackers' sums for each expert: two
    sums of losses, and two counts. steady and mixing are the drift accounts.
    """

    losses: ArmFloats
    told: ArmCounts
    due: ArmCounts
    own: Floats
    waiting: FreshFloats
    recent: FreshFloats
    steady: DriftAccount
    mixing: DriftAccount
    round: Counts
    options: PracticalExpertsOptions


class PracticalExpertsInfo(NamedTuple):
    """The strategies of a round, the losses they follow, and the drift accounts of the round.

    strategies has q^m of each strategy in a row, and shares has w, their shares in the mixture.
    guesses is mu, the value of every missing loss of an expert, and imputed is G, the sum of all
    its losses. lost is V of the strategies, less the handicap by their priors, and of the mixture.
    recent_means is working space.
    """

    strategies: Floats
    guesses: Floats
    imputed: Floats
    recent_means: Floats
    steady: DriftAccount
    mixing: DriftAccount
    lost: Floats
    shares: Floats


@compiled
def predict(state: PracticalExpertsState, prediction: Prediction) -> None:
    """Compute q_t = sum_m w_t(m) q_t^m and the drift accounts of this round."""
    info, bold = prediction.info, state.options.bold[0]
    steady, mixing, strategies = info.steady, info.mixing, info.strategies
    impute(state, info.guesses, info.imputed)
    store_whole(info.lost, 0, imputed_losses(state, info.guesses))
    lost, values = info.lost[MIXTURE], info.lost[:STRATEGIES]
    follow(state.steady, values[STEADY], info.imputed, bold, strategies[STEADY], steady)
    track(state, info)
    log_prior = state.options.log_prior
    follow_prior(state.mixing, lost, values, log_prior, MIXING_PULL, info.shares, mixing)
    mix(strategies, info.shares, prediction.q)
    arms = strategies.shape[1]
    prediction.eta[STEADY] = 1.0 / sobering_temperature(steady.most[0], arms, bold)
    prediction.eta[MIXING] = MIXING_PULL / mixing.most[0]


@compiled
def impute(state: PracticalExpertsState, guess: Floats, imputed: Floats) -> None:
    """Compute mu(i), which replaces every missing loss of expert i, and the sum of losses G(i).

    The sum includes the coming loss. A round whose losses were all withdrawn is not counted. If a
    round's losses were withdrawn for some experts only, mu replaces them, so that no expert gains
    by it.
    """
    losses, told, imputes = state.losses, state.told, state.options.imputes[0]
    rounds, count, sum_ = state.due.max() + 1, told.sum(), total(losses[0]) + total(losses[1])
    mean = (sum_ + 0.5) / (count + 1.0)
    unknown = mean + LEANING * (1.0 - mean)
    for i in range(told.shape[0]):
        lost = losses[0, i] + losses[1, i]
        guess[i] = imputes * (lost + SUPPOSED * unknown) / (told[i] + SUPPOSED)
        imputed[i] = lost + (rounds - told[i]) * guess[i]


@compiled
def imputed_losses(state: PracticalExpertsState, guess: Floats) -> Lanes:
    """Return V, the losses of the strategies and the mixture, with mu for missing losses."""
    sum_ = spread(0.0)
    for i in range(guess.shape[0]):
        sum_ = sum_ + lanes_sum(state.waiting, EXACT * i) * guess[i]
    return lanes_sum(state.own, 0) + sum_


@compiled
def track(state: PracticalExpertsState, info: PracticalExpertsInfo) -> None:
    """Compute q of the trackers: the softmin of their decaying means of the losses."""
    recent, sums, means = state.recent, spread(0.0), info.recent_means
    for i in range(means.shape[0]):
        sums = sums + load_whole(recent, LANES * i)
    for k in range(TRACKERS):
        mean = (lane(sums, k) + 0.5) / (lane(sums, TRACKERS + k) + 1.0)
        for i in range(means.shape[0]):
            place = LANES * i + k
            means[i] = (recent[place] + mean) / (recent[place + TRACKERS] + 1.0)
        remembered = min(1.0 / (1.0 - FORGETTING[k]), float(state.round[0]))
        rate = TRACKER_PULL * math.sqrt(remembered)
        weigh_exponentially(means, rate, info.strategies[1 + k])


@compiled
def mix(strategies: Floats, shares: Floats, q: Floats) -> None:
    """Compute the mixture q = sum_m w(m) q^m."""
    for i in range(q.shape[0]):
        weight = 0.0
        for m in range(STRATEGIES):
            weight += shares[m] * strategies[m, i]
        q[i] = weight


@compiled
def commit(state: PracticalExpertsState, prediction: Prediction, arm: int, plays: Floats) -> None:
    """Play the round: freeze its number and all strategies' weights, and decay the trackers."""
    q, strategies, recent = prediction.q, prediction.info.strategies, state.recent
    fading = side_by_side(*FORGETTING, *FORGETTING)
    for i in range(plays.shape[0]):
        for m in range(STRATEGIES):
            plays[i, m] = strategies[m, i]
        plays[i, MIXTURE] = q[i]
        plays[i, ROUND] = state.round[0]
        weights = side_by_side(strategies[0, i], strategies[1, i], strategies[2, i], q[i])
        add_lanes_exactly(state.waiting, EXACT * i, weights)
        store_whole(recent, LANES * i, load_whole(recent, LANES * i) * fading)
        state.due[i] += 1
    keep(state.steady, prediction.info.steady)
    keep(state.mixing, prediction.info.mixing)
    state.round[0] += 1


@compiled
def withdraw(state: PracticalExpertsState, play: Floats, arm: int) -> None:
    """Count a loss as withdrawn, so that it is no longer missing."""
    state.due[arm] -= 1
    no_longer_waiting(state, play, arm)


@compiled
def observe(
    state: PracticalExpertsState, play: Floats, arm: int, loss: float, missing: int
) -> None:
    """Replace the guess by the loss, and add it to the trackers' sums with the weight of its age.

    Neither this function nor those it calls have a branch: with one, numba would count references
    to the state's arrays in every call, which takes longer than everything else.
    """
    add_exactly(state.losses, arm, loss)
    add_lanes_exactly(state.own, 0, load_whole(play, 0) * loss)
    state.told[arm] += 1
    no_longer_waiting(state, play, arm)
    age = state.round[0] - 1.0 - play[ROUND]
    faded = exponential(side_by_side(*LOG_FORGETTING, *LOG_FORGETTING) * age)  # gamma^age
    known = side_by_side(loss, loss, 1.0, 1.0) * faded
    store_whole(state.recent, LANES * arm, load_whole(state.recent, LANES * arm) + known)


@inlined
def no_longer_waiting(state: PracticalExpertsState, play: Floats, arm: int) -> None:
    """Subtract the weights of a round from `waiting`, which becomes 0 if no loss is missing."""
    waiting, place = state.waiting, EXACT * arm
    add_lanes_exactly(waiting, place, load_whole(play, 0) * -1.0)
    some = min(float(state.due[arm] - state.told[arm]), 1.0)  # 0 if nothing is missing
    store_whole(waiting, place, load_whole(waiting, place) * some)
    store_whole(waiting, place + LANES, load_whole(waiting, place + LANES) * some)


@dataclass(frozen=True)
class PracticalExperts(Learner):
    """The practical learner for experts, which needs no prior knowledge.

    Its options are for studies of what each part does. Without `imputes` missing losses count as 0,
    as in the paper; `bold` is the first c of the steady strategy's rate, which is 1 in AdaHedge;
    without `tracks` the steady strategy plays alone.
    """

    imputes: bool = True
    bold: float = BOLD
    tracks: bool = True

    name: ClassVar[str] = "practical-experts"
    setting: ClassVar[Setting] = Setting.FULL_INFORMATION
    guarantee: ClassVar[str] = (
        "regret at most D + ln K/eta + D' + ln(1/pi)/eta' on every run, which the run itself shows "
        "(docs/theory-practical.md)"
    )
    covers: ClassVar[Covers] = Covers.ANY
    source: ClassVar[str] = (
        "ours; built on AdaHedge (de Rooij et al. 2014) and optimistic delayed learning "
        "(Flaspohler et al. 2021)"
    )
    play_width: ClassVar[int] = WIDTH
    can_change_arms: ClassVar[bool] = True
    state: ClassVar[type] = PracticalExpertsState
    verbs: ClassVar[Verbs] = Verbs(predict, commit, withdraw, observe)

    def __post_init__(self) -> None:
        super().__post_init__()
        bold = as_number(self.bold, "bold")
        if not SOBER <= bold <= MOST_BOLD:
            raise ValueError(
                f"bold is {bold!r}; it must be at least {SOBER:g} and at most {MOST_BOLD:g}"
            )
        object.__setattr__(self, "bold", bold)

    @property
    def log_prior(self) -> Floats:
        """ln pi of the strategies."""
        share = TRACKERS_SHARE if self.tracks else 0.0
        tracker = -MIXING_PULL if self.tracks else OUT_OF_THE_QUESTION
        return np.array([math.log(1.0 - share), *(tracker,) * TRACKERS])

    @property
    def first_guess(self) -> float:
        """The guess for every loss before any has come, which is Phi of the first round."""
        return FIRST_GUESS if self.imputes else 0.0

    def start(self) -> PracticalExpertsState:
        return PracticalExpertsState(
            losses=np.zeros((2, self.arms)),
            told=np.zeros(self.arms, dtype=np.int64),
            due=np.zeros(self.arms, dtype=np.int64),
            own=np.zeros(EXACT),
            waiting=np.zeros(EXACT * self.arms),
            recent=np.zeros(LANES * self.arms),
            steady=opened(self.first_guess),
            mixing=opened(0.0, LEAST_MIXING_DRIFT),
            round=np.ones(1, dtype=np.int64),
            options=PracticalExpertsOptions(
                imputes=np.full(1, float(bool(self.imputes))),
                bold=np.full(1, self.bold),
                log_prior=self.log_prior,
            ),
        )

    def with_arms(
        self, state: PracticalExpertsState, kept: Sequence[int], added: int
    ) -> PracticalExpertsState:
        """Return the state with other experts.

        A new expert begins with the loss of the steady strategy in all rounds so far. If an expert
        is removed, rounds in which it alone was due stay counted for the experts that remain.
        """
        other: PracticalExpertsState = super().with_arms(state, kept, added)
        rounds, stay = state.due.max(), len(kept)
        other.due[:stay] += rounds - other.due[:stay].max()
        other.due[stay:] = other.told[stay:] = rounds
        other.losses[0, stay:] = self.predict(state).info.steady.lost[0]
        for new, old, width in (
            (other.waiting, state.waiting, EXACT),
            (other.recent, state.recent, LANES),
        ):
            new.reshape(-1, width)[:stay] = old.reshape(-1, width)[list(kept)]
        return other

    def blank(self) -> Prediction:
        info = PracticalExpertsInfo(
            strategies=np.zeros((STRATEGIES, self.arms)),
            guesses=np.zeros(self.arms),
            imputed=np.zeros(self.arms),
            recent_means=np.zeros(self.arms),
            steady=opened(0.0),
            mixing=opened(0.0),
            lost=np.zeros(LANES),
            shares=np.zeros(STRATEGIES),
        )
        return Prediction.blank(self.arms, eta=2, info=info)

    def proof(self, run: RunOutcome, arms: Floats) -> PracticalCertificate:
        """Return both parts of the certificate, from a run and the loss of each expert."""
        info, rates = run.info, run.eta
        steady = Player(info.steady, float(rates[STEADY]), even_prior(arms.size), self.first_guess)
        mixing = Player(info.mixing, float(rates[MIXING]), self.log_prior, 0.0)
        return closed(steady, mixing, arms, run.strategies, run.loss)

    def certificate(self, run: RunOutcome, game: GameOutcome) -> Certificate:
        """Return the bound (2') of docs/theory-practical.md, which is equal for all experts."""
        proof = self.proof(run, game.losses)
        return Certificate(np.full(game.losses.size, proof.bound), proof.holds)

    def losses(self, state: PracticalExpertsState) -> Floats:
        losses: Floats = (state.losses[0] + state.losses[1])[:, np.newaxis]
        return losses
