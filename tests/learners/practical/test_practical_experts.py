"""The practical learner for experts: every q_t against its literal twin, and what it promises."""

from typing import Any

import numpy as np
import pytest

from belated.arrays import Floats
from belated.environments.missing import NEVER
from belated.learners.contract import Prediction
from belated.learners.practical.practical_experts import MIXING, STEADY, PracticalExperts
from tests.games import ARMS, Table, random_table, records_of, shared_delay
from tests.twins.practical_experts import GAMMA, WHOLE, Made, Parts, twin

CLOSE = 1e-10
EARLY = Parts(mixing_least=1 / 64)  # lest in short games the strategies be hardly weighed
WITHOUT = {
    "hint": EARLY._replace(imputes=False),
    "boldness": EARLY._replace(bold=1.0),
    "trackers": EARLY._replace(tracks=False),
}


def predictions(table: Table, parts: Parts = WHOLE) -> list[Prediction]:
    """What is predicted in each round of a table."""
    options = parts._asdict()
    least = options.pop("mixing_least")
    learner = PracticalExperts(table.losses.shape[1], **options)
    state = learner.start()
    state.mixing.most[0] = least
    return [
        each.prediction for each in records_of(learner, table.losses, table.delays, state=state)
    ]


def assert_alike(found: Prediction, made: Made) -> None:
    """Weights of all strategies and the mixture, guesses, and both drift accounts."""
    pairs = {
        "q": (found.q, made.q),
        "strategies": (found.info.strategies, made.strategies),
        "mu": (found.info.guesses, made.guesses),
        "G": (found.info.imputed, made.imputed),
    }
    accounts = found.info.steady, found.info.mixing
    for which, name in ((STEADY, "steady"), (MIXING, "mixing")):
        account = accounts[which]
        lost = made.lost[0] if which == STEADY else made.mixture_lost
        expected = [made.drifts[which], made.most[which], lost]
        pairs[name] = (np.concatenate(account[:3]), np.array(expected))
    for name, (one, other) in pairs.items():
        np.testing.assert_allclose(
            one, other.astype(np.float64), rtol=CLOSE, atol=CLOSE, err_msg=name
        )


def assert_alike_throughout(table: Table, parts: Parts = WHOLE) -> None:
    """In every round of a game."""
    made = twin(table.losses, table.delays, parts)
    for found, expected in zip(predictions(table, parts), made, strict=True):
        assert_alike(found, expected)


@pytest.mark.parametrize("parts", [EARLY, WHOLE], ids=["early", "whole"])
@pytest.mark.parametrize("arms", ARMS)
@pytest.mark.parametrize("seed", range(3))
def test_every_weight_equals_that_of_the_literal_twin(arms: int, seed: int, parts: Parts) -> None:
    """Along random games whose delays differ from arm to arm, some of them without end."""
    table = random_table(100 * seed + arms, 70, arms, never=0.1 * arms)
    assert_alike_throughout(table, parts)


@pytest.mark.parametrize("name", WITHOUT)
def test_so_it_does_without_each_part(name: str) -> None:
    """And each part makes a difference."""
    table = random_table(8, 70, 3, never=0.3)
    assert_alike_throughout(table, WITHOUT[name])
    without, whole = (predictions(table, parts)[-1].q for parts in (WITHOUT[name], EARLY))
    assert np.abs(without - whole).max() > 1e-3


@pytest.mark.parametrize("bold", [0.5, 2e6, float("nan")])
def test_a_boldness_that_would_let_the_rate_rise_is_refused(bold: float) -> None:
    """Or one so high that rounding would decide."""
    with pytest.raises(ValueError, match="bold is"):
        PracticalExperts(3, bold=bold)


def test_so_it_does_when_the_trackers_take_over() -> None:
    """Two experts swap after 110 rounds; the steady strategy is slow to follow, and loses w."""
    rounds = 220
    table = shared_delay(random_table(5, rounds, 3), 4)
    table.losses[:, 0] = np.arange(rounds) >= 110
    table.losses[:, 1] = 1.0 - table.losses[:, 0]
    assert_alike_throughout(table)
    assert min(found.info.shares[STEADY] for found in predictions(table)) < 0.1


def test_its_accounts_begin_where_the_twin_has_them() -> None:
    """A smaller lead than 16 of one strategy is not taken for more than chance."""
    assert PracticalExperts(3).start().mixing.most[0] == WHOLE.mixing_least


@pytest.mark.parametrize("delay", [0, 1, 8, NEVER])
def test_so_it_does_where_all_delays_are_alike(delay: int) -> None:
    """Without delay, with some, and where nothing ever comes."""
    assert_alike_throughout(shared_delay(random_table(4, 60, 3), delay), EARLY)


def test_what_was_lost_long_ago_is_forgotten_at_the_pace_of_each_tracker() -> None:
    """A loss told late counts by its age: 100 rounds on, 0.998^100 or 0.98^100 of it are left."""
    delays = np.zeros((120, 2), dtype=np.int64)
    delays[:15, 1] = 99
    losses = np.random.default_rng(3).random((120, 2))
    found = predictions(Table(losses, delays, np.zeros(120)))[-1]
    assert_alike(found, twin(losses, delays)[-1])
    assert float(GAMMA[1]) ** 100 < 0.2 < 0.8 < float(GAMMA[0]) ** 100


@pytest.mark.parametrize("value", [0.0, 1.0, 0.3])
@pytest.mark.parametrize("arms", ARMS)
def test_equal_losses_leave_the_weights_even(arms: int, value: float) -> None:
    """All losses alike, at delays alike: nothing to choose, no NaN, however many rounds."""
    table = shared_delay(random_table(1, 400, arms), 3)
    for found in predictions(table._replace(losses=np.full((400, arms), value))):
        np.testing.assert_allclose(found.q, 1.0 / arms, rtol=0, atol=1e-12)


def test_rates_never_rise() -> None:
    """Neither of the steady strategy nor of the mixture: the certificate stands on it."""
    rates = np.array([found.eta for found in predictions(random_table(7, 300, 4), EARLY)])
    assert (np.diff(rates, axis=0) <= 0.0).all()
    assert (rates[-1] < rates[0]).all()


def told(learner: PracticalExperts, losses: Floats) -> Any:
    """The state after rounds whose losses were told at once."""
    state = learner.start()
    for row in losses:
        plays = learner.commit(state, learner.predict(state))
        for i, loss in enumerate(row):
            learner.observe(state, plays[i], i, float(loss))
    return state


def test_a_loss_withdrawn_from_one_expert_stands_at_its_mean() -> None:
    """It is worth no more and no less than one that is still missing: withdrawing is no favour."""
    learner = PracticalExperts(3)
    state = told(learner, np.random.default_rng(2).random((20, 3)))
    plays = learner.commit(state, learner.predict(state))
    missing = learner.predict(state)
    learner.withdraw(state, plays[1], 1)
    withdrawn = learner.predict(state)
    np.testing.assert_array_equal(withdrawn.info.imputed, missing.info.imputed)
    assert withdrawn.q.sum() == pytest.approx(1.0)


def test_a_round_withdrawn_from_all_is_as_if_never_played() -> None:
    """The steady strategy plays on as before; the trackers only grow a round older."""
    learner = PracticalExperts(3)
    state = told(learner, np.random.default_rng(2).random((20, 3)))
    before = learner.predict(state)
    plays = learner.commit(state, before)
    for i in range(3):
        learner.withdraw(state, plays[i], i)
    after = learner.predict(state)
    for one, other in (
        (after.info.imputed, before.info.imputed),
        (after.info.strategies[STEADY], before.info.strategies[STEADY]),
    ):
        np.testing.assert_allclose(one, other, rtol=0, atol=1e-12)
    assert not state.waiting.any()


def test_nothing_waits_once_all_losses_have_come() -> None:
    """In whatever order they come: the weights that waited are taken off to the last bit."""
    learner = PracticalExperts(2)
    state, random = learner.start(), np.random.default_rng(0)
    kept = [learner.commit(state, learner.predict(state)) for _ in range(50)]
    for s in random.permutation(50):
        for i in range(2):
            learner.observe(state, kept[s][i], i, float(random.random()))
    assert not state.waiting.any()
