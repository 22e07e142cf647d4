"""Contexts in a game: both loops tell them, and arms come as often as they should."""

from typing import Any

import numpy as np
import pytest

import belated
from belated.arrays import Floats
from belated.learners.contextual.linear import Linear
from belated.play.engine import EngineRun
from belated.play.game import Game
from belated.play.readable import ReadableRun

WIDTH = 3


def played(kind: Any, rounds: int, contexts: Floats | None) -> Any:
    """A learner through a game in which each round has its context."""
    environment = belated.scenario("late-best", rounds=rounds)
    learner = Linear(arms=environment.arms, features=WIDTH)
    game = Game(environment, np.random.SeedSequence(4))
    run = kind(learner, game, np.random.SeedSequence(5))
    for stretch in game.stretches():
        part = None if contexts is None else contexts[stretch.first : stretch.end]
        run.play(stretch._replace(contexts=part))
    return run.close()


def test_both_loops_tell_the_contexts() -> None:
    contexts = np.random.default_rng(6).normal(size=(120, WIDTH))
    engine, readable = (played(kind, 120, contexts) for kind in (EngineRun, ReadableRun))
    assert engine.plays.tolist() == readable.plays.tolist()
    np.testing.assert_allclose(engine.loss, readable.loss, rtol=1e-12)
    assert engine.loss != played(EngineRun, 120, None).loss


@pytest.mark.compiled
def test_arms_come_as_often_as_their_probabilities_say() -> None:
    """Over a million rounds, within four standard errors of the sum of all probabilities."""
    rounds = 10**6
    contexts = np.random.default_rng(7).normal(size=(rounds, WIDTH))
    trace = played(EngineRun, rounds, contexts)
    expected = trace.weight_at[-1]
    deviation = np.sqrt(np.minimum(expected, rounds - expected))
    assert (abs(trace.plays - expected) <= 4.0 * deviation).all()
