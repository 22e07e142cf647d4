"""The practical bandit: everything that is missing is imputed, and the rates are those of no delay.

Algorithm 1 predicts from Lhat^av + h_t. Here all is in the hint h_t: it stands for what has come
and for all that the learner has not seen, the losses on their way and those of arms it did not
play, and is t times an estimate of each arm's mean loss (`kernels.estimates`), lowered by its
uncertainty. What is on its way is imputed by how long it has been (`kernels.silence`). If what was
imputed turns out worse than knowing nothing, the hint is dropped until that is no longer so. Rounds
without it are played by a repaired concealed bandit of their own, which knows of no others: they
are its first, second and so on, its Lhat^av has their losses alone, and its max_missing is the most
plays of one arm that it ever had outstanding.

In a round: q_t from what stands. The commit freezes what is expected of the play, then the level
settles, then what is said of the arm played and its worth are renewed, or, in some rounds, of all
arms. Losses that arrive after it are judged by what was said then; each renews its arm's worth.
`belated.ftrl.practical_bandit` is the same from the records, without any running sum.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from belated.arrays import Counts, Floats
from belated.checks import as_number
from belated.compiled.jit import compiled
from belated.learners.contract import Learner, Prediction, Verbs, fill_p
from belated.learners.paper import concealed
from belated.learners.practical.delay_bias import (
    EXPLAINS,
    listen,
    note,
    nothing_heard,
    nothing_heard_of,
    power_of,
    says_of,
)
from belated.learners.practical.mean_loss import (
    NEXT,
    SHARE,
    SLOW,
    add_loss,
    expected,
    fade_all,
    faded_since,
    judge,
    level_now,
    mixture_of,
    nothing_known,
    say,
    settle_level,
    share_out,
)
from belated.solvers.concealed import WORK
from belated.solvers.tsallis import solve_tsallis
from belated.types import Covers, Setting

UNSEEN_RISE = 0.5  # how much of a rise of the level an arm that was not played may lack
PER_PENDING = 0.5  # how much more surprise is forgiven for each recent play
MOST = 1e9  # of an option: beyond, products would overflow
RATE, WIDTH, CHECKS, PATIENCE, LISTENS = range(5)
CHECKS_FALL = -5.0 / 6.0  # the share of checks, as a power of the round
PROPENSITY, WEIGHT, ROUND, EXPECTED, OVERALL = range(5)  # of a play; no weight if with trust
SURPRISE, RECENT, CHECKED = range(3)


class PracticalBanditState(NamedTuple):
    """What the bandit for rounds without trust keeps (first nine parts), estimates, and trust.

    now is t, and pending counts the outstanding plays of each arm; round and outstanding are of the
    rounds without trust alone. worth is h_t/t. recent is the sum of s^2 over the rounds s of an
    arm's pending plays: over t^2, their number, where old ones hardly count; made is the sum of s.
    level_met is the common level as it stood when an arm was last played. silence and heard are
    what losses had to do with their delays, of all arms and of each.
    trust has the excess of squared errors over those of the overall mean, recent over all arms, and
    the share of checks.
    """

    losses: Floats  # from here to weight_with_epsilon: of rounds without trust
    outstanding: Counts
    waiting: Floats
    overlap: Floats
    max_missing: Counts
    round: Counts
    dual: Floats
    exploration: Floats
    weight_with_epsilon: Counts
    now: Counts
    pending: Counts
    sums: Floats
    counts: Floats
    evidence: Floats
    shares: Floats
    said: Floats
    echo: Floats
    pooled: Floats
    overall: Floats
    level: Floats
    renewed: Counts
    worth: Floats
    recent: Floats
    made: Floats
    level_met: Floats
    silence: Floats
    heard: Floats
    trust: Floats
    multiplier: Floats
    options: Floats


@compiled
def is_trusted(state: PracticalBanditState) -> bool:
    """Whether imputing has not done worse than knowing nothing, by more than chance might.

    Over all plays of which the loss l was told, (l - expected)^2 - (l - overall)^2 adds up to no
    more than `patience`, and half of (s/t)^2 for every pending play, of round s.
    """
    recent = state.trust[RECENT] / float(state.now[0]) ** 2
    return bool(state.trust[SURPRISE] <= state.options[PATIENCE] + PER_PENDING * recent)


@compiled
def predict(state: PracticalBanditState, prediction: Prediction) -> None:
    """q_t = argmin <q, h_t> - (1/eta_t) sum sqrt(q); without trust, that of th:concealed."""
    if is_trusted(state):
        predict_imputing(state, prediction)
    else:
        concealed.predict(state, prediction)


@compiled
def predict_imputing(state: PracticalBanditState, prediction: Prediction) -> None:
    """The Tsallis argmin, in which every arm is checked upon once in a while.

    Weights below the share of checks over K are raised to it, and then all are divided by their
    sum. The share is 1/2 at first; the renewal of all arms in round t makes it `checks` t^(-5/6)
    times m/(1 - m), but no more than 1/2, where m is the slow overall mean: an arm can be better by
    m, and looking at one that is not costs up to 1 - m.
    """
    q, root = prediction.q, math.sqrt(state.now[0])
    prediction.eta[0] = state.options[RATE] / root
    prediction.gamma[0] = np.inf
    prediction.sums[0, 0], prediction.passes[0] = solve_tsallis(
        state.worth, 2.0 * state.options[RATE] * root, state.multiplier[0], q
    )
    least = state.trust[CHECKED] / q.shape[0]
    sum_ = 0.0
    for i in range(q.shape[0]):
        q[i] = max(q[i], least)
        sum_ += q[i]
    scale = 1.0 / sum_
    for i in range(q.shape[0]):
        q[i] *= scale
    fill_p(prediction)


@compiled
def commit(state: PracticalBanditState, prediction: Prediction, arm: int, plays: Floats) -> None:
    """Freeze the probability, and what is expected of the play and of any; renew the estimates."""
    if is_trusted(state):
        state.multiplier[0] = prediction.sums[0, 0]
        plays[0, PROPENSITY], plays[0, WEIGHT] = 0.0, 0.0
    else:
        concealed.commit(state, prediction, arm, plays)
        state.max_missing[0] = max(state.max_missing[0], state.outstanding[arm])
    round_ = state.now[0]
    plays[0, ROUND] = round_
    plays[0, EXPECTED] = expected(state, arm)
    plays[0, OVERALL] = state.overall[SLOW]
    state.now[0] += 1
    state.pending[arm] += 1
    state.recent[arm] += plays[0, ROUND] ** 2
    state.made[arm] += plays[0, ROUND]
    state.trust[RECENT] += plays[0, ROUND] ** 2
    settle_level(state)
    state.level_met[arm] = level_now(state)
    if round_ >= state.renewed[NEXT]:
        fade_all(state, round_)
        listen(state.silence)
        mean = state.overall[SLOW]
        checks = state.options[CHECKS] * mean / (1.0 - mean) * round_**CHECKS_FALL
        state.trust[CHECKED] = min(0.5, checks)
        for i in range(state.worth.shape[0]):
            share_out(state.evidence, state.echo, state.shares, i)
            say(state, i, 1.0, 1.0)
            value(state, i)
    else:
        slow, fast = faded_since(state, round_)
        say(state, arm, slow, fast)
        value(state, arm)


@compiled
def value(state: PracticalBanditState, arm: int) -> None:
    """An arm's mean loss less its uncertainty, in which recent plays count as if told.

    Of a mixture with mean m and count n, to which every pending play adds (s/t)^2 losses worse
    than m by what silence of their mean age says, it is m - width sqrt(p (1 - p) g / (n + 1)) with
    p = (m (n + 1) + 1)/(n + 3) within [0, 1] and g = 1 + ln(t / (K (n + 1))), but at least 1;
    less what the arm may lack of the level's rise. It stands until it is renewed, as of that round.
    """
    t, (slow, fast) = float(state.now[0]), faded_since(state, state.now[0] - 1)
    mean, count = mixture_of(state, arm, slow, fast)
    if state.pending[arm] > 0:
        recent, age = state.recent[arm] / (t * t), t - state.made[arm] / state.pending[arm]
        count += recent
        mean += recent / (count + 1.0) * says_of(state.silence, state.heard, arm, power_of(age))
    share = min(1.0, max(0.0, (mean * (count + 1.0) + 1.0) / (count + 3.0)))
    variance, due = share * (1.0 - share) / (count + 1.0), state.worth.shape[0] * (count + 1.0)
    if t > due:
        variance *= 1.0 + math.log(t / due)
    deviation = math.sqrt(variance)
    state.worth[arm] = mean - state.options[WIDTH] * deviation - unseen_rise(state, arm)


@compiled
def unseen_rise(state: PracticalBanditState, arm: int) -> float:
    """Half of what the level has risen since the arm was last played, as far as it is believed in.

    The arm itself may have stayed where it was: nobody has looked.
    """
    rise = max(0.0, level_now(state) - state.level_met[arm])
    return float(UNSEEN_RISE * state.level[SHARE] * rise)


@compiled
def withdraw(state: PracticalBanditState, play: Floats, arm: int) -> None:
    """The play is no longer pending."""
    forget_play(state, play, arm)
    value(state, arm)


@compiled
def forget_play(state: PracticalBanditState, play: Floats, arm: int) -> None:
    """The same without the arm's worth, which is to change once more."""
    if play[WEIGHT] > 0.0:
        concealed.withdraw(state, play, arm)
    state.pending[arm] -= 1
    state.recent[arm] -= play[ROUND] ** 2
    state.made[arm] -= play[ROUND]
    state.trust[RECENT] -= play[ROUND] ** 2


@compiled
def observe(state: PracticalBanditState, play: Floats, arm: int, loss: float, missing: int) -> None:
    """Judge what was imputed, and learn; from a round without trust, Lhat^av too."""
    forget_play(state, play, arm)
    if play[WEIGHT] > 0.0:
        state.losses[arm] += loss / play[PROPENSITY]
    state.trust[SURPRISE] += (loss - play[EXPECTED]) ** 2 - (loss - play[OVERALL]) ** 2
    power = power_of(state.now[0] - play[ROUND])
    judge(state, arm, loss, state.silence[EXPLAINS, power])
    if state.options[LISTENS] > 0.0:
        note(state.silence, state.heard, arm, power, loss - expected(state, arm))
    add_loss(state, arm, loss, int(play[ROUND]))
    value(state, arm)


@dataclass(frozen=True)
class PracticalBandit(Learner):
    """The practical bandit, which must be told nothing beforehand.

    Its options are for those who want to see what each part does: `rate` is eta_t sqrt(t), twelve
    times the paper's; `width` the standard deviations that an estimate is lowered by; `checks`
    times t^(-5/6) the share of rounds, at losses of 1/2, that go to arms given up; `patience` the
    excess of squared errors from which on the hint is dropped, with infinity for never; `forgets`
    and `levels` whether there are estimates that forget, and one that takes out a common level;
    `listens` whether plays on their way are imputed by how long they have been, and what a delay
    explains of a loss is no sign of a common level.
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
    dissected: ClassVar[tuple[str, ...]] = (
        "rate",
        "width",
        "checks",
        "patience",
        "forgets",
        "levels",
        "listens",
    )
    source: ClassVar[str] = "ours, on the frame of the paper's Algorithm 1"
    play_width: ClassVar[int] = 5
    by_arm: ClassVar[tuple[str, ...]] = (
        *concealed.Concealed.by_arm,
        "pending",
        "sums",
        "counts",
        "evidence",
        "shares",
        "said",
        "worth",
        "recent",
        "made",
        "level_met",
        "heard",
    )
    by_number: ClassVar[tuple[str, ...]] = (*concealed.Concealed.by_number, "multiplier")
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

    def start(self) -> PracticalBanditState:
        repaired = concealed.Concealed(self.arms, variant="repaired").start()
        state = PracticalBanditState(
            **repaired._asdict(),
            now=np.ones(1, dtype=np.int64),
            pending=np.zeros(self.arms, dtype=np.int64),
            **nothing_known(self.arms, bool(self.forgets), bool(self.levels)),
            worth=np.zeros(self.arms),
            recent=np.zeros(self.arms),
            made=np.zeros(self.arms),
            level_met=np.zeros(self.arms),
            silence=nothing_heard(),
            heard=nothing_heard_of(self.arms),
            trust=np.array([0.0, 0.0, 0.5]),
            multiplier=np.full(1, np.inf),
            options=np.array(
                [self.rate, self.width, self.checks, self.patience, bool(self.listens)]
            ),
        )
        for i in range(self.arms):
            value(state, i)
        return state

    def with_arms(
        self, state: PracticalBanditState, kept: Sequence[int], added: int
    ) -> PracticalBanditState:
        """A new arm is one of which nothing has come; the worth of all is renewed.

        What was learned of all arms together stays, also what those left out have taught.
        """
        repaired = concealed.Concealed(self.arms, variant="repaired")
        parts = {name: getattr(state, name) for name in concealed.ConcealedState._fields}
        fallen_back = repaired.with_arms(concealed.ConcealedState(**parts), kept, added)
        other: PracticalBanditState = super().with_arms(state, kept, added)
        other = other._replace(**fallen_back._asdict())
        slow, fast = faded_since(other, other.now[0] - 1)
        for i in range(len(kept), len(kept) + added):
            other.level_met[i] = level_now(other)
            say(other, i, slow, fast)
        for i in range(len(kept) + added):
            value(other, i)
        return other

    def blank(self) -> Prediction:
        return Prediction.blank(self.arms, eta=1, gamma=1, dual=1 + self.arms, work=WORK)
