"""Environments with contexts: what learners see, what losses depend on, and the goals."""

import numpy as np
import pytest

import belated
from belated.analysis.contextual_goals import LINEAR_POLICY, TRUE_MEANS
from belated.analysis.game_sums import sum_up
from belated.arrays import Floats
from belated.environments.contextual import data_tables
from belated.environments.contextual.data_tables import FILES, data_table
from belated.environments.contextual.drawn_contexts import GivenContexts
from belated.environments.environment import Block, Environment
from belated.environments.in_memory import GivenDelays, GivenLosses
from belated.environments.missing import NEVER
from belated.environments.scenarios import Scenario, scenario, scenarios
from belated.play.game import Game

SEED = np.random.SeedSequence(1)
CONTEXTUAL = [each for each in scenarios() if each.features]


def whole(environment: Environment, seed: int = 1) -> Block:
    """The game of a seed in one block."""
    blocks = list(environment.blocks(np.random.SeedSequence(seed)))
    parts = [
        np.concatenate([part for block in blocks if (part := block[place]) is not None])
        for place in (1, 2, 4, 5)
    ]
    return Block(blocks[0].span, parts[0], parts[1], None, parts[2], parts[3])


def told(block: Block) -> tuple[Floats, Floats]:
    """The contexts and the means of a block that has both."""
    assert block.contexts is not None
    assert block.means is not None
    return block.contexts, block.means


@pytest.mark.parametrize("each", CONTEXTUAL, ids=lambda each: each.name)
def test_contexts_and_means_fit_the_losses(each: Scenario) -> None:
    """There is a row for each round, and losses are coins with the means of their row."""
    environment = each.environment(rounds=3000)
    block = whole(environment)
    contexts, means = told(block)
    assert contexts.shape == (3000, len(environment.features))
    assert set(np.unique(block.losses)) <= {0.0, 1.0}
    spread = np.sqrt((means * (1.0 - means)).sum(axis=0)) + 1e-9
    apart = (block.losses - means).sum(axis=0) / spread
    assert (abs(apart) < 5.0).all()
    again, other = whole(environment), whole(environment, 2)
    assert np.array_equal(again.losses, block.losses)
    assert not np.array_equal(other.losses, block.losses)


@pytest.mark.parametrize("name", ["redrawn", "classes", "late-segments", "conversions"])
def test_a_game_does_not_depend_on_how_it_is_cut(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Long blocks and short ones give the same game."""
    long = whole(scenario(name, rounds=400))
    monkeypatch.setattr("belated.environments.environment.BLOCK_ROUNDS", 7)
    short = whole(scenario(name, rounds=400))
    assert all(map(np.array_equal, told(long), told(short)))
    assert np.array_equal(long.losses, short.losses)
    assert np.array_equal(long.delays, short.delays)


def test_which_arm_is_best_depends_on_the_context_unless_it_is_idle() -> None:
    for each in CONTEXTUAL:
        means = told(whole(each.environment(rounds=1000)))[1]
        assert (len(np.unique(means.argmin(axis=1))) == 1) == (each.name == "idle-contexts")


def test_the_middle_of_the_game_changes_everything() -> None:
    """redrawn: means are linear in the features, with other parameters in the second half."""
    contexts, means = told(whole(scenario("redrawn", rounds=2000)))
    inner = ((means > 0.05) & (means < 0.95)).all(axis=1)
    halves = [np.flatnonzero(inner[:1000]), 1000 + np.flatnonzero(inner[1000:])]
    weights = [np.linalg.lstsq(contexts[h], means[h] - 0.5, rcond=None) for h in halves]
    assert all(found[1].max() < 1e-20 for found in weights)
    assert abs(weights[0][0] - weights[1][0]).max() > 0.05


def test_the_outcome_decides_what_is_reported() -> None:
    """conversions: only successes are told; late-complaints: failures are later; lossy: some."""
    bought = whole(scenario("conversions", rounds=3000))
    assert ((bought.delays == NEVER) == (bought.losses == 1.0)).all()
    assert 0.02 < 1.0 - bought.losses.mean() < 0.09
    late = whole(scenario("late-complaints"))
    assert late.delays[late.losses == 1.0].mean() > 5 * late.delays[late.losses == 0.0].mean()
    shares = (whole(scenario("lossy-visitors")).delays == NEVER).mean(axis=0)
    assert shares == pytest.approx([0.0, 0.15, 0.3, 0.45, 0.6], abs=0.02)


def test_half_of_the_visitors_are_late() -> None:
    block = whole(scenario("late-segments"))
    late = told(block)[0][:, 0] > 0.0
    assert block.delays[late].mean() > 10 * block.delays[~late].mean()


@pytest.mark.parametrize(
    ("name", "rows", "features", "classes"),
    [
        ("iris", 150, 4, 3),
        ("wine", 178, 13, 3),
        ("cancer", 569, 30, 2),
        ("digits", 1797, 61, 10),
        ("segments", 2310, 18, 7),
        ("phishing", 1250, 9, 2),
        ("banana", 5300, 2, 2),
    ],
)
def test_data_sets(name: str, rows: int, features: int, classes: int) -> None:
    """The tables have their known sizes, and standardised features."""
    table = data_table(name)
    assert table.features.shape == (rows, features)
    assert len(table.names) == features
    assert len(table.labels) == classes == len(np.unique(table.classes))
    assert abs(table.features.mean(axis=0)).max() < 1e-9
    assert table.features.std(axis=0) == pytest.approx(np.ones(features))


def test_a_data_set_that_is_not_here(monkeypatch: pytest.MonkeyPatch) -> None:
    """The sentence says which package has it."""
    monkeypatch.setitem(FILES, "gone", FILES["iris"]._replace(package="no_such_package"))
    with pytest.raises(ValueError, match=r"gone is read from the package scikit-learn, which is"):
        scenario("classes", data="gone")
    with pytest.raises(ValueError, match=r"^data is 'irsi'; .*; did you mean 'iris'"):
        scenario("classes", data="irsi")
    assert data_tables.data_table("iris") is data_table("iris")


def test_the_goals_of_a_game_by_hand() -> None:
    """The linear policy is that of ridges on all losses; true means play the smallest mean."""
    game = Game(scenario("visitors", rounds=300), SEED)
    sums, block = sum_up(game), whole(scenario("visitors", rounds=300))
    contexts, means = told(block)
    rows = np.column_stack([contexts, np.ones(300)])
    weights = np.linalg.inv(np.eye(9) + rows.T @ rows) @ rows.T @ block.losses
    index = np.arange(300)
    policy = block.losses[index, (rows @ weights).argmin(axis=1)].sum()
    assert sums.goals == {
        LINEAR_POLICY: pytest.approx(policy),
        TRUE_MEANS: pytest.approx(block.losses[index, means.argmin(axis=1)].sum()),
    }
    assert sums.features == tuple(f"x{i + 1}" for i in range(8))
    assert sum_up(Game(scenario("late-best", rounds=50), SEED)).goals == {}


def test_a_comparison_names_its_goals() -> None:
    """Each goal has a column of its own; the best arm is a weaker goal than the true means."""
    result = belated.compare(["uniform"], scenario("visitors", rounds=300), repetitions=2)
    row = next(iter(result.table()))
    assert row["against true means"] == pytest.approx(result.regret_to(0, TRUE_MEANS).mean())
    assert row["against best linear policy"] == pytest.approx(
        result.regret_to(0, LINEAR_POLICY).mean()
    )
    assert row["regret"] < row["against true means"]
    with pytest.raises(ValueError, match=r"^goal is 'luck'; visitors:rounds=300 has"):
        result.regret_to(0, "luck")


def given(contexts: Floats, features: tuple[str, ...]) -> Environment:
    """Three rounds of two arms with these contexts."""
    losses, delays = GivenLosses(np.zeros((3, 2))), GivenDelays(np.zeros((3, 2), dtype=np.int64))
    return Environment("given", losses, delays, 3, contexts=GivenContexts(contexts, features))


def test_given_contexts_and_bad_ones() -> None:
    """Losses that do not depend on contexts may have some; a bad context is one sentence."""
    good = given(np.arange(6.0).reshape(3, 2), ("age", "size"))
    block = next(good.blocks(SEED))
    assert block.means is None
    assert np.array_equal(block.contexts, np.arange(6.0).reshape(3, 2))
    assert list(sum_up(Game(good, SEED)).goals) == [LINEAR_POLICY]
    with pytest.raises(ValueError, match=r"^contexts have the shape \(3, 1\); .* \(3, 2\)$"):
        list(given(np.zeros((3, 1)), ("age", "size")).blocks(SEED))
    with pytest.raises(ValueError, match=r"^feature 'size' is nan in round 2; it must be finite$"):
        list(given(np.array([[0, 0], [0, np.nan], [0, 0]]), ("age", "size")).blocks(SEED))
