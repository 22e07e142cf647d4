"""MsMwC, the Composite Loss Wrapper and Exp3-Coop, each as written in its paper, from scratch."""

import math
from typing import Any

import numpy as np
import pytest
from scipy.optimize import brentq

from belated.arrays import Counts, Floats
from belated.learners.adversarial.composite_loss import CompositeLoss, fed
from belated.learners.adversarial.coop_exp3 import CoopExp3
from belated.learners.contract import Facts
from belated.learners.experts.msmwc import FASTEST, Msmwc
from belated.numerics.random_stream import seeded, uniform
from tests.games import (
    ARMS,
    Played,
    Table,
    played,
    random_table,
    shared_delay,
    softmin,
    told_after,
)

# -- MsMwC


def descended(start: Floats, eta: Floats, losses: Floats, floor: float) -> Floats:
    """The argmin of <w, x> + sum_i (w_i ln(w_i/s_i) - w_i + s_i)/eta_i over w_i >= floor."""

    def weights(c: float) -> Floats:
        return np.maximum(floor, start * np.exp(-eta * (losses + c)))

    if floor * start.size >= 1.0 - 1e-15:
        return np.full_like(start, floor)
    low, high = -losses.max() - 1.0, 1.0 + 40.0 / eta.min()
    c = brentq(lambda c: weights(c).sum() - 1.0, low, high, xtol=1e-300, rtol=8.9e-16)
    return weights(c)


def in_order(table: Table) -> list[float]:
    """By round, at the end of which it is told if none may overtake another."""
    due = np.arange(len(table.draws)) + table.finite().max(axis=1)
    return [float(latest) for latest in np.maximum.accumulate(due)]


def assert_msmwc(table: Table, horizon: int, hint: Any, squares: float = 0.0) -> None:
    """Every q_t from the list of the rounds told before, each with the hint of its time."""
    rounds, arms = table.losses.shape
    learner = Msmwc(arms=arms, horizon=horizon, hint=hint)
    state = learner.start()
    state.squares[:] = squares
    state.rates[:] = rates(arms, horizon, state.squares)
    run, told, floor = played(learner, table, state), in_order(table), 1.0 / (arms * horizon)

    def hint_at(t: int) -> Floats:
        before = [s for s in range(t) if told[s] < t]
        return table.losses[before[-1]] if hint == "last" and before else np.zeros(arms)

    for t in range(rounds):
        w, sums = np.full(arms, 1.0 / arms), np.full(arms, squares)
        for s in [s for s in range(t) if told[s] < t]:
            surprise = (table.losses[s] - hint_at(s)) ** 2
            eta = rates(arms, horizon, sums)
            w = descended(w, eta, table.losses[s] + 32.0 * eta * surprise, floor)
            sums = sums + surprise
        expected = descended(w, rates(arms, horizon, sums), hint_at(t), floor)
        np.testing.assert_allclose(run.q[t], expected, rtol=0, atol=1e-10)


def rates(arms: int, horizon: int, squares: Floats) -> Floats:
    with np.errstate(divide="ignore", invalid="ignore"):
        falling = np.sqrt(math.log(arms * horizon) / squares)
    return np.where(squares == 0.0, 1.0 / 64.0, np.minimum(falling, 1.0 / 64.0))


@pytest.mark.parametrize("hint", ["none", "last"])
@pytest.mark.parametrize("horizon", [1, 2, 30])
@pytest.mark.parametrize("arms", ARMS)
def test_msmwc_is_what_its_authors_write(arms: int, horizon: int, hint: Any) -> None:
    """Also where weights reach their floor, and where the rounds exceed the horizon."""
    assert_msmwc(random_table(arms, 24, arms), horizon, hint)


@pytest.mark.parametrize("squares", [4096 * math.log(60) - 3.0, 1e6])
def test_the_rates_of_msmwc_fall_with_the_squares(squares: float) -> None:
    """At first they are 1/64, for thousands of rounds; here they start where that ends."""
    assert np.all(rates(3, 20, np.full(3, squares + 24.0)) < FASTEST)
    assert_msmwc(random_table(9, 24, 3), 20, "last", squares)


def test_the_first_step_of_msmwc_is_the_golden_one() -> None:
    """From uniform with eta = 1/64, m = 0 and l = (0, 1/2, 1), to twelve digits."""
    table = Table(np.array([[0.0, 0.5, 1.0]] * 2), np.zeros((2, 3), dtype=np.int64), np.zeros(2))
    q = played(Msmwc(arms=3, horizon=10**6), table).q[1]
    golden = [0.337027499754, 0.333752234114, 0.329220266131]
    np.testing.assert_allclose(q, golden, rtol=0, atol=6e-13)


def test_weights_of_msmwc_stay_above_their_floor() -> None:
    """After long misfortune an arm has 1/(KT), and no less."""
    rounds = 3000
    losses = np.tile([0.0, 1.0], (rounds, 1))
    table = Table(losses, np.zeros((rounds, 2), dtype=np.int64), np.zeros(rounds))
    q = played(Msmwc(arms=2, horizon=50), table).q
    assert q[-1, 1] == pytest.approx(0.01, rel=1e-12)
    assert np.abs(q.sum(axis=1) - 1.0).max() <= 1e-14


# -- the Composite Loss Wrapper


def composite_twin(table: Table, run: Played, learner: CompositeLoss) -> tuple[Floats, list[int]]:
    """q_t as the paper's algorithm draws I_t, from the lists of arms and of sums that came."""
    rounds, arms = table.losses.shape
    d, eta = learner.max_delay + 1, learner.start().eta[0]
    told = told_after(learner, table, run.arms)
    came = [
        sum(table.losses[s, run.arms[s]] for s in range(t + 1) if told[s] == t)
        for t in range(rounds)
    ]
    q, estimates, stream = np.zeros((rounds, arms)), np.zeros(arms), seeded(learner.seed)
    updates, drawn = list[int](), 1.0 / arms
    for t in range(rounds):
        recent = [u for u in updates if t - 2 * d + 1 <= u <= t - 2]
        if t == 0 or t - 1 in updates:
            q[t] = softmin(estimates, eta)
            drawn = q[t, run.arms[t]]
        else:
            q[t, run.arms[t - 1]] = 1.0
        if t - 1 not in updates and not recent and uniform(stream) < 1.0 / (2 * (2 * d - 1)):
            updates.append(t)
            loss = sum(came[max(0, t - d + 1) : t + 1]) / (2 * d)
            estimates[run.arms[t]] += loss / drawn
    return q, updates


@pytest.mark.parametrize("max_delay", [0, 1, 4])
@pytest.mark.parametrize("arms", ARMS)
def test_composite_loss_is_what_its_authors_write(arms: int, max_delay: int) -> None:
    """Draw after an update, else stay; some rounds late enough after an update are the next."""
    learner = CompositeLoss(arms=arms, horizon=200, max_delay=max_delay, seed=arms)
    table = random_table(arms, 200, arms)
    run = played(learner, table)
    q, updates = composite_twin(table, run, learner)
    assert len(updates) > 3
    np.testing.assert_allclose(run.q, q, rtol=0, atol=1e-10)


def bounded_delays(seed: int, rounds: int, arms: int, longest: int) -> Table:
    table = random_table(seed, rounds, arms, never=0.0)
    return table._replace(delays=np.minimum(table.delays, longest))


@pytest.mark.parametrize("longest", [0, 1, 3, 9])
def test_composite_loss_keeps_what_its_proof_needs(longest: int) -> None:
    """At an update the last 2d arms are equal, updates are 2d apart, what is fed is below 1."""
    learner: Any = CompositeLoss(arms=3, horizon=2000, max_delay=longest, seed=4)
    table, d = bounded_delays(longest, 1500, 3, longest), longest + 1
    table = table._replace(losses=np.maximum(table.losses, 0.9))
    state, arms, updates, largest = learner.start(), list[int](), list[int](), 0.0
    arriving: dict[int, list[Any]] = {}
    random = np.random.default_rng(longest)
    for t in range(1500):
        prediction = learner.predict(state)
        arms.append(int(random.choice(3, p=prediction.q)))
        (play,) = learner.commit(state, prediction, arms[t])
        arriving.setdefault(t + table.delays[t, arms[t]], []).append(
            (play, arms[t], table.losses[t, arms[t]])
        )
        for arrival in arriving.pop(t, []):
            learner.observe(state, *arrival)
        if state.last_update[0] == t + 1:
            updates.append(t)
            largest = max(largest, fed(state))
            assert len(set(arms[max(0, t - 2 * d + 1) : t + 1])) == 1
    assert len(updates) > 20
    assert np.diff(updates).min() >= 2 * d
    assert 0.4 < largest < 1.0


def test_composite_loss_uses_sums_alone() -> None:
    """Whose losses they are is not looked at: any arm and any play may be told with them."""
    learner: Any = CompositeLoss(arms=3, horizon=100, max_delay=1)
    one, other = learner.start(), learner.start()
    for t in range(100):
        q = learner.predict(one).q
        assert q.tobytes() == learner.predict(other).q.tobytes()
        arm = int(q.argmax())
        for state in (one, other):
            plays = learner.commit(state, learner.predict(state), arm)
        learner.observe(one, plays[0], arm, 0.25)
        learner.observe(one, plays[0], arm, 0.5)
        learner.observe(other, np.full(1, np.nan), (arm + t) % 3, 0.75)


def test_the_coin_of_composite_loss_has_its_own_seed() -> None:
    """Another seed, other updates; the same seed, the same."""
    table = random_table(1, 100, 3)

    def updates(seed: int) -> list[int]:
        learner = CompositeLoss(arms=3, horizon=100, max_delay=1, seed=seed)
        return composite_twin(table, played(learner, table), learner)[1]

    assert updates(1) == updates(1) != updates(2)


# -- Exp3-Coop


def assert_coop(learner: CoopExp3, table: Table) -> None:
    """q_t from the estimates of all rounds that are told, and at least d rounds old."""
    run = played(learner, table)
    told = np.maximum(
        told_after(learner, table, run.arms), np.arange(len(run.q)) + learner.max_delay
    )
    for t in range(len(run.q)):
        estimates = np.zeros(learner.arms)
        for s in range(t):
            if told[s] < t:
                estimates[run.arms[s]] += table.losses[s, run.arms[s]] / run.q[s, run.arms[s]]
        expected = softmin(estimates, learner.eta)
        np.testing.assert_allclose(run.q[t], expected, rtol=0, atol=1e-10)


@pytest.mark.parametrize("max_delay", [0, 1, 4, 25])
@pytest.mark.parametrize("arms", ARMS)
def test_exp3_coop_is_what_its_authors_write(arms: int, max_delay: int) -> None:
    """Losses are used d rounds after the play; those that come later than that, when they come."""
    assert_coop(CoopExp3(arms=arms, horizon=50, max_delay=max_delay), random_table(arms, 80, arms))


def test_exp3_coop_is_a_recursion() -> None:
    """With the constant delay d, q_{t+1}(i) is in proportion to q_t(i) exp(-eta lhat_{t-d}(i))."""
    learner, delay = CoopExp3(arms=3, horizon=40, max_delay=4), 4
    table = shared_delay(random_table(2, 60, 3), delay)
    run = played(learner, table)
    for t in range(delay, 59):
        estimate, arm = np.zeros(3), run.arms[t - delay]
        estimate[arm] = table.losses[t - delay, arm] / run.q[t - delay, arm]
        weights = run.q[t] * np.exp(-learner.eta * estimate)
        np.testing.assert_allclose(run.q[t + 1], weights / weights.sum(), rtol=0, atol=1e-12)


def test_shorter_delays_change_nothing_for_exp3_coop() -> None:
    """Bit for bit: a loss that comes early is held as if it took d rounds."""
    learner = CoopExp3(arms=3, horizon=60, max_delay=6)
    early: Counts = np.random.default_rng(1).integers(0, 7, (60, 3))
    table = random_table(3, 60, 3)
    late = played(learner, shared_delay(table, 6)).q
    assert played(learner, table._replace(delays=early)).q.tobytes() == late.tobytes()


@pytest.mark.parametrize("arms", [1, 2, 10])
@pytest.mark.parametrize("max_delay", [0, 100])
@pytest.mark.parametrize("horizon", [1, 10**6])
def test_the_rate_of_exp3_coop_makes_its_bound_least(
    arms: int, max_delay: int, horizon: int
) -> None:
    """No other rate up to 1/(Ke(d+1)) has a smaller right-hand side."""
    learner = CoopExp3(arms=arms, horizon=horizon, max_delay=max_delay)
    bound: Any = learner.bound(Facts(arms, horizon, max_delay, 0, 0.0))
    most = 1.0 / (arms * math.e * (max_delay + 1))
    assert 0.0 <= learner.eta <= most
    for eta in most * np.geomspace(1e-6, 1.0, 200):
        per_round = arms * math.e / (2 * (1 - 1 / math.e)) + 3 * (max_delay + 1)
        other = 2 * max_delay + math.log(arms) / eta + eta * horizon * per_round
        assert bound <= other * (1 + 1e-12)
    assert learner.bound(Facts(arms, horizon, 1, 0, 0.0, longest_wait=max_delay + 1)) is None


def test_bad_options_are_named() -> None:
    """One sentence each."""
    with pytest.raises(ValueError, match=r"horizon is 0; it must be a whole number from 1"):
        Msmwc(arms=2, horizon=0)
    with pytest.raises(ValueError, match=r"hint is 'mean'; it must be 'none' or 'last'"):
        Msmwc(arms=2, hint="mean")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"delivery is 'own'; for msmwc it must be 'in order'"):
        Msmwc(arms=2, delivery="own")
    with pytest.raises(ValueError, match=r"max_delay is -1; it must be a whole number from 0"):
        CompositeLoss(arms=2, max_delay=-1)
    with pytest.raises(ValueError, match=r"seed is 0.5; it must be a whole number from 0"):
        CompositeLoss(arms=2, seed=0.5)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"max_delay is 1.5; it must be a whole number from 0"):
        CoopExp3(arms=2, max_delay=1.5)  # type: ignore[arg-type]
