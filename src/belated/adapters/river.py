"""Belated's bandits as policies of River, and River's policies as learners in our games.

River's `pull` and `update` carry no ticket. Our policy tells a reward to the oldest play of its
arm that is still open, which is right if the rewards of one arm come in the order of its plays.
"""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from belated.adapters.hosted import HostedBandit
from belated.arrays import Floats
from belated.checks import as_range
from belated.types import Setting

try:
    from river.bandit.base import Policy
except ImportError:
    raise ImportError("belated.adapters.river needs river: pip install 'belated[river]'") from None


class BelatedPolicy(Policy):
    """One of our bandits as a policy of River.

    The arms are those of the first pull.

    Args:
        learner: the name of the learner.
        reward_range: the range (low, high) of the rewards.
        late: whether rewards may arrive after the next pull. If not, a pull that was not updated
            before the next one is withdrawn; `evaluate_offline` needs this.
        options: the options of the learner.
        reward_obj: River's metric or statistic of the rewards, for the ranking.
        seed: fixes the random draws.
    """

    def __init__(
        self,
        learner: str = "practical-bandit",
        reward_range: Sequence[float] = (0.0, 1.0),
        late: bool = True,
        options: dict[str, Any] | None = None,
        reward_obj: Any = None,
        seed: int | None = None,
    ) -> None:
        super().__init__(reward_obj=reward_obj)
        self.learner = learner
        self.reward_range = reward_range
        self.late = late
        self.options = options
        self.seed = seed
        self._range = as_range(reward_range)
        self._bandit: HostedBandit | None = None

    def _bandit_for(self, arm_ids: Sequence[Any]) -> HostedBandit:
        """The bandit for these arms, which are those of the first pull."""
        if self._bandit is None:
            options = self.options or {}
            self._bandit = HostedBandit(list(arm_ids), self.learner, self.seed, **options)
        if list(arm_ids) != self._bandit.arms:
            raise ValueError(
                f"arm_ids are {list(arm_ids)!r}; they must be those of the first pull, "
                f"{self._bandit.arms!r}"
            )
        return self._bandit

    def _pull(self, arm_ids: Any) -> Any:
        bandit = self._bandit_for(arm_ids)
        if not self.late:
            for arm in bandit.arms:
                while bandit.is_open(arm):
                    bandit.withdraw(arm)
        return bandit.ask()

    def update(self, arm_id: Any, *reward_args: Any, **reward_kwargs: Any) -> None:
        """Tell the reward of an arm that was pulled."""
        if self._bandit is None:
            raise ValueError(f"a reward of arm {arm_id!r} is told before anything was pulled")
        (reward,) = (*reward_args, *reward_kwargs.values())
        loss = self._range.reward(reward)
        self._bandit.tell(arm_id, loss)
        super().update(arm_id, *reward_args, **reward_kwargs)

    @classmethod
    def _unit_test_params(cls) -> Iterator[dict[str, Any]]:
        yield {}
        yield {"learner": "exp3", "seed": 1}
        yield {"learner": "thompson", "late": False}


class RiverPrediction(NamedTuple):
    """The arm that a policy of River has pulled, as weights that are all on it."""

    q: Floats


class RiverLearner:
    """A policy of River as a learner in our games: it is updated when a loss arrives.

    The reward is 1 minus the loss. A policy tells no probabilities, so its weights are 1 on the arm
    that it pulled; its regret is that of the arms themselves.
    """

    setting = Setting.CONCEALED

    def __init__(self, policy: Any, arms: int, name: str | None = None) -> None:
        self.policy = policy
        self.arms = arms
        self.name = name or f"river {type(policy).__name__}"

    def start(self) -> Any:
        """A fresh copy of the policy."""
        return self.policy.clone()

    def predict(self, state: Any) -> RiverPrediction:
        """Pull an arm."""
        q = np.zeros(self.arms)
        q[state.pull(list(range(self.arms)))] = 1.0
        return RiverPrediction(q)

    def commit(self, state: Any, prediction: RiverPrediction, arm: int) -> list[None]:
        """Do nothing: River keeps nothing of a play."""
        return [None]

    def observe(self, state: Any, play: None, arm: int, loss: float, missing: int) -> None:
        """Update the policy with the reward that has arrived."""
        state.update(arm, 1.0 - loss)
