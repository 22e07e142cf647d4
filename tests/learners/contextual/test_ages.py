"""Ages of plays in seconds: the twin, late looks, clocks that are set back, saving, bad calls."""

import json
import math
from typing import Any

import numpy as np
import pytest

import belated
from belated.asktell.saving import checksum
from belated.learners.contextual import followed_plays
from belated.learners.contextual.followed_plays import BINS_OF_SECONDS, no_plays, with_room
from belated.learners.contextual.linear import Linear
from belated.learners.contextual.linear_model import noise_of
from belated.learners.delay_law import PASSED, SILENT_AT_END
from belated.learners.driver import Driver
from belated.learners.following import ENDED
from belated.learners.states import identical, leaves, with_leaves
from tests.twins.linear import finished
from tests.twins.linear_in_seconds import LinearInSecondsTwin

LATER_PARTS = ("model.clock", "model.plays.at", "model.plays.due")


@pytest.mark.parametrize("default_loss", [None, 1.0])
def test_every_q_is_that_of_the_twin(default_loss: float | None) -> None:
    """Bursts, nights without a visitor, delays of minutes to days, and a clock set back."""
    random = np.random.default_rng(11)
    driver = Driver(Linear(arms=2, features=1, default_loss=default_loss, ages="seconds"))
    twin = LinearInSecondsTwin(2, 2, default_loss)
    rows: list[Any] = []
    contexts: list[Any] = []
    due: list[tuple[float, int, float]] = []
    time = 1e9
    for t in range(1, 151):
        time += float(random.choice([0.0, 0.3, 7.0, 40.0, 9e4], p=[0.3, 0.3, 0.2, 0.15, 0.05]))
        if t == 80:
            time -= 5000.0
        for at, played, loss in sorted(each for each in due if each[0] <= time):
            driver.tick(at)
            twin.time = at
            if math.isnan(loss):
                driver.withdraw(rows[played - 1], played % 2)
                twin.withdraw(played)
            else:
                driver.tell(rows[played - 1], played % 2, loss)
                twin.tell(played, loss)
        due = [each for each in due if each[0] > time]
        context = random.normal(size=1)
        x = finished(contexts, context)
        contexts.append(context)
        driver.consider(context)
        np.testing.assert_allclose(driver.weights(), twin.ask(x), rtol=1e-9, atol=1e-9)
        driver.tick(time)
        twin.time = time
        (row,) = driver.play(t % 2)
        rows.append(row)
        twin.play(x, t % 2)
        loss = float(random.integers(2))
        if loss == 0.0 or random.random() < 0.5:
            due.append((time + float(random.exponential(30.0 + 900.0 * (t % 2))), t, loss))
        elif random.random() < 0.2:
            due.append((time + 3.0, t, math.nan))
    assert any(play.weight > 0.02 for play in twin.plays if play.pending)


def test_a_play_told_late_was_silent_in_the_bins_before() -> None:
    """Nobody comes for an hour, in which a play reports: the next visitor counts it right."""
    driver = Driver(Linear(arms=1, features=0, ages="seconds"))
    driver.tick(0.0)
    (row,) = driver.play(0)
    driver.tick(1000.0)
    driver.tell(row, 0, 0.0)
    driver.tick(3600.0)
    driver.play(0)
    law = driver.state.model.law
    assert law.counts[PASSED, :, 0].tolist() == [1.0] * 11 + [0.0] * 11
    assert law.counts[SILENT_AT_END, :, 0].tolist() == [1.0] * 9 + [0.0] * 13


def test_rounds_that_pass_faster_than_seconds_do_not_age_plays() -> None:
    """A thousand rounds in a second leave all plays in the first bin."""
    driver = Driver(Linear(arms=2, features=0, default_loss=1.0, ages="seconds"))
    for t in range(1000):
        driver.tick(t / 1000.0)
        driver.play(t % 2)
    assert not driver.state.model.law.counts.any()
    assert not driver.state.model.plays.weight.any()


def test_room_is_made_for_plays_that_still_age(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is kept moves to its new places, also after the first places were used again."""
    monkeypatch.setitem(followed_plays.MOST_FOLLOWED, BINS_OF_SECONDS, 16)
    plays = no_plays(1, BINS_OF_SECONDS)
    plays.due[:] = 7  # of the rounds before, all have passed every bin
    plays = plays._replace(
        arm=np.zeros(4, dtype=np.int64), fate=np.full(4, ENDED), told=np.zeros(4), at=np.zeros(4)
    )
    for round_ in (7, 8, 9):
        plays.at[round_ % 4] = 100.0 + round_
    roomy = with_room(plays, 10, 3)
    assert roomy.at.size == 8
    assert [roomy.at[round_ % 8] for round_ in (7, 8, 9)] == [107.0, 108.0, 109.0]
    assert with_room(roomy, 10, 400).at.size == 16


# -- ask and tell

KINDS = {"age": "number"}


def shop(**options: Any) -> belated.Bandit:
    given = {"learner": "linear", "features": KINDS, "seed": 3, "ages": "seconds"} | options
    return belated.Bandit(["red", "green"], **given)


def used(bandit: belated.Bandit, start: float, rounds: int = 40) -> None:
    random, before = np.random.default_rng(1), None
    for t in range(rounds):
        now = start + 10.0 * t
        if before is not None and t % 3:
            bandit.tell(before, reward=float(before.arm == "red"), at=now - 1.0)
        before = bandit.ask(context={"age": float(random.normal(40, 9))}, at=now)


def test_a_saved_learner_goes_on_exactly() -> None:
    bandit = shop(default_loss=1, expire_after=30)
    used(bandit, 1e9)
    resumed = belated.from_json(bandit.to_json())
    for each in (bandit, resumed):
        used(each, 1e9 + 5000.0)
    assert resumed.to_json() == bandit.to_json()


@pytest.mark.parametrize(
    ("options", "given", "said"),
    [
        ({}, {}, "at is missing; ages are counted in seconds"),
        ({}, {"at": math.nan}, "at is nan"),
        ({}, {"at": "noon"}, "at is 'noon'"),
        ({}, {"at": 5.0, "arms": ["pink"]}, "arms names 'pink'"),
        ({"ages": "rounds"}, {"at": 5.0}, "does not count ages in seconds"),
    ],
)
def test_a_bad_call_changes_nothing(options: Any, given: Any, said: str) -> None:
    bandit = shop(**options)
    clock = {} if options else {"at": 3.0}
    ticket = bandit.ask(context={"age": 4}, **clock)
    before = bandit.to_json()
    with pytest.raises(ValueError, match=said):
        bandit.ask(**given)
    if "arms" not in given:
        with pytest.raises(ValueError, match=said):
            bandit.tell(ticket, 0.5, **given)
    assert bandit.to_json() == before


def test_a_refused_report_does_not_tell_the_time() -> None:
    bandit = shop()
    ticket = bandit.ask(context={"age": 4}, at=3.0)
    bandit.tell(ticket, 0.5, at=4.0)
    before = bandit.to_json()
    with pytest.raises(belated.ConflictError):
        bandit.tell(ticket, 0.25, at=9.0)
    assert bandit.to_json() == before


def test_unknown_ages_are_refused() -> None:
    with pytest.raises(ValueError, match="ages is 'days'; it must be 'rounds' or 'seconds'"):
        shop(ages="days")
    with pytest.raises(ValueError, match="practical-bandit does not count ages in seconds"):
        belated.Bandit(2).ask(at=5.0)


# -- states that were saved before there were times


@pytest.mark.parametrize("rounds", [0, 1, 5, 40, 70])
def test_a_learner_of_an_earlier_release_goes_on_exactly(rounds: int) -> None:
    """Its state has no times: they are the numbers of its rounds."""
    bandit = shop(ages="rounds", default_loss=1)
    random = np.random.default_rng(1)
    for _ in range(rounds):
        ticket = bandit.ask(context={"age": float(random.normal(40, 9))})
        if random.random() < 0.5:
            bandit.tell(ticket, 0.0)
    content = json.loads(bandit.to_json())
    for part in LATER_PARTS:
        del content["state"][part], content["shapes"][part]
    del content["checksum"]
    content["checksum"] = checksum(content)
    assert belated.from_json(json.dumps(content)).to_json() == bandit.to_json()


def test_a_learner_without_plays_of_late_begins_them_now() -> None:
    bandit = shop(ages="rounds", default_loss=1)
    for t in range(40):
        bandit.tell(bandit.ask(context={"age": t}), float(t % 2))
    content = json.loads(bandit.to_json())
    for part in [name for name in content["state"] if "renewal" in name]:
        del content["state"][part], content["shapes"][part]
    del content["checksum"]
    content["checksum"] = checksum(content)
    resumed = belated.from_json(json.dumps(content))
    assert resumed._runner.workspace.state.model.renewal.since.tolist() == [1, 41]
    assert resumed.weights(context={"age": 3}) == bandit.weights(context={"age": 3})


def test_errors_that_were_not_noted_were_those_of_coins() -> None:
    """So a state without them is no surer than it was."""
    learner = Linear(arms=2, features=0)
    state = learner.start()
    state.model.told[0] = 30.0
    parts = leaves(state)
    parts["model.told"] = parts["model.told"][:4]
    model = with_leaves(state, learner.with_later_parts(parts)).model
    assert noise_of(model) == pytest.approx(0.5)


def test_later_parts_are_what_they_would_have_been() -> None:
    """Also after more rounds than there are places."""
    learner = Linear(arms=2, features=0)
    driver = Driver(learner, room=1)
    state = driver.state
    for t in range(100):
        driver.play(t % 2)
    state = driver.state
    parts = {name: part for name, part in leaves(state).items() if name not in LATER_PARTS}
    assert identical(with_leaves(state, learner.with_later_parts(parts)), state)
