"""The study: who takes part, and what its table says."""

import math

import numpy as np
import pytest

from belated.comparison.compare import compare
from belated.comparison.table import Table
from belated.environments.changing_losses import RotatingLeaders
from belated.environments.delays import Constant, PerArm
from belated.environments.environment import Environment
from belated.environments.in_memory import GivenLosses
from belated.environments.losses import Bernoulli
from belated.environments.scenarios import scenarios
from belated.learners.needs import needs_at_start
from belated.learners.registry import registered
from studies.study import (
    BEST_ARM,
    BEST_OF_EACH,
    GUESSED,
    NOTHING,
    TOLD,
    games_of_the_study,
    standings,
    study_learners,
    study_table,
)

FEW = ("uniform", "exp3", "hedge", "leading-expert", "dew")


@pytest.fixture(scope="module")
def table() -> Table:
    """Some of the study_learners in two small games."""
    chosen = [each for each in study_learners() if each.contender.name in FEW]
    games = [
        Environment(name, Bernoulli([0.2, 0.8]), PerArm(delays), 300)
        for name, delays in (("prompt", (0, 0)), ("late", (40, 0)))
    ]
    contenders = [each.contender for each in chosen]
    return study_table(chosen, [compare(contenders, game, 4, seed=2) for game in games])


def test_everybody_takes_part_once_in_every_way() -> None:
    """All learners as they are; those that must know something also guess; labels differ."""
    labels = [each.label for each in study_learners()]
    assert len(set(labels)) == len(labels)
    assert set(registered()) <= set(labels)
    for each in study_learners():
        asks = needs_at_start(each.kind, each.contender.options)
        assert (each.knows == NOTHING) == (not asks)
        if each.knows == GUESSED:
            assert {need.value for need in asks} == set(each.contender.options)
    assert {each.knows for each in study_learners()} == {TOLD, GUESSED, NOTHING}


def test_the_scenarios_are_long_enough() -> None:
    """Twenty thousand rounds wherever the scenario can be as long: all but real data."""
    games = {game.name.partition(":")[0]: game.rounds for game in games_of_the_study()}
    usual = {each.name for each in scenarios() if each.available and not each.features}
    assert set(games) == usual - {"many-arms"}
    made_up = [each.name for each in scenarios() if not each.real and each.name in games]
    assert len(made_up) >= 12
    assert all(games[name] >= 20_000 for name in made_up)


def test_the_table_has_shares_and_ranks(table: Table) -> None:
    """Uniform play has share 1, ranks count among those who are told the same, from 1 on."""
    for place in ("prompt", "late"):
        rows = [row for row in table if row["scenario"] == place]
        uniform = next(row for row in rows if row["learner"] == "uniform")
        assert uniform["of uniform"] == 1.0
        assert uniform["against"] == BEST_ARM
        for told in {row["is told"] for row in rows}:
            alike = sorted((row["regret"], row["rank"]) for row in rows if row["is told"] == told)
            assert alike[0][1] == 1
            assert [rank for _, rank in alike] == sorted(rank for _, rank in alike)
        for row in rows:
            assert row["of uniform"] == pytest.approx(row["regret"] / uniform["regret"])
            assert math.isfinite(row["±"])


def test_where_chance_is_as_good_as_any_arm_the_goal_changes_with_the_leader() -> None:
    """Leaders that take turns lose nothing: shares are then parts of uniform play's whole loss."""
    game = Environment("turns", RotatingLeaders(4, 20), Constant(10), 400)
    chosen = [each for each in study_learners() if each.contender.name in FEW]
    result = compare([each.contender for each in chosen], game, 2, seed=2)
    found = study_table(chosen, [result])
    for row in found:
        assert row["against"] == BEST_OF_EACH
        assert row["of uniform"] == pytest.approx((row["regret"] + 300.0) / 300.0)
    shares = dict(zip(found.column("learner"), found.column("of uniform"), strict=True))
    assert shares["uniform"] == pytest.approx(1.0)
    assert shares["leading-expert"] > 1.1


def test_where_all_arms_are_always_alike_there_is_no_share() -> None:
    """Nothing can be gained, and nothing is divided by rounding errors."""
    game = Environment("alike", GivenLosses(np.full((60, 3), 0.3)), Constant(1), 60)
    chosen = [each for each in study_learners() if each.contender.name in ("uniform", "hedge")]
    result = compare([each.contender for each in chosen], game, 2, seed=2)
    assert set(study_table(chosen, [result]).column("of uniform")) == {None}


def test_standings_are_means_over_scenarios(table: Table) -> None:
    """The smallest mean share comes first; nobody is closer to the best than the best."""
    for experts in (True, False):
        found = standings(table, experts)
        assert found.column("mean") == sorted(found.column("mean"))
        assert max(found.column("within 5 %")) <= 2
        assert sum(found.column("within 5 %")) >= 2
        for row in found:
            own = [each["of uniform"] for each in table if each["learner"] == row["learner"]]
            assert row["mean"] == pytest.approx(sum(own) / len(own))
            assert row["worst"] == max(own)


def test_who_is_late_is_found_late(table: Table) -> None:
    """Follow-the-leader is perfect after a few prompt rounds; waiting costs regret."""
    regrets = {(row["scenario"], row["learner"]): row["regret"] for row in table}
    assert regrets["prompt", "leading-expert"] < 5.0
    assert regrets["late", "leading-expert"] > regrets["prompt", "leading-expert"] + 5.0
