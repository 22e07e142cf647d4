"""Delayed Hedge, gradient descent and follow-the-leader, against what they are by definition."""

import itertools
import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest

from belated.analysis.bounds import bound_for
from belated.analysis.game_sums import sum_up
from belated.arrays import Counts, Floats
from belated.comparison.contenders import Contender
from belated.environments.environment import Environment
from belated.environments.in_memory import GivenDelays, GivenLosses
from belated.environments.missing import NEVER, missing_counts
from belated.learners.contract import Facts, Learner
from belated.learners.experts.adaptive_hedge import AdaptiveHedge
from belated.learners.experts.centred_hedge import CentredHedge
from belated.learners.experts.delayed_hedge import DelayedHedge
from belated.learners.experts.delayed_ogd import DelayedOGD
from belated.learners.experts.leading_expert import LeadingExpert
from belated.learners.experts.simplex import project
from belated.learners.experts.zinkevich_ogd import ZinkevichOGD
from belated.learners.stochastic.leading_arm import LeadingArm
from belated.play.game import Game
from tests.games import softmin, weights_of
from tests.oracle.signed_losses import SignedExponentialWeights

GOLDEN_HEDGE = (0.506480391056, 0.307195885718, 0.186323723226)
WITH_BOUND = ("hedge", "adaptive-hedge", "centred-hedge", "delayed-ogd", "zinkevich-ogd")


def weights(learner: Learner, losses: Floats, delays: Counts, arms: Counts | None = None) -> Floats:
    """q_t in row t-1, along these losses, delays and, for a bandit, plays."""
    return weights_of(learner, losses, delays, lambda t, q: -1 if arms is None else int(arms[t]))


def random_game(seed: int, arms: int, rounds: int = 30) -> tuple[Floats, Counts, Counts]:
    """Losses, delays by round and arm (none, short, long or endless), and plays."""
    random = np.random.default_rng([seed, arms])
    losses = random.random((rounds, arms))
    if seed % 2:
        losses = random.integers(0, 3, (rounds, arms)) / 2.0  # ties
    delays = random.choice([0, 0, 1, 2, 3, 9, 2 * rounds, NEVER], (rounds, arms))
    return losses, delays, random.integers(0, arms, rounds)


games = pytest.mark.parametrize("seed", range(4))
sizes = pytest.mark.parametrize("arms", [1, 2, 3, 7])


# -- the twins: everything anew in every round, from the list of what has arrived


def arrived(delays: Counts, t: int, arm: int) -> list[int]:
    """The rounds, from 0, whose loss of this arm is known when round t begins."""
    return [s for s in range(t) if delays[s, arm] != NEVER and s + delays[s, arm] < t]


def observed_sums(losses: Floats, delays: Counts, t: int) -> Floats:
    arms = range(losses.shape[1])
    return np.array([math.fsum(losses[s, i] for s in arrived(delays, t, i)) for i in arms])


def hedge_twin(losses: Floats, delays: Counts, eta: float) -> Floats:
    rounds = range(len(losses))
    return np.array([softmin(observed_sums(losses, delays, t), eta) for t in rounds])


def adaptive_twin(losses: Floats, delays: Counts) -> Floats:
    q = np.empty_like(losses)
    for t in range(len(losses)):
        charged = 0
        for s in range(t + 1):
            charged += 1 + max(s - len(arrived(delays, s, i)) for i in range(losses.shape[1]))
        eta = math.sqrt(math.log(losses.shape[1]) / (2 * charged))
        q[t] = softmin(observed_sums(losses, delays, t), eta)
    return q


def nearest(values: Floats) -> Floats:
    """The nearest distribution, of all those that are best on some set of arms."""
    best, distance = np.zeros(0), np.inf
    for size in range(1, len(values) + 1):
        for chosen in itertools.combinations(range(len(values)), size):
            point, support = np.zeros(len(values)), list(chosen)
            point[support] = values[support] + (1.0 - values[support].sum()) / size
            far = float(((point - values) ** 2).sum())
            if point.min() >= 0.0 and far < distance:
                best, distance = point, far
    return best


def descent_twin(losses: Floats, delays: Counts, step: Callable[[int], float]) -> Floats:
    """x_{t+1} = Pi(x_t - eta_t sum of what arrives in round t), with t from 1 in eta_t."""
    rounds, arms = losses.shape
    q = np.full((rounds, arms), 1.0 / arms)
    for t in range(1, rounds):
        came = observed_sums(losses, delays, t) - observed_sums(losses, delays, t - 1)
        q[t] = nearest(q[t - 1] - step(t) * came)
    return q


def leading_twin(losses: Floats, delays: Counts, arms: Counts | None) -> Floats:
    rounds, count = losses.shape
    q = np.zeros((rounds, count))
    for t in range(rounds):
        untried, means = [], {}
        for i in range(count):
            if t == 0 or (arms is not None and i not in arms[:t]):
                untried.append(i)
            known = [s for s in arrived(delays, t, i) if arms is None or arms[s] == i]
            if known:
                means[i] = sum(Fraction(losses[s, i]) for s in known) / len(known)
        leaders = [i for i in means if means[i] == min(means.values())]
        chosen = untried or leaders or list(range(count))
        q[t, chosen] = 1.0 / len(chosen)
    return q


# -- q itself


@games
@sizes
@pytest.mark.parametrize("eta", [None, 0.01, 0.7, 30.0])
def test_hedge_weighs_what_has_arrived(seed: int, arms: int, eta: float | None) -> None:
    """q is the softmin of the observed sums, at the rate given or tuned."""
    losses, delays, _ = random_game(seed, arms)
    learner = DelayedHedge(arms=arms, horizon=30, total_delay=11, eta=eta)
    rate = math.sqrt(math.log(arms) / (30 / 8 + 11)) if eta is None else eta
    expected = hedge_twin(losses, delays, rate)
    np.testing.assert_allclose(weights(learner, losses, delays), expected, rtol=0, atol=1e-10)


def test_hedge_reaches_the_golden_weights() -> None:
    """Sums of 0, 1 and 2 at eta = 1/2."""
    learner = DelayedHedge(arms=3, eta=0.5)
    state = learner.start()
    for told in ([1, 2], [2]):
        plays = learner.commit(state, learner.predict(state))
        for arm in told:
            learner.observe(state, plays[arm], arm, 1.0)
    assert learner.predict(state).q == pytest.approx(GOLDEN_HEDGE, abs=5e-13)


@sizes
def test_hedge_without_delay_is_the_undelayed_hedge(arms: int) -> None:
    """At a given rate, each round multiplies the weights by exp(-eta l)."""
    losses, delays, _ = random_game(0, arms)
    learner = DelayedHedge(arms=arms, eta=0.3)
    power = np.ones(arms)
    for q, row in zip(weights(learner, losses, 0 * delays), losses, strict=True):
        np.testing.assert_allclose(q, power / power.sum(), rtol=0, atol=1e-12)
        power *= np.exp(-0.3 * row)


@games
@sizes
def test_adaptive_hedge_charges_what_is_missing(seed: int, arms: int) -> None:
    """q is the softmin of the observed sums, at the rate of the missing counts so far."""
    losses, delays, _ = random_game(seed, arms)
    q = weights(AdaptiveHedge(arms=arms), losses, delays)
    np.testing.assert_allclose(q, adaptive_twin(losses, delays), rtol=0, atol=1e-10)


def test_adaptive_hedge_no_longer_waits_for_what_is_withdrawn() -> None:
    """A withdrawn round leaves the rate where an answered one leaves it."""
    learner = AdaptiveHedge(arms=2)
    state = learner.start()
    for t in range(1, 5):
        prediction = learner.predict(state)
        assert prediction.eta[0] == pytest.approx(math.sqrt(math.log(2) / (2 * t)))
        for arm, play in enumerate(learner.commit(state, prediction)):
            learner.withdraw(state, play, arm)


@games
@sizes
def test_centred_hedge_is_the_learner_of_both_signs(seed: int, arms: int) -> None:
    """Proposition 8': what it does with l is what exponential weights do with 2 l - 1."""
    losses, delays, _ = random_game(seed, arms)
    signed = 2.0 * losses - 1.0
    never = [[None if d == NEVER else int(d) for d in row] for row in delays]
    case = {"K": arms, "T": len(losses), "losses": signed.tolist(), "delays": never}
    expected = [[float(x) for x in row] for row in SignedExponentialWeights(case).q]
    q = weights(CentredHedge(arms=arms), losses, delays)
    np.testing.assert_allclose(q, expected, rtol=0, atol=1e-12)


@games
@sizes
@pytest.mark.parametrize(("horizon", "total_delay"), [(1, 0), (30, 40)])
def test_descent_takes_one_step_a_round(
    seed: int, arms: int, horizon: int, total_delay: int
) -> None:
    """One projection of the last play minus all that has arrived, coordinate by coordinate."""
    losses, delays, _ = random_game(seed, arms)
    learner = DelayedOGD(arms=arms, horizon=horizon, total_delay=total_delay)
    eta = 1.0 / math.sqrt(arms * (horizon + 2 * total_delay))
    expected = descent_twin(losses, delays, lambda t: eta)
    np.testing.assert_allclose(weights(learner, losses, delays), expected, rtol=0, atol=1e-10)


@games
@sizes
@pytest.mark.parametrize("max_delay", [0, 1, 5, 100])
def test_zinkevich_takes_falling_steps(seed: int, arms: int, max_delay: int) -> None:
    """The same with 1 / sqrt(2 K tau (t - tau)), never above its first value."""
    losses, delays, _ = random_game(seed, arms)
    first = 1.0 / math.sqrt(2 * arms * max(1, max_delay))
    expected = descent_twin(losses, delays, lambda t: first / math.sqrt(max(1, t - max_delay)))
    q = weights(ZinkevichOGD(arms=arms, max_delay=max_delay), losses, delays)
    np.testing.assert_allclose(q, expected, rtol=0, atol=1e-10)


def test_zinkevich_with_a_constant_delay_is_the_published_recursion() -> None:
    """x_{t+1} = Pi(x_t - eta_t g_{t-tau}), written for two arms, where Pi is a clip."""
    losses, delays, _ = random_game(0, 2)
    tau, x = 4, 0.5
    q = weights(ZinkevichOGD(arms=2, max_delay=tau), losses, np.full_like(delays, tau))
    for t in range(1, len(q) + 1):
        assert q[t - 1] == pytest.approx([x, 1.0 - x], abs=1e-12)
        if t > tau:
            eta = 1.0 / math.sqrt(2 * tau * 2 * (t - tau))
            first, second = losses[t - tau - 1]
            x = min(1.0, max(0.0, x - eta * (first - second) / 2.0))


@games
@sizes
def test_leading_expert_follows_the_smallest_mean(seed: int, arms: int) -> None:
    """Exact means, ties shared, those never heard of left out."""
    losses, delays, _ = random_game(seed, arms)
    q = weights(LeadingExpert(arms=arms), losses, delays)
    assert np.array_equal(q, leading_twin(losses, delays, None))


@games
@sizes
def test_leading_arm_tries_all_and_follows_the_smallest_mean(seed: int, arms: int) -> None:
    """Untried arms first, then exact means of what was played and has arrived."""
    losses, delays, played = random_game(seed, arms)
    q = weights(LeadingArm(arms=arms), losses, delays, played)
    assert np.array_equal(q, leading_twin(losses, delays, played))


@games
def test_leading_expert_is_hedge_at_a_huge_rate_if_arms_are_equally_late(seed: int) -> None:
    """Then equally many losses of all have arrived, and means are in the order of sums."""
    losses, delays, _ = random_game(seed, 3)
    shared = np.repeat(delays[:, :1], 3, axis=1)
    losses = np.round(8 * losses) / 8
    hedge = weights(DelayedHedge(arms=3, eta=1e4), losses, shared)
    leading = weights(LeadingExpert(arms=3), losses, shared)
    np.testing.assert_allclose(leading, hedge, rtol=0, atol=1e-12)


def test_a_tie_does_not_depend_on_the_order_of_arrival() -> None:
    """0.1 + 0.2 + 0.3 and 0.3 + 0.2 + 0.1 are different doubles, but the same mean."""
    losses = np.array([[0.1, 0.3], [0.2, 0.2], [0.3, 0.1], [0.0, 0.0]])
    q = weights(LeadingExpert(arms=2), losses, np.zeros((4, 2), dtype=np.int64))
    assert q[3].tolist() == [0.5, 0.5]


# -- the projection


@pytest.mark.parametrize("size", [1, 2, 3, 5, 8])
def test_projection_is_the_nearest_distribution(size: int) -> None:
    """Against every set of arms that could carry the weight."""
    random = np.random.default_rng(size)
    for scale in (1e-3, 0.3, 1.0, 20.0):
        for _ in range(8):
            values = scale * random.normal(size=size) + random.normal()
            if random.random() < 0.3:
                values = np.round(values, 1)  # ties
            expected = nearest(values)
            project(values, np.empty(size))
            np.testing.assert_allclose(values, expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize("shift", [0.0, -1e9])
def test_projection_of_many_values_meets_its_conditions(shift: float) -> None:
    """One threshold for all that stay positive, not below any other, and a sum of one."""
    values = np.random.default_rng(1).random(5000) + shift
    q = values.copy()
    project(q, np.empty(5000))
    theta = (values - q)[q > 0.0]
    assert q.min() == 0.0
    assert q.sum() == pytest.approx(1.0, abs=1e-12)
    assert np.ptp(theta) <= 1e-15 + 4e-16 * abs(shift)
    assert values[q == 0.0].max() <= theta.max()


def test_projection_leaves_a_distribution_where_it_is() -> None:
    """Vertices and the centre included."""
    for point in (np.array([0.0, 1.0, 0.0]), np.full(4, 0.25), np.array([0.5, 0.125, 0.375])):
        moved = point.copy()
        project(moved, np.empty(len(point)))
        assert np.array_equal(moved, point)


# -- the bounds


def rotating_leader(rounds: int, arms: int, turn: int) -> Floats:
    """The arm in front is the next to lose, for `turn` rounds each."""
    return (np.arange(rounds)[:, None] // turn % arms == np.arange(arms)).astype(np.float64)


def hard_losses(rounds: int, arms: int) -> dict[str, Floats]:
    """Random losses, in blocks too, leaders that change places, and a best arm that comes late."""
    random = np.random.default_rng(5)
    late_best = (np.arange(arms) != np.where(np.arange(rounds) < rounds // 3, 0, 1)[:, None]) * 1.0
    blocks = random.integers(0, 2, (rounds // 20 + 1, arms)).repeat(20, axis=0)[:rounds] * 1.0
    return {
        "random": random.random((rounds, arms)),
        "blocks": blocks,
        "rotating": rotating_leader(rounds, arms, 1),
        "rotating slowly": rotating_leader(rounds, arms, 15),
        "late best": late_best,
    }


def hard_delays(rounds: int, arms: int) -> dict[str, Counts]:
    """No delay, one for all, one for each arm, bursts, and losses that never come."""
    random = np.random.default_rng(6)
    none = np.zeros((rounds, arms), dtype=np.int64)
    return {
        "none": none,
        "constant": none + 19,
        "by arm": none + 12 * np.arange(arms),
        "random": random.integers(0, 40, (rounds, arms)),
        "bursts": none + (-np.arange(rounds)[:, None] - 1) % 30,
        "never": np.where(random.random((rounds, arms)) < 0.05, NEVER, none + 2),
    }


@pytest.mark.parametrize("name", WITH_BOUND)
@pytest.mark.parametrize("arms", [2, 5])
def test_derived_bounds_hold_on_hard_games(name: str, arms: int) -> None:
    """Regret against the best arm, with what must be known taken from the game."""
    rounds, closest = 120, 0.0
    for losses in hard_losses(rounds, arms).values():
        for delays in hard_delays(rounds, arms).values():
            environment = Environment("given", GivenLosses(losses), GivenDelays(delays), rounds)
            facts = sum_up(Game(environment, np.random.SeedSequence(1)))
            learner = Contender(name).built(facts)
            assert isinstance(learner, Learner)
            bound = bound_for(learner, facts, facts.best_arm)
            regret = (weights(learner, losses, delays) * losses).sum() - losses.sum(axis=0).min()
            assert bound.applies, bound.why
            assert bound.value is not None
            assert regret <= bound.value
            closest = max(closest, regret / bound.value)
    assert closest > 0.1  # games that cost nothing would show nothing


@pytest.mark.parametrize("tau", [1, 10, 50])
@pytest.mark.parametrize("arms", [2, 5])
def test_zinkevich_keeps_its_bound_for_a_constant_delay(tau: int, arms: int) -> None:
    """4 sqrt(K tau T)."""
    rounds = 200
    learner = ZinkevichOGD(arms=arms, max_delay=tau)
    for losses in hard_losses(rounds, arms).values():
        q = weights(learner, losses, np.full((rounds, arms), tau))
        regret = (q * losses).sum() - losses.sum(axis=0).min()
        assert regret <= 4.0 * math.sqrt(arms * tau * rounds)


@pytest.mark.parametrize(
    ("rounds", "first", "second"),
    [(5, 0, 0), *((t, *pair) for t in (1, 2, 3, 4) for pair in ((1, 0), (1, 2), (3, 0)))],
)
def test_hedge_keeps_its_bounds_on_all_tiny_games(rounds: int, first: int, second: int) -> None:
    """All 2^(KT) tables of losses 0 and 1 for two arms, each late in its own way."""
    delays = np.tile([first, second], (rounds, 1))
    total_delay = int(missing_counts(delays).max(axis=1).sum())
    facts = Facts(2, rounds, 0, total_delay, 0.0)
    tuned = DelayedHedge(arms=2, horizon=rounds, total_delay=total_delay)
    assert tuned.bound(facts) == pytest.approx(
        2.0 * math.sqrt((rounds / 8 + total_delay) * math.log(2))
    )
    for learner in (tuned, DelayedHedge(arms=2, eta=1.5), AdaptiveHedge(2), CentredHedge(2)):
        worst = -np.inf
        for table in itertools.product([0.0, 1.0], repeat=2 * rounds):
            losses = np.array(table).reshape(rounds, 2)
            q = weights(learner, losses, delays)
            worst = max(worst, (q * losses).sum() - losses.sum(axis=0).min())
        bound = learner.bound(facts)
        assert bound is not None
        assert 0.5 <= worst <= bound  # the first round alone costs a half


def test_bounds_are_those_of_the_guarantees() -> None:
    """With T = 50, D = 70, K = 3 and at most 4 missing, known as far as each must know them."""
    facts = Facts(arms=3, rounds=50, most_missing=4, total_delay=70, best_loss=0.0)
    known = {"horizon": 50, "total_delay": 70}
    hedge, descent = DelayedHedge(arms=3, **known), DelayedOGD(arms=3, **known)
    assert hedge.bound(facts) == pytest.approx(2 * math.sqrt((50 / 8 + 70) * math.log(3)))
    assert descent.bound(facts) == pytest.approx(math.sqrt(3 * (50 + 2 * 70)))
    adaptive = 2 * math.sqrt(2 * (50 + 70) * math.log(3))
    assert AdaptiveHedge(arms=3).bound(facts) == pytest.approx(adaptive)
    centred = 1.5 * math.sqrt((50 + 70) * math.log(3))
    assert CentredHedge(arms=3).bound(facts) == pytest.approx(centred)
    for tau in (0, 1, 9, 49, 50, 90):
        eta = [1 / math.sqrt(6 * max(1, tau) * max(1, t - tau)) for t in range(1, 51)]
        least = 1 / eta[-1] + 3 * 4.5 * sum(eta)
        bound = ZinkevichOGD(arms=3, max_delay=tau).bound(facts)
        assert least * (1 - 1e-12) <= bound <= 1.3 * least


@pytest.mark.parametrize("name", WITH_BOUND)
def test_a_single_arm_has_no_regret_and_a_bound(name: str) -> None:
    """K = 1: ln K is zero, and so are the rates of Hedge."""
    losses, delays, _ = random_game(3, 1)
    environment = Environment("given", GivenLosses(losses), GivenDelays(delays), len(losses))
    facts = sum_up(Game(environment, np.random.SeedSequence(1)))
    bound = bound_for(Contender(name).built(facts), facts, 0)
    assert bound.applies
    assert bound.value is not None
    assert 0.0 <= bound.value < np.inf


# -- bad input


@pytest.mark.parametrize(
    ("kind", "options", "sentence"),
    [
        (DelayedHedge, {"eta": 0}, "eta is 0.0; it must be above 0"),
        (DelayedHedge, {"eta": -0.5}, "eta is -0.5; it must be above 0"),
        (DelayedHedge, {"eta": math.inf}, "eta is inf; it must be finite"),
        (DelayedHedge, {"eta": "fast"}, "eta is 'fast'; it must be a number"),
        (DelayedHedge, {"horizon": 0}, "horizon is 0; it must be a whole number from 1"),
        (DelayedHedge, {"delivery": "padded"}, "delivery is 'padded'; for hedge it must be 'own'"),
        (DelayedOGD, {"total_delay": -1}, "total_delay is -1; it must be a whole number from 0"),
        (DelayedOGD, {"horizon": 2.5}, "horizon is 2.5; it must be a whole number from 1"),
        (ZinkevichOGD, {"max_delay": None}, "max_delay is None; it must be a whole number from 0"),
        (LeadingArm, {"arms": 0}, "arms is 0; it must be a whole number of at least 1"),
    ],
)
def test_bad_options_are_refused(
    kind: type[Learner], options: dict[str, object], sentence: str
) -> None:
    """One sentence that names the value and the rule."""
    with pytest.raises(ValueError) as refused:
        kind(**{"arms": 2} | options)  # type: ignore[arg-type]
    assert str(refused.value).startswith(sentence)
