"""What all contextual learners share: how a context is declared and seen, and a model by arm.

The context of the coming round, and which arms may be drawn in it, are a part of the state: anyone
who drives the learner puts them there (`Learner.consider`) before `predict` is called. `foretell`
then computes what a ridge regression of each arm expects, and `freeze` keeps the vector x of the
play, as it was seen. All else is the learner's own.
"""

import functools
import math
from abc import abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, Protocol

import numpy as np

from belated.arrays import Counts, Floats
from belated.checks import as_count
from belated.compiled.kernels import compiled
from belated.features.encoder import MOST_HASH_BITS, UNKNOWN, Encoder, Features, encoder_for
from belated.learners.contextual.ridge import Ridge, common_mean, foretold, spread_of
from belated.learners.contextual.scaling import Scaling, crossed_width, fill_features, see
from belated.learners.contract import Learner, Prediction
from belated.learners.states import ArmFloats
from belated.types import Need, Setting

ROUND, FORETOLD, FEATURES = range(3)  # the columns of a play; the vector x begins at the last
MOST_NUMBERS = 4_000_000


class ContextModel(Protocol):
    """What every model of a contextual learner has: its field `model` is one.

    `context` is that of the coming round, and `eligible` is 1 for the arms that may be drawn in it.
    """

    @property
    def round(self) -> Counts: ...

    @property
    def context(self) -> Floats: ...

    @property
    def eligible(self) -> ArmFloats: ...

    @property
    def scaling(self) -> Scaling: ...

    @property
    def ridge(self) -> Ridge: ...


class LinearInfo(NamedTuple):
    """The vector x of the round, the reward foretold of each arm, and its standard deviation.

    `optimistic` is working space: the values that arms are chosen by.
    """

    x: Floats
    foretold: Floats
    deviation: Floats
    optimistic: Floats


@compiled
def foretell(model: ContextModel, info: LinearInfo) -> None:
    """Fill in x, and the foretold reward and its deviation, as of coins, for each eligible arm."""
    mean = common_mean(model.ridge)
    foretell_around(model, info, mean, spread_of(mean))


@compiled
def foretell_around(model: ContextModel, info: LinearInfo, mean: float, sigma: float) -> None:
    """Fill in x, and m + x'P(b - m c) and sigma sqrt(x'Px) for each eligible arm."""
    ridge = model.ridge
    fill_features(model.scaling, model.context, info.x)
    for i in range(model.eligible.shape[0]):
        info.foretold[i], info.deviation[i] = 0.0, 0.0
        if model.eligible[i] > 0.0:
            of_arm = ridge.inverse[i], ridge.rewards[i], ridge.weights[i]
            value, square = foretold(of_arm[0], of_arm[1], of_arm[2], mean, info.x)
            info.foretold[i], info.deviation[i] = value, sigma * math.sqrt(square)


@compiled
def freeze(model: ContextModel, info: LinearInfo, arm: int, plays: Floats) -> None:
    """Freeze the vector of a play, and what was foretold of it, and see its context."""
    freeze_vector(model, info.x, info.foretold[arm], plays)


@compiled
def freeze_vector(model: ContextModel, x: Floats, value: float, plays: Floats) -> None:
    """Freeze this vector of a play, and this value that was foretold, and see its context."""
    plays[0, ROUND], plays[0, FORETOLD] = model.round[0], value
    for i in range(x.shape[0]):
        plays[0, FEATURES + i] = x[i]
    see(model.scaling, model.context)


@dataclass(frozen=True)
class ContextualLearner(Learner):
    """A learner that sees a context before each round, with a ridge regression for each arm.

    `features` declares what a context has: so many numbers, or names, or kinds by name ("number",
    "optional number", or a list of categories); if it is None, any names are hashed into
    2^`hash_bits` coordinates. `interactions` of 2 adds the products of two coordinates. `scales`
    says whether numbers are scaled by their mean and standard deviation.
    """

    features: Features = None
    hash_bits: int = 5
    interactions: int = 1
    scales: bool = True

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
        if self.numbers > MOST_NUMBERS:
            raise ValueError(
                f"{self.arms} arms with {self.width} coordinates need {self.numbers} numbers; "
                f"there may be {MOST_NUMBERS}, so take fewer hash_bits, features or interactions"
            )

    @functools.cached_property
    def encoder(self) -> Encoder:
        """What turns contexts, as users give them, into coordinates."""
        return encoder_for(self.features, self.hash_bits)

    @functools.cached_property
    def width(self) -> int:
        """d, the number of coordinates of x."""
        return crossed_width(self.scaled(), self.interactions) + 1

    @property
    def numbers(self) -> int:
        """How many numbers the model has, or twice as many."""
        return self.arms * self.width * self.width

    def scaled(self) -> Floats:
        """1 for the coordinates that are scaled."""
        return np.where(self.encoder.scaled & bool(self.scales), 1.0, 0.0)

    @property
    def row_width(self) -> int:
        return FEATURES + self.width

    def consider(self, state: Any, context: Floats | None, eligible: Floats | None = None) -> None:
        model: ContextModel = state.model
        if context is not None and np.shape(context) != model.context.shape:
            raise ValueError(
                f"context has the shape {np.shape(context)}; {self.name} must have "
                f"{model.context.size} coordinates"
            )
        model.context[...] = UNKNOWN if context is None else context
        model.eligible[...] = 1.0 if eligible is None else eligible

    @abstractmethod
    def first_model(self) -> Any:
        """The model before the first round."""

    def start(self) -> Any:
        return self.state(model=self.first_model())

    def with_arms(self, state: Any, kept: Sequence[int], added: int) -> Any:
        """Return the state with other arms, all of which may be drawn."""
        other = super().with_arms(state, kept, added)
        model = other.model._replace(eligible=np.ones(len(kept) + added))
        return other._replace(model=model)

    def check_saved(self, state: Any, plays: Iterable[Sequence[float]]) -> None:
        model: ContextModel = state.model
        if not model.eligible.any():
            raise ValueError("no arm may be drawn")
        for row in plays:
            as_count(row[ROUND], "the round of a play", 1, int(model.round[0]) - 1)

    def losses(self, state: Any) -> Floats:
        """Return the losses of each arm that the model rests on, with those that silence says."""
        ridge: Ridge = state.model.ridge
        return (ridge.weights[:, -1] - ridge.rewards[:, -1])[:, np.newaxis]

    def first_info(self) -> LinearInfo:
        """An empty info of the right size."""
        return LinearInfo(np.zeros(self.width), *np.zeros((3, self.arms)))

    def blank(self) -> Prediction:
        return Prediction.blank(self.arms, gamma=1, info=self.first_info())
