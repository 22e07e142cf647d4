"""Cited learners for experts against literal twins, their limits, golden numbers and bounds."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from belated.analysis.bounds import bound_for
from belated.analysis.game_sums import sum_up
from belated.arrays import Counts, Floats
from belated.comparison.contenders import Contender
from belated.environments.environment import Environment
from belated.environments.in_memory import GivenDelays, GivenLosses
from belated.environments.missing import NEVER
from belated.learners.contract import Facts, Learner
from belated.learners.driver import Driver
from belated.learners.experts.ada_delay import AdaDelay
from belated.learners.experts.adaptive_revision import AdaptiveRevision
from belated.learners.experts.delay_tolerant_hedge import DelayTolerantHedge
from belated.learners.experts.delayed_dual_averaging import DelayedDualAveraging
from belated.learners.experts.delayed_hedge import DelayedHedge
from belated.learners.experts.dropout import Dropout
from belated.learners.experts.fpl import Fpl
from belated.learners.experts.multi_scale import MultiScale
from belated.learners.experts.prod import Prod
from belated.play.game import Game
from tests.games import records_of, weights_of
from tests.learners.experts.test_reference_experts import hard_delays, hard_losses, nearest
from tests.twins import cited_experts as twins

ROUNDS = 12
RANGES = (0.05, 1.0, 0.4, 0.3, 0.2, 0.9, 1.0)
Twin = Callable[[Floats, Counts, int], Floats]
KINDS: dict[str, tuple[Callable[[int], Learner], Twin]] = {
    "prod": (
        lambda arms: Prod(arms, horizon=50),
        lambda losses, delays, arms: twins.prod(
            losses, delays, min(0.5, math.sqrt(math.log(max(2, arms)) / 50))
        ),
    ),
    "multi-scale": (
        lambda arms: MultiScale(arms, horizon=20, ranges=RANGES[:arms]),
        lambda losses, delays, arms: twins.multi_scale(
            losses, delays, math.sqrt(2 * math.log(max(2, arms)) / 20), np.array(RANGES[:arms])
        ),
    ),
    "fpl": (Fpl, lambda losses, delays, arms: twins.perturbed_leader(losses, delays)),
    "dropout": (
        lambda arms: Dropout(arms, alpha=0.3),
        lambda losses, delays, arms: twins.dropout(losses, delays, 0.3),
    ),
    "ada-delay": (
        lambda arms: AdaDelay(arms, scale=0.5),
        lambda losses, delays, arms: twins.ada_delay(
            losses, delays, 0.5 * math.sqrt(arms), nearest
        ),
    ),
    "adaptive-revision": (
        lambda arms: AdaptiveRevision(arms, rate=0.3),
        lambda losses, delays, arms: twins.adaptive_revision(losses, delays, 0.3, nearest),
    ),
    "delay-tolerant-hedge": (
        DelayTolerantHedge,
        lambda losses, delays, arms: twins.delay_tolerant_hedge(losses, delays),
    ),
    "delayed-dual-averaging": (
        DelayedDualAveraging,
        lambda losses, delays, arms: twins.dual_averaging(losses, delays, nearest),
    ),
}


def random_game(seed: int, arms: int) -> tuple[Floats, Counts]:
    """Losses with ties in even games, small ones in one; delays by arm, in one game never."""
    random = np.random.default_rng([seed, arms])
    losses = (
        random.random((ROUNDS, arms)) if seed % 2 else random.integers(0, 3, (ROUNDS, arms)) / 2
    )
    losses *= 0.05 if seed == 2 else 1.0
    late = [0, 0, 1, 2, 5, ROUNDS] + ([NEVER] if seed % 4 == 3 else [])
    return losses, random.choice(late, (ROUNDS, arms))


@pytest.mark.parametrize("name", KINDS)
@pytest.mark.parametrize("arms", [1, 2, 3, 4])
@pytest.mark.parametrize("seed", range(4))
def test_every_weight_is_that_of_the_twin(name: str, arms: int, seed: int) -> None:
    """A shorter game for dropout, whose twin counts all outcomes."""
    build, twin = KINDS[name]
    losses, delays = (
        each[: 6 if name == "dropout" else ROUNDS] for each in random_game(seed, arms)
    )
    q = weights_of(build(arms), losses, delays)
    np.testing.assert_allclose(q, twin(losses, delays, arms), rtol=0, atol=1e-11)


def after_sums(learner: Learner, sums: tuple[int, ...]) -> Floats:
    """The weights when each arm has lost 1 so many times."""
    driver = Driver(learner)
    for t in range(max(sums)):
        plays = driver.play()
        for arm, total in enumerate(sums):
            if t < total:
                driver.tell(plays[arm], arm, 1.0)
    return driver.weights()


def test_dropout_reaches_the_golden_weights() -> None:
    """Sums of 0, 1 and 2, half of the losses dropped: (2/3, 11/48, 5/48)."""
    golden = [2 / 3, 11 / 48, 5 / 48]
    np.testing.assert_allclose(after_sums(Dropout(3), (0, 1, 2)), golden, rtol=1e-15)


def test_dropout_shares_ties_among_many_arms() -> None:
    """Nothing has come: all tie. With one loss each, half of the arms tie for the lead."""
    np.testing.assert_allclose(after_sums(Dropout(101), (0,) * 101), 1 / 101, rtol=1e-13)
    q = after_sums(Dropout(40), (1,) * 20 + (0,) * 20)
    np.testing.assert_allclose(q[:20], q[0], rtol=1e-12)
    np.testing.assert_allclose(q.sum(), 1.0, rtol=1e-14)
    ties = [math.comb(20, m) / 2**20 * m / (20 + m) for m in range(21)]
    assert q[:20].sum() == pytest.approx(sum(ties), rel=1e-12)


@pytest.mark.compiled  # many coins
def test_dropout_keeps_what_matters_of_a_long_law() -> None:
    """400 losses of each arm: the mean and the variance of the law that is kept."""
    random = np.random.default_rng(3)
    losses, driver = random.random((400, 2)), Driver(Dropout(2), room=400)
    for row in losses:
        for arm, play in enumerate(driver.play()):
            driver.tell(play, arm, float(row[arm]))
    state = driver.state
    for i in range(2):
        law = state.chances[i, : state.length[i]]
        values = state.first[i] + np.arange(state.length[i])
        heads = losses[:, i] / 2
        assert law.sum() == pytest.approx(1.0, abs=1e-13)
        assert law @ values == pytest.approx(heads.sum(), rel=1e-13)
        spread = law @ (values - heads.sum()) ** 2
        assert spread == pytest.approx((heads * (1 - heads)).sum(), rel=1e-12)
    assert state.length.max() < 9 * math.sqrt(400)


@pytest.mark.parametrize("arms", [2, 5])
def test_equal_ranges_are_hedge(arms: int) -> None:
    """Also if all are 0.2: then the rate of the losses is five times as large."""
    losses, delays = random_game(1, arms)
    rate = math.sqrt(2 * math.log(arms) / 30)
    for size in (1.0, 0.2):
        q = weights_of(MultiScale(arms, horizon=30, ranges=(size,) * arms), losses, delays)
        hedge = weights_of(DelayedHedge(arms, eta=rate / size), losses, delays)
        np.testing.assert_allclose(q, hedge, rtol=0, atol=1e-12)


def test_the_perturbed_leader_of_two_arms_has_a_closed_form() -> None:
    """exp(-gap)/2 for the arm behind, and of many arms at a tie each has its share."""
    q = after_sums(Fpl(2), (0, 3))
    eta = math.sqrt(math.log(2) / 8)
    assert q[1] == pytest.approx(0.5 * math.exp(-3 * eta), rel=1e-13)
    np.testing.assert_allclose(after_sums(Fpl(60), (2,) * 60), 1 / 60, rtol=1e-12)


def test_adaptive_revision_without_delay_is_adagrad() -> None:
    """Steps rate/sqrt(1 + sum of squares), by coordinate, projected at the end."""
    losses, delays = random_game(1, 3)
    q = weights_of(AdaptiveRevision(3, rate=0.4), losses, 0 * delays)
    point, squares = np.full(3, 1 / 3), np.ones(3)
    for t in range(ROUNDS):
        np.testing.assert_allclose(q[t], nearest(point), rtol=0, atol=1e-12)
        squares += losses[t] ** 2
        point = point - 0.4 / np.sqrt(squares) * losses[t]


def test_a_withdrawn_round_counts_as_one_without_losses() -> None:
    """In the account of what overlapped: the rates go on as if its losses had been 0."""
    for learner in (DelayTolerantHedge(3), DelayedDualAveraging(3)):
        told, gone = Driver(learner), Driver(learner)
        for t in range(6):
            for driver in (told, gone):
                plays = driver.play()
                for arm in range(3):
                    if t == 2 and driver is gone:
                        driver.withdraw(plays[arm], arm)
                    else:
                        driver.tell(plays[arm], arm, 0.0 if t == 2 else 0.25 * (arm + t))
        assert told.predict().eta[0] == pytest.approx(gone.predict().eta[0], rel=1e-14)
        np.testing.assert_allclose(told.weights(), gone.weights(), rtol=0, atol=1e-14)


def test_rates_never_rise_again() -> None:
    """Seven rounds come together, and their losses turn out to be small."""
    losses = np.full((15, 3), 0.05) * np.arange(1, 4)
    late = np.maximum(0, 6 - np.arange(15))[:, None] + np.zeros((1, 3), dtype=np.int64)
    for learner, twin in (
        (DelayTolerantHedge(3), twins.delay_tolerant_hedge(losses, late)),
        (DelayedDualAveraging(3), twins.dual_averaging(losses, late, nearest)),
    ):
        records = records_of(learner, losses, late)
        rates = [record.prediction.eta[0] for record in records]
        assert (np.diff(rates) <= 0.0).all()
        q = np.array([record.prediction.q for record in records])
        np.testing.assert_allclose(q, twin, rtol=0, atol=1e-12)


def regret_and_bound(contender: Contender, losses: Floats, delays: Counts) -> tuple[float, float]:
    environment = Environment("given", GivenLosses(losses), GivenDelays(delays), len(losses))
    facts = sum_up(Game(environment, np.random.SeedSequence(1)))
    learner = contender.built(facts)
    bound = bound_for(learner, facts, facts.best_arm)
    assert bound.applies, bound.why
    assert bound.value is not None
    q = weights_of(learner, losses, delays)
    return float((q * losses).sum() - losses.sum(axis=0).min()), bound.value


@pytest.mark.parametrize("name", ["delay-tolerant-hedge", "delayed-dual-averaging"])
@pytest.mark.parametrize("arms", [2, 5])
def test_bounds_hold_on_hard_games(name: str, arms: int) -> None:
    """With delays of every kind; what is told in order has one delay for all arms."""
    closest = 0.0
    for losses in hard_losses(100, arms).values():
        for delays in hard_delays(100, arms).values():
            regret, bound = regret_and_bound(Contender(name), losses, delays)
            assert regret <= bound
            closest = max(closest, regret / bound)
    assert closest > 0.1  # games that cost nothing would show nothing


@pytest.mark.parametrize("name", ["prod", "multi-scale", "fpl"])
@pytest.mark.parametrize("arms", [2, 5])
def test_bounds_hold_without_delays(name: str, arms: int) -> None:
    closest = 0.0
    for losses in hard_losses(100, arms).values():
        none = np.zeros((100, arms), dtype=np.int64)
        regret, bound = regret_and_bound(Contender(name), losses, none)
        assert regret <= bound
        closest = max(closest, regret / bound)
    assert closest > 0.1


def test_bounds_are_those_of_the_guarantees() -> None:
    """With T = 50, L* = 8 and K = 3."""
    facts = Facts(arms=3, rounds=50, most_missing=4, total_delay=70, best_loss=8.0)
    logs, eta = math.log(3), math.sqrt(math.log(3) / 50)
    root = 4 * math.sqrt(16 * math.log(9)) + 3 * math.log(9)
    expected = {
        Prod(3, horizon=50): logs / eta + 8 * eta,
        MultiScale(3, horizon=50): logs / (math.sqrt(2) * eta) + 25 * math.sqrt(2) * eta,
        Fpl(3): 2 * math.sqrt(100 * logs),
        Dropout(3): 8 * root + 8 * math.log(9) + 6,
        DelayTolerantHedge(3): 2 * math.sqrt(240 * logs),
        DelayedDualAveraging(3): 2 * math.sqrt(3 * 95),
    }
    for learner, bound in expected.items():
        assert learner.bound(facts) == pytest.approx(bound), learner.name


def test_small_losses_cost_the_delay_tolerant_little() -> None:
    """With losses of a hundredth, and none missing, the rate is far above that of large ones."""
    driver = Driver(DelayTolerantHedge(2))
    for _ in range(60):
        for arm, play in enumerate(driver.play()):
            driver.tell(play, arm, 0.01)
    cost = 1 + 60 * 0.01**2  # the coming round may lose 1
    assert driver.predict().eta[0] == pytest.approx(math.sqrt(math.log(2) / (2 * cost)))


@pytest.mark.parametrize(
    ("kind", "options", "sentence"),
    [
        (Prod, {"horizon": 0}, "horizon is 0; it must be a whole number from 1"),
        (MultiScale, {"ranges": (1.0,)}, "it must have a number for each of 2 arms"),
        (MultiScale, {"ranges": (1.0, 0.0)}, "ranges holds 0.0; the largest loss must be in"),
        (MultiScale, {"ranges": "wide"}, "ranges is 'wide'; it must have a number"),
        (Dropout, {"alpha": 1.0}, "alpha is 1.0; it must be above 0 and below 1"),
        (AdaDelay, {"scale": 0}, "scale is 0.0; it must be above 0"),
        (AdaptiveRevision, {"rate": -1}, "rate is -1.0; it must be above 0"),
    ],
)
def test_bad_options_are_refused(kind: Any, options: dict[str, object], sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence.replace("(", r"\(")):
        kind(**{"arms": 2} | options)
