"""AdaHedge, AdaHedgeD, DUB, DORM and DORM+: q_t against literal twins and the authors' code."""

import math
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
import pytest

from belated.arrays import Counts, Floats
from belated.environments.environment import Environment
from belated.environments.in_memory import GivenDelays, GivenLosses
from belated.environments.missing import NEVER
from belated.learners.contract import Facts, Learner
from belated.learners.driver import driver_for
from belated.learners.experts.adahedge import AdaHedge
from belated.learners.optimistic.adahedged import AdaHedgeD
from belated.learners.optimistic.dorm import Dorm
from belated.learners.optimistic.dorm_plus import DormPlus
from belated.learners.optimistic.dub import Dub
from belated.learners.optimistic.hints import HINTS
from belated.play import engine
from belated.play.game import Game, Stretch
from belated.play.readable import play, rounds_of
from tests.games import weights_of
from tests.twins.optimistic import dub_temperature, hedged, twin

OPTIMISTIC = {kind.name: kind for kind in (AdaHedgeD, Dub, Dorm, DormPlus)}
WAYS = [("adahedge", "none"), *((name, hint) for name in OPTIMISTIC for hint in HINTS)]
every_way = pytest.mark.parametrize(("name", "hint"), WAYS)
GOLDEN = np.array([[((3 * t + 5 * i * i + t * i) % 7) / 6 for i in range(3)] for t in range(1, 13)])


def made(name: str, arms: int, hint: str = "none") -> Learner:
    """A learner by name; AdaHedge takes no hints."""
    return AdaHedge(arms) if name == "adahedge" else OPTIMISTIC[name](arms, hint=hint)  # type: ignore[arg-type]


def weights(learner: Learner, losses: Floats, delays: Counts) -> Floats:
    """q_t of a game, by round."""
    return weights_of(learner, losses, delays)


def random_game(seed: int, arms: int, rounds: int = 30) -> tuple[Floats, Counts]:
    """Losses with easy and hard stretches; each arm's delays are zero, long or without end."""
    random = np.random.default_rng(seed)
    losses = random.random((rounds, arms)) ** random.integers(1, 4)
    longest = [0, 3, 12][seed % 3]
    delays = random.integers(0, longest + 1, (rounds, arms))
    lost = random.random((rounds, arms)) < 0.1 / arms
    lost[: 2 * rounds // 3] = False  # it holds up all that comes after it
    delays[lost] = NEVER
    return losses, delays


@every_way
@pytest.mark.parametrize("arms", [1, 2, 3, 7])
def test_every_weight_equals_that_of_the_literal_twin(name: str, hint: str, arms: int) -> None:
    """Arm-dependent delays, some without end; whole rounds come in the order of play."""
    for seed in range(3):
        losses, delays = random_game(seed, arms)
        expected = [each.play for each in twin(name, hint, losses, delays)]
        found = weights(made(name, arms, hint), losses, delays)
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-10)
        assert arms == 1 or np.ptp(found) > 0.01


def assert_as_fractions_say(name: str, hint: str, losses: Counts, delays: Counts) -> None:
    """The twin, with whole losses and no rounding."""
    exact = np.vectorize(Fraction, otypes=[object])(losses)
    expected = [each.play.astype(float) for each in twin(name, hint, exact, delays)]
    found = weights(made(name, losses.shape[1], hint), losses.astype(float), delays)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-10)


@pytest.mark.parametrize("hint", HINTS)
@pytest.mark.parametrize("name", ["dorm", "dorm-plus"])
def test_ties_are_what_fractions_say(name: str, hint: str) -> None:
    """With losses 0 and 1 regrets are often exactly zero or alike."""
    for seed in range(8):
        random = np.random.default_rng(seed)
        losses, delays = random.integers(0, 2, (9, 3)), random.integers(0, 3, (9, 3))
        assert_as_fractions_say(name, hint, losses, delays)


@pytest.mark.parametrize("name", ["dorm", "dorm-plus"])
@pytest.mark.parametrize(("arms", "seed"), [(5, 0), (6, 16), (7, 8)])
def test_regrets_that_cancel_are_none(name: str, arms: int, seed: int) -> None:
    """Arms that lost equally often have no regret, though in floats something of it is left."""
    random = np.random.default_rng(seed)
    rows = []
    for _ in range(random.integers(2, 4)):
        pattern = random.integers(0, 2, arms)
        rows += [np.roll(pattern, k) for k in range(arms)]
    losses = np.vstack([random.permutation(np.array(rows)), np.zeros((1, arms), dtype=np.int64)])
    until = np.maximum(len(losses) - 2 - np.arange(len(losses)), 0)  # all are told before the last
    assert_as_fractions_say(name, "none", losses, np.repeat(until[:, None], arms, axis=1))


# -- the authors' code


class Peer:
    """A learner of PoolD's, told whole rounds a constant delay later, with our hints."""

    def __init__(self, name: str, arms: int) -> None:
        poold = pytest.importorskip("poold")
        models = [str(i) for i in range(arms)]
        self.learner = poold.create(name.replace("-", ""), model_list=models)

    def play(self, losses: Floats, delay: int, hints: list[Floats]) -> Floats:
        found = []
        for t, hint in enumerate(hints):
            s = t - 1 - delay
            feedback = [] if s < 0 else [(s, self._linear(losses[s]))]
            given = {"grad": lambda w, hint=hint: hint}
            found.append(self.learner.update_and_play(feedback, hint=given).copy())
        return np.array(found)

    @staticmethod
    def _linear(losses: Floats) -> dict[str, Any]:
        return {"fun": lambda w: losses @ w, "grad": lambda w: losses}


@pytest.mark.check  # needs a peer
@pytest.mark.parametrize("hint", HINTS)
@pytest.mark.parametrize("name", OPTIMISTIC)
def test_every_weight_equals_that_of_the_authors_code(name: str, hint: str) -> None:
    """At constant delay, where its shortcuts do no harm; DUB's window needs no exception."""
    random = np.random.default_rng(5)
    for _ in range(6):
        arms, rounds, delay = random.integers([2, 5, 0], [8, 60, 9])
        losses = random.random((rounds, arms))
        delays = np.full((rounds, arms), delay)
        hints = [each.hint for each in twin(name, hint, losses, delays)]
        expected = Peer(name, arms).play(losses, int(delay), hints)
        found = weights(made(name, arms, hint), losses, delays)
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-10)


@pytest.mark.parametrize(
    ("name", "hint", "last", "loss"),
    [
        ("adahedged", "none", (0.2432089671, 0.3000591258, 0.4567319071), 5.7873452763),
        ("adahedged", "prev", (0.0563724412, 0.0676852576, 0.8759423012), 5.4236366827),
        ("dub", "none", (0.3271642131, 0.3317427725, 0.3410930144), 6.0277103228),
        ("dorm", "none", (1 / 3, 1 / 3, 1 / 3), 5.3888888889),
        ("dorm-plus", "none", (0.4666666667, 0.0, 0.5333333333), 5.4436507937),
    ],
)
def test_golden_numbers(name: str, hint: str, last: tuple[float, ...], loss: float) -> None:
    """The last weights and the total loss that the authors' code gives at a delay of two."""
    found = weights(made(name, 3, hint), GOLDEN, np.full((12, 3), 2))
    np.testing.assert_allclose(found[-1], last, rtol=0, atol=6e-11)
    assert (found * GOLDEN).sum() == pytest.approx(loss, rel=0, abs=6e-11)


def test_golden_numbers_of_adahedge() -> None:
    """The weights in the example of a port of the authors' program."""
    losses = np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 0.0]])
    found = weights(made("adahedge", 2), losses, np.zeros((4, 2), dtype=np.int64))
    np.testing.assert_allclose(found[:, 0], [0.5, 0.2, 0.0848027, 0.255116], rtol=0, atol=6e-7)


def test_the_bound_of_adahedge_holds_step_by_step() -> None:
    """Regret <= 2 Delta <= 2 sqrt(V ln K) + (4/3) ln K + 2, and that is below the bound told."""
    for seed in range(8):
        arms = 2 + seed % 3
        losses, _ = random_game(seed, arms, 120)
        losses = losses if seed % 2 else np.round(losses)
        found = weights(made("adahedge", arms), losses, np.zeros((120, arms), dtype=np.int64))
        means = (found * losses).sum(axis=1)
        spread = (found * losses**2).sum() - (means**2).sum()
        regret, gaps = means.sum() - losses.sum(axis=0).min(), gaps_of(losses)
        proven = 2 * math.sqrt(spread * math.log(arms)) + 4 / 3 * math.log(arms) + 2
        facts = Facts(arms=arms, rounds=120, most_missing=0, total_delay=0, best_loss=0.0)
        assert regret <= 2 * gaps + 1e-9
        assert 2 * gaps <= proven + 1e-9
        assert proven <= made("adahedge", arms).bound(facts) + 1e-9


def gaps_of(losses: Floats) -> float:
    """Delta of AdaHedge, by its definition: the sum of <q, l> less the mix losses."""
    log_arms, total, gaps = math.log(losses.shape[1]), np.zeros(losses.shape[1]), 0.0
    for row in losses:
        if gaps == 0.0:  # the leaders, at an infinite rate
            q = (total == total.min()) / (total == total.min()).sum()
            mix = (total + row).min() - total.min()
        else:
            eta = log_arms / gaps
            q = np.exp(-eta * (total - total.min()))
            q /= q.sum()
            mix = -math.log(float(q @ np.exp(-eta * row))) / eta
        gaps += max(0.0, float(q @ row) - mix)
        total = total + row
    return gaps


def test_the_golden_numbers_of_dub_tell_its_window() -> None:
    """They are those of the rounds outstanding at s, not of these and s itself."""
    delays = np.full((12, 3), 2)
    other = hedged(partial(dub_temperature, with_newest=True), "none", GOLDEN, delays)
    last = np.array([0.3271642131, 0.3317427725, 0.3410930144])
    assert np.abs(other[-1].play - last).max() > 1e-4


# -- identities


def test_without_delay_and_hint_adahedged_is_adahedge() -> None:
    """The drift is never below the mixability gap, which is the cost of the missing hint."""
    for seed in range(4):
        losses, _ = random_game(seed, 4, 80)
        delays = np.zeros((80, 4), dtype=np.int64)
        one, other = (weights(made(name, 4), losses, delays) for name in ("adahedge", "adahedged"))
        np.testing.assert_allclose(one, other, rtol=0, atol=1e-12)


@pytest.mark.parametrize("name", ["adahedged", "dub"])
def test_a_perfect_hint_costs_nothing(name: str) -> None:
    """With h = g_os in every round lambda stays zero, and the leader in hindsight is played."""
    losses, _ = random_game(2, 3, 25)
    learner, delay = made(name, 3), 4
    state, plays = learner.start(), []
    for t in range(25):
        prediction = learner.predict(state)
        known = losses[: t + 1].sum(axis=0)
        prediction.info.hint[:] = known - state.rounds.losses
        prediction.q[:] = known == known.min()
        plays.append(learner.commit(state, prediction))
        if t >= delay:
            for i, row in enumerate(plays[t - delay]):
                learner.observe(state, row, i, losses[t - delay, i])
        assert state.temperature[0] <= 1e-14


@pytest.mark.parametrize("name", ["adahedged", "dub"])
def test_losses_that_repeat_cost_nothing_once_hinted(name: str) -> None:
    """What was played before the first losses came has its price, and nothing after it."""
    losses = np.tile([0.3, 0.1, 0.8], (40, 1))
    learner = made(name, 3, "prev")
    state = learner.start()
    stretch = Stretch(0, 40, losses, np.full((40, 3), 5), np.zeros((40, 3), dtype=np.int64))
    rounds = rounds_of(driver_for(learner, state), [stretch], lambda t, q: -1)
    levels = [float(state.temperature[0]) for _ in rounds]
    assert levels[10] > 0.0
    assert levels[11:] == pytest.approx([levels[11]] * len(levels[11:]), rel=1e-12)
    assert levels[10] == pytest.approx(levels[11], rel=1e-12)


@every_way
def test_the_scale_of_the_losses_is_irrelevant(name: str, hint: str) -> None:
    """None of them has a rate in units of loss: a millionth of every loss gives the same play."""
    losses, delays = random_game(1, 4)
    learner = made(name, 4, hint)
    small = weights(learner, losses * 2.0**-20, delays)
    np.testing.assert_allclose(small, weights(learner, losses, delays), rtol=0, atol=1e-9)


def test_adahedge_ignores_what_all_arms_lose_alike() -> None:
    """A constant added to the losses of a round changes no weight."""
    losses, delays = random_game(4, 3)
    added = np.random.default_rng(0).random((len(losses), 1))
    one = weights(AdaHedge(3), 0.5 * losses, delays)
    other = weights(AdaHedge(3), 0.5 * losses + 0.5 * added, delays)
    np.testing.assert_allclose(one, other, rtol=0, atol=1e-9)


# -- the contract, for every hint: the laws know only the default


@every_way
def test_permuting_the_arms_permutes_the_weights(name: str, hint: str) -> None:
    """Also where losses of 0 and 1 make ties, and in every hint."""
    for seed in range(4):
        random = np.random.default_rng(seed)
        losses = random.integers(0, 2, (15, 4)).astype(float)
        _, delays = random_game(seed, 4, 15)
        order = random.permutation(4)
        learner = made(name, 4, hint)
        permuted = weights(learner, losses[:, order], delays[:, order])
        np.testing.assert_allclose(permuted, weights(learner, losses, delays)[:, order], atol=1e-12)


@pytest.mark.parametrize("name", OPTIMISTIC)
def test_the_compiled_game_has_room_for_every_round_that_a_hint_remembers(name: str) -> None:
    """Stretch after stretch, with nothing told in the first hundred rounds."""
    losses, delays = random_game(2, 3, 400)
    delays[:100] = np.where(delays[:100] == NEVER, NEVER, np.arange(140, 40, -1)[:, None])
    environment = Environment("given", GivenLosses(losses), GivenDelays(delays), len(losses))
    game, seed = Game(environment, np.random.SeedSequence(1)), np.random.SeedSequence(3)
    learner = made(name, 3, "recent")
    fast, slow = engine.play(learner, game, seed), play(learner, game, seed)
    np.testing.assert_allclose(fast.weight_at, slow.weight_at, rtol=1e-10)


@every_way
def test_a_round_with_a_loss_withdrawn_teaches_nothing(name: str, hint: str) -> None:
    """Nor does it mix with the next: that is learned from as if it were the first."""
    learner = made(name, 3, hint)
    state = learner.reserved(learner.start(), 9)
    other = learner.reserved(learner.start(), 9)
    for each in (state, other):
        broken = learner.commit(each, learner.predict(each))
        if each is state:
            learner.observe(each, broken[0], 0, 1.0)
            learner.withdraw(each, broken[1], 1)
            learner.observe(each, broken[2], 2, 0.5)
        whole = learner.commit(each, learner.predict(each))
        for i, loss in enumerate((0.2, 0.9, 0.4)):
            learner.observe(each, whole[i], i, loss)
    assert np.array_equal(learner.predict(state).q, learner.predict(other).q)
    assert np.array_equal(learner.losses(state)[:, 0], [0.2, 0.9, 0.4])


@pytest.mark.parametrize("name", OPTIMISTIC)
def test_an_unknown_hint_is_refused(name: str) -> None:
    """One sentence names it and those that there are."""
    with pytest.raises(ValueError, match=r"hint is 'next'; it must be 'none' or 'prev' or 'mean'"):
        made(name, 3, "next")


@pytest.mark.parametrize("name", ["adahedge", *OPTIMISTIC])
def test_losses_out_of_order_are_refused(name: str) -> None:
    """Whole rounds in the order of play are all they can learn from."""
    kind = AdaHedge if name == "adahedge" else OPTIMISTIC[name]
    with pytest.raises(ValueError, match=f"delivery is 'own'; for {name} it must be 'in order'"):
        kind(3, delivery="own")
