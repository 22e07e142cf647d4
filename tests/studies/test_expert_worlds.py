"""The worlds in which the practical experts were found weak, and the command that plays them."""

import json
import math

import numpy as np
import pytest
from click.testing import CliRunner

from belated.environments.environment import Environment
from belated.environments.missing import NEVER
from studies import expert_worlds
from studies.__main__ import main
from studies.expert_worlds import FAMILIES, LEARNERS, forecasts, shares, slow_best, trial


def whole_game(world: Environment) -> tuple[np.ndarray, np.ndarray]:
    """All losses and delays of a game."""
    blocks = list(world.blocks(np.random.SeedSequence(1)))
    return (
        np.concatenate([block.losses for block in blocks]),
        np.concatenate([block.delays for block in blocks]),
    )


@pytest.mark.parametrize("seed", range(4))
def test_each_family_is_what_it_says(seed: int) -> None:
    """By the hour another forecast is the best; good news is last; the best sells slowest."""
    losses, delays = whole_game(forecasts(np.random.default_rng(seed)))
    assert len({*delays.ravel().tolist()}) == 1
    halves = np.array_split(losses, len(losses) // 12)
    assert len({int(part.mean(axis=0).argmin()) for part in halves}) > 1
    losses, delays = whole_game(trial(np.random.default_rng(seed)))
    assert losses.shape[1] == 2
    good, bad = delays[losses == 0.0], delays[losses == 1.0]
    assert good.min() == good.max() >= bad.max() > bad.mean()
    world = slow_best(np.random.default_rng(seed))
    losses, delays = whole_game(world)
    assert (delays != NEVER).all()
    assert len({*delays[losses == 1.0].tolist()}) == 1
    rates = 1.0 - np.array(world.losses.means)  # type: ignore[attr-defined]
    assert rates.max() <= 0.03
    best = int(rates.argmax())
    waits = [delays[losses[:, i] == 0.0, i].mean() for i in range(len(rates))]
    assert int(np.argmax(waits)) == best


def test_shares_are_those_of_a_comparison(monkeypatch: pytest.MonkeyPatch) -> None:
    """In percent of uniform play's regret, the first learner at a difference of 0; and as JSON."""
    monkeypatch.setattr(expert_worlds, "LEARNERS", ("anytime-hedge", "leading-expert"))

    def small(random: np.random.Generator) -> Environment:
        from belated.environments.delays import Constant
        from belated.environments.losses import Bernoulli

        means = [0.2, 0.7] if random.random() < 0.5 else [0.7, 0.2]
        return Environment("small", Bernoulli(means), Constant(3), 60)

    monkeypatch.setattr(expert_worlds, "FAMILIES", {"small": small})
    first, second = shares("small", 3, 2, 1, 1)
    assert (first["difference"], first["±"]) == (0.0, 0.0)
    assert 0.0 < second["mean"] < 60.0
    assert second["difference"] == pytest.approx(second["mean"] - first["mean"])
    assert math.isfinite(second["±"])
    given = ["experts", "--worlds", "2", "--games", "1", "--workers", "1", "--json"]
    rows = json.loads(CliRunner().invoke(main, given).stdout)
    assert [row["learner"] for row in rows] == ["anytime-hedge", "leading-expert"]
    assert LEARNERS[0] == "practical-experts"
    assert [*FAMILIES] == ["forecasts", "trial", "slow-best"]
