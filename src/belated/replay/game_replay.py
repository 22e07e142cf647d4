"""Any learner along a given game: its weights in every round, and the arms that it played.

The game is a JSON object, as `belated.environments.game_files` writes it, or a case. Arms that the
file does not name are drawn, as `compare` draws them with the same seed and repetition.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from belated.analysis.game_sums import sum_up
from belated.arrays import Floats
from belated.checks import as_count
from belated.comparison.contenders import contender
from belated.environments.environment import draws_seed
from belated.environments.game_files import environment_from_content
from belated.learners.driver import PlayableLearner, driver_for
from belated.numerics.random_stream import draw, seeded
from belated.play.game import Game
from belated.play.readable import Choice, rounds_of
from belated.replay.case_values import played_arms
from belated.types import Setting


class GameReplay(NamedTuple):
    """The weights q_t of the arms in row t-1, and the arms played; experts play none."""

    learner: str
    q: Floats
    arms: list[int]


def replay_game(
    content: Any, learner: str, progress: Callable[[], None] = lambda: None
) -> GameReplay:
    """Run a learner, given as text with its options, along a game; its facts are the game's."""
    if isinstance(content, Mapping) and "case" in content:
        content = content["case"]
    environment = environment_from_content(content, "game")
    game = Game(environment, np.random.SeedSequence(0))
    chosen = contender(learner)
    built = chosen.built(sum_up(game))
    choose = _choice(content, built, environment.rounds, environment.arms)
    q, arms = predictions_along(built, game, choose, progress)
    return GameReplay(chosen.label, q, arms)


def predictions_along(
    learner: PlayableLearner,
    game: Game,
    choose: Choice,
    progress: Callable[[], None] = lambda: None,
) -> tuple[Floats, list[int]]:
    """Return the predictions q_t of a learner along a game, and the arms that it played."""
    q, arms = [], []
    for record in rounds_of(driver_for(learner), game.stretches(), choose):
        q.append(np.array(record.prediction.q, dtype=np.float64))
        arms.append(record.arm)
        progress()
    return np.array(q), [] if learner.setting is Setting.FULL_INFORMATION else arms


def drawn_by(seed: np.random.SeedSequence) -> Choice:
    """Return a choice that draws each arm from the weights, by the random stream of this seed."""
    stream = seeded(seed)
    return lambda t, weights: draw(stream, weights)


def _choice(content: Mapping[str, Any], learner: PlayableLearner, rounds: int, arms: int) -> Choice:
    """Return the arms that the content names, or else draw them with the seed of its export."""
    if content.get("arms") is None or learner.setting is Setting.FULL_INFORMATION:
        made = content.get("made")
        given = made if isinstance(made, Mapping) else {}
        seed = as_count(given.get("seed", 1), "seed", 0)
        return drawn_by(draws_seed(seed, as_count(given.get("repetition", 0), "repetition", 0)))
    played: Sequence[int] = played_arms(content["arms"], rounds, arms).tolist()
    return lambda t, weights: played[t]
