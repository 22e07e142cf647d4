"""Banker-TINF against its algorithm written out, and what its bank has paid."""

import math
from typing import Any, NamedTuple

import numpy as np
import pytest
from scipy.optimize import brentq

from belated.arrays import Counts, Floats
from belated.environments.missing import NEVER
from belated.learners.driver import Driver
from belated.learners.tsallis.banker_tinf import BankerTinf


class Saving(NamedTuple):
    """What is left of the investment of a play, and the point where it is."""

    round: int
    left: float
    point: Floats


class Pending(NamedTuple):
    """A play whose loss is on its way."""

    round: int
    due: float
    sigma: float
    weights: Floats
    arm: int
    loss: float


def gradient(x: Floats) -> Floats:
    """Of Psi = -2 sum sqrt(x)."""
    return -1.0 / np.sqrt(x)


def mirrored(theta: Floats) -> Floats:
    """The point of the simplex whose gradient is theta, up to a constant."""
    top, arms = theta.max(), theta.size
    z = brentq(lambda z: ((z - theta) ** -2.0).sum() - 1.0, top + 1.0, top + math.sqrt(arms) + 1e-9)
    x: Floats = (z - theta) ** -2.0
    return x / x.sum()


def written_out(losses: Floats, delays: Counts, arms: Counts) -> tuple[Floats, float]:
    """All weights, and what the bank has paid."""
    count = losses.shape[1]
    savings: list[Saving] = []
    pending: list[Pending] = []
    total, bank, q = 0, 0.0, []
    for t in range(1, len(losses) + 1):
        total += len(pending)
        late = len(pending) * math.sqrt(math.log(total + 1) / total) if total else 0.0
        sigma = 1.0 / (1.0 / math.sqrt(t) + late)
        mean, left, kept = np.zeros(count), sigma, []
        for saving in sorted(savings, key=lambda each: each.round):
            paid = min(saving.left, left)
            mean += paid / sigma * gradient(saving.point)
            left -= paid
            if saving.left > paid:
                kept.append(saving._replace(left=saving.left - paid))
        savings, bank = kept, bank + left
        x = mirrored(mean + left / sigma * gradient(np.full(count, 1.0 / count)))
        q.append(x)
        arm, delay = int(arms[t - 1]), int(delays[t - 1, arms[t - 1]])
        due = math.inf if delay == NEVER else t + delay
        pending.append(Pending(t, due, sigma, x, arm, float(losses[t - 1, arm])))
        for play in [each for each in pending if each.due == t]:
            step = np.zeros(count)
            step[play.arm] = play.loss / play.weights[play.arm] / play.sigma
            point = mirrored(gradient(play.weights) - step)
            savings.append(Saving(play.round, play.sigma, point))
        pending = [each for each in pending if each.due > t]
    return np.array(q), bank


def played(losses: Floats, delays: Counts, seed: int = 0) -> tuple[Floats, Counts, Any]:
    """All weights, the arms drawn from them, and the state at the end."""
    driver, q, due = Driver(BankerTinf(losses.shape[1])), [], dict[int, list[Any]]()
    random, arms = np.random.default_rng(seed), []
    for t in range(len(losses)):
        q.append(driver.weights().copy())
        arm = int(random.choice(losses.shape[1], p=q[-1]))
        arms.append(arm)
        (play,) = driver.play(arm)
        if delays[t, arm] != NEVER:
            due.setdefault(t + int(delays[t, arm]), []).append((play, arm, losses[t, arm]))
        for frozen, told, loss in reversed(due.pop(t, [])):
            driver.tell(frozen, told, float(loss))
    return np.array(q), np.array(arms), driver.state


@pytest.mark.parametrize("arms", [1, 2, 3, 7])
@pytest.mark.parametrize("seed", range(4))
def test_every_weight_is_that_of_the_algorithm_written_out(arms: int, seed: int) -> None:
    """With points in the simplex, where the learner keeps dual ones that it never maps back."""
    random = np.random.default_rng([seed, arms])
    losses = random.random((60, arms))
    delays = random.choice([0, 0, 1, 3, 9, 20] + [NEVER] * (seed % 2), (60, arms))
    q, drawn, state = played(losses, delays, seed)
    expected, bank = written_out(losses, delays, drawn)
    np.testing.assert_allclose(q, expected, rtol=0, atol=1e-10)
    assert state.bank[0] == pytest.approx(bank, rel=1e-12)


def test_without_delay_the_bank_pays_the_root_of_the_rounds() -> None:
    """sigma_t = sqrt(t), of which the last play gives back sqrt(t - 1)."""
    none = np.zeros((900, 2), dtype=np.int64)
    _, _, state = played(np.full((900, 2), 0.5), none)
    assert state.bank[0] == pytest.approx(30.0, rel=1e-13)
    assert state.investments.savings[0] == 1


def test_the_investment_of_a_withdrawn_play_is_lost() -> None:
    """Its slot is free again, it no longer counts as under way, and the bank pays for the next."""
    driver = Driver(BankerTinf(2))
    (play,) = driver.play(0)
    driver.withdraw(play, 0)
    driver.play(1)
    assert driver.state.waiting[0] == 1
    assert driver.state.bank[0] == pytest.approx(1.0 + math.sqrt(2.0))


def test_a_play_that_could_not_have_been_drawn_breaks_nothing() -> None:
    """A log may prescribe plays of a vanishing probability, with estimates beyond all measure."""
    driver = Driver(BankerTinf(2))
    for _ in range(40):
        (play,) = driver.play(0)
        driver.tell(play, 0, 1.0)
    assert np.isfinite(driver.weights()).all()
    assert driver.weights().sum() == pytest.approx(1.0)
