"""A round is booked where it was drawn: the branch is logged with a decision and asked for."""

import numpy as np
import pytest

from belated.arrays import Floats
from belated.learners.driver import Driver
from belated.learners.paper.concealed import WEIGHT, Concealed
from belated.learners.practical.practical_bandit import BY_FALLBACK, TRUSTED, PracticalBandit
from belated.learners.states import copied, identical
from belated.learners.tsallis.tsallis_inf import TsallisInf

ARMS = 3


def game(trusted: bool) -> Driver:
    """The practical bandit before a round that it trusts, or not, where the likeliest arm loses."""
    driver, random = Driver(PracticalBandit(ARMS, beta=0.5)), np.random.default_rng(2)
    for t in range(400):
        if t > 60 and driver.branch() == (TRUSTED if trusted else BY_FALLBACK):
            return driver
        likeliest = int(driver.weights().argmax())
        arm = int(random.choice(ARMS, p=driver.weights()))
        row = driver.play(arm)[0]
        driver.tell(row, arm, float(arm == likeliest))
    raise AssertionError("no such round")


def asked(driver: Driver, branch: int | None, probability: float = 0.4) -> tuple[Driver, Floats]:
    """Another driver from this state, and the row of a play of arm 1 that was drawn elsewhere."""
    other = Driver(driver.learner, copied(driver.state), driver.rounds)
    return other, other.play(1, probability=probability, branch=branch)[0]


@pytest.mark.parametrize("trusted", [True, False])
def test_a_play_is_booked_in_the_branch_that_it_was_drawn_from(trusted: bool) -> None:
    """Whatever the state would choose: the fallback counts it if and only if it was drawn there."""
    driver = game(trusted)
    before = driver.state.fallback
    for branch in (TRUSTED, BY_FALLBACK):
        other, row = asked(driver, branch)
        assert (row[WEIGHT] > 0.0) == (branch == BY_FALLBACK)
        assert other.state.fallback.round[0] - before.round[0] == (branch == BY_FALLBACK)
        counted = other.state.account.outstanding[0] - driver.state.account.outstanding[0]
        assert counted == (branch == TRUSTED)
        fresh = Driver(other.learner, copied(other.state), other.rounds)
        assert other.branch() == fresh.branch()  # what was asked for was for one round only
        other.tell(row, 1, 1.0)
        grew = other.state.fallback.losses[1] > before.losses[1]
        assert bool(grew) is (branch == BY_FALLBACK)


@pytest.mark.parametrize("trusted", [True, False])
def test_asking_for_what_the_state_would_choose_changes_no_bit(trusted: bool) -> None:
    """And a decision of an earlier version, which has no branch, is folded as it was then."""
    driver = game(trusted)
    (first, row), (second, again) = (asked(driver, branch) for branch in (None, driver.branch()))
    assert row.tolist() == again.tolist()
    assert identical(first.state, second.state)


def test_a_round_that_is_asked_of_the_fallback_is_a_round_of_its_own_game() -> None:
    """A repaired concealed bandit that continues from its state does just the same."""
    driver = game(trusted=True)
    repaired = Concealed(ARMS, variant="repaired")
    beside = Driver(repaired, copied(driver.state.fallback), driver.rounds)
    other, row = asked(driver, BY_FALLBACK, probability=0.7)
    own = beside.play(1, probability=0.7)[0]
    assert row[: len(own)].tolist() == own.tolist()
    assert other.state.fallback.losses.tolist() == beside.state.losses.tolist()
    assert other.state.fallback.overlap[0] == beside.state.overlap[0]


def test_most_learners_have_one_way_to_play() -> None:
    driver = Driver(TsallisInf(ARMS))
    assert driver.branch() is None
    driver.play(1, probability=0.5, branch=1)
    assert driver.rounds == 1
