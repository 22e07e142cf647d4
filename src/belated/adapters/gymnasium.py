"""Our games as environments of gymnasium, with rewards that arrive late, and bandits as agents.

An action is an arm. The reward of a step is minus the sum of the losses that arrived in it, so a
return is right in the end, while `info["feedback"]` says which round each loss belongs to. Every
scenario is registered when this module is imported, as "belated/LateBest-v0" for late-best.
"""

import copy
from collections.abc import Iterator
from itertools import islice
from typing import Any

import numpy as np

from belated.environments.environment import GAME, Environment, branch, repetition_seed
from belated.environments.missing import NEVER
from belated.environments.scenarios import scenario, scenarios
from belated.play.game import Game, Stretch
from belated.types import Arm, Setting, Ticket

try:
    import gymnasium
    from gymnasium import spaces
except ImportError:
    raise ImportError(
        "belated.adapters.gymnasium needs gymnasium: pip install 'belated[gymnasium]'"
    ) from None

NAMESPACE = "belated"
FAR = 1e300  # no number of a context is beyond it; an infinite space would be a warning
Observation = dict[str, Any]


class DelayedBandit(gymnasium.Env[Observation, np.int64]):
    """A game of a scenario, or of an `Environment`, one round a step.

    An observation has the number of the round, from 0; how many plays of each arm wait for their
    loss; and the context of the round if there are contexts. `info["feedback"]` lists the losses
    that arrived in the step, each with its round, its arm and the missing count of its play. With
    `reveal`, `info["loss"]` has the loss that was suffered. An episode is truncated at its last
    round; what has not arrived by then is never told.

    `reset(seed=s)` begins the game that `belated.compare(..., seed=s)` plays in its first
    repetition; the option `repetition` of `reset` chooses another one, counted from 0.
    """

    metadata = {"render_modes": []}  # noqa: RUF012 (as gymnasium declares it)

    def __init__(
        self,
        environment: Environment | str,
        reveal: bool = False,
        render_mode: None = None,
        **options: Any,
    ) -> None:
        if isinstance(environment, str):
            environment = scenario(environment, **options)
        elif options:
            raise ValueError(f"options are given, {', '.join(options)}; only scenarios have some")
        self.environment, self.reveal, self.render_mode = environment, reveal, render_mode
        rounds, arms = environment.rounds, environment.arms
        self.action_space = spaces.Discrete(arms)
        parts: dict[str, spaces.Space[Any]] = {
            "round": spaces.Discrete(rounds + 1),
            "pending": spaces.Box(0, rounds, (arms,), np.int64),
        }
        if environment.features:
            size = (len(environment.features),)
            parts["context"] = spaces.Box(-FAR, FAR, size, np.float64)
        self.observation_space = spaces.Dict(parts)
        self._round = rounds  # a game must be begun
        self._row = 0

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Begin a game; without a seed it is a new one, which depends on the seeds before."""
        super().reset(seed=seed)
        chosen = int(self.np_random.integers(2**31)) if seed is None else seed
        repetition = int((options or {}).get("repetition", 0))
        self._game = Game(self.environment, branch(repetition_seed(chosen, repetition), GAME))
        self._rest, self._passed = self._stretches_from(0), 0
        self._turn()
        self._round = 0
        self._pending = np.zeros(self.environment.arms, dtype=np.int64)
        self._arriving: dict[int, list[dict[str, Any]]] = {}
        return self._observation(), {"feedback": []}

    def _stretches_from(self, number: int) -> Iterator[Stretch]:
        return islice(self._game.stretches(), number, None)

    def _turn(self) -> None:
        """Go to the next stretch of the game."""
        self._stretch, self._row = next(self._rest), 0
        self._passed += 1

    def step(self, action: np.int64 | int) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """Play an arm; returns what has arrived by the end of the round."""
        t, rounds = self._round, self.environment.rounds
        if t >= rounds:
            raise gymnasium.error.ResetNeeded("the game is over, or was not begun; call reset")
        if not self.action_space.contains(np.int64(action)):
            raise ValueError(
                f"action is {action}; it must be from 0 to {self.environment.arms - 1}"
            )
        arm, row = int(action), self._row
        loss = float(self._stretch.losses[row, arm])
        delay = int(self._stretch.delays[row, arm])
        self._pending[arm] += 1
        if delay != NEVER:
            missing = int(self._stretch.missing[row, arm])
            report = {"round": t, "arm": arm, "loss": loss, "missing": missing}
            self._arriving.setdefault(t + delay, []).append(report)
        feedback = self._arriving.pop(t, [])
        for each in feedback:
            self._pending[each["arm"]] -= 1
        self._round, self._row = t + 1, row + 1
        if self._round < rounds and self._row == len(self._stretch.losses):
            self._turn()
        info: dict[str, Any] = {"feedback": feedback}
        if self.reveal:
            info["loss"] = loss
        reward = -float(sum(each["loss"] for each in feedback))
        return self._observation(), reward, False, self._round == rounds, info

    def _observation(self) -> Observation:
        """What is known before the coming round; after the last one its context stays."""
        seen: Observation = {"round": np.int64(self._round), "pending": self._pending.copy()}
        if self._stretch.contexts is not None:
            last = len(self._stretch.contexts) - 1
            seen["context"] = np.asarray(
                self._stretch.contexts[min(self._row, last)], dtype=np.float64
            )
        return seen

    def __deepcopy__(self, memo: dict[int, Any]) -> "DelayedBandit":
        """A copy in the same round of the same game, which is not drawn twice."""
        other = type(self).__new__(type(self))
        memo[id(self)] = other
        shared = ("environment", "_game", "_stretch")
        for name, value in vars(self).items():
            if name != "_rest":
                setattr(other, name, value if name in shared else copy.deepcopy(value, memo))
        if hasattr(self, "_rest"):
            other._rest = other._stretches_from(self._passed)
        return other


class Agent:
    """One of our bandits as an agent: `act(observation, info)` learns what arrived, and plays.

    The bandit must be a new one, with as many arms as the environment has actions; use a new agent
    for each episode.
    """

    def __init__(self, bandit: Any) -> None:
        self.bandit = bandit
        self._places: dict[Arm, int] = {arm: place for place, arm in enumerate(bandit.arms)}
        self._tickets: dict[int, Ticket] = {}
        self._takes_context = bool(bandit._learner.takes_context)
        self._tells_missing = bandit._learner.setting is Setting.PARTIALLY_CONCEALED

    def act(self, observation: Observation, info: dict[str, Any]) -> int:
        """Tell the bandit what has arrived, and return the arm that it plays."""
        self.learn(info)
        round_ = int(observation["round"])
        if round_ in self._tickets or (self._tickets.keys() and round_ < max(self._tickets)):
            raise ValueError("another game begins; use a new agent, with a new bandit")
        given = {"context": observation["context"].tolist()} if self._takes_context else {}
        ticket = self.bandit.ask(**given)
        self._tickets[round_] = ticket
        return self._places[ticket.arm]

    def learn(self, info: dict[str, Any]) -> None:
        """Tell the bandit what has arrived; after the last step, where no arm is played."""
        for each in info["feedback"]:
            missing = {"missing": each["missing"]} if self._tells_missing else {}
            self.bandit.tell(self._tickets.pop(each["round"]), each["loss"], **missing)


def env_id(name: str) -> str:
    """The name of a scenario's environment: LateBest-v0 for late-best."""
    return "".join(word[:1].upper() + word[1:] for word in name.split("-")) + "-v0"


def register_envs() -> None:
    """Register an environment for each scenario that is not registered yet."""
    for each in scenarios():
        known = f"{NAMESPACE}/{env_id(each.name)}"
        if known not in gymnasium.registry:
            gymnasium.register(
                known,
                entry_point=f"{__name__}:DelayedBandit",
                kwargs={"environment": each.name},
            )


register_envs()
