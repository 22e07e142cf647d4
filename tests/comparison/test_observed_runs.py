"""Runs that are played once more: they are the runs of the comparison, and sums of them add up."""

import functools

import numpy as np
import pytest

import belated
from belated.comparison.model_checks import calibration, learned_delays
from belated.comparison.observed_runs import ObservedGame, ObservedRun, silent_share, told_in
from belated.comparison.result import Comparison
from belated.comparison.segments import (
    known_losses,
    segment_regrets,
    segments_of,
    telling_features,
)
from belated.environments.missing import NEVER
from belated.learners.contextual.linear import Linear
from belated.learners.driver import Driver


@functools.cache
def played() -> Comparison:
    """Four learners, one of them without contexts, on visitors, in two games."""
    names = ["linear", "otflinucb:censor=50", "exp3", "uniform"]
    return belated.compare(names, belated.scenario("visitors", rounds=300), repetitions=2)


def test_a_run_is_that_of_the_comparison() -> None:
    """Weights and losses of the first repetition, to the last bit of their sums."""
    observed = played().observed
    assert observed is not None
    for run, traces in zip(observed.runs, played().traces, strict=True):
        np.testing.assert_allclose(run.q.sum(axis=0), traces[0].weight_at[-1], rtol=1e-12)
        assert (run.q * observed.game.losses).sum() == pytest.approx(traces[0].loss, rel=1e-12)
        np.testing.assert_array_equal(np.bincount(run.arms, minlength=5), traces[0].plays)
    assert played().observed is observed


def test_a_game_without_contexts_is_not_played_again() -> None:
    found = belated.compare(["uniform"], belated.scenario("late-best", rounds=20), repetitions=1)
    assert found.observed is None


def test_segments_are_quarters_or_values() -> None:
    """Each round is in one segment of a feature."""
    numbers = np.random.default_rng(1).normal(size=101)
    for values, count in ((numbers, 4), (np.tile([0.0, 1.0, 5.0], 7), 3), (np.zeros(4), 1)):
        found = segments_of(values, "x")
        assert len(found) == count
        np.testing.assert_array_equal(sum(each.rows.astype(int) for each in found), 1)
    sizes = [int(each.rows.sum()) for each in segments_of(numbers, "x")]
    assert max(sizes) - min(sizes) <= 1
    assert [each.label for each in segments_of(np.array([2.0, 1.0]), "x")] == ["1", "2"]


def test_regrets_of_segments_add_up_to_the_regret() -> None:
    """Against the true means, and against the best arm of the segment where these are unknown."""
    observed = played().observed
    assert observed is not None
    found = segment_regrets(observed)
    means = observed.game.means
    assert means is not None
    for feature in {each.feature for each in found}:
        own = [each for each in found if each.feature == feature]
        assert sum(each.rounds for each in own) == 300
        for k, run in enumerate(observed.runs):
            whole = ((run.q * means).sum(axis=1) - means.min(axis=1)).sum()
            assert sum(each.rounds * each.regrets[k] for each in own) == pytest.approx(whole)


def game_of(contexts: list[list[float]], losses: list[list[float]]) -> ObservedGame:
    """A game whose means nobody knows."""
    table = np.array(losses)
    return ObservedGame(
        features=tuple("abcdefgh"[: len(contexts[0])]),
        labels=tuple("xy"),
        contexts=np.array(contexts),
        losses=table,
        delays=np.zeros(table.shape, dtype=np.int64),
        means=None,
    )


def test_the_features_that_tell_most_are_shown() -> None:
    """Only the last of five tells which arm is right."""
    random = np.random.default_rng(2)
    contexts = random.integers(0, 2, (200, 5)).astype(float)
    losses = np.stack([contexts[:, 4], 1.0 - contexts[:, 4]], axis=1)
    game = game_of(contexts.tolist(), losses.tolist())
    assert known_losses(game) is game.losses
    assert 4 in telling_features(game)
    assert len(telling_features(game)) == 3


def run_of(q: list[list[float]], arms: list[int], foretold: list[list[float]]) -> ObservedRun:
    """A run whose model foretold this."""
    return ObservedRun(
        "r", np.array(q), np.array(arms), np.array(foretold), np.ones(1, dtype=np.int64), None, None
    )


def test_calibration_by_hand() -> None:
    """Eight plays in eight groups; the reward of one is never told."""
    rounds = 8
    game = game_of([[0.0]] * rounds, [[k / 8.0, 1.0] for k in range(rounds)])
    game.delays[3, 0] = NEVER
    game.delays[5, 0] = 3  # after the last round
    foretold = [[1.0 - k / 10.0, 0.5] for k in range(rounds)]
    found = calibration(game, run_of([[1.0, 0.0]] * rounds, [0] * rounds, foretold))
    assert found is not None
    np.testing.assert_allclose(found.foretold, [1.0 - k / 10.0 for k in range(7, -1, -1)])
    np.testing.assert_allclose(found.came, [1.0 - k / 8.0 for k in range(7, -1, -1)])
    assert np.isnan(found.told).tolist() == [k in (3, 5) for k in range(7, -1, -1)]
    assert found.plays.tolist() == [1] * 8


def test_what_is_told_by_the_end() -> None:
    game = game_of([[0.0]] * 3, [[0.0, 0.0]] * 3)
    game.delays[:, 0] = [2, 2, NEVER]
    run = run_of([[1.0, 0.0]] * 3, [0, 0, 0], [[0.5, 0.5]] * 3)
    assert told_in(game, run).tolist() == [True, False, False]


def test_the_true_law_of_delays() -> None:
    """A report of delay d comes at the age d + 1; what never comes is left out."""
    observed = played().observed
    assert observed is not None
    law = learned_delays(observed.game, observed.runs[0])
    assert law is not None
    assert learned_delays(observed.game, observed.runs[1]) is None
    assert law.ages.tolist() == [1, 3, 7, 15, 31, 63, 127, 255]
    for arm in range(5):
        delays = observed.game.delays[:, arm]
        own = delays[delays != NEVER]
        for k, age in enumerate(law.ages):
            assert law.true[k, arm] == pytest.approx((own + 1 > age).mean())
    assert (np.diff(law.learned, axis=0) <= 1e-12).all()
    assert law.true[0, 0] == 0.0  # the first arm's reports come at once


def test_the_share_of_silence_by_hand() -> None:
    """Told plays have the weight 1; a silent one what its silence says, which may be nothing."""
    driver = Driver(Linear(2, features=0, default_loss=1.0))
    assert silent_share(driver.state.model) == 0.0
    rows = [driver.play(0)[0] for _ in range(40)]
    for row in rows[10:20]:
        driver.tell(row, 0, 0.0)
    for _ in range(300):
        driver.play(1)
    model = driver.state.model
    share = silent_share(model)
    assert 0.0 < share < 1.0
    assert (1.0 - share) * model.ridge.weights[:, -1].sum() == pytest.approx(10.0)
