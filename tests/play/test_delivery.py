"""Delivery: what a learner is told and when, against a twin that looks up every single loss."""

import itertools
from dataclasses import fields
from typing import Any

import numpy as np
import pytest

from belated.arrays import Counts, Floats
from belated.environments.missing import NEVER, missing_counts
from belated.learners.adversarial.exp3 import Exp3
from belated.learners.driver import driver_for
from belated.learners.uniform import Uniform
from belated.play.calendar import TURN
from belated.play.delivery import DeliveredFeedback, FeedbackDelivery
from belated.play.engine import EngineRun
from belated.play.game import Game, Stretch
from belated.play.readable import rounds_of
from belated.types import DELIVERIES
from tests.play.listeners import BanditListener, Listener, Log, log_of
from tests.play.test_engine import DRAWS, given, random_game

WINDOWS = (None, 0, 4)
every_way = pytest.mark.parametrize(
    ("delivery", "window"), list(itertools.product(DELIVERIES, WINDOWS))
)


def told_in(delays: list[list[int]], s: int, arm: int, delivery: str) -> int | None:
    """The round at whose end the loss of (s, arm) is told, None if never: by the definitions."""

    def arrives(then: int, i: int) -> float:
        return float("inf") if delays[then][i] == NEVER else then + delays[then][i]

    arms = range(len(delays[0]))
    when = {
        "own": lambda: arrives(s, arm),
        "padded": lambda: max(arrives(s, i) for i in arms),
        "in order": lambda: max(arrives(then, i) for then in range(s + 1) for i in arms),
    }[delivery]()
    return None if when == float("inf") else int(when)


def expected_log(losses: Floats, delays: Counts, delivery: str, window: int | None) -> Log:
    """Everything that is told within the game, sorted by when, then by round and arm."""
    rounds, arms = losses.shape
    log = []
    for s, arm in itertools.product(range(rounds), range(arms)):
        when = told_in(delays.tolist(), s, arm, delivery)
        loss = float(losses[s, arm])
        if window is not None:
            known = delays[s, arm] != NEVER and delays[s, arm] <= window
            when, loss = s + window, loss if known else 1.0
        if when is not None and when < rounds:
            log.append((when, s, arm, loss))
    return sorted(log)


def cut(losses: Floats, delays: Counts, cuts: list[int]) -> list[Stretch]:
    """A game in stretches that end where one likes."""
    whole = Stretch(0, len(losses), losses, delays, missing_counts(delays))
    ends = [0, *cuts, len(losses)]
    return [
        whole._replace(
            first=start,
            losses=losses[start:stop],
            delays=delays[start:stop],
            missing=whole.missing[start:stop],
        )
        for start, stop in itertools.pairwise(ends)
    ]


def handed_over(learner: Any, stretches: list[Stretch]) -> DeliveredFeedback:
    """Everything that is delivered, put together."""
    delivery = FeedbackDelivery(learner)
    parts = [delivery.deliver(stretch) for stretch in stretches]
    delays = np.concatenate([part.delays for part in parts])
    return DeliveredFeedback(delays, np.concatenate([part.losses for part in parts]))


def log_before(now: int, handed: DeliveredFeedback) -> Log:
    """All that is told before a round, by these delays."""
    return sorted(
        (int(s + handed.delays[s, i]), s, i, float(handed.losses[s, i]))
        for s, i in itertools.product(*map(range, handed.delays.shape))
        if handed.delays[s, i] != NEVER and s + handed.delays[s, i] < now
    )


def heard_by_the_engine(learner: Listener, game: Game) -> Log:
    """What the compiled game tells."""
    run = EngineRun(learner, game, DRAWS)
    for stretch in game.stretches():
        run.play(stretch)
    return log_of(run.run.state)


def sparse_game(seed: int, rounds: int, arms: int) -> tuple[Floats, Counts]:
    """Delays of every kind; only in the second half is there anything that never comes."""
    losses, delays = random_game(seed, rounds, arms, 9)
    early = delays[: rounds // 2]
    early[early == NEVER] = 3
    return losses, delays


@every_way
@pytest.mark.parametrize("cuts", [[], [1], [3, 4, 17, 40], [20, 30, 59]])
def test_feedback_is_delivered_as_the_definitions_say(
    delivery: Any, window: int | None, cuts: list[int]
) -> None:
    """In one stretch or in several, with losses that never come."""
    losses, delays = sparse_game(1, 60, 3)
    learner = Uniform(arms=3, delivery=delivery, window=window)
    log = log_before(60, handed_over(learner, cut(losses, delays, cuts)))
    assert log == expected_log(losses, delays, delivery, window)


@every_way
def test_both_games_tell_exactly_that(delivery: Any, window: int | None) -> None:
    """The compiled one and the readable one, to experts; and in order where order is promised."""
    losses, delays = sparse_game(2, 150, 3)
    game = given(losses, delays)
    assert len(list(game.stretches())) > 3
    learner = Listener(arms=3, delivery=delivery, window=window)
    expected = expected_log(losses, delays, delivery, window)
    compiled = heard_by_the_engine(learner, game)
    state = learner.start()
    for _ in rounds_of(driver_for(learner, state), game.stretches(), lambda t, q: -1):
        pass
    assert sorted(compiled) == expected
    assert log_of(state) == compiled
    if delivery == "in order":
        assert compiled == expected


@every_way
def test_a_bandit_is_told_of_its_own_plays_only(delivery: Any, window: int | None) -> None:
    """The same losses at the same times, of the arms that were played."""
    losses, delays = sparse_game(3, 150, 3)
    learner = BanditListener(arms=3, delivery=delivery, window=window)
    state = learner.start()
    played = np.random.default_rng(5).integers(0, 3, 150)
    game = given(losses, delays)
    for _ in rounds_of(driver_for(learner, state), game.stretches(), lambda t, q: int(played[t])):
        pass
    expected = expected_log(losses, delays, delivery, window)
    assert sorted(log_of(state)) == [entry for entry in expected if entry[2] == played[entry[1]]]


def test_order_outlives_a_turn_of_the_calendar() -> None:
    """One loss that takes more than a turn holds up all others; they still come in order."""
    rounds = TURN + 300
    delays = np.zeros((rounds, 1), dtype=np.int64)
    delays[0] = TURN + 100
    learner = Listener(arms=1, delivery="in order")
    log = heard_by_the_engine(learner, given(np.zeros((rounds, 1)), delays))
    assert [entry[1] for entry in log] == list(range(rounds))
    assert [entry[0] for entry in log] == [max(TURN + 100, s) for s in range(rounds)]


@pytest.mark.parametrize("delivery", DELIVERIES)
def test_nothing_is_told_earlier_than_it_arrives(delivery: Any) -> None:
    """Nor later than the definitions allow: never before its own delay is over."""
    for seed in range(20):
        losses, delays = random_game(seed, 40, 4, 12)
        handed = handed_over(Uniform(arms=4, delivery=delivery), cut(losses, delays, [7, 25]))
        comes = handed.delays != NEVER
        assert (delays[comes] != NEVER).all()
        assert (handed.delays[comes] >= delays[comes]).all()
        assert np.array_equal(handed.losses, losses)


@pytest.mark.parametrize("delivery", DELIVERIES)
def test_when_a_loss_is_told_does_not_depend_on_what_is_not_known_by_then(delivery: Any) -> None:
    """Two games that agree on all that arrives before round t tell the same before round t."""
    random = np.random.default_rng(4)
    for seed, now in itertools.product(range(20), (1, 6, 15)):
        losses, delays = random_game(seed, 20, 2, 6)
        made_in = np.arange(20)[:, None]
        hidden = (delays == NEVER) | (made_in + delays >= now)
        later = np.maximum(random.integers(0, 9, delays.shape), now - made_in)
        later[random.random(delays.shape) < 0.3] = NEVER
        learner = Uniform(arms=2, delivery=delivery)
        games = [cut(losses, each, [9]) for each in (delays, np.where(hidden, later, delays))]
        one, other = (log_before(now, handed_over(learner, game)) for game in games)
        assert one == other


def test_a_round_that_never_comes_holds_up_all_after_it() -> None:
    """In order, that is: nobody can know that it will not come. A window ends the wait."""
    losses = np.full((6, 2), 0.5)
    delays = np.zeros((6, 2), dtype=np.int64)
    delays[2, 1] = NEVER
    in_order = handed_over(Uniform(arms=2, delivery="in order"), cut(losses, delays, [4]))
    assert in_order.delays[:, 0].tolist() == [0, 0, NEVER, NEVER, NEVER, NEVER]
    ended = Uniform(arms=2, delivery="in order", window=3)
    patient = handed_over(ended, cut(losses, delays, [4]))
    assert np.array_equal(patient.delays, np.full((6, 2), 3))
    assert patient.losses[2].tolist() == [0.5, 1.0]


@pytest.mark.parametrize("delivery", DELIVERIES)
def test_a_window_tells_after_exactly_so_many_rounds(delivery: Any) -> None:
    """What has arrived by then as it is, and what has not as a loss of one."""
    losses = np.full((10, 4), 0.25)
    delays = np.tile([0, 3, 4, NEVER], (10, 1))
    learner = Uniform(arms=4, delivery=delivery, window=3)
    handed = handed_over(learner, cut(losses, delays, [5]))
    assert np.array_equal(handed.delays, np.full((10, 4), 3))
    assert np.array_equal(handed.losses, np.tile([0.25, 0.25, 1.0, 1.0], (10, 1)))


def test_padded_is_own_where_all_arms_have_one_delay() -> None:
    """Nothing to wait for: the run of a learner is the same, number for number."""
    _, delays = random_game(6, 200, 1, 15)
    game = given(np.random.default_rng(6).random((200, 3)), np.repeat(delays, 3, axis=1))
    traces = []
    for delivery in ("own", "padded"):
        run = EngineRun(Exp3(arms=3, delivery=delivery), game, DRAWS)
        for stretch in game.stretches():
            run.play(stretch)
        traces.append(run.close())
    for field in fields(traces[0]):
        if field.name not in ("learner", "seconds"):
            one, other = (getattr(trace, field.name) for trace in traces)
            assert np.array_equal(one, other), field.name
