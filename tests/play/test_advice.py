"""Games in which policies give advice: the compiled loop, its readable twin, and comparisons."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import belated
from belated.analysis.game_sums import sum_up
from belated.analysis.run_certificates import certificate_of
from belated.arrays import Floats
from belated.comparison.contenders import contender
from belated.environments.contexts import contexts
from belated.environments.environment import Environment, Random, Span
from belated.environments.in_memory import GivenDelays, GivenLosses
from belated.environments.missing import NEVER
from belated.environments.scenarios import scenario
from belated.learners.advice.advice import Advice
from belated.play import engine
from belated.play import readable as play
from belated.play.game import Game
from tests.play.test_engine import assert_equal

DRAWS = np.random.SeedSequence(3)
LEARNERS = ["advice", "advice-bandit", "exp4"]


@dataclass(frozen=True, eq=False)
class GivenAdvice:
    """Advice from an array."""

    values: Any

    random = False

    @property
    def policies(self) -> tuple[str, ...]:
        return tuple(f"policy {n}" for n in range(self.values.shape[1]))

    def sampler(self, random: Random) -> Callable[[Span], Floats]:
        return lambda span: self.values[span.first : span.first + span.count]


def random_game(rounds: int, arms: int, policies: int, seed: int = 1) -> Environment:
    """Losses, delays and advice at random, with losses that never come."""
    random = np.random.default_rng(seed)
    delays = random.integers(0, 30, (rounds, arms))
    delays[random.random((rounds, arms)) < 0.1] = NEVER
    losses = GivenLosses(random.random((rounds, arms)))
    advice = GivenAdvice(random.dirichlet(np.full(arms, 0.3), (rounds, policies)))
    return Environment("random", losses, GivenDelays(delays), rounds, advice=advice)


@pytest.mark.parametrize("name", [*LEARNERS, "advice:delivery=padded", "advice-bandit:window=9"])
@pytest.mark.parametrize("sizes", [(1, 1, 1), (40, 1, 3), (250, 4, 3), (250, 3, 1)])
def test_the_compiled_game_equals_its_readable_twin(name: str, sizes: tuple[int, ...]) -> None:
    game = Game(random_game(*sizes), np.random.SeedSequence(1))
    learner: Any = contender(name).built(sum_up(game))
    assert learner.size == sizes[2]
    trace = engine.play(learner, game, DRAWS)
    assert_equal(trace, play.play(learner, game, DRAWS))
    if isinstance(learner, Advice):
        assert trace.strategies == pytest.approx(sum_up(game).policy_losses, rel=1e-12)


@pytest.mark.parametrize("seed", range(5))
def test_every_run_proves_a_bound_on_its_regret(seed: int) -> None:
    """The certificate of Theorem 5 holds against every policy, and so against every arm."""
    game = Game(random_game(120, 3, 4, seed), np.random.SeedSequence(1))
    sums = sum_up(game)
    for name in ("advice", "advice:delivery=padded", "advice:delivery=in order"):
        learner: Any = contender(name).built(sums)
        trace = engine.play(learner, game, DRAWS)
        found = certificate_of(trace, sums)
        assert found is not None
        assert found.holds
        assert (trace.loss - sums.losses <= found.bounds).all()
    late: Any = contender("advice:window=3").built(sums)
    assert certificate_of(engine.play(late, game, DRAWS), sums) is None


def test_a_learner_that_maximises_its_loss_breaks_the_certificate() -> None:
    """What a run claims can be false: a loss above all that the proof allows."""
    game = Game(random_game(60, 3, 2), np.random.SeedSequence(1))
    sums, learner = sum_up(game), Advice(3, policies=2, horizon=60)
    trace = engine.play(learner, game, DRAWS)
    worse = type("Worse", (), {**vars(trace), "loss": trace.loss + 10_000.0})
    found = learner.certificate(worse(), sums)
    assert found is not None
    assert not found.holds


def test_policies_that_see_the_context_beat_every_arm() -> None:
    """contexts: what its text says, for all learners over policies; those over arms are no better
    than an arm."""
    names = [*LEARNERS, "exp3"]
    found = belated.compare(names, scenario("contexts", rounds=800, delay=10), repetitions=2)
    for name, traces in zip(names, found.traces, strict=True):
        best = [sums.losses.min() for sums in found.game_sums]
        ahead = all(trace.loss < least - 20.0 for trace, least in zip(traces, best, strict=True))
        assert ahead == (name in LEARNERS), name
    assert found.game_sums[0].policies[0] == "reads the context"
    assert [found.bound(k).label for k in range(2)] == ["Theorem 5", "Theorem 6"]
    assert found.certificate(0) is not None
    assert found.faults() == []


def test_contexts_do_not_depend_on_how_a_game_is_cut() -> None:
    """And each of them comes as often as the others."""
    whole = contexts(Span(0, 1000, 1000), 5)
    parts = [contexts(Span(first, 100, 1000), 5) for first in range(0, 1000, 100)]
    assert (np.concatenate(parts) == whole).all()
    assert np.abs(np.bincount(whole) - 200).max() <= 3
    assert len(set(zip(whole[:-1].tolist(), whole[1:].tolist(), strict=True))) > 5


def test_without_policies_a_game_is_played_by_the_arms() -> None:
    """A learner over policies then has one for each arm, with the prior of the arms."""
    names = ["advice", "full-information:variant=repaired"]
    found = belated.compare(names, scenario("late-best", rounds=200), repetitions=1)
    one, other = (traces[0] for traces in found.traces)
    assert np.abs(one.weight_at - other.weight_at).max() <= 1e-10


def test_policies_that_do_not_fit_the_game_are_refused() -> None:
    with pytest.raises(ValueError, match="Advice has 3 policies; in the game 0 give advice"):
        belated.compare(["advice:policies=3"], scenario("late-best", rounds=20), repetitions=1)
    with pytest.raises(ValueError, match="AdviceBandit has 2 policies; in the game 4 give advice"):
        belated.compare(["advice-bandit:policies=2"], scenario("contexts"), repetitions=1)


@pytest.mark.parametrize(
    ("values", "words"),
    [
        (np.ones((20, 2, 2)), "no distribution"),
        (np.full((20, 2, 3), 1 / 3), "shape"),
        (np.full((20, 2, 2), [1.5, -0.5]), "no distribution"),
    ],
)
def test_advice_of_an_environment_is_checked(values: Any, words: str) -> None:
    zeros = np.zeros((20, 2))
    environment = Environment(
        "bad", GivenLosses(zeros), GivenDelays(zeros), 20, advice=GivenAdvice(values)
    )
    with pytest.raises(ValueError, match=words):
        list(environment.blocks(np.random.SeedSequence(1)))
