"""The game that contradicts th:fullinfobound (E1 of docs/errata.md), in sizes large enough for it.

There are two experts, and the first has the prior e^-kappa. For T1 rounds both lose 1 and no loss
is late. Then the first stops losing, and the first M - 1 of its zeros never arrive, so that rho^max
rises from 0 to M - 1. The first part is so long that its state is computed from a closed form; the
second part is played. The scenario late-silence plays both, in sizes that take a second.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from belated.analysis import theorems
from belated.analysis.certificates import certificate
from belated.arrays import Floats
from belated.environments.environment import Environment
from belated.environments.scenarios import scenario
from belated.learners.paper.full_information import FullInformation, FullInformationState
from belated.play.engine import EngineRun
from belated.play.game import Game
from belated.types import Variant


class Outcome(NamedTuple):
    """The regret against the first expert, and its certificate for each rate of the grid."""

    regret: float
    certificate: Floats


@dataclass(frozen=True)
class LateSilenceGame:
    """The sizes of a game: T1 = first, T2 = second and M = most."""

    kappa: float
    first: int
    second: int
    most: int

    @property
    def horizon(self) -> int:
        """The number of rounds of both parts, T = T1 + T2."""
        return self.first + self.second

    def bound(self, variant: Variant) -> float:
        """Return th:fullinfobound against the first expert; repaired, the bound that E1 proves."""
        u = theorems.ComparatorTerms(self.kappa, float(self.first), 0.0)
        if variant == "repaired":
            return theorems.repaired_full_information(u, self.horizon, self.most - 1)
        return theorems.full_information(u, 2, self.horizon, self.most - 1)

    def learner(self, variant: Variant) -> FullInformation:
        """Make the learner with the horizon and the prior of this game."""
        prior = (math.exp(-self.kappa), -math.expm1(-self.kappa))
        return FullInformation(arms=2, variant=variant, horizon=self.horizon, prior=prior)

    def after_first_part(self, learner: FullInformation) -> FullInformationState:
        """Return the learner's state after the first part, from a closed form.

        Both experts were charged the same in every round, l + 4 eta l at the rates of rho^max = 0,
        so their weights were the prior throughout, and the regret was zero.
        """
        state = learner.start()
        state.columns.losses[:] = self.first * (
            1.0 + 4.0 * learner.predict(state).eta[:, np.newaxis]
        )
        state.round[0] += self.first
        return state

    def second_part(self) -> Environment:
        """Return the environment of the second part, in which the first expert does not lose."""
        return scenario("late-silence", first=0, second=self.second, most=self.most)

    def play(
        self, variant: Variant, progress: Callable[[int], None] = lambda rounds: None
    ) -> Outcome:
        """Play the second part from the state after the first part.

        `progress` is called with the number of rounds that were played.
        """
        learner, seed = self.learner(variant), np.random.SeedSequence(0)  # nothing is drawn
        game = Game(self.second_part(), seed)
        run = EngineRun(learner, game, seed)
        run.run = run.run._replace(state=self.after_first_part(learner))
        early = learner.predict(learner.start()).eta
        for stretch in game.stretches():
            run.play(stretch)
            progress(len(stretch.losses))
        trace = run.close()
        charged = np.array([[self.first, self.first], [0.0, self.second]])
        rates = np.array([early, trace.rates])
        bounds = certificate(charged, np.zeros((2, 2), np.int64), rates, np.array(learner.prior))
        return Outcome(trace.loss, bounds[0])
