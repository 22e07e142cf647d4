"""The practical bandit plays what docs/practical-bandit.md says, worked out anew in every round."""

from typing import Any

import numpy as np
import pytest

from belated.learners.delay_law import HERE, PASSED, ZEROS
from belated.learners.driver import Driver
from belated.learners.practical.practical_bandit import PracticalBandit
from tests.games import played, random_table
from tests.learners.practical.both_layers import BothLayers, late_table
from tests.twins.practical_bandit import BY_OUTCOME

SIZES = [(1, 40), (2, 120), (5, 120), (12, 90)]


@pytest.mark.parametrize(("arms", "rounds"), SIZES)
@pytest.mark.parametrize("kind", ["coins", "narrow", "mixed"])
def test_every_round_is_that_of_the_text(arms: int, rounds: int, kind: str) -> None:
    """Delays by arm and outcome, some infinite, and some plays withdrawn."""
    BothLayers(late_table(arms, rounds, arms, kind), withdrawn=0.05).compared()


OPTIONS: list[dict[str, Any]] = [
    {"forgets": False},
    {"certified": False},
    {"certified": False, "beta": 0.0},
    {"default_loss": 1.0},
    {"default_loss": 0.0, "certified": True},
    {"default_loss": 0.3},
    {"spread": 2.0, "exploration": 0.0},
    {"exploration": 30.0, "beta": 2.0},
]


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_every_option_means_the_same_in_both_layers(options: dict[str, Any]) -> None:
    BothLayers(late_table(7, 110, 3, period=40), withdrawn=0.05, **options).compared()


def test_the_short_memory_is_used_when_arms_have_changed() -> None:
    layers = BothLayers(late_table(2, 420, 2, period=150, longest=5), withdrawn=0.03, spread=0.4)
    memories = [each.memory for each in layers.each_round()]
    assert not any(memories[:150])
    assert 20 < sum(memories) < 270


def test_the_fallback_plays_where_the_budget_is_small() -> None:
    """Trust is lost and comes back, while plays of both branches are told and withdrawn."""
    seen = BothLayers(late_table(5, 75, 3, longest=6), withdrawn=0.1, beta=0.3).compared()
    branches = [each.trusted for each in seen]
    assert 15 <= branches.count(False) <= 60
    first = branches.index(False)
    assert branches[first:].count(True) >= 10


@pytest.mark.parametrize(("kind", "meaning"), [("zeros", 1.0), ("ones", 0.0)])
def test_news_of_one_kind_only(kind: str, meaning: float) -> None:
    """Silence is taken to mean the other kind, until the law knows that it is reported, too.

    That is when the first play that reports it has passed the bin in which it reported.
    """
    table = late_table(3, 200, 3, kind, longest=3)
    table.delays[90] = 50
    table.losses[90] = meaning
    meanings = [each.meaning for each in BothLayers(table, withdrawn=0.05).compared()]
    assert meanings[0] is None
    assert meanings[120] == meanings[91 + 62] == meaning  # told before round 142, at the age of 51
    assert meanings[-1] == BY_OUTCOME


def test_a_long_game_that_fills_ten_bins() -> None:
    """Ages up to more than a thousand rounds; silence is judged at every twentieth more."""
    table = late_table(11, 1150, 2, longest=1000)
    layers = BothLayers(table, withdrawn=0.03, default_loss=0.0)
    layers.compared()
    silence = layers.driver.state.silence
    assert silence.law.counts[PASSED, 9].min() > 5.0
    assert silence.law.counts[HERE + ZEROS, 9].min() > 3.0
    assert silence.pending[10].sum() > 0.0


@pytest.mark.parametrize("loss", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("arms", [1, 2, 40])
def test_constant_losses(arms: int, loss: float) -> None:
    """Weights, none of them NaN or zero; without a meaning of silence they stay near even."""
    table = random_table(arms, 150, arms, never=0.0)
    table.losses[:] = loss
    q = played(PracticalBandit(arms), table).q
    assert np.abs(q.sum(axis=1) - 1.0).max() <= 1e-12
    assert q.min() > (0.1 / arms**2 if loss == 0.5 else 0.0)


def test_nothing_ever_arrives() -> None:
    """Play goes on over all arms alike, and a very late loss is still learned from."""
    driver = Driver(PracticalBandit(3))
    plays = [driver.play(t % 3)[0] for t in range(600)]
    np.testing.assert_allclose(driver.weights(), 1.0 / 3.0, atol=1e-12)
    driver.tell(plays[0], 0, 1.0)
    assert driver.weights()[0] < 0.3


@pytest.mark.parametrize("options", [{}, {"certified": False, "exploration": 0.0}], ids=str)
def test_an_arm_of_hardly_any_probability_is_played(options: dict[str, Any]) -> None:
    """A replay may ask for it, in every round: its loss is divided by what can be divided by."""
    driver = Driver(PracticalBandit(4, spread=1e-3, **options))
    for t in range(200):
        q = driver.weights().copy()
        assert np.isfinite(q).all()
        assert abs(q.sum() - 1.0) <= 1e-12
        arm = int(q.argmin())
        driver.tell(driver.play(arm)[0], arm, float(t % 2))
    assert np.isfinite(driver.state.account.estimates).all()


@pytest.mark.parametrize(
    ("option", "value"),
    [("spread", 0.0), ("spread", 1e10), ("beta", -1.0), ("exploration", float("nan")),
     ("default_loss", 1.5), ("default_loss", "high"), ("beta", None)],
)  # fmt: skip
def test_an_option_that_is_none(option: str, value: Any) -> None:
    """One sentence that names the option and its value."""
    with pytest.raises(ValueError, match=f"^{option} is .*; it must be "):
        PracticalBandit(2, **{option: value})
