"""The game of the benchmark, and the rounds that are played in it."""

from dataclasses import dataclass

import numpy as np
import pytest

from benchmarks.measures.ask_tell_rounds import OurRounds, TheirRounds, World
from benchmarks.workload import MAX_MISSING, Players, game_of, long_stretches


def test_long_stretches_are_the_same_game() -> None:
    """No round is lost or doubled where stretches are joined and cut."""
    plain = list(game_of(10, 3_000).stretches())
    long = list(long_stretches(game_of(10, 3_000), 700))
    assert [each.first for each in long] == [0, 700, 1400, 2100]
    assert {each.rounds for each in long} == {3_000}
    for part in ("losses", "delays", "missing"):
        expected = np.concatenate([getattr(each, part) for each in plain])[:2800]
        found = np.concatenate([getattr(each, part) for each in long])
        assert np.array_equal(found, expected), part


def test_the_game_is_as_documented() -> None:
    """Delays differ by arm, do not change in time and are below 50; means are spread."""
    (stretch,) = long_stretches(game_of(60, 2_000), 2_000)
    assert (stretch.delays == stretch.delays[0]).all()
    assert sorted(set(stretch.delays[0])) == list(range(50))
    assert stretch.missing.max() == 49 < MAX_MISSING
    assert np.abs(stretch.losses.mean(axis=0) - np.linspace(0.2, 0.8, 60)).max() < 0.06


def test_players_meet_the_same_rounds() -> None:
    """Whoever's turn it is plays the batch that was drawn last."""
    players = Players(["concealed", "uniform"], 3, 40)
    players.skip(50)
    players.draw()
    for name in ("uniform", "concealed"):
        contestant = players.contestant(name)
        assert contestant.batch == 40
        contestant.work(40)
    for run in players.runs.values():
        assert run.run.tally.plays.sum() == 120
        assert run.run.state.round[0] == 121


@dataclass
class Slip:
    """A ticket of the notebook's."""

    round: int
    arm: int


class Notebook:
    """A bandit that plays the arms in turn and writes down what it is told, and when."""

    def __init__(self, arms: int) -> None:
        self.arms, self.now = arms, -1
        self.told: list[tuple[int, Slip, float]] = []

    def ask(self) -> Slip:
        """The next round."""
        self.now += 1
        return Slip(self.now, self.now % self.arms)

    def tell(self, ticket: Slip, loss: float) -> None:
        """At the end of the present round."""
        self.told.append((self.now, ticket, loss))


def test_losses_are_told_when_they_arrive() -> None:
    """Each once, after the delay of its arm; only those still under way are open at the end."""
    world, notebook = World(7), Notebook(7)
    rounds = OurRounds(notebook, world)  # type: ignore[arg-type]
    rounds(200)
    rounds(300)
    for now, ticket, loss in notebook.told:
        assert now - ticket.round == world.delays[ticket.arm]
        assert loss in (0.0, 1.0)
    told = {ticket.round for _, ticket, _ in notebook.told}
    assert len(told) == len(notebook.told)
    assert told == {t for t in range(500) if t + world.delays[t % 7] < 500}


def test_arms_lose_as_often_as_their_means_say() -> None:
    """For peers as rewards: one minus the loss."""
    world, policy = World(2), TwoArms()
    TheirRounds(policy, world)(20_000)
    for arm in range(2):
        mean = sum(policy.rewards[arm]) / len(policy.rewards[arm])
        assert mean == pytest.approx(1.0 - world.means[arm], abs=0.03)


class TwoArms:
    """A policy that plays both arms in turn and keeps their rewards."""

    def __init__(self) -> None:
        self.rewards: list[list[float]] = [[], []]
        self.arm = 1

    def decide(self) -> int:
        """The other arm."""
        self.arm = 1 - self.arm
        return self.arm

    def learn(self, arm: int, reward: float) -> None:
        """Keep it."""
        self.rewards[arm].append(reward)
