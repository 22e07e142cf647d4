"""What `linear` and its kin share: a model of rewards, and a law of what silence says.

`play` freezes the vector x of the play, as it was seen, and looks at the plays whose age has
doubled. A silent one counts as an observation of a fraction of a play, by how late reports come. A
reward that is told, or a play that is withdrawn, takes the place of what its silence counted as.
How far rewards lie from what was foretold of their plays says how much noise there is.
Ages are counted in rounds, or in seconds as a caller tells the time.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, Protocol, get_args

import numpy as np

from belated.arrays import Counts, Floats
from belated.checks import LossRange, as_number
from belated.compiled.kernels import compiled
from belated.learners.contextual.contextual_learner import (
    FEATURES,
    FORETOLD,
    ROUND,
    ContextModel,
    ContextualLearner,
    LinearInfo,
    foretell_around,
    freeze_vector,
)
from belated.learners.contextual.followed_plays import (
    BINS_OF_SECONDS,
    LOOKS,
    FollowedPlays,
    age_of,
    begin,
    check_plays,
    count_nothing_before,
    end,
    has_passed,
    no_plays,
    of_arms_kept,
    slot_now,
    slot_of,
    with_room,
)
from belated.learners.contextual.renewal import (
    MODEL,
    RECENT,
    Renewal,
    learn_both,
    no_renewal,
    renew,
)
from belated.learners.contextual.ridge import (
    Ridge,
    common_mean,
    foretold,
    nothing_learned,
    spread_of,
)
from belated.learners.contextual.scaling import (
    Scaling,
    nothing_seen,
)
from belated.learners.contract import UNIT
from belated.learners.delay_law import (
    ReportDelays,
    count_look,
    is_counted,
    no_delays,
    renew_law,
    said_by_silence,
)
from belated.learners.following import BINS, NO_MEANING, ONE_SIDED, SILENT
from belated.learners.states import ArmFloats, Array, leaves

EACH_ROUND, RENEWED = 256, 16  # the law is computed again in each of so many rounds, then so often
LEAST_CHANGE = 0.02  # in what silence counts as
OLD_AND_SILENT = 100  # so many plays, silent for longer than any report took, ask for a meaning
NUMBER, LOWEST, HIGHEST, SLOWEST, ERRORS = range(5)  # in `told`
MOST_ERROR = 0.25  # the mean square of errors of coins that are fair
EARLY = 20.0  # so many rewards count as if they were those of coins, before the noise is known
NOW, STEP = range(2)  # in `clock`
EARLIER = {"model.round", "model.plays.arm"}  # parts that tell ages where the state has no clock
Ages = Literal["rounds", "seconds"]


class LinearModel(NamedTuple):
    """All that a learner with a linear model knows.

    `context` is that of the coming round, and `eligible` is 1 for the arms that may be drawn in it.
    `told` has the number of rewards told, the lowest and the highest, the longest wait, and the
    sum of their squared errors, beside what was foretold at the play. `clock` has the time, and
    how much of it a round takes: 1, or 0 where somebody tells the time.
    """

    round: Counts
    context: Floats
    eligible: ArmFloats
    scaling: Scaling
    ridge: Ridge
    renewal: Renewal
    law: ReportDelays
    plays: FollowedPlays
    told: Floats
    clock: Floats
    default_loss: Floats


class FollowingModel(ContextModel, Protocol):
    """What a model has whose plays are followed: `LinearModel` is one."""

    @property
    def renewal(self) -> Renewal: ...

    @property
    def law(self) -> ReportDelays: ...

    @property
    def plays(self) -> FollowedPlays: ...

    @property
    def told(self) -> Floats: ...

    @property
    def clock(self) -> Floats: ...

    @property
    def default_loss(self) -> Floats: ...


@compiled
def noise_of(model: FollowingModel) -> float:
    """Return sigma, the standard deviation of a reward around what is foretold of it.

    sigma^2 = min(s, (20 s + E)/(20 + n)), where s is that of coins with the mean of all arms, and
    E the sum of the squared errors of the n rewards that were told.
    """
    coin = spread_of(common_mean(model.ridge))
    found = (EARLY * coin * coin + model.told[ERRORS]) / (EARLY + model.told[NUMBER])
    return math.sqrt(min(coin * coin, found))


@compiled
def foretell_rewards(model: FollowingModel, info: LinearInfo) -> float:
    """Fill in x, and the foretold reward and its deviation for each eligible arm; return sigma."""
    sigma = noise_of(model)
    foretell_around(model, info, common_mean(model.ridge), sigma)
    return sigma


@compiled
def play(model: FollowingModel, info: LinearInfo, arm: int, plays: Floats) -> None:
    """Play a round: freeze x, see the context, and look at the plays whose age has doubled."""
    play_vector(model, info.x, info.foretold[arm], arm, plays)


@compiled
def play_vector(model: FollowingModel, x: Floats, value: float, arm: int, plays: Floats) -> None:
    """Play a round with this vector, of which this reward was foretold."""
    round_ = model.round[0]
    freeze_vector(model, x, value, plays)
    if renew(model.ridge, model.renewal, round_):
        count_nothing_before(model.plays, model.renewal.since[MODEL])
    begin(model.plays, arm, round_, model.clock[NOW], x)
    if round_ <= EACH_ROUND or round_ % RENEWED == 0:
        renew_law(model.law)
    model.clock[NOW] += model.clock[STEP]
    look_back(model, round_)
    model.round[0] += 1


@compiled
def look_back(model: FollowingModel, round_: int) -> None:
    """Look at the plays that have come to an age of 2, 4, 8, ..., and so have passed a bin.

    Where ages are rounds, there is one for each bin at the start of each round, once there are any.
    """
    plays, time, size, age = model.plays, model.clock[NOW], model.plays.arm.shape[0], 2.0
    for bin_ in range(plays.due.shape[0]):
        first = max(plays.due[bin_], round_ + 1 - size)
        end_ = min(first + LOOKS, round_ + 1)
        while first < end_ and has_passed(plays, first % size, time, age):
            look(model, first % size, bin_)
            first += 1
        plays.due[bin_] = first
        age *= 2.0


@compiled
def look(model: FollowingModel, place: int, bin_: int) -> None:
    """Look at a play that has passed a bin; one that was told later than that was silent there."""
    plays = model.plays
    arm, fate = plays.arm[place], plays.fate[place]
    if fate > bin_:
        fate = SILENT
    if is_counted(model.default_loss[0], fate, plays.told[place]):
        count_look(model.law, bin_, arm, fate, plays.told[place])
    if slot_of(fate) >= 0:
        hear_silence(model, slot_of(fate), arm, bin_)


@compiled
def hear_silence(model: FollowingModel, slot: int, arm: int, bin_: int) -> None:
    """Let a play that is silent after a bin count as its silence says, if that has changed."""
    plays, ridge = model.plays, model.ridge
    x = plays.x[slot]
    value, _ = foretold(
        ridge.inverse[arm], ridge.rewards[arm], ridge.weights[arm], common_mean(ridge), x
    )
    weight, reward = said_by_silence(model.law, model.default_loss[0], bin_, arm, value)
    before, as_reward = plays.weight[slot], plays.weight[slot] * plays.reward[slot]
    of_rewards, of_rest = weight * reward - as_reward, weight - weight * reward - before + as_reward
    played = plays.played[slot]
    if played >= model.renewal.since[MODEL] and abs(of_rewards) + abs(of_rest) > LEAST_CHANGE:
        learn_both(ridge, model.renewal, arm, x, played, weight - before, of_rewards)
        plays.weight[slot], plays.reward[slot] = weight, reward


@compiled
def end_play(model: FollowingModel, play: Floats, arm: int, weight: float, reward: float) -> None:
    """End a play: so much weight of this reward takes the place of what its silence counted as."""
    plays, played, now = model.plays, int(play[ROUND]), model.round[0]
    slot = slot_now(plays, played, now)
    before, as_reward = 0.0, 0.0
    if slot >= 0:
        before, as_reward = plays.weight[slot], plays.weight[slot] * plays.reward[slot]
        end(plays, played, age_of(plays, played, now, model.clock[NOW]), reward, weight > 0.0)
    more, rewards = weight - before, weight * reward - as_reward
    learn_both(model.ridge, model.renewal, arm, play[FEATURES:], played, more, rewards)


@compiled
def tell(model: FollowingModel, play: Floats, arm: int, loss: float) -> None:
    """Learn the reward 1 - l of a play, with its vector as it was seen."""
    told, reward = model.told, 1.0 - loss
    told[NUMBER] += 1.0
    told[LOWEST], told[HIGHEST] = min(told[LOWEST], reward), max(told[HIGHEST], reward)
    age = age_of(model.plays, int(play[ROUND]), model.round[0], model.clock[NOW])
    told[SLOWEST] = max(told[SLOWEST], age)
    error = reward - play[FORETOLD]  # of the play, so that the order of reports does not matter
    told[ERRORS] += error * error
    end_play(model, play, arm, 1.0, reward)


@dataclass(frozen=True)
class LinearLearner(ContextualLearner):
    """A learner with a linear model of rewards, and a law of what silence says.

    `default_loss` is what a play that never reports has lost, if that is known. `ages` says whether
    the law counts ages in rounds, or in seconds, for which the time is told with each call.
    """

    default_loss: float | None = None
    ages: Ages = "rounds"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.ages not in get_args(Ages):
            raise ValueError(f"ages is {self.ages!r}; it must be 'rounds' or 'seconds'")
        if self.default_loss is not None:
            loss = as_number(self.default_loss, "default_loss")
            if not 0.0 <= loss <= 1.0:
                raise ValueError(f"default_loss is {loss!r}; it must be in [0, 1]")
            object.__setattr__(self, "default_loss", loss)

    def first_model(self) -> Any:
        """The model before the first round."""
        declared = NO_MEANING if self.default_loss is None else self.default_loss
        bins = BINS_OF_SECONDS if self.keeps_time else BINS
        return LinearModel(
            round=np.ones(1, dtype=np.int64),
            context=self.encoder.nothing(),
            eligible=np.ones(self.arms),
            scaling=nothing_seen(self.scaled()),
            ridge=nothing_learned(self.arms, self.width),
            renewal=no_renewal(self.arms, self.width, 1),
            law=no_delays(self.arms, bins),
            plays=no_plays(self.width, bins),
            told=np.array([0.0, 1.0, 0.0, 0.0, 0.0]),
            clock=np.ones(2),
            default_loss=np.full(1, declared),
        )

    def reserved(self, state: Any, rounds: int) -> Any:
        model = state.model
        roomy = with_room(model.plays, int(model.round[0]), rounds)
        return state if roomy is model.plays else state._replace(model=model._replace(plays=roomy))

    def with_arms(self, state: Any, kept: Sequence[int], added: int) -> Any:
        """Return the state with other arms, in which a new arm has the mean reward of all arms."""
        other = super().with_arms(state, kept, added)
        model = other.model._replace(plays=of_arms_kept(state.model.plays, kept))
        renew_law(model.law)
        return other._replace(model=model)

    def check_saved(self, state: Any, plays: Iterable[Sequence[float]]) -> None:
        model: FollowingModel = state.model
        check_plays(model.plays, self.arms, int(model.round[0]))
        if not np.isfinite(model.clock).all():
            raise ValueError(f"the time is {model.clock[NOW]!r}")
        since = model.renewal.since.tolist()
        if not 1 <= since[MODEL] <= since[RECENT] <= model.round[0]:
            raise ValueError(f"the models rest on the rounds since {since}")
        super().check_saved(state, plays)

    def concern(self, state: Any, bounds: LossRange = UNIT) -> str | None:
        """Say that old plays are silent and all rewards equal, and no one declared what that means.

        That user means conversions, or complaints: those who do not, say nothing.
        """
        model: FollowingModel = state.model
        number, lowest, highest, slowest, _ = model.told.tolist()
        if model.default_loss[0] != NO_MEANING or number < ONE_SIDED or lowest != highest:
            return None
        plays = model.plays
        ages = model.clock[NOW] - plays.at[plays.played % plays.at.size]
        silent = int(((plays.played > 0) & (ages > slowest)).sum())
        if silent < OLD_AND_SILENT:
            return None
        return (
            f"all {number:.0f} losses told so far are {bounds.loss_of(1.0 - lowest):g}, and "
            f"{silent} plays have been silent for longer than any of these took; set default_loss "
            "to say what silence means"
        )

    @property
    def ridges(self) -> int:
        """How many linear models there are: one for each arm."""
        return self.arms

    @property
    def keeps_time(self) -> bool:
        return self.ages == "seconds"

    def tick(self, state: Any, seconds: float) -> None:
        if not self.keeps_time:
            super().tick(state, seconds)
        state.model.clock[NOW], state.model.clock[STEP] = seconds, 0.0

    def with_later_parts(self, parts: Mapping[str, Array]) -> dict[str, Array]:
        """The parts of a saved state, with those that say the time and the ages of plays.

        Before there were any, ages were counted in rounds. The plays of late begin now, if a state
        has none. Errors that were not noted were at most those of coins.
        """
        told = parts.get("model.told")
        if told is not None and told.size == ERRORS:
            parts = {**parts, "model.told": np.append(told, MOST_ERROR * told[NUMBER])}
        if "model.renewal.lead" not in parts and "model.round" in parts:
            anew = no_renewal(self.ridges, self.width, int(parts["model.round"][0]))
            later = {f"model.renewal.{name}": part for name, part in leaves(anew).items()}
            parts = {**parts, **later}
        if "model.clock" in parts or not parts.keys() >= EARLIER:
            return dict(parts)
        round_, size = int(parts["model.round"][0]), parts["model.plays.arm"].size
        behind = (round_ - 1 - np.arange(size)) % size
        due = [max(1, round_ + 1 - 2 ** (bin_ + 1)) for bin_ in range(BINS)]
        return {
            **parts,
            "model.clock": np.array([float(round_), 1.0]),
            "model.plays.at": np.maximum(0.0, round_ - 1.0 - behind),
            "model.plays.due": np.array(due, dtype=np.int64),
        }

    def declare_silence(self, state: Any, default_loss: float | None) -> None:
        """From the next look at each silent play on, it counts as this default loss says."""
        state.model.default_loss[0] = NO_MEANING if default_loss is None else default_loss
