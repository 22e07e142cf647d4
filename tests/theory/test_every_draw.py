"""Theorems 6 and 9 and Proposition 2 for belated's own learners: every draw of small games.

The weights of the learners are binary fractions, so that means over all draws are computed exactly,
in rationals. Only the roots on the right-hand sides are rounded.
"""

import math
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
import pytest

from belated.arrays import Counts, Floats
from belated.environments.missing import NEVER
from belated.learners.advice.advice_bandit import AdviceBandit
from belated.learners.contract import Learner
from belated.learners.paper.concealed import Concealed
from belated.learners.states import copied


class Script(NamedTuple):
    """A small game: losses, delays and advice by round."""

    losses: Floats
    delays: Counts
    advice: Floats | None


class Path(NamedTuple):
    """One way through a game: its probability, arms, last state, predictions, and sum of z_t."""

    chance: Fraction
    arms: tuple[int, ...]
    state: Any
    predictions: tuple[Any, ...]
    overlap: float = 0.0


Play = tuple[int, int, Floats, float]  # when it is told, the arm, its row, its loss


def script(seed: int, arms: int, rounds: int, policies: int = 0) -> Script:
    random = np.random.default_rng(seed)
    losses = np.round(random.random((rounds, arms)) * 8) / 8
    delays = random.choice([0, 0, 1, 3, NEVER], size=(rounds, arms))
    if not policies:
        return Script(losses, delays, None)
    shares = random.integers(0, 5, size=(rounds, policies, arms))
    shares[:, :, 0] += shares.sum(axis=2) == 0
    return Script(losses, delays, shares / shares.sum(axis=2, keepdims=True))


def every_path(learner: Learner, game: Script) -> list[Path]:
    """All ways through the game that have a chance."""
    start = Path(Fraction(1), (), learner.start(), ())
    return list(_ways(learner, game, start, []))


def _ways(learner: Learner, game: Script, path: Path, waiting: list[Play]) -> Iterator[Path]:
    t = len(path.arms)
    if t == len(game.losses):
        yield path
        return
    state = learner.reserved(copied(path.state), 1)
    for due, arm, row, loss in waiting:
        if due == t:
            learner.observe(state, row, arm, loss, -1)
    if game.advice is not None:
        learner.advise(state, game.advice[t])
    prediction = learner.predict(state)
    weights = [Fraction(float(q)) for q in prediction.q]
    for arm, weight in enumerate(weights):
        if weight > 0:
            after, kept = copied(state), copied(prediction)
            row = learner.commit(after, kept, arm)[0].copy()
            delay = int(game.delays[t, arm])
            play = (-1 if delay == NEVER else t + 1 + delay, arm, row, float(game.losses[t, arm]))
            way = Path(
                path.chance * weight / sum(weights),
                (*path.arms, arm),
                after,
                (*path.predictions, kept),
                path.overlap + outstanding_cost(kept, row),
            )
            yield from _ways(learner, game, way, [*waiting, play])


def outstanding_cost(prediction: Any, row: Floats) -> float:
    """z_t of Theorem 6; nothing for learners without policies."""
    if not hasattr(prediction.info, "waiting"):
        return 0.0
    return float(prediction.info.weights @ (row * prediction.info.waiting))


def mean(paths: list[Path], value: Callable[[Path], Any]) -> Any:
    """The expectation over all draws; exact if the values are fractions."""
    values = [value(path) for path in paths]
    if isinstance(values[0], Fraction):
        return sum(path.chance * each for path, each in zip(paths, values, strict=True))
    return math.fsum(float(path.chance) * each for path, each in zip(paths, values, strict=True))


def loss_of(game: Script) -> Callable[[Path], Fraction]:
    """The loss along a path."""
    return lambda path: sum(
        (Fraction(float(game.losses[t, arm])) for t, arm in enumerate(path.arms)), Fraction(0)
    )


def estimate_of(place: int) -> Callable[[Path], float]:
    """Lhat of a policy or an arm at the end of a path."""
    return lambda path: float(path.state.losses[place])


SIZES = [(0, 2, 5, 2), (1, 2, 5, 3), (2, 3, 4, 2), (3, 3, 4, 3), (4, 2, 6, 2)]


@pytest.mark.parametrize(("seed", "arms", "rounds", "policies"), SIZES)
def test_theorem_6(seed: int, arms: int, rounds: int, policies: int) -> None:
    """The regret against every policy, and that the estimates of no policy are too large."""
    game = script(seed, arms, rounds, policies)
    advice = game.advice
    assert advice is not None
    paths = every_path(AdviceBandit(arms, policies=policies), game)
    assert sum(path.chance for path in paths) == 1
    log, root = math.log(policies), math.sqrt(arms * rounds)
    shares = advice.max(axis=1).sum()

    def waiting(path: Path) -> float:
        return math.sqrt(log * (root / 4.0 + path.predictions[-1].info.most_waiting[0]))

    overlap = mean(paths, lambda path: path.overlap)
    bound = 2.0 * root + 3.0 * math.sqrt(log * (shares + overlap)) + mean(paths, waiting)
    for n in range(policies):
        lost = sum(
            Fraction(float(x)) * Fraction(float(loss))
            for x, loss in zip(advice[:, n].ravel(), game.losses.ravel(), strict=True)
        )
        assert float(mean(paths, loss_of(game)) - lost) <= bound
        assert mean(paths, estimate_of(n)) <= float(lost) + 1e-12


GAMES = [script(0, 2, 6), script(1, 3, 4), script(5, 2, 6)]
ONE_NEVER_COMES = Script(
    np.array([[0.0, 1.0]] * 6), np.array([[NEVER, NEVER], *[[0, 0]] * 5]), None
)


@pytest.mark.parametrize("game", [*GAMES, ONE_NEVER_COMES])
@pytest.mark.parametrize("skipping", [False, True])
def test_proposition_2_and_theorem_9(game: Script, skipping: bool) -> None:
    """The regret against every arm, the number of skips on every path, and the estimates."""
    rounds, arms = game.losses.shape
    paths = every_path(Concealed(arms, variant="repaired", skipping=skipping), game)
    assert sum(path.chance for path in paths) == 1
    log, root = math.log(arms), math.sqrt(arms * rounds)
    costs = mean(paths, lambda path: math.sqrt(log * path.state.overlap[0]))
    if not skipping:
        costs = math.sqrt(log * mean(paths, lambda path: path.state.overlap[0])) * 3.0 / 5.0
    waits = mean(paths, lambda path: math.sqrt(log * path.predictions[-1].info.most_waiting[0]))
    bound = 8.0 * root + 5.0 * costs + waits
    for u in range(arms):
        lost = sum(Fraction(float(loss)) for loss in game.losses[:, u])
        assert float(mean(paths, loss_of(game)) - lost) <= bound
        assert mean(paths, estimate_of(u)) <= float(lost) + 1e-12
    for path in paths:
        skipped = path.predictions[-1].info.skipped[0]
        assert skipped <= (2.0 * math.sqrt(log * path.state.overlap[0]) if skipping else 0.0)


def test_some_draws_skip_a_play() -> None:
    """So that Theorem 9 is about something in the game in which one loss never comes."""
    paths = every_path(Concealed(2, variant="repaired", skipping=True), ONE_NEVER_COMES)
    skips = mean(paths, lambda path: Fraction(int(path.predictions[-1].info.skipped[0])))
    assert 0 < skips < 1
