"""What silence means: declared by default_loss, or else said in one warning where it is needed."""

import warnings
from typing import Any

import pytest

import belated
from belated.learners.driver import Driver
from belated.learners.practical.practical_bandit import PracticalBandit

WARNING = (
    "all 16 losses told so far are 2; silence is taken to mean a loss of 6; "
    "set default_loss to say what it means"
)


def half_told(learner: Any, rounds: int, loss: float) -> None:
    """Play so many rounds, of which every second is told, with this loss."""
    for round_ in range(rounds):
        ticket = learner.ask()
        if round_ % 2 == 0:
            learner.tell(ticket, loss)


def test_the_plain_names_are_the_practical_learners() -> None:
    """What we advise needs no option."""
    assert belated.Bandit(["a", "b"]).kind.name == "practical-bandit"
    assert belated.Experts(["a", "b"]).kind.name == "practical-experts"


def test_a_default_loss_without_expiry_is_told_to_the_learner() -> None:
    """In its units; nothing expires."""
    learner = belated.Bandit(2, default_loss=5.0, loss_range=(2.0, 6.0), seed=3)
    driver = Driver(PracticalBandit(2, default_loss=0.75))
    other = Driver(PracticalBandit(2))
    for round_ in range(70):
        ticket = learner.ask()
        for each in (driver, other):
            play = each.play(ticket.arm, probability=ticket.probability)[0]
            if round_ % 2 == 0:
                each.tell(play, ticket.arm, 0.25 + 0.5 * ticket.arm)
        if round_ % 2 == 0:
            learner.tell(ticket, 3.0 + 2.0 * ticket.arm)
    assert list(learner.weights().values()) == driver.weights().tolist()
    assert list(learner.weights().values()) != other.weights().tolist()
    assert len(learner.pending()) == 35


def test_only_a_learner_that_asks_what_silence_means_takes_one_alone() -> None:
    """The others are told so in one sentence, and an expiry needs one as before."""
    refused = "expire_after is None and default_loss is 1.0; this learner does not ask what silence"
    for make in (
        lambda: belated.Bandit(2, learner="exp3", default_loss=1.0),
        lambda: belated.Experts(2, default_loss=1.0),
        lambda: belated.ConcealedBandit(2, default_loss=1.0),
    ):
        with pytest.raises(ValueError, match=refused):
            make()
    with pytest.raises(ValueError, match="a play that expires needs a default_loss"):
        belated.Bandit(2, expire_after=3)
    with pytest.raises(ValueError, match=r"default_loss is 7.0; it must be in \[2, 6\]"):
        belated.Bandit(2, default_loss=7.0, loss_range=(2.0, 6.0))


def test_one_warning_says_that_silence_needs_a_meaning() -> None:
    """Once, in the user's units; a learner that was saved does not say it again."""
    learner = belated.Bandit(2, loss_range=(2.0, 6.0), seed=1)
    with pytest.warns(belated.BelatedWarning) as caught:
        half_told(learner, 70, 2.0)
    assert [str(each.message) for each in caught] == [WARNING]
    assert caught[0].filename == __file__
    again: Any = belated.from_json(learner.to_json())
    half_told(again, 70, 2.0)


def test_it_is_not_said_where_it_is_declared_or_not_needed() -> None:
    """With a declared loss, with other losses, with nothing to wait for."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        half_told(belated.Bandit(2, default_loss=1.0, seed=1), 70, 0.0)
        half_told(belated.Bandit(2, seed=1), 70, 0.5)
        half_told(belated.Bandit(2, learner="exp3", seed=1), 70, 0.0)
        prompt = belated.Bandit(2, seed=1)
        for _ in range(70):
            prompt.tell(prompt.ask(), 0.0)


def test_a_warning_that_is_an_error_changes_nothing() -> None:
    """The round that would warn is not played, and is played when warnings are warnings again."""
    learner = belated.Bandit(2, seed=1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(belated.BelatedWarning, match="silence is taken to mean a loss of 1"):
            half_told(learner, 70, 0.0)
        before = learner.to_json()
        with pytest.raises(belated.BelatedWarning):
            learner.ask()
    assert learner.to_json() == before
    with pytest.warns(belated.BelatedWarning):
        learner.ask()
