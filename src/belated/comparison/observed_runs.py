"""A run of a learner, round by round: the first game of a comparison is played once more.

A comparison keeps sums of its runs. What a context changes can only be seen round by round, so the
run is played again from its seeds, with the same draws.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from belated.analysis.game_sums import GameSums
from belated.arrays import Counts, Floats
from belated.comparison.contenders import Contender
from belated.environments.environment import Environment, draws_seed, game_seed
from belated.environments.missing import NEVER
from belated.learners.contextual.followed_plays import FIRST_SLOT
from belated.learners.contextual.linear_model import LinearModel
from belated.learners.delay_law import BOTH
from belated.learners.driver import driver_for
from belated.numerics.random_stream import draw, seeded
from belated.play.game import Game
from belated.play.readable import rounds_of
from belated.table_files import Mask

MOST_ROUNDS = 10_000  # of a game that are played again
LOOKS = 100  # at the model of a learner


@dataclass(frozen=True)
class ObservedGame:
    """The first rounds of a game with contexts; tables have a row for each round.

    `means` are the mean losses of the arms in each context; where no one knows them they are None.
    """

    features: tuple[str, ...]
    labels: tuple[str, ...]
    contexts: Floats
    losses: Floats
    delays: Counts
    means: Floats | None

    @property
    def rounds(self) -> int:
        """The number of rounds."""
        return len(self.losses)


@dataclass(frozen=True)
class ObservedRun:
    """A learner in these rounds: its weights, the arms that it drew, and what its model said.

    `foretold` has the reward that was foretold of each arm, and is None for learners that foretell
    none. `looks` are rounds at which the model was looked at; `silent` is the share of its weight
    that came from silent plays, and `untold` the chance that a report comes later than so many
    doublings of the age, by bin and arm, at the end. Both are None for learners without such a
    model.
    """

    label: str
    q: Floats
    arms: Counts
    foretold: Floats | None
    looks: Counts
    silent: Floats | None
    untold: Floats | None


@dataclass(frozen=True)
class Observed:
    """The first game of a comparison with contexts, and all its runs."""

    game: ObservedGame
    runs: tuple[ObservedRun, ...]


def observe(
    environment: Environment,
    contenders: tuple[Contender, ...],
    sums: GameSums,
    seed: int,
    repetition: int,
) -> Observed:
    """Play a repetition of a comparison again, up to MOST_ROUNDS of it."""
    number = repetition if environment.random else 0
    game = Game(environment, game_seed(seed, number))
    draws = draws_seed(seed, repetition)
    rounds = min(environment.rounds, MOST_ROUNDS)
    return Observed(
        observed_game(game, rounds),
        tuple(observed_run(each, game, sums, draws, rounds) for each in contenders),
    )


def observed_game(game: Game, rounds: int) -> ObservedGame:
    """Return the first rounds of a game."""
    tables: dict[str, list[Any]] = {name: [] for name in ("contexts", "losses", "delays")}
    means: list[Floats] | None = []
    for stretch in game.stretches():
        for name, parts in tables.items():
            parts.append(getattr(stretch, name))
        means = None if means is None or stretch.means is None else [*means, stretch.means]
        if stretch.end >= rounds:
            break
    whole = {name: np.concatenate(parts)[:rounds] for name, parts in tables.items()}
    return ObservedGame(
        features=tuple(game.environment.features),
        labels=tuple(game.environment.labels),
        contexts=whole["contexts"],
        losses=whole["losses"],
        delays=whole["delays"],
        means=None if means is None else np.concatenate(means)[:rounds],
    )


def observed_run(
    contender: Contender,
    game: Game,
    sums: GameSums,
    draws: np.random.SeedSequence,
    rounds: int,
) -> ObservedRun:
    """Play a learner through the first rounds of a game, and write down each of them."""
    driver, stream = driver_for(contender.built(sums)), seeded(draws)
    shape = (rounds, game.environment.arms)
    q, foretold, arms = np.empty(shape), np.full(shape, np.nan), np.empty(rounds, dtype=np.int64)
    looks = np.unique(np.linspace(1, rounds, min(LOOKS, rounds)).round().astype(np.int64))
    silent = np.full(looks.size, np.nan)
    model = getattr(driver.state, "model", None)
    records = rounds_of(driver, game.stretches(), lambda _, weights: int(draw(stream, weights)))
    for t, record in enumerate(records):
        q[t], arms[t] = record.prediction.q, record.arm
        info: Any = getattr(record.prediction, "info", None)
        if hasattr(info, "foretold"):
            foretold[t] = info.foretold
        model = getattr(driver.state, "model", None)
        if isinstance(model, LinearModel) and t + 1 in looks:
            silent[np.searchsorted(looks, t + 1)] = silent_share(model)
        if t + 1 == rounds:
            break
    known = isinstance(model, LinearModel)
    return ObservedRun(
        label=contender.label,
        q=q,
        arms=arms,
        foretold=None if np.isnan(foretold).all() else foretold,
        looks=looks,
        silent=silent if known else None,
        untold=model.law.untold[BOTH].copy() if isinstance(model, LinearModel) else None,
    )


def silent_share(model: LinearModel) -> float:
    """Return the share of the model's weight that comes from plays that are silent."""
    slots = FIRST_SLOT - model.plays.fate[model.plays.fate <= FIRST_SLOT]
    total = float(model.ridge.weights[:, -1].sum())
    return float(model.plays.weight[slots].sum()) / total if total > 0.0 else 0.0


def told_in(game: ObservedGame, run: ObservedRun) -> Mask:
    """Return which plays of a bandit were told by the end of these rounds."""
    rows = np.arange(game.rounds)
    delays = game.delays[rows, run.arms]
    told: Mask = (delays != NEVER) & (rows + delays < game.rounds)
    return told
