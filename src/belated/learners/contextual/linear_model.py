"""What contextual learners with a linear model share: options, state, and what they learn.

The context of the coming round, and which arms may be drawn in it, are a part of the state: whoever
drives the learner puts them there (`Learner.consider`) before `predict` is called. `foretell` then
computes what the model expects of each arm, and the learner makes probabilities of it. `play`
freezes the vector x of the play, as it was seen, and looks at the plays whose age has doubled: a
silent one counts as an observation of a fraction of a play, by how late reports come. A reward that
is told, or a play that is withdrawn, takes the place of what its silence counted as.
"""

import functools
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from belated.arrays import Counts, Floats
from belated.checks import LossRange, as_count, as_number
from belated.compiled.kernels import compiled
from belated.features.encoder import MOST_HASH_BITS, UNKNOWN, Encoder, Features, encoder_for
from belated.learners.contextual.delay_law import (
    ReportDelays,
    count_look,
    is_counted,
    no_delays,
    renew_law,
    said_by_silence,
)
from belated.learners.contextual.followed_plays import (
    FollowedPlays,
    begin,
    check_plays,
    end,
    no_plays,
    of_arms_kept,
    slot_now,
    slot_of,
    with_room,
)
from belated.learners.contextual.ridge import (
    Ridge,
    common_mean,
    foretold,
    learn,
    nothing_learned,
    spread_of,
)
from belated.learners.contextual.scaling import (
    Scaling,
    crossed_width,
    fill_features,
    nothing_seen,
    see,
)
from belated.learners.contract import UNIT, Learner, Prediction
from belated.learners.following import BINS, NO_MEANING, ONE_SIDED
from belated.learners.states import ArmFloats
from belated.types import Need, Setting

ROUND, FORETOLD, FEATURES = range(3)  # the columns of a play; the vector x begins at the last
EACH_ROUND, RENEWED = 256, 16  # the law is computed again in each of so many rounds, then so often
LEAST_CHANGE = 0.02  # in what silence counts as
OLD_AND_SILENT = 100  # so many plays, silent for longer than any report took, ask for a meaning
MOST_NUMBERS = 4_000_000
NUMBER, LOWEST, HIGHEST, SLOWEST = range(4)  # in `told`


class LinearModel(NamedTuple):
    """All that a learner with a linear model knows.

    `context` is that of the coming round, and `eligible` is 1 for the arms that may be drawn in it.
    `told` has the number of rewards told, the lowest and the highest, and the longest wait.
    """

    round: Counts
    context: Floats
    eligible: ArmFloats
    scaling: Scaling
    ridge: Ridge
    law: ReportDelays
    plays: FollowedPlays
    told: Floats
    default_loss: Floats


class LinearInfo(NamedTuple):
    """The vector x of the round, the reward foretold of each arm, and its standard deviation.

    `optimistic` is working space: the values that arms are chosen by.
    """

    x: Floats
    foretold: Floats
    deviation: Floats
    optimistic: Floats


@compiled
def foretell(model: LinearModel, info: LinearInfo) -> None:
    """Fill in x, and the foretold reward and its standard deviation for each eligible arm."""
    ridge = model.ridge
    fill_features(model.scaling, model.context, info.x)
    mean = common_mean(ridge)
    sigma = spread_of(mean)
    for i in range(model.eligible.shape[0]):
        info.foretold[i], info.deviation[i] = 0.0, 0.0
        if model.eligible[i] > 0.0:
            of_arm = ridge.inverse[i], ridge.rewards[i], ridge.weights[i]
            value, square = foretold(of_arm[0], of_arm[1], of_arm[2], mean, info.x)
            info.foretold[i], info.deviation[i] = value, sigma * math.sqrt(square)


@compiled
def play(model: LinearModel, info: LinearInfo, arm: int, plays: Floats) -> None:
    """Play a round: freeze x, see the context, and look at the plays whose age has doubled."""
    round_ = model.round[0]
    plays[0, ROUND], plays[0, FORETOLD] = round_, info.foretold[arm]
    for i in range(info.x.shape[0]):
        plays[0, FEATURES + i] = info.x[i]
    see(model.scaling, model.context)
    begin(model.plays, arm, round_, info.x)
    if round_ <= EACH_ROUND or round_ % RENEWED == 0:
        renew_law(model.law)
    look_back(model, round_)
    model.round[0] += 1


@compiled
def look_back(model: LinearModel, round_: int) -> None:
    """Look at the plays of ages 2, 4, 8, ... at the start of the next round, which passed a bin."""
    plays, age = model.plays, 2
    for bin_ in range(BINS):
        if age > round_:
            break
        place = (round_ + 1 - age) % plays.arm.shape[0]
        arm, fate = plays.arm[place], plays.fate[place]
        if is_counted(model.default_loss[0], fate, plays.told[place]):
            count_look(model.law, bin_, arm, fate, plays.told[place])
        if slot_of(fate) >= 0:
            hear_silence(model, slot_of(fate), arm, bin_)
        age *= 2


@compiled
def hear_silence(model: LinearModel, slot: int, arm: int, bin_: int) -> None:
    """Let a play that is silent after a bin count as its silence says, if that has changed."""
    plays, ridge = model.plays, model.ridge
    x = plays.x[slot]
    value, _ = foretold(
        ridge.inverse[arm], ridge.rewards[arm], ridge.weights[arm], common_mean(ridge), x
    )
    weight, reward = said_by_silence(model.law, model.default_loss[0], bin_, arm, value)
    before, as_reward = plays.weight[slot], plays.weight[slot] * plays.reward[slot]
    of_rewards, of_rest = weight * reward - as_reward, weight - weight * reward - before + as_reward
    if abs(of_rewards) + abs(of_rest) > LEAST_CHANGE:
        learn(ridge, arm, x, weight - before, of_rewards)
        plays.weight[slot], plays.reward[slot] = weight, reward


@compiled
def end_play(model: LinearModel, play: Floats, arm: int, weight: float, reward: float) -> None:
    """End a play: so much weight of this reward takes the place of what its silence counted as."""
    plays, played, now = model.plays, int(play[ROUND]), model.round[0]
    slot = slot_now(plays, played, now)
    before, as_reward = 0.0, 0.0
    if slot >= 0:
        before, as_reward = plays.weight[slot], plays.weight[slot] * plays.reward[slot]
        end(plays, played, now, reward, weight > 0.0)
    learn(model.ridge, arm, play[FEATURES:], weight - before, weight * reward - as_reward)


@compiled
def tell(model: LinearModel, play: Floats, arm: int, loss: float) -> None:
    """Learn the reward 1 - l of a play, with its vector as it was seen."""
    told, reward = model.told, 1.0 - loss
    told[NUMBER] += 1.0
    told[LOWEST], told[HIGHEST] = min(told[LOWEST], reward), max(told[HIGHEST], reward)
    told[SLOWEST] = max(told[SLOWEST], model.round[0] - play[ROUND])
    end_play(model, play, arm, 1.0, reward)


@dataclass(frozen=True)
class LinearLearner(Learner):
    """A learner with a linear model of rewards, and a law of what silence says.

    `features` declares what a context has: so many numbers, or names, or kinds by name ("number",
    "optional number", or a list of categories); if it is None, any names are hashed into
    2^`hash_bits` coordinates. `interactions` of 2 adds the products of two coordinates. `scales`
    says whether numbers are scaled by their mean and standard deviation. `default_loss` is what a
    play that never reports has lost, if that is known.
    """

    features: Features = None
    hash_bits: int = 5
    interactions: int = 1
    scales: bool = True
    default_loss: float | None = None

    setting: ClassVar[Setting] = Setting.CONCEALED
    needs: ClassVar[tuple[Need, ...]] = (Need.CONTEXT,)
    guarantee: ClassVar[str] = "none"
    can_change_arms: ClassVar[bool] = True
    can_leave_arms_out: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        bits = as_count(self.hash_bits, "hash_bits", 0, MOST_HASH_BITS)
        object.__setattr__(self, "hash_bits", bits)
        object.__setattr__(self, "interactions", as_count(self.interactions, "interactions", 1, 2))
        if self.scales not in (True, False):
            raise ValueError(f"scales is {self.scales!r}; it must be True or False")
        if self.default_loss is not None:
            loss = as_number(self.default_loss, "default_loss")
            if not 0.0 <= loss <= 1.0:
                raise ValueError(f"default_loss is {loss!r}; it must be in [0, 1]")
            object.__setattr__(self, "default_loss", loss)
        numbers = self.arms * self.width * self.width
        if numbers > MOST_NUMBERS:
            raise ValueError(
                f"{self.arms} arms with {self.width} coordinates need {numbers} numbers; there may "
                f"be {MOST_NUMBERS}, so take fewer hash_bits, features or interactions"
            )

    @functools.cached_property
    def encoder(self) -> Encoder:
        """What turns contexts, as users give them, into coordinates."""
        return encoder_for(self.features, self.hash_bits)

    @functools.cached_property
    def width(self) -> int:
        """d, the number of coordinates of x."""
        return crossed_width(self._scaled(), self.interactions) + 1

    def _scaled(self) -> Floats:
        """1 for the coordinates that are scaled."""
        return np.where(self.encoder.scaled & bool(self.scales), 1.0, 0.0)

    @property
    def row_width(self) -> int:
        return FEATURES + self.width

    def consider(self, state: Any, context: Floats | None, eligible: Floats | None = None) -> None:
        model: LinearModel = state.model
        if context is not None and np.shape(context) != model.context.shape:
            raise ValueError(
                f"context has the shape {np.shape(context)}; {self.name} must have "
                f"{model.context.size} coordinates"
            )
        model.context[...] = UNKNOWN if context is None else context
        model.eligible[...] = 1.0 if eligible is None else eligible

    def first_model(self) -> LinearModel:
        """The model before the first round."""
        declared = NO_MEANING if self.default_loss is None else self.default_loss
        return LinearModel(
            round=np.ones(1, dtype=np.int64),
            context=self.encoder.nothing(),
            eligible=np.ones(self.arms),
            scaling=nothing_seen(self._scaled()),
            ridge=nothing_learned(self.arms, self.width),
            law=no_delays(self.arms),
            plays=no_plays(self.width),
            told=np.array([0.0, 1.0, 0.0, 0.0]),
            default_loss=np.full(1, declared),
        )

    def start(self) -> Any:
        return self.state(model=self.first_model())

    def reserved(self, state: Any, rounds: int) -> Any:
        model: LinearModel = state.model
        roomy = with_room(model.plays, int(model.round[0]), rounds)
        return state if roomy is model.plays else state._replace(model=model._replace(plays=roomy))

    def with_arms(self, state: Any, kept: Sequence[int], added: int) -> Any:
        """Return the state with other arms, in which a new arm has the mean reward of all arms."""
        other = super().with_arms(state, kept, added)
        plays = of_arms_kept(state.model.plays, kept)
        model = other.model._replace(plays=plays, eligible=np.ones(len(kept) + added))
        renew_law(model.law)
        return other._replace(model=model)

    def check_saved(self, state: Any, plays: Iterable[Sequence[float]]) -> None:
        model: LinearModel = state.model
        check_plays(model.plays, self.arms)
        if not model.eligible.any():
            raise ValueError("no arm may be drawn")
        for row in plays:
            as_count(row[ROUND], "the round of a play", 1, int(model.round[0]) - 1)

    def concern(self, state: Any, bounds: LossRange = UNIT) -> str | None:
        """Say that old plays are silent and all rewards alike, and nobody declared what that means.

        That user means conversions, or complaints: those who do not, say nothing.
        """
        model: LinearModel = state.model
        number, lowest, highest, slowest = model.told.tolist()
        if model.default_loss[0] != NO_MEANING or number < ONE_SIDED or lowest != highest:
            return None
        played = model.plays.played
        silent = int(((played > 0) & (model.round[0] - played > slowest)).sum())
        if silent < OLD_AND_SILENT:
            return None
        return (
            f"all {number:.0f} losses told so far are {bounds.loss_of(1.0 - lowest):g}, and "
            f"{silent} plays have been silent for longer than any of these took; set default_loss "
            "to say what silence means"
        )

    def declare_silence(self, state: Any, default_loss: float | None) -> None:
        """From the next look at each silent play on, it counts as this default loss says."""
        state.model.default_loss[0] = NO_MEANING if default_loss is None else default_loss

    def losses(self, state: Any) -> Floats:
        """Return the losses of each arm that the model rests on, with those that silence says."""
        ridge: Ridge = state.model.ridge
        return (ridge.weights[:, -1] - ridge.rewards[:, -1])[:, np.newaxis]

    def first_info(self) -> LinearInfo:
        """An empty info of the right size."""
        return LinearInfo(np.zeros(self.width), *np.zeros((3, self.arms)))

    def blank(self) -> Prediction:
        return Prediction.blank(self.arms, gamma=1, info=self.first_info())
