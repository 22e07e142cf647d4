"""One linear model of all arms, which are told apart by features of their own.

In each round every arm may have features, such as its price. One ridge regression learns from the
context, from the features of the arm that was played, and from products of the two. So what is
learned of one arm is known of all that are like it, and an arm may be new in each round. A place of
the learner is only that of an arm in its round. Arms are drawn as `linear` draws them, by the
inverse gaps of optimistic values, and silence says what it says there, with one law of delays for
all arms. A round takes time of the order of K d^2.
"""

import functools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, NamedTuple

import numpy as np

from belated.arrays import Counts, Floats
from belated.checks import as_count
from belated.compiled.kernels import compiled
from belated.features.encoder import MOST_HASH_BITS, UNKNOWN, Encoder, Features, encoder_for
from belated.learners.contextual.followed_plays import FollowedPlays
from belated.learners.contextual.linear import OPTIMISM, STEEPNESS, weigh_inverse_gaps
from belated.learners.contextual.linear_model import (
    NUMBER,
    LinearLearner,
    end_play,
    noise_of,
    play_vector,
    tell,
)
from belated.learners.contextual.renewal import Renewal
from belated.learners.contextual.ridge import Ridge, common_mean, foretold
from belated.learners.contextual.scaling import (
    FARTHEST,
    Scaling,
    crossed_width,
    fill_scaled,
    in_deviations,
    nothing_seen,
    see,
)
from belated.learners.contract import Prediction, Verbs
from belated.learners.delay_law import ReportDelays
from belated.learners.states import ArmFloats, ArmRows

SHARED = 0  # the only row of the ridge, and the only arm of the law of delays
MULTIPLIER, WORD = 2654435761, 2**32  # Knuth's multiplicative hash of pairs of coordinates


class SharedModel(NamedTuple):
    """What is known of all arms together; `actions` has the features of the coming round's arms."""

    round: Counts
    context: Floats
    actions: ArmRows
    eligible: ArmFloats
    scaling: Scaling
    action_scaling: Scaling
    ridge: Ridge
    renewal: Renewal
    law: ReportDelays
    plays: FollowedPlays
    told: Floats
    clock: Floats
    default_loss: Floats


class LinearSharedState(NamedTuple):
    """The state of the shared linear learner: its model."""

    model: SharedModel


class SharedInfo(NamedTuple):
    """The vector of each arm, the reward foretold of it and its standard deviation.

    `optimistic` has the values that arms are drawn by, and `x` and `z` are working space. `scaling`
    is that of actions with those of this round.
    """

    vectors: ArmRows
    foretold: ArmFloats
    deviation: ArmFloats
    optimistic: ArmFloats
    x: Floats
    z: Floats
    scaling: Scaling


@compiled
def predict(state: LinearSharedState, prediction: Prediction) -> None:
    """Draw by the inverse gaps of u_a = f(phi_a) + sd(phi_a), with the rate of `linear`."""
    model, info, ridge = state.model, prediction.info, state.model.ridge
    fill_vectors(model, info)
    mean = common_mean(ridge)
    sigma = noise_of(model)
    for i in range(model.eligible.shape[0]):
        info.foretold[i], info.deviation[i] = 0.0, 0.0
        if model.eligible[i] > 0.0:
            value, square = foretold(
                ridge.inverse[SHARED],
                ridge.rewards[SHARED],
                ridge.weights[SHARED],
                mean,
                info.vectors[i],
            )
            info.foretold[i], info.deviation[i] = value, sigma * math.sqrt(square)
        info.optimistic[i] = info.foretold[i] + OPTIMISM * info.deviation[i]
    gamma = STEEPNESS * math.sqrt(max(1.0, model.told[NUMBER])) / sigma
    weigh_inverse_gaps(info.optimistic, model.eligible, gamma, prediction.q)
    prediction.gamma[0] = gamma


@compiled
def fill_vectors(model: SharedModel, info: SharedInfo) -> None:
    """Fill in phi_a = (x, z_a, crosses of x and z_a, divided by sqrt(d - 1); 1) for each arm."""
    actions, x, z, scaling = model.actions, info.x, info.z, info.scaling
    see_actions(model, scaling)
    fill_scaled(model.scaling, model.context, x)
    last = info.vectors.shape[1] - 1
    shrink = 1.0 / math.sqrt(max(1.0, float(last)))
    for arm in range(actions.shape[0]):
        phi = info.vectors[arm]
        for j in range(z.shape[0]):
            z[j] = 0.0
            if actions[arm, j] != UNKNOWN:
                z[j] = actions[arm, j]
                if scaling.scaled[j] == 1.0:
                    variance = scaling.deviations[j] / max(1.0, scaling.seen[j])
                    z[j] = in_deviations(actions[arm, j], scaling.mean[j], variance)
        for i in range(x.shape[0]):
            phi[i] = x[i]
        for j in range(z.shape[0]):
            phi[x.shape[0] + j] = z[j]
        fill_crosses(x, z, phi)
        for k in range(last):
            phi[k] *= shrink
        phi[last] = 1.0


@compiled
def see_actions(model: SharedModel, scaling: Scaling) -> None:
    """Fill in the scaling of actions with all that may be drawn in this round."""
    before = model.action_scaling
    for j in range(scaling.seen.shape[0]):
        scaling.seen[j], scaling.mean[j] = before.seen[j], before.mean[j]
        scaling.deviations[j], scaling.scaled[j] = before.deviations[j], before.scaled[j]
    for arm in range(model.actions.shape[0]):
        if model.eligible[arm] > 0.0:
            see(scaling, model.actions[arm])


@compiled
def fill_crosses(x: Floats, z: Floats, phi: Floats) -> None:
    """Fill in the products x_i z_j, each at a place of its own, or hashed if these are too few.

    Let h be 2654435761 p mod 2^32 for the pair p = i D + j of D coordinates of z, and m places. The
    place is floor(h m/2^32), and the sign is minus if floor(2 h m/2^32) is odd.
    """
    first = x.shape[0] + z.shape[0]
    places = phi.shape[0] - 1 - first
    for k in range(places):
        phi[first + k] = 0.0
    hashed = places < x.shape[0] * z.shape[0]
    for i in range(x.shape[0]):
        for j in range(z.shape[0]):
            place, product = i * z.shape[0] + j, x[i] * z[j]
            if hashed:
                twice = (place * MULTIPLIER) % WORD * 2 * places // WORD
                place = twice // 2
                if twice % 2 == 1:
                    product = -product
            phi[first + place] += product
    for k in range(places):
        phi[first + k] = min(max(phi[first + k], -FARTHEST), FARTHEST)


@compiled
def commit(state: LinearSharedState, prediction: Prediction, arm: int, plays: Floats) -> None:
    """Play the round, freeze the vector of its arm, and see the features of all its arms."""
    model, info = state.model, prediction.info
    play_vector(model, info.vectors[arm], info.foretold[arm], SHARED, plays)
    scaling, now = model.action_scaling, info.scaling
    for j in range(scaling.seen.shape[0]):
        scaling.seen[j], scaling.mean[j] = now.seen[j], now.mean[j]
        scaling.deviations[j] = now.deviations[j]


@compiled
def withdraw(state: LinearSharedState, play: Floats, arm: int) -> None:
    """Take out what the silence of the play counted as."""
    end_play(state.model, play, SHARED, 0.0, 0.0)


@compiled
def observe(state: LinearSharedState, play: Floats, arm: int, loss: float, missing: int) -> None:
    """Learn the reward, in the place of what the silence of the play counted as."""
    tell(state.model, play, SHARED, loss)


@dataclass(frozen=True)
class LinearShared(LinearLearner):
    """One linear model of all arms, told apart by the features that `ask(actions=)` gives them.

    `action_features` declares the features of arms as `features` does those of contexts. Products
    of a feature of the context and one of the arm are hashed into 2^`cross_bits` coordinates, if
    there are more of them.
    """

    action_features: Features = None
    cross_bits: int = 5

    name: ClassVar[str] = "linear-shared"
    source: ClassVar[str] = "ours; inverse gaps of Foster and Rakhlin 2020, read"
    state: ClassVar[type] = LinearSharedState
    verbs: ClassVar[Verbs] = Verbs(predict, commit, withdraw, observe)

    def __post_init__(self) -> None:
        bits = as_count(self.cross_bits, "cross_bits", 0, MOST_HASH_BITS)
        object.__setattr__(self, "cross_bits", bits)
        super().__post_init__()

    @property
    def takes_actions(self) -> bool:
        return True

    @property
    def ridges(self) -> int:
        return 1

    @functools.cached_property
    def action_encoder(self) -> Encoder:
        """What turns the features of an arm, as users give them, into coordinates."""
        return encoder_for(self.action_features, self.hash_bits)

    @functools.cached_property
    def context_width(self) -> int:
        """How many coordinates a context has, with products if they are wanted."""
        return crossed_width(self.scaled(), self.interactions)

    @functools.cached_property
    def width(self) -> int:
        """d, the number of coordinates of phi."""
        x, z = self.context_width, self.action_encoder.width
        places: int = 2**self.cross_bits
        return x + z + min(x * z, places) + 1

    @property
    def numbers(self) -> int:
        return self.width * (self.width + self.arms)

    def without_actions(self) -> Floats:
        """The features of arms that were given none: they are all equal."""
        return np.full((self.arms, self.action_encoder.width), UNKNOWN)

    def features_of(self, arms: Sequence[Any], actions: Mapping[Any, Any]) -> Floats:
        """The coordinates of the features of these arms, in a row each; arms without are equal."""
        rows = self.without_actions()
        for place, arm in enumerate(arms):
            if actions.get(arm) is not None:
                try:
                    rows[place] = self.action_encoder.encode(actions[arm])
                except ValueError as error:
                    raise ValueError(f"in the features of {arm!r}, {error}") from None
        return rows

    def consider(
        self,
        state: Any,
        context: Floats | None,
        eligible: Floats | None = None,
        actions: Floats | None = None,
    ) -> None:
        """Put the context, the arms that may be drawn and their features, in a row each, in."""
        super().consider(state, context, eligible)
        state.model.actions[...] = self.without_actions() if actions is None else actions

    def first_model(self) -> Any:
        of_one_arm = LinearLearner.first_model(replace(self, arms=1))._asdict()
        scaled = np.where(self.action_encoder.scaled & bool(self.scales), 1.0, 0.0)
        own = {
            "actions": self.without_actions(),
            "eligible": np.ones(self.arms),
            "action_scaling": nothing_seen(scaled),
        }
        return SharedModel(**of_one_arm | own)

    def with_arms(self, state: Any, kept: Sequence[int], added: int) -> Any:
        """Return the state for rounds with another number of arms."""
        fresh: SharedModel = replace(self, arms=len(kept) + added).first_model()
        model = state.model._replace(actions=fresh.actions, eligible=fresh.eligible)
        return state._replace(model=model)

    def losses(self, state: Any) -> Floats:
        """Return the losses that the model rests on, which are those of all arms together."""
        return np.repeat(super().losses(state), self.arms, axis=0)

    def blank(self) -> Prediction:
        value, deviation, optimistic = np.zeros((3, self.arms))
        z = self.action_encoder.width
        info = SharedInfo(
            vectors=np.zeros((self.arms, self.width)),
            foretold=value,
            deviation=deviation,
            optimistic=optimistic,
            x=np.zeros(self.context_width),
            z=np.zeros(z),
            scaling=nothing_seen(np.zeros(z)),
        )
        return Prediction.blank(self.arms, gamma=1, info=info)
