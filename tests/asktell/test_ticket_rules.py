"""The rules of tickets that the library and the service share."""

import itertools
from typing import Any

import numpy as np
import pytest

import belated
from belated import TicketState
from belated.asktell.ticket_rules import (
    NO_MISSING,
    ROUNDING,
    closed_to_reports,
    expiring_with,
    expiry_round,
    in_words,
    learned_missing,
    losses_differ,
    state_from,
)
from belated.learners.driver import Driver
from belated.learners.paper.concealed import Concealed
from belated.learners.paper.full_information import FullInformation
from belated.learners.paper.partially_concealed import PartiallyConcealed
from belated.learners.states import copied, identical
from belated.learners.uniform import Uniform
from belated.types import Setting

PENDING, TOLD = TicketState.PENDING, TicketState.TOLD
EXPIRED, CANCELLED = TicketState.EXPIRED, TicketState.CANCELLED
PAPER = (
    (FullInformation, {"horizon": 60}),
    (PartiallyConcealed, {"horizon": 60, "max_missing": 8}),
    (Concealed, {"max_missing": 8}),
)


@pytest.mark.parametrize("variant", ["paper", "repaired"])
@pytest.mark.parametrize(("kind", "options"), PAPER, ids=lambda each: getattr(each, "name", ""))
def test_to_the_papers_learners_withdrawing_is_a_loss_of_zero(
    kind: Any, options: dict[str, Any], variant: str
) -> None:
    """Bit for bit: sessions used to tell them a loss of zero when a play was cancelled."""
    driver, random = Driver(kind(arms=3, variant=variant, **options)), np.random.default_rng(5)
    bandit = driver.learner.setting is not Setting.FULL_INFORMATION
    waiting: list[tuple[Any, int]] = []
    for _ in range(60):
        q = driver.weights()
        arms = [int(random.choice(3, p=q / q.sum()))] if bandit else [0, 1, 2]
        plays = driver.play(arms[0]) if bandit else driver.play()
        waiting += zip(plays, arms, strict=True)
        random.shuffle(waiting)  # type: ignore[arg-type]
        while len(waiting) > 12 or (waiting and random.random() < 0.5):
            play, arm = waiting.pop()
            if random.random() < 0.3:
                told = copied(driver.state)
                driver.learner.observe(told, play, arm, 0.0, 0)
                driver.withdraw(play, arm)
                assert identical(driver.state, told)
            else:
                driver.tell(play, arm, float(random.random()), 1)


def test_losses_may_differ_by_rounding() -> None:
    """A reward that was converted is not always the loss to the last bit."""
    assert not losses_differ(0.3, 1.0 - 0.7)
    assert not losses_differ(0.5, 0.5 + 0.9 * ROUNDING)
    assert losses_differ(0.5, 0.5 + 1.1 * ROUNDING)
    assert losses_differ(np.array([0.1, 0.2]), np.array([0.1, 0.3])).tolist() == [False, True]


@pytest.mark.parametrize(("rounds", "after"), list(itertools.product([1, 7], [0, 1, 5])))
def test_expiry_is_looked_up_from_both_ends(rounds: int, after: int) -> None:
    """The service writes down when a play expires; the library asks which play expires now."""
    assert expiring_with(expiry_round(rounds, after), after) == rounds


@pytest.mark.parametrize(
    ("outcomes", "losses", "state"),
    [
        ([], 1, PENDING),
        ([TOLD], 2, PENDING),
        ([TOLD, TOLD], 2, TOLD),
        ([TOLD, EXPIRED], 2, EXPIRED),
        ([EXPIRED, CANCELLED, TOLD], 3, CANCELLED),
    ],
)
def test_the_state_of_a_ticket_follows_from_its_losses(
    outcomes: list[TicketState], losses: int, state: TicketState
) -> None:
    """Pending while one is unsettled; then cancelled before expired before told."""
    assert state_from(outcomes, losses) is state


def test_a_missing_count_that_nobody_tells_is_the_learners_own() -> None:
    """In the partially concealed setting; elsewhere there is none."""
    learner, row = PartiallyConcealed(arms=2, horizon=9, max_missing=3), (0.5, 1.0, 2.0)
    assert learned_missing(learner, None, row) == 2
    assert learned_missing(learner, 0, row) == 0
    assert learned_missing(Uniform(arms=2), None, row) == NO_MISSING


def test_messages_say_what_was_told_and_what_became_of_a_ticket() -> None:
    """In the same words for users of the library and of the service."""
    assert in_words("loss 0.5", None) == in_words("loss 0.5", NO_MISSING) == "loss 0.5"
    assert in_words("loss 0.5", 0) == "loss 0.5 with missing 0"
    assert str(closed_to_reports("t", EXPIRED)) == "ticket 't' has expired; no report counts"
    assert str(closed_to_reports("t", CANCELLED)) == "ticket 't' was cancelled; no report counts"
    assert isinstance(closed_to_reports("t", EXPIRED), belated.ClosedTicketError)


def test_a_conflict_is_told_in_the_users_units() -> None:
    """Reward 12 of 0 to 15 is a loss of 3, and nobody told 0.2."""
    learner = belated.Bandit(["a"], learner="practical-bandit", loss_range=(0, 15))
    ticket = learner.ask()
    learner.tell(ticket, reward=12)
    with pytest.raises(belated.ConflictError, match=r"loss 3\.0 for .a. and now loss 4\.0"):
        learner.tell(ticket, loss=4)
