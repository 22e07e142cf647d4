"""What to use for experts whose losses come late: guess what is missing, and watch what it costs.

A *steady* strategy plays the exponential weights of all losses so far, in which every loss that is
missing stands at the mean of those of its expert that have come: Algorithm 1 with a hint. Its rate
follows from the drift of the run itself, as in AdaHedge, and is bolder than there while the drift
is small. Two *trackers* forget, and follow losses that change. Exponential weights over these
three, at a rate found in the same way, mix them.
docs/theory-practical.md proves a bound on the regret of every run, for any delays.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from belated.arrays import Counts, Floats
from belated.checks import as_number
from belated.compiled.jit import compiled, inlined
from belated.learners.contract import Learner, Prediction, Verbs, fill_p
from belated.learners.practical.drift import (
    BOLD,
    LOST,
    MOST,
    PLACES,
    SOBER,
    follow,
    follow_prior,
    opened,
    sobering_temperature,
)
from belated.learners.practical.mean_loss import LEANING, SUPPOSED
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

# Chosen on a half of the scenarios, to be judged on the other half.
FORGETTING = (0.998, 0.98)  # gamma of the trackers: they remember some 500 and 50 rounds
TRACKER_PULL = 8.0  # of their rate, which is this times the root of the rounds remembered
TRACKERS_SHARE = 1 / 256  # of the prior: little, as it costs something where nothing changes
LEAST_MIXING_DRIFT = 16.0  # D'max begins here: a smaller lead of one strategy may be chance

TRACKERS = len(FORGETTING)
LOG_FORGETTING = tuple(math.log(gamma) for gamma in FORGETTING)
STRATEGIES = 1 + TRACKERS
MIXING_PULL = math.log(TRACKERS / TRACKERS_SHARE)  # ln(1/pi) of a tracker
FIRST_GUESS = 0.5 + 0.5 * LEANING  # at every loss, before any has come
OUT_OF_THE_QUESTION = -1e6  # ln pi of what is never played
MOST_BOLD = 1e6  # beyond, c ln K/Dmax would be so high that rounding decides

MIXTURE = STRATEGIES  # the mixture's place after those of the strategies: together they fill lanes
ROUND = STRATEGIES + 1  # in a play, after the weights
WIDTH = STRATEGIES + 2
EXACT = 2 * LANES  # numbers in an exact sum of lanes
STEADY, MIXING = range(2)  # the drift accounts, which a prediction's dual begins with
LOSSES = 2 * PLACES  # then comes V, of the strategies and the mixture
SHARES = LOSSES + LANES  # and w, the strategies' shares in the mixture
DUAL = SHARES + STRATEGIES
GUESS, IMPUTED, RECENT = range(STRATEGIES, STRATEGIES + 3)  # room to work after q^m: mu, G, means
WORK = STRATEGIES + 3
IMPUTES, BOLD_AT_FIRST, PRIOR = range(3)  # the options; ln pi of the strategies comes last


class PracticalExpertsState(NamedTuple):
    """told counts the losses of an expert that have come, due also those that are missing.

    own is what the strategies and the mixture have lost where the loss was told; waiting, for each
    expert, the weights that they gave it in rounds of which its loss is missing. These two and
    losses are exact sums. recent is what the trackers remember of each expert: two sums of losses,
    and two counts.
    """

    losses: Floats
    told: Counts
    due: Counts
    own: Floats
    waiting: Floats
    recent: Floats
    accounts: Floats
    round: Counts
    options: Floats


@compiled
def predict(state: PracticalExpertsState, prediction: Prediction) -> None:
    """q_t = sum_m w_t(m) q_t^m, and the drift accounts as this round finds them."""
    work, dual = prediction.work, prediction.dual
    shares, steady, mixing = dual[SHARES:], dual[:PLACES], dual[PLACES:LOSSES]
    impute(state, work[GUESS], work[IMPUTED])
    store_whole(dual, LOSSES, imputed_losses(state, work[GUESS]))
    lost, strategies = dual[LOSSES + MIXTURE], dual[LOSSES : LOSSES + STRATEGIES]
    before, bold = state.accounts[STEADY], state.options[BOLD_AT_FIRST]
    passes = follow(before, strategies[STEADY], work[IMPUTED], bold, work[STEADY], steady)
    track(state, work)
    before, log_prior = state.accounts[MIXING], state.options[PRIOR:]
    follow_prior(before, lost, strategies, log_prior, MIXING_PULL, shares, mixing)
    mix(work, shares, prediction.q)
    prediction.eta[STEADY] = 1.0 / sobering_temperature(steady[MOST], work.shape[1], bold)
    prediction.eta[MIXING] = MIXING_PULL / mixing[MOST]
    prediction.passes[0] = passes + TRACKERS
    fill_p(prediction)


@compiled
def impute(state: PracticalExpertsState, guess: Floats, imputed: Floats) -> None:
    """mu(i), at which every missing loss of i stands, and G(i), the sum of all with the coming one.

    A round whose losses were all withdrawn is none; of one withdrawn from some experts only, their
    losses stand at mu, lest an expert be better off for it.
    """
    losses, told, imputes = state.losses, state.told, state.options[IMPUTES]
    rounds, count, sum_ = state.due.max() + 1, told.sum(), total(losses[0]) + total(losses[1])
    mean = (sum_ + 0.5) / (count + 1.0)
    unknown = mean + LEANING * (1.0 - mean)
    for i in range(told.shape[0]):
        lost = losses[0, i] + losses[1, i]
        guess[i] = imputes * (lost + SUPPOSED * unknown) / (told[i] + SUPPOSED)
        imputed[i] = lost + (rounds - told[i]) * guess[i]


@compiled
def imputed_losses(state: PracticalExpertsState, guess: Floats) -> Lanes:
    """V: what the strategies and the mixture have lost, with the missing losses at mu."""
    sum_ = spread(0.0)
    for i in range(guess.shape[0]):
        sum_ = sum_ + lanes_sum(state.waiting, EXACT * i) * guess[i]
    return lanes_sum(state.own, 0) + sum_


@compiled
def track(state: PracticalExpertsState, work: Floats) -> None:
    """Fill q of the trackers: the softmin of the means of what they remember."""
    recent, sums = state.recent, spread(0.0)
    for i in range(work.shape[1]):
        sums = sums + load_whole(recent, LANES * i)
    for k in range(TRACKERS):
        mean = (lane(sums, k) + 0.5) / (lane(sums, TRACKERS + k) + 1.0)
        means = work[RECENT]
        for i in range(work.shape[1]):
            place = LANES * i + k
            means[i] = (recent[place] + mean) / (recent[place + TRACKERS] + 1.0)
        remembered = min(1.0 / (1.0 - FORGETTING[k]), float(state.round[0]))
        weigh_exponentially(means, TRACKER_PULL * math.sqrt(remembered), work[1 + k])


@compiled
def mix(work: Floats, shares: Floats, q: Floats) -> None:
    """q = sum_m w(m) q^m."""
    for i in range(q.shape[0]):
        weight = 0.0
        for m in range(STRATEGIES):
            weight += shares[m] * work[m, i]
        q[i] = weight


@compiled
def commit(state: PracticalExpertsState, prediction: Prediction, arm: int, plays: Floats) -> None:
    """Freeze the weights of every strategy and the round; what is remembered grows older."""
    work, q, recent = prediction.work, prediction.q, state.recent
    fading = side_by_side(*FORGETTING, *FORGETTING)
    for i in range(plays.shape[0]):
        for m in range(STRATEGIES):
            plays[i, m] = work[m, i]
        plays[i, MIXTURE] = q[i]
        plays[i, ROUND] = state.round[0]
        weights = side_by_side(work[0, i], work[1, i], work[2, i], q[i])
        add_lanes_exactly(state.waiting, EXACT * i, weights)
        store_whole(recent, LANES * i, load_whole(recent, LANES * i) * fading)
        state.due[i] += 1
    for k in range(PLACES):
        state.accounts[STEADY, k] = prediction.dual[k]
        state.accounts[MIXING, k] = prediction.dual[PLACES + k]
    state.round[0] += 1


@compiled
def withdraw(state: PracticalExpertsState, play: Floats, arm: int) -> None:
    """The loss is no longer missing."""
    state.due[arm] -= 1
    no_longer_waiting(state, play, arm)


@compiled
def observe(
    state: PracticalExpertsState, play: Floats, arm: int, loss: float, missing: int
) -> None:
    """Put the loss in the place of the guess, and remember it at its age.

    There is no branch here nor in what it calls: with one, numba counts references to the state's
    arrays in every call, which takes longer than all the rest.
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
    """Take the weights of a round off those that wait; none wait if nothing is missing."""
    waiting, place = state.waiting, EXACT * arm
    add_lanes_exactly(waiting, place, load_whole(play, 0) * -1.0)
    some = min(float(state.due[arm] - state.told[arm]), 1.0)  # 0 if nothing is missing
    store_whole(waiting, place, load_whole(waiting, place) * some)
    store_whole(waiting, place + LANES, load_whole(waiting, place + LANES) * some)


@dataclass(frozen=True)
class PracticalExperts(Learner):
    """The practical learner for experts, for any number of rounds; it need not be told anything.

    Its parts can be changed, to see what each brings. Without `imputes` what is missing stands at
    0, as in the paper; `bold` is c of the steady strategy's rate at first, 1 that of AdaHedge;
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
    dissected: ClassVar[tuple[str, ...]] = ("imputes", "bold", "tracks")
    play_width: ClassVar[int] = WIDTH
    mixes: ClassVar[int] = STRATEGIES
    by_arm: ClassVar[tuple[str, ...]] = ("losses", "told", "due")
    by_number: ClassVar[tuple[str, ...]] = ("waiting", "recent")
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
        """At which every loss stands before any has come: Phi of the first round."""
        return FIRST_GUESS if self.imputes else 0.0

    def start(self) -> PracticalExpertsState:
        return PracticalExpertsState(
            losses=np.zeros((2, self.arms)),
            told=np.zeros(self.arms, dtype=np.int64),
            due=np.zeros(self.arms, dtype=np.int64),
            own=np.zeros(EXACT),
            waiting=np.zeros(EXACT * self.arms),
            recent=np.zeros(LANES * self.arms),
            accounts=np.array([opened(self.first_guess), opened(0.0, LEAST_MIXING_DRIFT)]),
            round=np.ones(1, dtype=np.int64),
            options=np.array([bool(self.imputes), self.bold, *self.log_prior]),
        )

    def with_arms(
        self, state: PracticalExpertsState, kept: Sequence[int], added: int
    ) -> PracticalExpertsState:
        """A new expert has lost, in all rounds so far, what the steady strategy has lost.

        Nobody is due fewer rounds for it that another left, so that all are counted from the first.
        """
        other: PracticalExpertsState = super().with_arms(state, kept, added)
        rounds, stay = state.due.max(), len(kept)
        other.due[:stay] += rounds - other.due[:stay].max()
        other.due[stay:] = other.told[stay:] = rounds
        other.losses[0, stay:] = self.predict(state).dual[LOST]
        for new, old, width in (
            (other.waiting, state.waiting, EXACT),
            (other.recent, state.recent, LANES),
        ):
            new.reshape(-1, width)[:stay] = old.reshape(-1, width)[list(kept)]
        return other

    def blank(self) -> Prediction:
        return Prediction.blank(self.arms, eta=2, dual=DUAL, work=WORK)

    def losses(self, state: PracticalExpertsState) -> Floats:
        losses: Floats = (state.losses[0] + state.losses[1])[:, np.newaxis]
        return losses
