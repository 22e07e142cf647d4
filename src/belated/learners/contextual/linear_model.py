"""What `linear` and its kin share: a model of rewards, and a law of what silence says.

`play` freezes the vector x of the play, as it was seen, and looks at the plays whose age has
doubled. A silent one counts as an observation of a fraction of a play, by how late reports come. A
reward that is told, or a play that is withdrawn, takes the place of what its silence counted as.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from belated.arrays import Counts, Floats
from belated.checks import LossRange, as_number
from belated.compiled.kernels import compiled
from belated.learners.contextual.contextual_learner import (
    FEATURES,
    ROUND,
    ContextualLearner,
    LinearInfo,
    freeze,
)
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
)
from belated.learners.contextual.scaling import (
    Scaling,
    nothing_seen,
)
from belated.learners.contract import UNIT
from belated.learners.following import BINS, NO_MEANING, ONE_SIDED
from belated.learners.states import ArmFloats

EACH_ROUND, RENEWED = 256, 16  # the law is computed again in each of so many rounds, then so often
LEAST_CHANGE = 0.02  # in what silence counts as
OLD_AND_SILENT = 100  # so many plays, silent for longer than any report took, ask for a meaning
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


@compiled
def play(model: LinearModel, info: LinearInfo, arm: int, plays: Floats) -> None:
    """Play a round: freeze x, see the context, and look at the plays whose age has doubled."""
    round_ = model.round[0]
    freeze(model, info, arm, plays)
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
class LinearLearner(ContextualLearner):
    """A learner with a linear model of rewards, and a law of what silence says.

    `default_loss` is what a play that never reports has lost, if that is known.
    """

    default_loss: float | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.default_loss is not None:
            loss = as_number(self.default_loss, "default_loss")
            if not 0.0 <= loss <= 1.0:
                raise ValueError(f"default_loss is {loss!r}; it must be in [0, 1]")
            object.__setattr__(self, "default_loss", loss)

    def first_model(self) -> LinearModel:
        """The model before the first round."""
        declared = NO_MEANING if self.default_loss is None else self.default_loss
        return LinearModel(
            round=np.ones(1, dtype=np.int64),
            context=self.encoder.nothing(),
            eligible=np.ones(self.arms),
            scaling=nothing_seen(self.scaled()),
            ridge=nothing_learned(self.arms, self.width),
            law=no_delays(self.arms),
            plays=no_plays(self.width),
            told=np.array([0.0, 1.0, 0.0, 0.0]),
            default_loss=np.full(1, declared),
        )

    def reserved(self, state: Any, rounds: int) -> Any:
        model: LinearModel = state.model
        roomy = with_room(model.plays, int(model.round[0]), rounds)
        return state if roomy is model.plays else state._replace(model=model._replace(plays=roomy))

    def with_arms(self, state: Any, kept: Sequence[int], added: int) -> Any:
        """Return the state with other arms, in which a new arm has the mean reward of all arms."""
        other = super().with_arms(state, kept, added)
        model = other.model._replace(plays=of_arms_kept(state.model.plays, kept))
        renew_law(model.law)
        return other._replace(model=model)

    def check_saved(self, state: Any, plays: Iterable[Sequence[float]]) -> None:
        check_plays(state.model.plays, self.arms)
        super().check_saved(state, plays)

    def concern(self, state: Any, bounds: LossRange = UNIT) -> str | None:
        """Say that old plays are silent and all rewards equal, and no one declared what that means.

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
