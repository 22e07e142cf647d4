"""Full-information weights that are carried from round to round, against the plain solver.

By the kernel alone from random weights, and along runs that are longer than any weight is carried.
"""

from collections.abc import Iterator
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import pytest

from belated.arrays import Floats
from belated.learners.paper.full_information import MOST_CARRIED, FullInformation
from belated.learners.states import copied, leaves
from belated.solvers.full_information import NEAR
from tests.solvers.fast import after, carried, weights_by_rate
from tests.solvers.states import State
from tests.solvers.test_safe_solvers import relative_error
from tests.solvers.test_shared_states import both_variants, built, compared, plainly, rounds

SAME = 1e-13
SIZES = [1, 2, 3, 4, 5, 7, 8, 33, 1000]
LONGEST = 40
every_size = pytest.mark.parametrize("arms", SIZES)


# -- the kernel


def standing_state(rng: np.random.Generator, arms: int) -> State:
    """Rates as the learners have them, largest first; weights down to e^-100, some of them 0."""
    size, capped = int(rng.integers(1, 14)), int(rng.integers(0, 6))
    rates = 0.25 * 10 ** rng.uniform(-4, 0) * np.minimum(1.0, 2.0 ** (capped - np.arange(size)))
    base = 10 ** rng.uniform(-2, 1.7) / rates[0] * rng.random((arms, 1)) ** 2
    losses = base * (1.0 + rng.random((arms, 1)) * rates / rates[0])
    prior = rng.dirichlet(np.full(arms, 10 ** rng.uniform(-1.0, 1.0))) + 1e-9
    if rng.random() < 0.5:
        prior[rng.random(arms) < 0.3] = 0.0
    prior[rng.integers(arms)] += 0.1
    weights = 4.0 ** -np.arange(1.0, size + 1.0)
    return State(losses, prior / prior.sum(), weights / weights.sum(), rates, 1.0, 1.0)


def some_arrivals(rng: np.random.Generator, arms: int, rate: float, most: float) -> Floats:
    """Plain and weighed sums whose largest exponent is `most`; some of the arms have none."""
    arrived = rng.random((2, arms)) * [[1.0], [float(rng.integers(1, 50))]]
    arrived[:, rng.random(arms) < rng.random()] = 0.0
    arrived[:, rng.integers(arms)] += rng.random()
    plain, weighed = arrived
    scaled: Floats = arrived * (most / (rate * (plain + 4.0 * rate * weighed)).max())
    return scaled


def assert_plain(weights: Floats, arrived: Floats, state: State) -> Floats:
    """The weights of the state after the arrivals are those that the plain solver finds."""
    answer = carried(weights, arrived, state.rates[-len(weights) :])
    truth, _ = weights_by_rate(after(state, arrived))
    assert answer.passes == 1
    assert relative_error(answer.q, truth.sum(axis=0)) <= SAME
    assert (answer.q[state.prior == 0.0] == 0.0).all()
    assert abs(answer.q.sum() - 1.0) <= SAME
    np.testing.assert_allclose(answer.weights, truth, rtol=1e-12, atol=1e-14)
    return answer.weights


@every_size
def test_a_round_later_the_weights_are_the_plain_ones(arms: int) -> None:
    """Much has arrived or little, for all arms or few; c moves as that of the plain solver does."""
    rng = np.random.default_rng([arms, 41])
    for _ in range(150 if arms <= 33 else 40):
        state = standing_state(rng, arms)
        most = NEAR * (1.0 - 1e-12) * rng.choice([1.0, rng.random(), 10 ** rng.uniform(-9, 0)])
        arrived = some_arrivals(rng, arms, state.rates[0], most)
        (weights, c), (_, later) = weights_by_rate(state), weights_by_rate(after(state, arrived))
        assert_plain(weights, arrived, state)
        rates = state.rates[-len(weights) :]
        shift = carried(weights, arrived, rates).shift
        sloppiness = 1e-12 / (rates @ weights.sum(axis=1)) + 1e-15 * (abs(c) + abs(later))
        assert abs(shift - (later - c)) <= sloppiness


@every_size
def test_nothing_arrived_and_nothing_changes(arms: int) -> None:
    """The weights stay, up to the last digit."""
    rng = np.random.default_rng([arms, 42])
    state = standing_state(rng, arms)
    weights, _ = weights_by_rate(state)
    answer = carried(weights, np.zeros((2, arms)), state.rates[-len(weights) :])
    assert answer.passes == 1
    assert abs(answer.shift) * state.rates[0] <= 1e-12
    np.testing.assert_allclose(answer.weights, weights, rtol=1e-12)


@every_size
def test_weights_are_carried_as_often_as_they_may(arms: int) -> None:
    """Each time from the last answer: the error of many rounds is that of their last digits."""
    rng = np.random.default_rng([arms, 43])
    for most in (NEAR * (1.0 - 1e-12), 0.01):
        state = standing_state(rng, arms)
        weights, _ = weights_by_rate(state)
        for _ in range(int(MOST_CARRIED)):
            arrived = some_arrivals(rng, arms, state.rates[0], most)
            weights = assert_plain(weights, arrived, state)
            state = after(state, arrived)


@pytest.mark.parametrize("kind", ["plain", "weighed"])
@every_size
def test_beyond_an_eighth_it_gives_up(arms: int, kind: str) -> None:
    """An exponent of 1/8 is carried, the next number is not, nor is any above it, of any arm."""
    state = standing_state(np.random.default_rng([arms, 44]), arms)
    rates, weights = np.array([0.25, 0.125]), np.full((2, arms), 0.5 / arms)
    rng = np.random.default_rng([arms, 45])
    for place in range(arms) if arms <= 33 else rng.integers(arms, size=20):
        for times, passes in ((1.0, 1), (1.0 + 2.0**-52, 0), (8.0, 0), (1e3, 0), (1e9, 0)):
            arrived = np.zeros((2, arms))
            arrived[int(kind == "weighed"), place] = 0.5 * times  # 1/4 (x + 4/4 y)
            assert carried(weights, arrived, rates).passes == passes
    weights, _ = weights_by_rate(state)
    for most in (NEAR * (1.0 + 1e-12), 0.3, 1.0, 50.0, 1e6):
        arrived = some_arrivals(rng, arms, state.rates[0], most)
        assert carried(weights, arrived, state.rates[-len(weights) :]).passes == 0


@every_size
def test_without_any_weight_it_gives_up(arms: int) -> None:
    """As a learner has before its first round; there is no c that would make them sum to one."""
    answer = carried(np.zeros((3, arms)), np.zeros((2, arms)), np.array([0.2, 0.1, 0.05]))
    assert answer.passes == 0


# -- the learner


class Look(NamedTuple):
    """For how many rounds the weights of a prediction were carried, and their relative error."""

    age: float
    error: float


def looks(learner: Any, rng: np.random.Generator, count: int) -> Iterator[Look]:
    """A run in which as much is missing at first as ever will be, so that the rates then stand."""

    def delay(t: int) -> int:
        return LONGEST if t <= LONGEST else int(rng.integers(0, LONGEST + 1))

    for state in rounds(learner, rng, count, delay, never=0.0):
        compared(learner, state)
        prediction = learner.predict(state)
        truth = plainly(learner, state, prediction)
        assert (prediction.q[np.isinf(state.columns.log_prior)] == 0.0).all()
        yield Look(float(prediction.info.carried[0]), relative_error(prediction.q, truth))


@pytest.mark.parametrize(("arms", "zero"), [(5, True), (33, False), (100, True)])
@both_variants
def test_a_run_over_many_refreshes_stays_exact(variant: Any, arms: int, zero: bool) -> None:
    """Carried 64 times, then found anew, again and again: never further off than 1e-13."""
    rng = np.random.default_rng([arms, 46])
    prior = rng.dirichlet(np.ones(arms)) if zero else np.full(arms, 1.0 / arms)
    prior[1::3] *= not zero
    learner = built(FullInformation, arms, variant, 0, (prior / prior.sum()).tolist())
    run = list(looks(learner, rng, 400))
    ages = [look.age for look in run]
    assert ages.count(MOST_CARRIED) >= 4
    assert sum(0.0 < age < np.inf for age in ages) > 280
    assert set(ages[-300:]) == {float(age) for age in range(int(MOST_CARRIED) + 1)}
    for before, age in pairwise(ages):
        assert age in (0.0, np.inf, before + 1.0)
        assert age == 0.0 or before != MOST_CARRIED
    assert max(look.error for look in run) <= SAME


@both_variants
def test_weights_are_kept_only_when_far(variant: Any) -> None:
    """Until then state and multiplier stand, what arrives waits, and every prediction is exact."""
    rng, arms = np.random.default_rng(49), 33
    learner = built(FullInformation, arms, variant, 0)
    counts = {True: 0, False: 0}
    for state in rounds(learner, rng, 300, lambda t: LONGEST, never=0.0):
        prediction = learner.predict(state)
        assert relative_error(prediction.q, plainly(learner, state, prediction)) <= SAME
        age, far = prediction.info.carried[0], prediction.info.distance[0]
        after_it = copied(state)
        learner.commit(after_it, prediction)
        before, after = leaves(state), leaves(after_it)
        stands = [
            np.array_equal(before[name], after[name])
            for name in ("weights", "columns.fresh", "arrived")
        ]
        if 0.0 < age < np.inf:
            counts[far <= 0.5 * NEAR] += 1
            assert all(stands) == (far <= 0.5 * NEAR)
            assert (after_it.multiplier[0] == state.multiplier[0]) == (far <= 0.5 * NEAR)
        else:
            assert far == np.inf
            assert after_it.multiplier[0] == prediction.info.multiplier[0]
    assert min(counts.values()) > 20


@both_variants
def test_weights_are_carried_where_the_rates_change_now_and_then(variant: Any) -> None:
    """Delays without an end: some losses come under rates long gone, and some never."""
    rng = np.random.default_rng(47)
    ages = []
    for arms in (2, 5, 33):
        learner = built(FullInformation, arms, variant, 0)
        for state in rounds(learner, rng, 250, lambda t: int(rng.exponential(8.0))):
            compared(learner, state)
            ages.append(float(learner.predict(state).info.carried[0]))
    assert sum(0.0 < age < np.inf for age in ages) > 100
    assert ages.count(0.0) > 20
    assert ages.count(np.inf) > 20


def carrying(variant: Any) -> tuple[Any, Any, Floats]:
    """A learner, a state whose weights are being carried, and plays from under other rates."""
    rng, learner = np.random.default_rng(48), built(FullInformation, 3, variant, 0)
    state = learner.start()
    old = learner.commit(state, learner.predict(state))
    for _ in range(4):  # so much is missing that the rates are small enough
        learner.commit(state, learner.predict(state))
    for _ in range(12):
        plays = learner.commit(state, learner.predict(state))
        for i, play in enumerate(plays):
            learner.observe(state, play, i, 0.1 * rng.random())
    assert 1.0 <= state.carried[0] < MOST_CARRIED
    assert old[0, 0] != state.most_missing[0] == plays[0, 0]
    return learner, state, old


@both_variants
def test_a_loss_from_under_other_rates_ends_the_carrying(variant: Any) -> None:
    """The next weights are found anew, with the loss in them, and carried from there on."""
    learner, state, old = carrying(variant)
    before = learner.predict(state)
    learner.observe(state, old[1], 1, 0.7)
    assert state.carried[0] == np.inf
    prediction = learner.predict(state)
    assert prediction.info.carried[0] == 0.0
    assert prediction.q[1] < 0.99 * before.q[1]
    assert relative_error(prediction.q, plainly(learner, state, prediction)) <= SAME
    learner.commit(state, prediction)
    for arm in range(3):
        learner.withdraw(state, old[arm], arm)
    again = learner.predict(state)
    assert again.info.carried[0] == 1.0
    assert relative_error(again.q, plainly(learner, state, again)) <= SAME


@both_variants
def test_what_teaches_nothing_does_not_end_the_carrying(variant: Any) -> None:
    """A loss of zero from under other rates, and a play that is withdrawn."""
    learner, state, old = carrying(variant)
    before, age = learner.predict(state), state.carried[0]
    learner.observe(state, old[0], 0, 0.0)
    learner.withdraw(state, old[1], 1)
    prediction = learner.predict(state)
    assert prediction.info.carried[0] == before.info.carried[0] == age + 1.0
    assert prediction.q.tobytes() == before.q.tobytes()


@both_variants
def test_other_rates_end_the_carrying(variant: Any) -> None:
    """More is missing than ever before: the weights are found anew, and then carried."""
    learner, state, _ = carrying(variant)
    ages = []
    for t in range(5):
        prediction = learner.predict(state)
        ages.append(float(prediction.info.carried[0]))
        assert relative_error(prediction.q, plainly(learner, state, prediction)) <= SAME
        plays = learner.commit(state, prediction)
        for i, play in enumerate(plays if t > 0 else ()):
            learner.observe(state, play, i, 0.1)
    assert 0.0 < ages[0] < np.inf
    assert ages[1:] == [np.inf, np.inf, 0.0, 1.0]
