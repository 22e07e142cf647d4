"""The model of OTFLinUCB and OTFLinTS (Vernade et al. 2020): plays count at once, rewards late.

A play with the vector x of its round counts in V = I + sum xx' of its arm as soon as it is played.
Its reward counts in B = sum r x when it is told, if that is at most m rounds later (`censor`); what
comes later is ignored. So V^-1 B estimates tau theta, tau being the share of rewards that come
within m rounds, and silence counts as a reward of 0. The plays of the last m rounds may still be
untold: the width is larger by the sum of their norms |x| in V^-1, each as it was at the play.

In the paper's terms an arm in a context is a vector phi of D = K d numbers, x in the arm's place
and 0 elsewhere, so that V is one block for each arm; lambda is 1.
"""

import math
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from belated.arrays import Counts, Floats
from belated.checks import as_chance, as_count
from belated.compiled.kernels import compiled
from belated.learners.contextual.contextual_learner import (
    FEATURES,
    ROUND,
    ContextualLearner,
    LinearInfo,
    foretell_around,
    freeze,
)
from belated.learners.contextual.ridge import Ridge, learn, nothing_learned
from belated.learners.contextual.scaling import Scaling, nothing_seen
from belated.learners.contract import Prediction
from belated.learners.states import ArmFloats
from belated.numerics.exact_sums import add_exactly
from belated.types import Origin

MOST_CENSOR = 100_000  # rounds, each of which keeps a number


class CensoredModel(NamedTuple):
    """What is known of plays, counted at once, and of rewards told within m rounds.

    `norms` has those of the plays of the last m rounds, at their round modulo m, `sum_of_norms`
    their exact sum, and `doubt` is 2 ln(1/delta).
    """

    round: Counts
    context: Floats
    eligible: ArmFloats
    scaling: Scaling
    ridge: Ridge
    norms: Floats
    sum_of_norms: Floats
    doubt: Floats


@compiled
def fill_estimates(model: CensoredModel, info: LinearInfo) -> None:
    """Fill in x, and of each arm the estimate x'V^-1 B and the norm sqrt(x'V^-1 x)."""
    foretell_around(model, info, 0.0, 1.0)


@compiled
def width_of(model: CensoredModel) -> float:
    """Return f_t = 1 + sqrt(2 ln(1/delta) + D ln((D + t)/D)), the paper's with lambda = 1."""
    size = float(model.ridge.rewards.shape[0] * model.ridge.rewards.shape[1])
    grown = size * math.log((size + model.round[0]) / size)
    return 1.0 + math.sqrt(model.doubt[0] + grown)


@compiled
def untold_norms(model: CensoredModel) -> float:
    """Return the sum of the norms of the plays of the last m rounds, each as it was at the play."""
    return float(model.sum_of_norms[0, 0] + model.sum_of_norms[1, 0])


@compiled
def play_at_once(
    model: CensoredModel, info: LinearInfo, arm: int, norm: float, plays: Floats
) -> None:
    """Play a round: freeze x, count it in V, and keep its norm for m rounds."""
    freeze(model, info, arm, plays)
    learn(model.ridge, arm, info.x, 1.0, 0.0)
    place = model.round[0] % model.norms.shape[0]
    add_exactly(model.sum_of_norms, 0, norm)
    add_exactly(model.sum_of_norms, 0, -model.norms[place])
    model.norms[place] = norm
    model.round[0] += 1


@compiled
def tell_in_time(model: CensoredModel, play: Floats, arm: int, loss: float) -> None:
    """Count the reward 1 - l in B, unless its delay is longer than m rounds."""
    if model.round[0] - 1 - int(play[ROUND]) <= model.norms.shape[0]:
        learn(model.ridge, arm, play[FEATURES:], 0.0, 1.0 - loss)


@compiled
def commit(state: Any, prediction: Prediction, arm: int, plays: Floats) -> None:
    """Play the round: it counts at once, with its norm."""
    info = prediction.info
    play_at_once(state.model, info, arm, info.deviation[arm], plays)


@compiled
def withdraw(state: Any, play: Floats, arm: int) -> None:
    """Do nothing: a reward that has not arrived already counts as zero."""


@compiled
def observe(state: Any, play: Floats, arm: int, loss: float, missing: int) -> None:
    """Count the reward, if it comes in time."""
    tell_in_time(state.model, play, arm, loss)


@dataclass(frozen=True)
class CensoredLearner(ContextualLearner):
    """A learner that counts plays at once, and rewards if they come within `censor` rounds.

    `censor` is m; twice the mean delay lets half of the rewards count, or more. `delta` is the
    probability with which the confidence width may fail.
    """

    censor: int = 500
    delta: float = 0.05

    origin: ClassVar[Origin] = Origin.READ

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "censor", as_count(self.censor, "censor", 1, MOST_CENSOR))
        object.__setattr__(self, "delta", as_chance(self.delta, "delta"))

    def first_model(self) -> CensoredModel:
        return CensoredModel(
            round=np.ones(1, dtype=np.int64),
            context=self.encoder.nothing(),
            eligible=np.ones(self.arms),
            scaling=nothing_seen(self.scaled()),
            ridge=nothing_learned(self.arms, self.width),
            norms=np.zeros(self.censor),
            sum_of_norms=np.zeros((2, 1)),
            doubt=np.full(1, 2.0 * math.log(1.0 / self.delta)),
        )
