"""The optional hint of DelayedFTRL, and the records of the ledger."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from belated import ftrl
from belated.ftrl.ledger import Ledger
from belated.replay.case import parse_case
from belated.replay.replay import replay
from tests.games import random_game


@pytest.mark.parametrize("setting", ["full", "concealed"])
def test_a_zero_hint_is_no_hint(setting: str) -> None:
    """A hint of zero gives the same predictions as no hint, which is the paper's algorithm."""
    case = parse_case(random_game(np.random.default_rng(4), setting, "paper"))
    build = ftrl.full_information if setting == "full" else ftrl.concealed
    plain = build(**case.options)
    hinted = replace(plain, hint=lambda ledger: np.zeros_like(plain.prior_psi))
    assert (replay(case, plain).q == replay(case, hinted).q).all()


def test_a_hint_counts_for_the_prediction_only() -> None:
    """A hint moves weight away from the arm it is large for, and does not change the losses."""
    plain = ftrl.concealed(arms=3, max_missing=1)

    def against_the_first(ledger: Ledger) -> np.ndarray[tuple[int, int], np.dtype[np.float64]]:
        return np.array([[5.0], [0.0], [0.0]])

    state = plain.start()
    forecast = replace(plain, hint=against_the_first).predict(state)
    assert forecast.q[0] < 1.0 / 3.0
    assert forecast.q[1] == pytest.approx(forecast.q[2])
    assert (state.losses == 0.0).all()


def test_a_loss_is_received_once() -> None:
    """A loss that is not pending, for example one already observed, is refused."""
    learner = ftrl.concealed(arms=2, max_missing=1)
    state = learner.start()
    (play,) = learner.commit(state, learner.predict(state), arm=1)
    learner.observe(state, play, arm=1, loss=0.5)
    with pytest.raises(ValueError, match="not pending"):
        learner.observe(state, play, arm=1, loss=0.5)


@pytest.mark.parametrize("keep", [1.0, 0.4])
def test_some_rounds_as_a_game_of_their_own(keep: float) -> None:
    """`restricted_to` some rounds gives the ledger of a game of these rounds alone."""
    random, learner = np.random.default_rng(8), ftrl.concealed(arms=3, max_missing=9)
    both, due = (learner.start(), learner.start()), dict[int, list[tuple[Any, Any]]]()
    rounds = [t for t in range(1, 61) if random.random() < keep]
    for t in range(1, 61):
        arm, forecast = int(random.integers(3)), learner.predict(both[0])
        plays = [learner.commit(both[k], forecast, arm)[0] for k in range(1 + (t in rounds))]
        due.setdefault(t + int(random.geometric(0.2)) - 1, []).append((plays, random.random()))
        for told, loss in due.pop(t, ()):
            for state, play in zip(both, told, strict=False):
                if loss < 0.2:
                    learner.withdraw(state, play, play.arm)
                else:
                    learner.observe(state, play, play.arm, loss)
    whole, alone = both[0].ledger, both[1].ledger
    own = whole.restricted_to(rounds)
    assert (own.pending, own.arrived, own.ended) == (alone.pending, alone.arrived, alone.ended)
    assert own.pending
    for found, wanted in zip(own.plays, alone.plays, strict=True):
        assert (found.round, found.arm, found.waiting) == (wanted.round, wanted.arm, wanted.waiting)
        assert (found.missing == wanted.missing).all()
    assert (own.most_waiting(), own.round) == (alone.most_waiting(), alone.round)
