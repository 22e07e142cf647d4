"""The stochastic learners against literal twins, every q of every round, and what they promise."""

import itertools
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from belated.arrays import Floats
from belated.environments.missing import NEVER
from belated.learners.contract import Learner
from belated.learners.stochastic.adaptive_patient_bandits import AdaptivePatientBandits
from belated.learners.stochastic.d_klucb import DKlUcb
from belated.learners.stochastic.d_ucb import DUcb
from belated.learners.stochastic.delayed_ucb1 import DelayedUcb1
from belated.learners.stochastic.odaaf import Odaaf
from belated.learners.stochastic.optimistic_elimination import OptimisticElimination
from belated.learners.stochastic.patient_bandits import PatientBandits
from belated.learners.stochastic.phased_elimination import PhasedElimination
from belated.learners.stochastic.poisson import poisson_upper
from belated.learners.stochastic.qpm_d import QpmD
from belated.learners.stochastic.successive_elimination import SuccessiveElimination
from belated.learners.stochastic.thompson import Thompson
from tests.twins import stochastic as twins
from tests.twins.stochastic import Play, Promise, Round, Script

ARMS = (1, 2, 3, 7)
LAW = (0.0, 0.25, 0.25, 0.5, 0.9)


class Table:
    """Rewards and delays of a game: binary, on a grid, or any; prompt, long, or never."""

    def __init__(self, seed: int, rounds: int, arms: int, delays: Any = None) -> None:
        self.random = np.random.default_rng([seed, rounds, arms])
        levels = [2, 5, 2**40][seed % 3] - 1
        means = self.random.random(arms)
        noise = self.random.random((rounds, arms))
        self.losses = np.round((means + noise) / 2.0 * levels) / levels
        if delays is None:
            long = self.random.choice([0, 1, 3, 10, 60, rounds], (rounds, arms))
            delays = np.where(self.random.random((rounds, arms)) < 0.1, NEVER, long)
        self.delays = np.broadcast_to(delays, (rounds, arms))


def follow(
    learner: Learner, script: Script | None, table: Table, own_plays: bool = True
) -> list[tuple[Floats, Floats]]:
    """Play by the learner's weights, or at random; q of the learner and of its twin each round."""
    state, plays, pairs = learner.start(), [], []
    frozen: dict[Play, Any] = {}
    weights = None if script is None else next(script)
    for t in range(1, len(table.losses) + 1):
        state = learner.reserved(state, 1)
        prediction = learner.predict(state)
        q = prediction.q.copy()
        pairs.append((q, q if weights is None else weights))
        chance = q if own_plays else np.full(learner.arms, 1.0 / learner.arms)
        arm = int(table.random.choice(learner.arms, p=chance))
        delay = int(table.delays[t - 1, arm])
        loss = float(table.losses[t - 1, arm])
        play = Play(t, arm, 1.0 - loss, math.inf if delay == NEVER else t + delay)
        plays.append(play)
        frozen[play] = learner.commit(state, prediction, arm)[0]
        arrived = [each for each in plays if each.due == t]
        for each in table.random.permutation(len(arrived)):
            one = arrived[each]
            learner.observe(state, frozen[one], one.arm, 1.0 - one.reward)
        if script is not None:
            weights = script.send(Round(plays, arrived))
    return pairs


def assert_alike(pairs: list[tuple[Floats, Floats]], close: float = 1e-10) -> None:
    for t, (q, expected) in enumerate(pairs, 1):
        np.testing.assert_allclose(q, expected, rtol=0, atol=close, err_msg=f"round {t}")


KINDS: dict[str, tuple[Callable[[int], Learner], Callable[[int], Script]]] = {
    "delayed-ucb1": (DelayedUcb1, twins.delayed_ucb1),
    "qpm-d": (QpmD, twins.qpm_d),
    "successive-elimination": (
        lambda arms: SuccessiveElimination(arms, horizon=2),
        lambda arms: twins.elimination(arms, 2, False),
    ),
    "optimistic-elimination": (
        lambda arms: OptimisticElimination(arms, horizon=3),
        lambda arms: twins.elimination(arms, 3, True),
    ),
    "patient-bandits": (
        lambda arms: PatientBandits(arms, horizon=2, tail_index=3.0),
        lambda arms: twins.patient_bandits(arms, 2, 3.0),
    ),
    "patient-bandits, heavy tails": (
        lambda arms: PatientBandits(arms, horizon=50, tail_index=0.2),
        lambda arms: twins.patient_bandits(arms, 50, 0.2),
    ),
    "adaptive-patient-bandits": (
        lambda arms: AdaptivePatientBandits(arms, horizon=2),
        lambda arms: twins.adaptive_patient_bandits(arms, Promise(2, 0.7, 0.1, 0.6)),
    ),
    "adaptive-patient-bandits, a loose promise": (
        lambda arms: AdaptivePatientBandits(
            arms, horizon=1, tail_constant=1.0, least_tail_index=2.0, least_reward=1.0
        ),
        lambda arms: twins.adaptive_patient_bandits(arms, Promise(1, 1.0, 2.0, 1.0)),
    ),
    "d-ucb": (
        lambda arms: DUcb(arms, delay_law=LAW),
        lambda arms: twins.d_ucb(arms, LAW, math.inf, 0.0, False),
    ),
    "d-ucb, censored": (
        lambda arms: DUcb(arms, delay_law=LAW, censor=3, epsilon=0.5),
        lambda arms: twins.d_ucb(arms, LAW, 3, 0.5, False),
    ),
    "d-klucb": (
        lambda arms: DKlUcb(arms, delay_law=LAW),
        lambda arms: twins.d_ucb(arms, LAW, math.inf, 0.0, True),
    ),
}


@pytest.mark.parametrize("name", KINDS)
@pytest.mark.parametrize("arms", ARMS)
@pytest.mark.parametrize("seed", range(4))
def test_every_weight_is_that_of_the_twin(name: str, arms: int, seed: int) -> None:
    """Arm-dependent delays, played by its own weights or, in odd games, by chance."""
    build, script = KINDS[name]
    table = Table(seed, 75, arms)
    assert_alike(follow(build(arms), script(arms), table, own_plays=seed % 2 == 0))


@pytest.mark.parametrize(("least_index", "limited"), [(0.5, False), (2.0, True)])
def test_the_tail_index_is_estimated_in_time(least_index: float, limited: bool) -> None:
    """It is 0 for hundreds of rounds, whatever is promised, and then that of the twin.

    The estimate may reach its limit of 1/2.
    """
    promise, rounds = Promise(1, 1.0, least_index, 1.0), 3000
    learner = AdaptivePatientBandits(
        2, horizon=1, tail_constant=1.0, least_tail_index=least_index, least_reward=1.0
    )
    random = np.random.default_rng(2)
    delays = np.minimum(random.pareto(0.6, rounds) * 3.0, 1e6).astype(int).tolist()
    state, own, due = learner.reserved(learner.start(), rounds), [[], []], {}
    found: list[float] = []
    for t, delay in enumerate(delays, 1):
        arm, reward = t % 2, 0.5 + 0.5 * float(random.random())
        own[arm].append(Play(t, arm, reward, t + delay))
        (play,) = learner.commit(state, learner.blank(), arm)
        due.setdefault(t + delay, []).append((play, arm, reward))
        for frozen, told, worth in due.pop(t, []):
            learner.observe(state, frozen, told, 1.0 - worth)
        if t in (10, 300, 1999, 2000, 3000):
            found.append(float(learner.predict(state).info.tail_index[0]))
            assert found[-1] == pytest.approx(twins.tail_index(own, t, promise), abs=1e-12)
    assert found[:2] == [0.0, 0.0]
    margin = math.log(16.0 * math.sqrt(math.log(4.0))) / math.log(rounds / 2)
    assert 0.0 < found[4] <= 0.5 - margin
    assert (found[4] == pytest.approx(0.5 - margin)) is limited


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("arms", [2, 3])
def test_phases_of_elimination(arms: int, seed: int) -> None:
    """Every weight through the first two phases; arms are dropped only at their ends."""
    table = Table(seed, 280 * arms, arms, delays=np.arange(arms) * 7)
    pairs = follow(PhasedElimination(arms, horizon=2), twins.phased_elimination(arms, 2), table)
    assert_alike(pairs)
    first_phase = math.ceil(32 * math.log(2) * 4) * arms
    assert np.all(sum(q for q, _ in pairs[:first_phase]) >= 0.9 * first_phase / arms)


@pytest.mark.parametrize("form", ["mean", "bounded", "variance"])
@pytest.mark.parametrize("horizon", [4, 8, 20, 80])
@pytest.mark.parametrize("arms", [1, 3])
def test_stretches_of_odaaf(arms: int, horizon: int, form: Any) -> None:
    """Every weight of the three forms against the algorithm written as nested loops."""
    learner = Odaaf(
        arms, form=form, horizon=horizon, mean_delay=1.5, max_delay=40, delay_variance=2.0
    )
    table = Table(horizon + arms, 700, arms)
    lengths = learner.lengths().tolist()
    assert len(lengths) == sum(horizon > 4**m for m in range(1, 9))
    assert_alike(follow(learner, twins.odaaf(arms, lengths, form != "mean"), table))


def test_lengths_of_odaaf() -> None:
    """n_m of a game with one phase, by equations 14, 18 and 25."""
    known = {"horizon": 11, "mean_delay": 3.0, "max_delay": 2, "delay_variance": 5.0}
    g = math.log(11 / 4)

    def slots(extra: float) -> int:
        return math.ceil(4 * (math.sqrt(2 * g) + math.sqrt(2 * g + 4 / 3 * g + extra)) ** 2)

    assert Odaaf(2, form="mean", **known).lengths().tolist() == [slots(9.0)]
    assert Odaaf(2, form="bounded", **known).lengths().tolist() == [slots(6.0)]
    assert Odaaf(2, form="variance", **known).lengths().tolist() == [slots(26.0)]
    late = known | {"max_delay": 85}
    assert slots(6.0) < 85 < slots(9.0)
    assert Odaaf(2, form="bounded", **late).lengths().tolist() == [85]
    later = known | {"max_delay": 500}
    assert Odaaf(2, form="bounded", **later).lengths().tolist() == [slots(9.0)]


# -- without delay


@pytest.mark.parametrize("arms", ARMS)
@pytest.mark.parametrize("seed", range(3))
def test_without_delay_both_are_ucb1_bit_for_bit(arms: int, seed: int) -> None:
    """Delayed-UCB1 and QPM-D give the very weights of UCB1, and so of each other."""
    for build in (DelayedUcb1, QpmD):
        table = Table(seed, 150, arms, delays=0)
        for q, expected in follow(build(arms), twins.undelayed_ucb1(arms), table):
            assert q.tobytes() == expected.tobytes()


def test_without_delay_d_ucb_is_ucb_with_the_factor_one_half() -> None:
    """All plays count in full: mean + sqrt(ln t / (2 n))."""
    table = Table(1, 150, 3, delays=0)

    def index(plays: list[Play], t: int) -> float:
        if not plays:
            return math.inf
        rewards = [play.reward for play in plays]
        return twins.mean(rewards, len(plays)) + math.sqrt(math.log(t) * len(plays) / 2) / len(
            plays
        )

    assert_alike(follow(DUcb(3, delay_law=(1.0,)), twins.by_index(3, index), table))


# -- queues, counts and posteriors


def test_a_queue_is_served_in_the_order_of_play_whatever_the_order_of_telling() -> None:
    """Forty rewards arrive at once, in three orders: the queues grow, and the weights agree."""
    learner, weights = QpmD(2), []
    for order in (range(40), range(39, -1, -1), np.random.default_rng(0).permutation(40)):
        state = learner.start()
        plays = []
        for t in range(40):
            state = learner.reserved(state, 1)
            plays.append(learner.commit(state, learner.predict(state), t % 2)[0])
        for s in order:
            learner.observe(state, plays[s], int(s % 2), (s % 7) / 7)
        prediction = learner.predict(state)
        learner.commit(state, prediction, 0)
        weights.append((prediction.q.tobytes(), state.rewards.tobytes(), state.observed.tobytes()))
        assert state.observed.sum() > 20
        assert state.queues.reward.size >= 40
    assert weights[0] == weights[1] == weights[2]


def test_a_withdrawn_play_needs_no_room() -> None:
    """QPM-D makes room for what may come, not for what was withdrawn."""
    learner = QpmD(2)
    state = learner.start()
    for _ in range(100):
        state = learner.reserved(state, 1)
        play = learner.commit(state, learner.predict(state), 0)[0]
        learner.withdraw(state, play, 0)
    assert state.queues.reward.size == learner.start().queues.reward.size


def test_d_ucb_counts_a_play_by_the_chance_that_its_reward_is_there() -> None:
    """Over all delays of three plays: the expected number that has arrived, round by round."""
    law = (0.25, 0.75, 1.0)
    chance = np.diff(law, prepend=0.0)
    learner = DUcb(1, delay_law=law)
    state = learner.start()
    for t in range(1, 4):
        expected = sum(
            math.prod(chance[list(delays)]) * sum(s + d < t for s, d in enumerate(delays, 1))
            for delays in itertools.product(range(3), repeat=3)
        )
        assert state.counted[0] * 2.0**-32 == pytest.approx(expected, abs=1e-12)
        learner.commit(state, learner.predict(state), 0)


@pytest.mark.parametrize("mean", [0.0, 1e-12, 0.01, 0.5, 3.0])
@pytest.mark.parametrize("level", [0.0, 1e-8, 0.1, 2.0, 50.0])
def test_poissons_bound_solves_its_equation(mean: float, level: float) -> None:
    """The divergence at the bound is the level; it is not below the mean."""
    bound = poisson_upper(mean, level)
    assert bound >= mean
    cost = bound - mean + (mean * math.log(mean / bound) if mean > 0.0 else 0.0)
    assert cost == pytest.approx(level, rel=1e-6, abs=1e-15)


def test_delays_that_hide_good_news_mislead_se_but_not_opse() -> None:
    """Arm 0 is better, but its rewards of 1 never come: SE gives it up, OPSE does not."""
    table = Table(0, 600, 2)
    table.losses = (np.random.default_rng(5).random((600, 2)) < [0.3, 0.4]).astype(float)
    table.delays = np.where((table.losses == 0.0) & [True, False], NEVER, 0)
    final = {}
    for build in (SuccessiveElimination, OptimisticElimination):  # both arms in the last rounds
        final[build] = sum(q for q, _ in follow(build(2, horizon=600), None, table)[-2:])
    assert final[SuccessiveElimination].tolist() == [0.0, 2.0]
    assert final[OptimisticElimination].min() > 0.0


# -- Thompson sampling


@pytest.mark.parametrize("arms", ARMS)
@pytest.mark.parametrize("seed", range(3))
def test_thompson_plays_each_arm_with_the_chance_that_it_is_best(arms: int, seed: int) -> None:
    """Every weight to 1e-6 of an integral with other nodes and scipy's distributions."""
    table = Table(seed, 25, arms)
    assert_alike(follow(Thompson(arms), twins.thompson(arms), table), close=1e-6)


@pytest.mark.parametrize("seed", range(12))
def test_thompson_with_very_different_spreads(seed: int) -> None:
    """Posteriors from none to a million rewards, close together and far apart: to 1e-6."""
    random = np.random.default_rng(seed)
    learner = Thompson(int(random.integers(2, 6)))
    state, posteriors = learner.start(), []
    for i in range(learner.arms):
        count = int(10 ** random.uniform(0.0, 6.0)) - 1
        around = random.choice([0.0, 0.01, 0.5, 0.5])
        deviation = random.normal() * math.sqrt(max(count, 1)) / 2.0
        reward = float(np.clip(around * count + deviation, 0.0, count))
        if count:
            state.observed[i], state.rewards[0, i] = count - 1, reward * (1.0 - 1.0 / count)
            play = np.zeros(1)
            learner.observe(state, play, i, 1.0 - reward / count)
        total = state.rewards[:, i].sum()
        posteriors.append((1.0 + total, 1.0 + count - total))
    q = learner.predict(state).q
    np.testing.assert_allclose(q, twins.chances(posteriors), rtol=0, atol=1e-6)


@pytest.mark.parametrize(
    ("told", "chance"), [([], 1 / 2), ([(0, 0.0)], 2 / 3), ([(0, 0.0), (1, 1.0)], 5 / 6)]
)
def test_thompson_in_closed_form(told: list[tuple[int, float]], chance: float) -> None:
    """Beta(1,1) and Beta(1,1): 1/2; Beta(2,1) and Beta(1,1): 2/3; Beta(2,1) and Beta(1,2): 5/6."""
    learner = Thompson(2)
    state = learner.start()
    for arm, loss in told:
        play = learner.commit(state, learner.predict(state), arm)[0]
        learner.observe(state, play, arm, loss)
    assert learner.predict(state).q[0] == pytest.approx(chance, abs=1e-6)


# -- options


@pytest.mark.parametrize(
    ("build", "options", "sentence"),
    [
        (SuccessiveElimination, {"horizon": 0}, "horizon is 0"),
        (PhasedElimination, {"horizon": 2.5}, "horizon is 2.5"),
        (OptimisticElimination, {"horizon": "x"}, "horizon is 'x'"),
        (PatientBandits, {"tail_index": -1.0}, "tail_index is -1.0; it must not be negative"),
        (PatientBandits, {"tail_index": math.nan}, "tail_index is nan; it must be finite"),
        (DUcb, {"delay_law": ()}, "it must be a list of at least one probability"),
        (DUcb, {"delay_law": 0.5}, "delay_law is 0.5"),
        (DUcb, {"delay_law": (0.5, 0.4)}, "delay_law has 0.4 after 0.5"),
        (DKlUcb, {"delay_law": (0.5, 1.5)}, "delay_law has 1.5 after 0.5"),
        (DUcb, {"epsilon": -0.1}, "epsilon is -0.1; it must not be negative"),
        (DUcb, {"censor": -1}, "censor is -1"),
        (Odaaf, {"form": "other"}, "form is 'other'; it must be one of"),
        (Odaaf, {"form": "variance"}, "needs the delays' variance"),
        (Odaaf, {"mean_delay": -1.0}, "mean_delay is -1.0"),
        (Odaaf, {"delay_variance": math.inf}, "delay_variance is inf"),
        (Odaaf, {"max_delay": -1}, "max_delay is -1"),
    ],
)
def test_bad_options(build: type[Learner], options: dict[str, Any], sentence: str) -> None:
    """One sentence that names the value and the rule."""
    with pytest.raises(ValueError) as caught:
        build(2, **options)
    assert sentence in str(caught.value)


def test_odaaf_takes_any_mean_delay() -> None:
    """Phases that no game could end are as long as a count can be."""
    lengths = Odaaf(2, horizon=10**15, mean_delay=1e308).lengths()
    assert lengths.min() > 0
    assert lengths.max() == 2**62
