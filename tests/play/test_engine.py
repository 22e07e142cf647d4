"""The compiled game equals its readable twin, and both are the game that the paper describes."""

from dataclasses import fields

import numpy as np
import pytest

from belated.analysis.game_sums import sum_up
from belated.arrays import Counts, Floats
from belated.comparison.contenders import Contender, contender
from belated.environments.environment import Environment
from belated.environments.in_memory import GivenDelays, GivenLosses
from belated.environments.missing import NEVER, missing_counts
from belated.learners.contract import PaperLearner
from belated.learners.driver import driver_for
from belated.learners.paper.full_information import FullInformation
from belated.learners.registry import registered
from belated.learners.states import leaves
from belated.play import engine
from belated.play import readable as play
from belated.play.calendar import TURN
from belated.play.game import Game
from belated.play.trace import Trace
from belated.replay.case import Case
from belated.replay.replay import replay
from belated.types import VARIANTS, Setting

DRAWS = np.random.SeedSequence(3)
SIZES = [(1, 1, 0), (40, 1, 3), (200, 3, 0), (300, 4, 30)]  # rounds, arms, longest delay
every_learner = pytest.mark.parametrize("name", registered())
both_variants = pytest.mark.parametrize("variant", VARIANTS)


def every_way() -> list[str]:
    """Every learner, in every variant and with every way of delivery that it has."""
    ways = []
    for name, kind in registered().items():
        ways += [name, f"{name}:window=7"]
        ways += [f"{name}:delivery={delivery}" for delivery in kind.deliveries[1:]]
        if issubclass(kind, PaperLearner):
            ways.append(f"{name}:variant=repaired")
    return [*ways, "concealed:variant=repaired,skipping=True"]


def given(losses: Floats, delays: Counts) -> Game:
    environment = Environment("given", GivenLosses(losses), GivenDelays(delays), len(losses))
    return Game(environment, np.random.SeedSequence(1))


def random_game(seed: int, rounds: int, arms: int, longest: int) -> tuple[Floats, Counts]:
    random = np.random.default_rng(seed)
    delays = random.integers(0, longest + 1, (rounds, arms))
    delays[random.random((rounds, arms)) < 0.1] = NEVER
    return random.random((rounds, arms)), delays


# Fields of a learner's info that keep parts of earlier rounds, or tell how the solver went on.
WORKING_SPACE = {
    "work", "passes", "rows", "sums", "levels", "offsets", "carried", "distance", "factors",
    "first", "indices", "losses",
}  # fmt: skip


def assert_equal(one: Trace, other: Trace) -> None:
    """Every recorded number of two runs."""
    for field in fields(Trace):
        if field.name not in ("learner", "seconds", "info", "trust_at"):
            assert_close(getattr(one, field.name), getattr(other, field.name))
    for standing, again in zip(one.trust_at, other.trust_at, strict=True):
        for part, number in standing._asdict().items():
            assert_close(number, getattr(again, part), part)
    if one.info is not None:
        first, second = leaves(one.info), leaves(other.info)
        assert first.keys() == second.keys()
        for name, array in first.items():
            if name.rpartition(".")[2] not in WORKING_SPACE:
                assert_close(array, second[name], name)


def assert_close(one: object, other: object, name: str = "") -> None:
    np.testing.assert_allclose(one, other, rtol=1e-10, atol=1e-12, err_msg=name)  # type: ignore[arg-type]


@pytest.mark.long
@pytest.mark.core("text")
@pytest.mark.parametrize("text", every_way())
def test_the_compiled_game_equals_its_readable_twin(text: str) -> None:
    """Same game, same random stream: the same run, for every learner."""
    for rounds, arms, longest in SIZES if ":" not in text else SIZES[-1:]:
        game = given(*random_game(rounds, rounds, arms, longest))
        learner = contender(text).built(sum_up(game))
        assert_equal(engine.play(learner, game, DRAWS), play.play(learner, game, DRAWS))  # type: ignore[arg-type]


@pytest.mark.long
@pytest.mark.core("name")
@pytest.mark.parametrize("name", ["full-information", "concealed", "exp3", "dorm-plus"])
def test_delays_beyond_a_turn_change_nothing(name: str) -> None:
    """Losses that wait longer than a turn of the calendar still arrive in the right round."""
    rounds = 2 * TURN + 50
    losses, delays = random_game(7, rounds, 2, 3)
    random = np.random.default_rng(8)
    late = random.random((rounds, 2)) < 0.01
    delays[late] = random.integers(TURN - 2, 2 * TURN, late.sum())
    game = given(losses, delays)
    learner = Contender(name).built(sum_up(game))
    assert_equal(engine.play(learner, game, DRAWS), play.play(learner, game, DRAWS))  # type: ignore[arg-type]


@pytest.mark.long
@pytest.mark.core("name")
@every_learner
def test_what_never_arrives_in_time_changes_no_weight(name: str) -> None:
    """Unknown future: losses that come after the last round may be anything."""
    losses, delays = random_game(11, 400, 3, 20)
    hidden = (delays == NEVER) | (np.arange(400)[:, None] + delays >= 400)
    assert hidden.any()
    changed = np.where(hidden, 1.0 - losses, losses)
    games = [given(losses, delays), given(changed, delays)]
    learner = Contender(name).built(sum_up(games[0]))
    traces = [engine.play(learner, game, DRAWS) for game in games]  # type: ignore[arg-type]
    assert np.array_equal(traces[0].weight_at, traces[1].weight_at)
    assert np.array_equal(traces[0].plays, traces[1].plays)
    assert traces[0].loss != traces[1].loss


@both_variants
def test_without_delay_it_is_the_undelayed_algorithm(variant: str) -> None:
    """Given arrays with d = 0: Hedge over (expert, rate) pairs, written out here in a few lines.

    Without delay rho is zero, so the rates are fixed and every correction is 4 eta l; the weights
    are the softmax whose normaliser makes them sum to one.
    """
    losses, _ = random_game(5, 200, 3, 0)
    game = given(losses, np.zeros((200, 3), dtype=np.int64))
    learner = FullInformation(arms=3, variant=variant, horizon=200)
    trace = engine.play(learner, game, DRAWS)
    base, size = (4, 4) if variant == "paper" else (2, 8)
    assert base**size >= 200 > base ** (size - 1)
    powers = np.arange(1, size + 1)
    eta = np.minimum(0.25, np.sqrt(np.log(3) + 2 * (np.log(200) + 1)) / (4 * 2.0**powers))
    weight = 4.0**-powers / (4.0**-powers).sum()
    total, charged = 0.0, np.zeros((3, size))
    for row in losses:
        q = undelayed(charged, eta, weight)
        total += q @ row
        charged += row[:, None] * (1.0 + 4.0 * eta)
    assert trace.loss == pytest.approx(total, rel=1e-12)
    np.testing.assert_allclose(trace.last, q, rtol=1e-10)


def undelayed(charged: Floats, eta: Floats, weight: Floats) -> Floats:
    """q of p(i, j) = w_j / K exp(eta_j (c - L(i, j))), c found by bisection."""
    low, high = charged.min() - 1.0, charged.min() + 100.0 / eta.min()
    for _ in range(200):
        middle = 0.5 * (low + high)
        with np.errstate(over="ignore"):
            p = weight / len(charged) * np.exp(eta * (middle - charged))
        low, high = (middle, high) if p.sum() < 1.0 else (low, middle)
    q: Floats = p.sum(axis=1)
    return q


def test_the_loop_and_replay_are_one_game() -> None:
    """A replay along the arms that the loop drew predicts the same weights."""
    losses, delays = random_game(2, 120, 3, 9)
    game = given(losses, delays)
    learner = Contender("concealed").built(sum_up(game))
    run = play.ReadableRun(learner, game, DRAWS)
    arms, weights = [], []
    for record in play.rounds_of(driver_for(learner), game.stretches(), run._draw):
        arms.append(record.arm)
        weights.append(record.prediction.q)
    case = Case(Setting.CONCEALED, losses, delays, np.array(arms), {})
    assert np.array_equal(replay(case, learner).q, np.array(weights))


@pytest.mark.parametrize("arms", [1, 3, 5000])
def test_stretches_are_the_whole_game_with_what_is_missing(arms: int) -> None:
    """Put together, the stretches are the arrays; they end at the checkpoints."""
    losses, delays = random_game(arms, 150, arms, 40)
    game = given(losses, delays)
    stretches = list(game.stretches())
    assert np.array_equal(np.concatenate([s.losses for s in stretches]), losses)
    assert np.array_equal(np.concatenate([s.delays for s in stretches]), delays)
    assert np.array_equal(np.concatenate([s.missing for s in stretches]), missing_counts(delays))
    assert {int(c) for c in game.checkpoints} <= {s.end for s in stretches}
    assert game.checkpoints[-1] == 150
