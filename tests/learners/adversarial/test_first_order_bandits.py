"""FPL-TrIX and Exp3.P play the weights of their definitions, worked out anew in every round."""

import itertools
import math
from collections.abc import Callable
from typing import Any

import mpmath
import numpy as np
import pytest

from belated.arrays import Floats
from belated.environments.missing import NEVER, missing_counts
from belated.learners.adversarial.exp3p import Exp3P
from belated.learners.adversarial.fpl_trix import FplTrix
from belated.learners.adversarial.perturbed_leader import weigh_perturbed
from belated.learners.contract import Learner
from belated.learners.driver import driver_for
from belated.play.delivery import FeedbackDelivery
from belated.play.game import Stretch
from belated.play.readable import rounds_of

History = list[tuple[int, int, float, float]]  # round, arm, loss, probability of the play

NODES, WEIGHTS = np.polynomial.legendre.leggauss(40)


def perturbed(losses: Floats, eta: float, cutoff: float) -> Floats:
    """P(eta L(i) - Z(i) is the least) in z itself, piece by piece, with far more nodes than needed.

    Z has the density exp(-z) / (1 - exp(-B)) on [0, B].
    """
    share = -math.expm1(-cutoff)
    q = np.zeros(losses.size)
    for i in range(losses.size):
        ahead = eta * (np.delete(losses, i) - losses[i])
        kinks = np.clip(np.concatenate([-ahead, cutoff - ahead]), 0.0, cutoff)
        ends = np.unique([0.0, *kinks, cutoff])
        for low, high in itertools.pairwise(ends):
            z = low + (high - low) * 0.5 * (1.0 + NODES)
            below = np.clip(z + ahead[:, None], 0.0, cutoff)
            product = np.prod(-np.expm1(-below) / share, axis=0)
            q[i] += 0.5 * (high - low) * (WEIGHTS * np.exp(-z) / share) @ product
    return q


def exactly_perturbed(losses: list[float], eta: float, cutoff: Any, some: list[int]) -> list[Any]:
    """The same with twenty digits, for some of the arms."""
    share = 1 - mpmath.exp(-cutoff)

    def below(value: Any) -> Any:
        return (1 - mpmath.exp(-min(max(value, 0), cutoff))) / share

    q = []
    for i in some:
        others = [mpmath.mpf(loss) for j, loss in enumerate(losses) if j != i]
        ahead = [eta * (other - losses[i]) for other in others]
        kinks = {min(max(kink, 0), cutoff) for a in ahead for kink in (-a, cutoff - a)}

        def density(z: Any, ahead: list[Any] = ahead) -> Any:
            return mpmath.exp(-z) / share * mpmath.fprod(below(z + a) for a in ahead)

        q.append(mpmath.quad(density, sorted({0, *kinks, cutoff}), method="gauss-legendre"))
    return q


def fpl_trix(arms: int, rounds: int, t: int, known: History, before: Floats) -> Floats:
    """Neu's algorithm from all that has arrived before round t (0-based)."""
    scale = math.log(arms) + 1.0

    def rate(total: float) -> float:
        return math.sqrt(scale / (1.0 / scale + total))

    losses = np.zeros(arms)
    for s, arm, loss, probability in known:
        losses[arm] += loss / (probability + before[s])
    eta = rate(losses.sum())
    before[t] = eta
    return perturbed(losses, eta, math.log(arms / eta)) if arms > 1 else np.ones(1)


def exp3p(arms: int, rounds: int, t: int, known: History, before: Floats) -> Floats:
    """Exp3.P from all that has arrived, and the weights of all rounds so far."""
    beta = math.sqrt(math.log(arms) / (arms * rounds))
    gamma = min(1.0, 1.05 * math.sqrt(arms * math.log(arms) / rounds))
    gains = (beta / before[:t]).sum(axis=0)
    for _, arm, loss, probability in known:
        gains[arm] += (1.0 - loss) / probability
    weights = np.exp(0.95 * beta * (gains - gains.max()))
    q = (1.0 - gamma) * weights / weights.sum() + gamma / arms
    before[t] = q
    return np.asarray(q)


Twin = Callable[[int, int, int, History, Floats], Floats]


def twins() -> list[tuple[type[Learner], Twin, bool]]:
    """Learner, twin, and whether the twin remembers weights or one rate a round."""
    return [(FplTrix, fpl_trix, False), (Exp3P, exp3p, True)]


def game(seed: int, rounds: int, arms: int) -> Stretch:
    """Losses, and delays of every kind that depend on round and arm."""
    random = np.random.default_rng(seed)
    losses = random.random((rounds, arms)) * random.random(arms)
    delays = random.integers(0, 6, (rounds, arms)) * random.integers(0, 2, arms)
    delays[random.random((rounds, arms)) < 0.1] = 40
    delays[random.random((rounds, arms)) < 0.1] = NEVER
    return Stretch(0, rounds, losses, delays, missing_counts(delays))


@pytest.mark.parametrize(("kind", "twin", "remembers_weights"), twins(), ids=["fpl-trix", "exp3p"])
@pytest.mark.parametrize("delivery", ["own", "padded", "in order"])
@pytest.mark.parametrize("arms", [1, 2, 3, 7])
def test_every_weight_is_that_of_the_definition(
    kind: Any, twin: Twin, remembers_weights: bool, delivery: Any, arms: int
) -> None:
    """Whatever has arrived, and in whatever order: q_t to ten digits, arms played at random."""
    rounds = 120
    stretch = game(arms, rounds, arms)
    needs = {"horizon": rounds} if kind is Exp3P else {}
    learner = kind(arms=arms, delivery=delivery, **needs)
    due = FeedbackDelivery(learner).deliver(stretch).delays
    played = np.random.default_rng(7).integers(0, arms, rounds)
    before = np.ones((rounds, arms) if remembers_weights else rounds)
    history: History = []
    records = rounds_of(driver_for(learner), [stretch], lambda t, q: int(played[t]))
    for t, record in enumerate(records):
        known = [
            entry
            for entry in history
            if due[entry[0], entry[1]] != NEVER and entry[0] + due[entry[0], entry[1]] < t
        ]
        expected = twin(arms, rounds, t, known, before)
        np.testing.assert_allclose(record.prediction.q, expected, rtol=0, atol=1e-10)
        arm = record.arm
        history.append((t, arm, float(stretch.losses[t, arm]), float(expected[arm])))


@pytest.mark.parametrize("arms", [2, 3, 10, 17, 30])
@pytest.mark.parametrize("spread", [0.0, 1e-9, 0.3, 4.0, 1e4])
def test_perturbed_leaders_are_right_to_twelve_digits(arms: int, spread: float) -> None:
    """Against an integral with twenty digits: ties, near ties, and arms that cannot lead."""
    random = np.random.default_rng(arms)
    eta = float(random.uniform(0.01, 1.0)) * (math.log(arms) + 1.0)
    losses = np.round(random.random(arms) * spread / eta, 12)
    order, q = np.argsort(losses), np.empty(arms)
    weigh_perturbed(losses, order, eta, np.empty((2, arms)), q)
    some = [int(order[0]), int(order[arms // 2])]
    with mpmath.workdps(20):
        cutoff = mpmath.log(mpmath.mpf(arms) / eta)
        exact = exactly_perturbed(losses.tolist(), eta, cutoff, some)
    np.testing.assert_allclose(q[some], np.array(exact, dtype=np.float64), rtol=0, atol=1e-12)
    assert q.sum() == pytest.approx(1.0, abs=1e-14)


@pytest.mark.parametrize("eta", [0.05, 0.7, 5.0])
def test_a_hundred_arms(eta: float) -> None:
    """More factors than the rule has nodes: the pieces are cut, and the weights still right."""
    losses = np.sort(np.random.default_rng(2).random(100)) * 8.0
    q = np.empty(100)
    weigh_perturbed(losses, np.arange(100), eta, np.empty((2, 100)), q)
    np.testing.assert_allclose(q, perturbed(losses, eta, math.log(100 / eta)), rtol=0, atol=1e-12)


def test_an_arm_beyond_the_truncation_is_never_played() -> None:
    """Its perturbation cannot make up for its loss; without truncation every arm has a chance."""
    q = np.empty(3)
    eta = 0.5
    cutoff = math.log(3 / eta)
    losses = np.array([0.0, 0.99 * cutoff / eta, 1.01 * cutoff / eta])
    weigh_perturbed(losses, np.arange(3), eta, np.empty((2, 3)), q)
    assert q[1] > 0.0
    assert q[2] == 0.0


def test_two_leaders_in_closed_form() -> None:
    """K = 2: P(Z - Z' > x) is an integral that one can do by hand."""
    eta, gap = 0.8, 0.6
    b, a = eta / 2, math.exp(-eta * gap)
    late = a / (1 - b) ** 2 * ((1 - b / a) - (1 - (b / a) ** 2) / 2)
    q = np.empty(2)
    weigh_perturbed(np.array([gap, 0.0]), np.array([1, 0]), eta, np.empty((2, 2)), q)
    np.testing.assert_allclose(q, [late, 1 - late], rtol=0, atol=1e-15)


def test_exp3p_without_delay_is_the_published_estimate() -> None:
    """The gain of one round is (g 1{i = i_t} + beta) / q for every arm."""
    learner = Exp3P(arms=3, horizon=100)
    state = learner.start()
    gamma, beta = state.gamma[0], state.beta[0]
    assert beta == pytest.approx(math.sqrt(math.log(3) / 300))
    assert gamma == pytest.approx(1.05 * math.sqrt(3 * math.log(3) / 100))
    prediction = learner.predict(state)
    plays = learner.commit(state, prediction, 1)
    learner.observe(state, plays[0], 1, 0.25)
    expected = (np.array([0.0, 0.75, 0.0]) + beta) / prediction.q
    np.testing.assert_allclose(-state.losses, expected, rtol=1e-14)


def test_exp3p_mixes_no_more_than_all() -> None:
    """In a game too short for its theorem, gamma would exceed one; then it plays evenly."""
    learner = Exp3P(arms=5, horizon=2)
    state = learner.start()
    assert state.gamma[0] == 1.0
    plays = learner.commit(state, learner.predict(state), 0)
    learner.observe(state, plays[0], 0, 1.0)
    np.testing.assert_allclose(learner.predict(state).q, 0.2, rtol=1e-14)


@pytest.mark.parametrize("horizon", [0, -3, 1.5, "ten"])
def test_a_horizon_that_is_none(horizon: Any) -> None:
    with pytest.raises(ValueError, match="horizon is"):
        Exp3P(arms=2, horizon=horizon)
