"""What is proven of the practical bandit: its rounds without the hint are a game of their own.

docs/theory-practical.md, Theorem 3: a repaired concealed bandit plays them, and knows of no others.
So what holds for that learner in every game holds for them. Here one is played beside it, told only
of those rounds, and must have the same weights to the last digit.
"""

import itertools

import numpy as np
import pytest

from belated.kernels.estimates import MIXED
from belated.learners.concealed import Concealed
from belated.learners.practical_bandit import (
    EXPECTED,
    PracticalBandit,
    PracticalBanditState,
    is_trusted,
)
from tests.theory.games import Floats

ROUNDS, ARMS = 400, 4
SEEDS = range(4)


def expects_less(state: PracticalBanditState, play: Floats) -> bool:
    """Whether the arm of a play was expected to lose less than an arm does on average."""
    return bool(play[EXPECTED] < state.said[MIXED].mean())


@pytest.mark.parametrize("seed", SEEDS)
def test_rounds_without_the_hint_are_played_by_a_repaired_bandit_of_their_own(seed: int) -> None:
    """Every second hundred of rounds is perverse: a loss is what was not expected.

    Delays, some infinite, carry plays from rounds of the one kind to rounds of the other, and some
    plays are withdrawn.
    """
    random = np.random.default_rng(seed)
    learner, repaired = PracticalBandit(ARMS, patience=0.0), Concealed(ARMS, variant="repaired")
    state, beside = learner.start(), repaired.start()
    due: dict[int, list[tuple[Floats, Floats | None, int, float]]] = {}
    trusted, carried = [], 0
    for t in range(ROUNDS):
        trusted.append(is_trusted(state))
        prediction, own = learner.predict(state), repaired.predict(beside)
        if not trusted[-1]:
            np.testing.assert_array_equal(prediction.q, own.q)
            assert (prediction.eta[0], prediction.gamma[0]) == (own.eta[0], own.gamma[0])
        arm = int(random.choice(ARMS, p=prediction.q))
        play, others = learner.commit(state, prediction, arm)[0], None
        if not trusted[-1]:
            others = repaired.commit(beside, own, arm)[0]
            beside.max_missing[0] = max(beside.max_missing[0], beside.outstanding[arm])
        loss = arm / (ARMS - 1.0)
        if t % 200 < 100:
            loss = float(expects_less(state, play))
        if random.random() < 0.95:
            due.setdefault(t + int(random.geometric(0.1)) - 1, []).append((play, others, arm, loss))
        for told, theirs, i, was in due.pop(t, ()):
            is_withdrawn = random.random() < 0.05
            carried += theirs is not None and trusted[-1]
            if is_withdrawn:
                learner.withdraw(state, told, i)
                if theirs is not None:
                    repaired.withdraw(beside, theirs, i)
            else:
                learner.observe(state, told, i, was)
                if theirs is not None:
                    repaired.observe(beside, theirs, i, was)
    changes = sum(a != b for a, b in itertools.pairwise(trusted))
    assert changes >= 3
    assert 20 <= trusted.count(False) <= ROUNDS - 20
    assert carried >= 5
