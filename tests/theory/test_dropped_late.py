"""A hint that is dropped late in a long game: the arm that it had found must be found once more.

The rounds without it are a game of their own, so that they cost what first rounds cost the repaired
bandit: more than one pays that has learned all along, less than not learning.
"""

import numpy as np
import pytest

from belated.arrays import Floats
from belated.learners.contract import Learner
from belated.learners.paper.concealed import Concealed
from belated.learners.practical.practical_bandit import PracticalBandit, has_hint

ARMS, DELAY = 4, 100
CALM, PERVERSE, AFTER = 15_000, 1_000, 5_000


def losses() -> Floats:
    """Arm 0 is the best, then it is the best and the worst in turn, then it is the best again."""
    random, means = np.random.default_rng(101), np.array([0.3, 0.5, 0.5, 0.5])
    calm = random.random((CALM + AFTER, ARMS)) < means
    good = (np.arange(PERVERSE) // DELAY % 2 == 0)[:, None]
    perverse = np.where(good, [False, True, True, True], [True, False, False, False])
    return np.concatenate([calm[:CALM], perverse, calm[CALM:]]).astype(float)


def lost_at_last(learner: Learner) -> tuple[float, list[bool]]:
    """The expected regret of the last rounds, and where the hint was trusted, if there is one."""
    random, state, game, lost = np.random.default_rng(1), learner.start(), losses(), 0.0
    plays, trusted = [], []
    for t, row in enumerate(game):
        if isinstance(learner, PracticalBandit):
            trusted.append(bool(has_hint(state)))
        prediction = learner.predict(state)
        lost += float(prediction.q @ row - row[0]) if t >= CALM + PERVERSE else 0.0
        arm = int(random.choice(ARMS, p=prediction.q / prediction.q.sum()))
        plays.append((learner.commit(state, prediction, arm)[0], arm, row[arm]))
        if t >= DELAY:
            learner.observe(state, *plays[t - DELAY])
    return lost, trusted


@pytest.mark.long
def test_it_costs_more_than_to_have_learned_and_less_than_not_to_learn() -> None:
    """All of the last rounds are without the hint; the numbers are docs/theory-practical.md's.

    With a fallback that knew more than nothing at its start, the first would be smaller.
    """
    practical, trusted = lost_at_last(PracticalBandit(ARMS))
    assert all(trusted[:CALM])
    assert not any(trusted[CALM + PERVERSE :])
    promised = {"gamma_bound": "max_missing", "max_missing": DELAY + 1}
    repaired, _ = lost_at_last(Concealed(ARMS, variant="repaired", **promised))  # type: ignore[arg-type]
    last = losses()[CALM + PERVERSE :]
    uniform = float((last.mean(axis=1) - last[:, 0]).sum())
    assert (practical, repaired, uniform) == pytest.approx((627, 221, 733), abs=1.0)
