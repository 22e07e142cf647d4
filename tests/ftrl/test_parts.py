"""The parts of Algorithm 1 can be exchanged: hints, and regularizers of a user's own."""

from dataclasses import replace

import numpy as np
import pytest

from belated import ftrl
from belated.ftrl.ledger import Ledger
from belated.simulation.case import parse_case
from belated.simulation.replay import replay
from tests.games import random_game


@pytest.mark.parametrize("setting", ["full", "concealed"])
def test_a_zero_hint_is_no_hint(setting: str) -> None:
    """The paper has no hint; one that is zero changes nothing."""
    case = parse_case(random_game(np.random.default_rng(4), setting, "paper"))
    build = ftrl.full_information if setting == "full" else ftrl.concealed
    plain = build(**case.options)
    hinted = replace(plain, hint=lambda ledger: np.zeros_like(plain.prior_psi))
    assert (replay(case, plain).q == replay(case, hinted).q).all()


def test_a_hint_counts_for_the_prediction_only() -> None:
    """It moves weight away from the arm it speaks against, and leaves the losses as they are."""
    plain = ftrl.concealed(arms=3, max_missing=1)

    def against_the_first(ledger: Ledger) -> np.ndarray[tuple[int, int], np.dtype[np.float64]]:
        return np.array([[5.0], [0.0], [0.0]])

    state = plain.start()
    forecast = replace(plain, hint=against_the_first).predict(state)
    assert forecast.q[0] < 1.0 / 3.0
    assert forecast.q[1] == pytest.approx(forecast.q[2])
    assert (state.losses == 0.0).all()


def test_a_loss_is_received_once() -> None:
    """The readable layer refuses a loss that is not pending."""
    learner = ftrl.concealed(arms=2, max_missing=1)
    state = learner.start()
    (play,) = learner.commit(state, learner.predict(state), arm=1)
    learner.observe(state, play, arm=1, loss=0.5)
    with pytest.raises(ValueError, match="not pending"):
        learner.observe(state, play, arm=1, loss=0.5)
