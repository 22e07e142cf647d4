"""The values that a search for hard games maximises: regret, its ratio to a bound, a rival's lead.

Learners that draw arms are played several times; the value of a game is the mean over the draws.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np

from belated.analysis.bounds import bound_for, run_means
from belated.analysis.game_sums import sum_up
from belated.analysis.run_certificates import certificate_of
from belated.arrays import Floats
from belated.comparison.compare import start_run
from belated.comparison.contenders import Contender
from belated.environments.environment import Environment
from belated.environments.in_memory import GivenDelays, GivenLosses
from belated.environments.missing import missing_counts
from belated.learners.driver import PlayableLearner
from belated.play.game import Game, Stretch
from belated.play.trace import Trace
from belated.stress.mutations import Script
from belated.types import Setting

Draws = Sequence[np.random.SeedSequence]


class ScriptedGame(Game):
    """The game of a script, as one stretch with one checkpoint, so that playing it is cheap."""

    def __init__(self, script: Script) -> None:
        losses, delays = GivenLosses(script.losses), GivenDelays(script.delays)
        rounds = len(script.losses)
        super().__init__(Environment("script", losses, delays, rounds), np.random.SeedSequence(0))
        self.checkpoints = np.array([rounds])
        self.stretch = Stretch(
            0, rounds, losses.values, delays.values, missing_counts(delays.values)
        )

    def stretches(self) -> Iterator[Stretch]:
        yield self.stretch


class Score(NamedTuple):
    """The value of a game for the search.

    `values` has one entry for each draw, and so has `regrets`, the first learner's regret against
    `arm`; `rivals_regrets` is that of the second, if there is one. Without a value, `why` gives the
    reason.
    """

    values: Floats
    regrets: Floats
    arm: int
    bound: float | None = None
    why: str = ""
    rivals_regrets: Floats | None = None

    @property
    def value(self) -> float:
        """The mean over the draws; minus infinity if there is none."""
        return float(self.values.mean()) if self.values.size else -math.inf


class Objective(Protocol):
    """An objective gives a game its value, which the search maximises."""

    @property
    def name(self) -> str: ...

    @property
    def contenders(self) -> tuple[Contender, ...]: ...

    def score(self, game: ScriptedGame, draws: Draws) -> Score: ...


@dataclass(frozen=True)
class OverBound:
    """The regret against the best arm, divided by the bound of the learner's theorem."""

    contender: Contender

    name = "regret / bound"

    @property
    def contenders(self) -> tuple[Contender, ...]:
        return (self.contender,)

    def score(self, game: ScriptedGame, draws: Draws) -> Score:
        sums = sum_up(game)
        learner, arm = self.contender.built(sums), sums.best_arm
        traces = played(learner, game, draws)
        bound = bound_for(learner, sums, arm, run_means(traces), traces[0])
        regrets = losses_of(traces) - sums.losses[arm]
        if bound.value is None:
            why = f"{bound.why}; the objective 'regret' needs no bound"
            return Score(np.empty(0), regrets, arm, why=why)
        return Score(regrets / bound.value, regrets, arm, bound.value)


@dataclass(frozen=True)
class OverCertificate:
    """The regret divided by the certificate, the bound that the run itself proves.

    It is the largest such ratio over all arms and, if the certificate has several rates, all rates.
    """

    contender: Contender

    name = "regret / certificate"

    @property
    def contenders(self) -> tuple[Contender, ...]:
        return (self.contender,)

    def score(self, game: ScriptedGame, draws: Draws) -> Score:
        sums = sum_up(game)
        learner = self.contender.built(sums)
        traces = played(learner, game, draws[:1])
        certificate = certificate_of(traces[0], sums)
        if certificate is None:
            why = (
                f"{self.contender.label} has no certificate; practical-experts has one, and "
                "full-information if it is told its losses when they arrive"
            )
            return Score(np.empty(0), np.empty(0), sums.best_arm, why=why)
        loss, bounds = losses_of(traces), certificate.bounds
        if bounds.min() <= 0.0:
            why = "the certificate is not above 0: the learner did better than any arm"
            return Score(np.empty(0), loss - sums.losses.min(), sums.best_arm, why=why)
        arm = int(((loss[0] - sums.losses) / bounds).argmax())
        regrets = loss - sums.losses[arm]
        return Score(regrets / bounds[arm], regrets, arm, float(bounds[arm]))


@dataclass(frozen=True)
class OverRounds:
    """The regret against the best arm, divided by the number of rounds."""

    contender: Contender

    name = "regret per round"

    @property
    def contenders(self) -> tuple[Contender, ...]:
        return (self.contender,)

    def score(self, game: ScriptedGame, draws: Draws) -> Score:
        sums = sum_up(game)
        loss = losses_of(played(self.contender.built(sums), game, draws))
        regrets = loss - sums.losses[sums.best_arm]
        return Score(regrets / sums.rounds, regrets, sums.best_arm)


@dataclass(frozen=True)
class OverRival:
    """The regret of the learner minus that of its rival, divided by the number of rounds."""

    contender: Contender
    rival: Contender

    name = "difference per round"

    @property
    def contenders(self) -> tuple[Contender, ...]:
        return (self.contender, self.rival)

    def score(self, game: ScriptedGame, draws: Draws) -> Score:
        sums = sum_up(game)
        loss, rival_loss = (
            losses_of(played(each.built(sums), game, draws)) for each in self.contenders
        )
        values, arm = (loss - rival_loss) / sums.rounds, sums.best_arm
        best = sums.losses[arm]
        return Score(values, loss - best, arm, rivals_regrets=rival_loss - best)


def played(learner: PlayableLearner, game: ScriptedGame, draws: Draws) -> list[Trace]:
    """Play the learner once for each draw; in full information only once, as nothing is drawn."""
    if learner.setting is Setting.FULL_INFORMATION:
        draws = draws[:1]
    traces = []
    for draw in draws:
        run = start_run(learner, game, draw)
        run.play(game.stretch)
        traces.append(run.close())
    return traces


def losses_of(traces: Sequence[Trace]) -> Floats:
    """Return the total expected loss sum_t <q_t, l_t> of each run."""
    return np.array([trace.loss for trace in traces])
