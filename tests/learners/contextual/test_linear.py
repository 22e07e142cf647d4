"""The linear learner by hand, its law of delays against the record, and what silence says."""

import math
from typing import Any, NamedTuple

import numpy as np
import pytest

import belated
from belated.arrays import Floats
from belated.learners.contextual.linear import Linear, weigh_inverse_gaps
from belated.learners.contextual.linear_model import noise_of
from belated.learners.contextual.ridge import common_mean, learn, nothing_learned
from belated.learners.contextual.scaling import fill_features, nothing_seen, see
from belated.learners.delay_law import (
    HERE,
    ONES,
    PASSED,
    SILENT_AT_END,
    ZEROS,
    no_delays,
    renew_law,
    said_by_silence,
)
from belated.learners.driver import Driver
from belated.learners.following import BINS, NO_MEANING
from belated.numerics.packed_symmetric import packed_identity


def whole(packed: Floats, width: int) -> Floats:
    """A packed symmetric matrix, unpacked."""
    matrix = np.zeros((width, width))
    matrix[np.triu_indices(width)] = packed
    return matrix + np.triu(matrix, 1).T


def test_with_the_bias_only_an_arm_is_a_shrunk_mean() -> None:
    """K = 2, d = 1, no delays: m + (sum y - m n)/(1 + n), by hand."""
    driver = Driver(Linear(arms=2, features=0))
    for arm, reward in ((0, 1.0), (0, 0.0), (1, 0.25), (0, 1.0)):
        driver.weights()
        (row,) = driver.play(arm)
        driver.tell(row, arm, 1.0 - reward)
    info = driver.predict().info
    mean = (0.5 + 2.25) / 5.0
    expected = [mean + (2.0 - 3.0 * mean) / 4.0, mean + (0.25 - mean) / 2.0]
    np.testing.assert_allclose(info.foretold, expected, rtol=1e-14)
    sigma = math.sqrt(mean * (1.0 - mean))
    np.testing.assert_allclose(info.deviation, [sigma / 2.0, sigma / math.sqrt(2.0)], rtol=1e-14)
    best, other = np.array(expected) + info.deviation
    gap = 1.0 / (2.0 + 50.0 * math.sqrt(4.0) / sigma * abs(best - other))
    q = [1.0 - gap, gap] if best > other else [gap, 1.0 - gap]
    np.testing.assert_allclose(driver.weights(), q, rtol=1e-13)


@pytest.mark.parametrize("width", [1, 3, 4, 9])
def test_the_packed_inverse_is_the_inverse(width: int) -> None:
    """After a thousand changes, of which half are taken out again."""
    random, ridge = np.random.default_rng(width), nothing_learned(1, width)
    exact = np.eye(width)
    for _ in range(500):
        x, weight = random.normal(size=width), random.random()
        learn(ridge, 0, x, weight, 0.0)
        if random.random() < 0.5:
            learn(ridge, 0, x, -weight, 0.0)
        else:
            exact += weight * np.outer(x, x)
    inverse = np.linalg.inv(exact)
    np.testing.assert_allclose(whole(ridge.inverse[0], width), inverse, rtol=0, atol=1e-11)


def test_taking_an_observation_out_restores_the_model() -> None:
    random, ridge = np.random.default_rng(1), nothing_learned(2, 5)
    learn(ridge, 1, random.normal(size=5), 1.0, 1.0)
    before = [part.copy() for part in ridge]
    x = random.normal(size=5)
    learn(ridge, 1, x, 0.7, 0.7)
    learn(ridge, 1, x, -0.7, -0.7)
    for now, then in zip(ridge, before, strict=True):
        np.testing.assert_allclose(now, then, rtol=0, atol=1e-12)
    np.testing.assert_array_equal(ridge.inverse[0], packed_identity(5))


def test_inverse_gaps_are_a_distribution_with_no_zero() -> None:
    random = np.random.default_rng(2)
    for _ in range(200):
        arms = int(random.integers(1, 8))
        values, q = random.normal(size=arms).round(1), np.empty(arms)
        eligible = (random.random(arms) < 0.7).astype(float)
        eligible[random.integers(arms)] = 1.0
        gamma = float(10.0 ** random.uniform(0, 6))
        weigh_inverse_gaps(values, eligible, gamma, q)
        allowed, count = eligible > 0.0, int(eligible.sum())
        assert abs(q.sum() - 1.0) < 1e-12
        assert (q[allowed] > 0.0).all()
        assert (q[~allowed] == 0.0).all()
        best = values[allowed].max()
        assert (q[allowed & (values == best)] >= 1.0 / count - 1e-15).all()
        behind = allowed & (values < best)
        expected = 1.0 / (count + gamma * (best - values[behind]))
        np.testing.assert_allclose(q[behind], expected, rtol=1e-13)


# -- the law of delays


class PlayRecord(NamedTuple):
    """A play: its arm, its delay (None if it never reports) and its reward."""

    arm: int
    delay: int | None
    reward: float


def played(
    learner: Linear, rounds: int, never: float, seed: int = 3
) -> tuple[Driver, list[PlayRecord]]:
    """A learner through a game with random contexts, and the record of it."""
    random, driver = np.random.default_rng(seed), Driver(learner)
    record, rows = [], []
    for t in range(rounds):
        driver.consider(random.normal(size=2))
        arm = int(random.integers(learner.arms))
        driver.weights()
        rows.append(driver.play(arm)[0])
        reward = float(random.integers(0, 5)) / 4.0
        delay = None if random.random() < never else int(random.geometric(0.2 / (1 + arm)) - 1)
        record.append(PlayRecord(arm, delay, reward))
        for s, each in enumerate(record):
            if each.delay is not None and s + each.delay == t:
                driver.tell(rows[s], each.arm, 1.0 - each.reward)
    return driver, record


def counted(record: list[PlayRecord], arms: int) -> Floats:
    """What the law must have counted, from the record: plays as they pass each bin."""
    counts, rounds = np.zeros((6, BINS, arms)), len(record)
    for s, play in enumerate(record):
        for bin_ in range(BINS):
            if s + 2 ** (bin_ + 1) - 1 >= rounds:  # its age after the last round is rounds - s
                break
            counts[PASSED, bin_, play.arm] += 1
            told = BINS if play.delay is None else int(math.log2(play.delay + 1))
            if told > bin_:
                counts[SILENT_AT_END, bin_, play.arm] += 1
                continue
            for outcome, share in ((ONES, play.reward), (ZEROS, 1.0 - play.reward)):
                counts[outcome, bin_, play.arm] += share
                counts[HERE + outcome, bin_, play.arm] += share * (told == bin_)
    return counts


def test_the_law_counts_what_the_record_says() -> None:
    driver, record = played(Linear(arms=3, features=2), 300, never=0.2)
    law = driver.state.model.law
    np.testing.assert_allclose(law.counts, counted(record, 3), rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(law.sums, law.counts[:4].sum(axis=2), rtol=1e-12)


def test_the_chances_are_products_over_later_bins() -> None:
    """S after bin j is 1 - prod over k > j of (1 - h_ak), with h mixed twice, written anew."""
    driver, record = played(Linear(arms=2, features=2), 200, never=0.1)
    law, counts = driver.state.model.law, counted(record, 2)
    renew_law(law)
    for arm in range(2):
        for outcome in (ONES, ZEROS):
            for bin_ in range(BINS):
                come = 1.0
                for k in range(bin_ + 1, BINS):
                    all_by, all_here = counts[:2, k].sum(), counts[HERE : HERE + 2, k].sum()
                    both = all_here / all_by if all_by > 0 else 0.0
                    by, here = counts[outcome, k], counts[HERE + outcome, k]
                    pooled = (here.sum() + 10.0 * both) / (by.sum() + 10.0)
                    come *= 1.0 - (here[arm] + 10.0 * pooled) / (by[arm] + 10.0)
                assert law.untold[outcome, bin_, arm] == pytest.approx(1.0 - come, abs=1e-12)
        last = max(j for j in range(BINS) if counts[PASSED, j, arm] >= 20)
        silent, passed = counts[SILENT_AT_END, last, arm], counts[PASSED, last, arm]
        assert law.lost[arm] == pytest.approx((silent + 1) / (passed + 2))


def test_where_both_outcomes_are_as_slow_silence_says_nothing() -> None:
    law = no_delays(1, BINS)
    law.untold[ONES], law.untold[ZEROS] = 0.3, 0.3
    for bin_ in range(BINS):
        assert said_by_silence(law, NO_MEANING, bin_, 0, 0.4) == (0.0, 0.0)


def test_silence_is_the_score_of_its_likelihood() -> None:
    """In f, d ln(f G1 + (1 - f) G0) equals that of w observations of y (contexts.md 3.1)."""
    law = no_delays(1, BINS)
    law.untold[ONES], law.untold[ZEROS], law.lost[0] = 0.6, 0.1, 0.2
    for default, g1, g0 in ((1.0, 0.6, 1.0), (0.0, 1.0, 0.1), (NO_MEANING, 0.68, 0.28)):
        for f in (0.02, 0.3, 0.9):
            weight, reward = said_by_silence(law, default, 0, 0, f)
            score = (g1 - g0) / (f * g1 + (1.0 - f) * g0)
            told = weight * (reward / f - (1.0 - reward) / (1.0 - f))
            assert told == pytest.approx(score, rel=1e-12)
            assert 0.0 <= weight <= 1.0


def test_a_foretold_reward_is_clipped() -> None:
    law = no_delays(1, BINS)
    law.untold[ONES] = 0.5
    for wild, clipped in ((-3.0, 0.01), (7.0, 0.99)):
        assert said_by_silence(law, 1.0, 0, 0, wild) == said_by_silence(law, 1.0, 0, 0, clipped)


def test_zeros_that_never_come_count_in_full_in_the_end() -> None:
    """With a default loss of 1, the weight of a silent play goes to 1 as it grows old."""
    learner = Linear(arms=2, features=2, default_loss=1.0)
    random, driver, rows = np.random.default_rng(4), Driver(learner), []
    for t in range(600):
        driver.consider(random.normal(size=2))
        driver.weights()
        arm = int(random.integers(2))
        rows.append((driver.play(arm)[0], arm, random.random() < 0.2))
        if t >= 8 and rows[t - 8][2]:
            driver.tell(rows[t - 8][0], rows[t - 8][1], 0.0)
    plays = driver.state.model.plays
    silent = plays.played > 0
    assert (plays.reward[silent] == 0.0).all()
    old, young = silent & (plays.played < 500), silent & (plays.played > 598)
    assert plays.weight[old].min() > 0.98
    assert plays.weight[young].max() < 0.5


def test_a_wrong_number_does_not_hide_the_others() -> None:
    """In mean and deviation it is ten deviations from the mean; without it nothing is changed."""
    chance = np.random.default_rng(6)
    numbers = [*chance.normal(50.0, 3.0, size=40).tolist(), 1e9, 53.0, 47.0]
    scaling, counted = nothing_seen(np.ones(1)), list[float]()
    for raw in numbers:
        number = raw
        if len(counted) >= 10:
            reach = 10.0 * float(np.std(counted))
            number = min(max(raw, np.mean(counted) - reach), np.mean(counted) + reach)
        counted.append(float(number))
        x = np.zeros(2)
        fill_features(scaling, np.array([raw]), x)
        deviation = np.std(counted)
        expected = (raw - np.mean(counted)) / deviation if deviation > 0.0 else 0.0
        assert x[0] == pytest.approx(min(max(expected, -4.0), 4.0), rel=1e-9)
        see(scaling, np.array([raw]))
    assert counted[:40] == numbers[:40]
    assert 70.0 < counted[40] < 90.0
    zeros = nothing_seen(np.ones(1))
    for raw in [0.0] * 30 + [1.0]:
        see(zeros, np.array([raw]))
    assert zeros.mean[0] == pytest.approx(1.0 / 31.0)


@pytest.mark.parametrize("spread", [0.0, 0.01, 0.5])
def test_the_noise_of_rewards_is_found(spread: float) -> None:
    """Rewards around a half: as much as they vary, and no more than coins with their mean."""
    driver, chance = Driver(Linear(2, 1)), np.random.default_rng(4)
    errors = []
    for t in range(400):
        driver.consider(chance.normal(size=1))
        foretold = driver.predict().info.foretold[t % 2]
        reward = 0.5 + spread * chance.choice([-1.0, 1.0])
        driver.tell(driver.play(t % 2)[0], t % 2, 1.0 - reward)
        errors.append((reward - foretold) ** 2)
    model = driver.state.model
    mean = common_mean(model.ridge)
    coin = mean * (1.0 - mean)
    found = (20.0 * coin + math.fsum(errors)) / 420.0
    assert noise_of(model) ** 2 == pytest.approx(min(coin, found), rel=1e-9)
    assert 0.99 * spread <= noise_of(model) < spread + 0.12
    driver.consider(np.zeros(1))
    q, info = driver.weights().copy(), driver.predict().info
    gap = abs(float(np.diff(info.optimistic)[0]))
    assert q.min() == pytest.approx(1.0 / (2.0 + 50.0 * 20.0 / noise_of(model) * gap), rel=1e-9)


def test_another_default_is_what_silence_counts_as() -> None:
    law = no_delays(1, BINS)
    law.untold[2] = 0.25
    assert said_by_silence(law, 0.3, 5, 0, 0.5) == (0.75, 0.7)


def test_the_vector_of_a_play_is_that_of_its_round() -> None:
    """What is told late is learned with x as it was seen, not as it would be seen now."""
    learner, random = Linear(arms=1, features=1, default_loss=1.0), np.random.default_rng(5)
    driver, rows = Driver(learner), []
    for _ in range(30):
        driver.consider(random.normal(5.0, 3.0, 1))
        x = driver.predict().info.x.copy()
        rows.append(driver.play(0)[0])
        np.testing.assert_array_equal(rows[-1][2:], x)
    model, x = driver.state.model, rows[3][2:]
    (slot,) = np.flatnonzero(model.plays.played == 4)
    silent, weight = model.plays.reward[slot], model.plays.weight[slot]
    assert (silent, weight) == (0.0, 1.0)
    rewards, weights = model.ridge.rewards[0].copy(), model.ridge.weights[0].copy()
    driver.tell(rows[3], 0, 0.0)
    np.testing.assert_allclose(model.ridge.rewards[0] - rewards, x, atol=1e-14)
    np.testing.assert_allclose(model.ridge.weights[0] - weights, 0.0 * x, atol=1e-14)
    assert not (model.plays.played == 4).any()


def conversions(**options: Any) -> Any:
    """A bandit in use for 220 rounds, in which 1 of 5 plays converts after 3 rounds."""
    bandit = belated.Bandit(2, learner="linear", features=1, seed=6, **options)
    random, tickets = np.random.default_rng(7), []
    for t in range(220):
        tickets.append(bandit.ask(context=[float(random.normal())]))
        if t >= 3 and t % 5 == 0:
            bandit.tell(tickets[t - 3], reward=1)
    return bandit


def test_a_missing_default_is_warned_of_once() -> None:
    with pytest.warns(belated.BelatedWarning, match="set default_loss to say what silence") as seen:
        conversions()
    assert len(seen) == 1


@pytest.mark.filterwarnings("error")
def test_with_a_default_there_is_no_warning() -> None:
    bandit = conversions(default_loss=1)
    assert bandit.weights().keys() == {0, 1}


def test_very_many_numbers_are_refused() -> None:
    with pytest.raises(ValueError, match="so take fewer hash_bits"):
        Linear(arms=100, hash_bits=8)
