"""One restart of a search for hard games: simulated annealing from the best of some random games.

A small change of the game is kept if it makes the game harder for the learner, and in the beginning
also if it makes the game a little easier. A restart depends only on the seed and its own number.
"""

import math
from dataclasses import dataclass

import numpy as np

from belated.environments.environment import Random, branch
from belated.stress.hard_games import HardGame
from belated.stress.mutations import Script, mutated, opening
from belated.stress.objectives import Draws, Objective, ScriptedGame

LEAST_OPENINGS = 10
PROBES = 50
SEARCH_DRAWS, RANKING_DRAWS, FRESH_DRAWS = 16, 100, 400
HEAT = 0.01  # the first temperature, as a part of the best value so far
GAMES, SEARCH, RANKING, FRESH = range(4)


@dataclass(frozen=True)
class GameSearch:
    """The parameters of a search: objective, size of the games, and steps of a restart."""

    objective: Objective
    arms: int
    rounds: int
    steps: int
    seed: int
    longest_delay: int | None = None

    def opening(self, random: Random) -> Script:
        """Draw a random game for the search to begin with."""
        return opening(random, self.rounds, self.arms, self.longest_delay)

    def changed(self, random: Random, script: Script) -> Script:
        """Return the game with a small random change."""
        return mutated(random, script, self.longest_delay)

    def why_not(self) -> str:
        """Return why the objective has no value in any of some random games.

        The text is empty if it has a value in one of them.
        """
        random, draws = np.random.default_rng(self.seed), [np.random.SeedSequence(self.seed)]
        for _ in range(PROBES):
            score = self.objective.score(ScriptedGame(self.opening(random)), draws)
            if score.values.size:
                return ""
        return score.why


class Restart:
    """One restart of the search, from a random game; it can be ended after every step."""

    def __init__(self, search: GameSearch, number: int) -> None:
        self.search, self.number = search, number
        self.seed = np.random.SeedSequence(search.seed, spawn_key=(number,))
        self.random = np.random.default_rng(branch(self.seed, GAMES))
        self.draws = self._draws(SEARCH, SEARCH_DRAWS)
        self.openings = max(LEAST_OPENINGS, search.steps // 4)
        self.evaluations = 0
        self.here: tuple[float, Script | None] = (-math.inf, None)
        self.best: tuple[float, Script | None] = self.here

    def step(self) -> None:
        """Evaluate one more game: a random one at first, then a change of the present one."""
        value, script = self.here
        if script is None or self.evaluations < self.openings:
            changed, heat = self.search.opening(self.random), 0.0
        else:
            changed, heat = self.search.changed(self.random, script), self._heat()
        reached = self._value(changed, self.draws)
        self.evaluations += 1
        if reached > self.best[0]:
            self.best = reached, changed
        if reached > -math.inf and (reached >= value or self._accepts(value - reached, heat)):
            self.here = reached, changed

    def hardest_game(self) -> HardGame | None:
        """Return the hardest game so far, or None if no game had a value."""
        search_value, script = self.best
        if script is None:
            return None
        fresh = self._draws(FRESH, FRESH_DRAWS)
        return HardGame(
            restart=self.number,
            evaluations=self.evaluations,
            objective=self.search.objective,
            script=script,
            search_value=search_value,
            ranking=self._value(script, self._draws(RANKING, RANKING_DRAWS)),
            score=self.search.objective.score(ScriptedGame(script), fresh),
            fresh=fresh,
        )

    def _value(self, script: Script, draws: Draws) -> float:
        return self.search.objective.score(ScriptedGame(script), draws).value

    def _heat(self) -> float:
        return HEAT * abs(self.best[0]) * (1.0 - self.evaluations / self.search.steps)

    def _accepts(self, worse: float, heat: float) -> bool:
        return heat > 0.0 and self.random.random() < math.exp(-worse / heat)

    def _draws(self, purpose: int, count: int) -> Draws:
        return [branch(branch(self.seed, purpose), k) for k in range(count)]
