"""What is proven of the practical bandit: Theorem 4, over all its draws and in every run."""

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from belated.arrays import Floats
from belated.environments.missing import NEVER
from belated.learners.branches import TAKEN
from belated.learners.contract import Prediction
from belated.learners.driver import Driver
from belated.learners.practical.certified_trust import estimated_regret, largest_regret
from belated.learners.practical.practical_bandit import (
    TRUSTED,
    PracticalBandit,
    PracticalBanditState,
)
from tests.learners.practical.both_layers import late_table
from tests.learners.practical.test_certified_trust import AnyBehaviour, Play, assert_theorem_4
from tests.oracle.random_games import random_case


class OwnBehaviour(AnyBehaviour):
    """The practical bandit's own weights and budget, after what it has been told.

    The history is replayed each time. The weights are doubles, whose sum need not be one: divided
    by it, they are the fractions from which arms are drawn and by which losses are divided.
    """

    def __init__(self, case: dict[str, Any], beta: float) -> None:
        super().__init__(case, 0)
        self.learner = PracticalBandit(self.arms, beta=beta)

    def replayed(self, history: list[Any]) -> Any:
        """The learner's prediction after what has been played and told."""
        driver, plays = Driver(self.learner), dict[int, Any]()
        for t, what in history:
            if isinstance(what, Play):
                driver.tell(plays[what.round], what.arm, float(what.loss))
            else:
                plays[t] = driver.play(what)[0]
        return driver.predict()

    def budget(self, before: Fraction, history: list[Any]) -> Fraction:
        budget = Fraction(float(self.replayed(history).info.budget[0]))
        assert budget >= before
        return budget

    def weights(self, trusted: bool, history: list[Any]) -> list[Fraction]:
        prediction = self.replayed(history)
        assert (prediction.info.branch[TAKEN] == TRUSTED) == trusted
        q = [Fraction(float(x)) for x in prediction.q]
        return [x / sum(q) for x in q]


@pytest.mark.parametrize(("seed", "beta"), [(0, 0.02), (1, 0.05), (2, 0.1), (4, 0.3)])
def test_theorem_4_with_the_weights_of_the_practical_bandit(seed: int, beta: float) -> None:
    """In fractions, over all draws; the learner trusts the rounds that an exact account trusts."""
    case = random_case("certified-trust", seed, K=2, T=5)
    paths = list(OwnBehaviour(case, beta).paths())
    assert_theorem_4(2, paths)
    if seed == 0:
        assert min(path.trusted for path in paths) < 5


def least_of_fallback(state: PracticalBanditState, prediction: Prediction) -> Floats:
    """(sqrt(K) + (D_i + ln K/gamma)/sqrt(n))^-2 in its n-th round, up to rounding."""
    fallback = state.fallback
    arms, n = fallback.losses.size, float(fallback.round[0])
    behind = fallback.losses - fallback.losses.min() + math.log(arms) / prediction.gamma[0]
    least: Floats = (1.0 - 1e-9) / (math.sqrt(arms) + behind / math.sqrt(n)) ** 2
    return least


@pytest.mark.parametrize("beta", [0.0, 0.1, 1.0, 5.0])
@pytest.mark.parametrize("arms", [2, 7])
def test_the_account_stays_within_its_budget_in_every_run(arms: int, beta: float) -> None:
    """C_t(u) <= b_{t-1} + 1, and no arm has less than its least probability.

    Likely arms lose, to spite the learner, and news is late, withdrawn or never comes.
    """
    table = late_table(arms, 250, arms)
    driver = Driver(PracticalBandit(arms, beta=beta), room=64)
    due: dict[int, list[Any]] = {}
    before, least = math.inf, math.inf
    for t in range(1, 251):
        for arm, loss, play in due.pop(t, ()):
            driver.tell(play, arm, loss)
        prediction = driver.predict()
        account, budget = driver.state.account, float(prediction.info.budget[0])
        assert largest_regret(account) <= before + 1.0 + 1e-9
        assert abs(prediction.q.sum() - 1.0) <= 1e-12
        if prediction.info.branch[TAKEN] == TRUSTED:
            room = budget - np.array([estimated_regret(account, u) for u in range(arms)])
            floor = 0.3 * t / np.maximum(room, 1e-100) ** 2
            least = min(least, float((prediction.q / np.minimum(0.5 / arms, floor)).min()))
        else:
            assert (prediction.q >= least_of_fallback(driver.state, prediction)).all()
        before = budget
        arm = int(np.searchsorted(np.cumsum(prediction.q), table.draws[t - 1] * (1.0 - 1e-12)))
        loss = float(prediction.q[arm] > 0.6 / arms)
        play, delay = driver.play(arm)[0], int(table.delays[t - 1, arm])
        if delay == NEVER and t % 2 == 0:
            driver.withdraw(play, arm)
        elif delay != NEVER:
            due.setdefault(t + delay + 1, []).append((arm, loss, play))
    assert least >= 2.0 / 3.0 * (1.0 - 1e-12)


def test_a_withdrawn_play_stays_in_the_account() -> None:
    """Else a learner whose bad plays are withdrawn would be trusted for ever."""
    driver = Driver(PracticalBandit(2))
    for t in range(1, 31):
        driver.withdraw(driver.play(t % 2)[0], t % 2)
    account = driver.state.account
    assert account.outstanding[0] == 30
    assert largest_regret(account) == 30.0
    assert driver.state.outstanding.sum() == 0
