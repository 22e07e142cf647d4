"""Environments of gymnasium: they pass its own check, and play the games of `compare`."""

import copy
import subprocess
import sys
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

import belated
from belated.adapters.gymnasium import Agent, DelayedBandit, env_id
from belated.environments.environment import GAME, branch, repetition_seed
from belated.environments.environment_specs import environment_named
from belated.environments.missing import NEVER
from belated.environments.scenarios import scenarios
from belated.play.game import Game

pytestmark = pytest.mark.check
PLAYABLE = [each.name for each in scenarios() if each.available]


def test_environments_are_found_by_name() -> None:
    """In a process that imports only gymnasium: the name says which module registers them."""
    name = "belated.adapters.gymnasium:belated/LateBest-v0"
    code = f"import gymnasium; print(gymnasium.make({name!r}, delay=7).spec.id)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert run.stdout.strip() == "belated/LateBest-v0", run.stderr


@pytest.mark.parametrize("name", PLAYABLE)
def test_gymnasium_checks_every_environment_without_complaint(name: str) -> None:
    """`check_env`, in which a warning is an error."""
    env = gymnasium.make(f"belated/{env_id(name)}", disable_env_checker=True)
    check_env(env.unwrapped)


@pytest.mark.parametrize("name", ["late-best:rounds=60,delay=5", "visitors:rounds=60"])
def test_it_is_the_game_that_compare_plays(name: str) -> None:
    """Every loss, when it arrives, and what waits; the option chooses the repetition."""
    environment = environment_named(name)
    env = DelayedBandit(environment, reveal=True)
    for repetition in (0, 2):
        (game,) = Game(environment, branch(repetition_seed(7, repetition), GAME), 1).stretches()
        seen, info = env.reset(seed=7, options={"repetition": repetition})
        arms = np.random.default_rng(1).integers(0, environment.arms, environment.rounds)
        arrived: set[int] = set()
        for t, arm in enumerate(arms):
            assert seen["round"] == t
            waiting = [s for s in range(t) if s not in arrived]
            assert (
                seen["pending"].tolist()
                == np.bincount(arms[waiting].astype(int), minlength=environment.arms).tolist()
            )
            if game.contexts is not None:
                np.testing.assert_array_equal(seen["context"], game.contexts[t])
            seen, reward, terminated, truncated, info = env.step(arm)
            assert info["loss"] == game.losses[t, arm]
            due = [s for s in range(t + 1) if game.delays[s, arms[s]] == t - s]
            assert [each["round"] for each in info["feedback"]] == due
            losses = [float(game.losses[s, arms[s]]) for s in due]
            assert [each["loss"] for each in info["feedback"]] == losses
            assert reward == -sum(losses)
            arrived |= set(due)
            assert (terminated, truncated) == (False, t == environment.rounds - 1)
        with pytest.raises(gymnasium.error.ResetNeeded):
            env.step(0)


def by_hand(bandit: Any, game: Any) -> list[int]:
    """The arms that a bandit plays if it is told each loss at the end of its round."""
    arms, due = [], []
    for t in range(len(game.losses)):
        ticket = bandit.ask()
        arms.append(ticket.arm)
        delay = int(game.delays[t, ticket.arm])
        if delay != NEVER:
            due.append((t + delay, t, ticket))
        for _, s, late in sorted(each for each in due if each[0] == t):
            bandit.tell(late, float(game.losses[s, late.arm]))
    return arms


def test_an_agent_plays_as_its_bandit_by_hand() -> None:
    """Told by round, whatever the reward of the step was."""
    environment = belated.scenario("late-best", rounds=150)
    env, agent = DelayedBandit(environment), Agent(belated.Bandit(environment.arms, seed=3))
    seen, info = env.reset(seed=7)
    arms, over = [], False
    while not over:
        arms.append(agent.act(seen, info))
        seen, _, _, over, info = env.step(arms[-1])
    (game,) = Game(environment, branch(repetition_seed(7, 0), GAME), 1).stretches()
    assert arms == by_hand(belated.Bandit(environment.arms, seed=3), game)
    seen, info = env.reset(seed=8)
    with pytest.raises(ValueError, match="use a new agent"):
        agent.act(seen, info)


def test_a_copy_goes_on_alone() -> None:
    """Deep copies are what River makes of environments, also in the middle of a long game."""
    env = DelayedBandit("late-best", rounds=3000)
    env.reset(seed=1)
    for _ in range(100):
        env.step(0)
    other = copy.deepcopy(env)
    runs = [[each.step(1)[1] for _ in range(2900)] for each in (env, other)]
    assert runs[0] == runs[1]


def test_bad_input_gets_a_sentence() -> None:
    """An unknown option, an unknown scenario, an arm that is not there."""
    with pytest.raises(ValueError, match="late-best has no option 'wait'"):
        DelayedBandit("late-best", wait=3)
    with pytest.raises(ValueError, match="options are given, wait"):
        DelayedBandit(belated.scenario("late-best"), wait=3)
    env = DelayedBandit("late-best", rounds=5)
    with pytest.raises(gymnasium.error.ResetNeeded):
        env.step(0)
    env.reset(seed=1)
    with pytest.raises(ValueError, match="action is 99; it must be from 0 to"):
        env.step(99)
