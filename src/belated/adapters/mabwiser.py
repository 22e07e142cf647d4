"""A class with the methods of MABWiser's `MAB`, for programs that are written for it.

It does not need MABWiser. There are no tickets in this interface: a reward is told to the oldest
play of its arm that is still open, which is right if the rewards of one arm come in order.
"""

from collections import Counter
from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np

from belated.adapters.hosted import HostedBandit
from belated.checks import as_range


class MAB:
    """One of our bandits with `fit`, `partial_fit`, `predict`, `add_arm` and `remove_arm`.

    `reward_range` is the range that rewards lie in. `predict` plays an arm, which then waits for
    its reward; `predict_expectations` returns the probability of each arm, for these learners
    estimate no means.
    """

    def __init__(
        self,
        arms: Sequence[Hashable],
        learner: str = "practical-bandit",
        seed: int | None = None,
        reward_range: Sequence[float] = (0.0, 1.0),
        **options: Any,
    ) -> None:
        self._learner, self._seed, self._options = learner, seed, options
        self._range = as_range(reward_range)
        self._bandit = HostedBandit(arms, learner, seed, **options)

    @property
    def arms(self) -> list[Hashable]:
        """The arms, in order."""
        return list(self._bandit.arms)

    def fit(self, decisions: Any, rewards: Any, contexts: Any = None) -> "MAB":
        """Forget everything, and learn from a log; returns this object."""
        checked = self._checked(decisions, rewards, contexts)
        self._bandit = HostedBandit(self.arms, self._learner, self._seed, **self._options)
        return self._learn(*checked)

    def partial_fit(self, decisions: Any, rewards: Any, contexts: Any = None) -> "MAB":
        """Learn from further decisions and their rewards; returns this object.

        A reward belongs to the oldest open play of its arm. A decision without an open play was
        made elsewhere: it counts as drawn with the share that its arm has among such decisions.
        """
        return self._learn(*self._checked(decisions, rewards, contexts))

    def _checked(
        self, decisions: Any, rewards: Any, contexts: Any
    ) -> tuple[list[Any], list[float], list[Any]]:
        """Arms, losses and contexts in order; ValueError if something does not fit."""
        arms, values = list(decisions), list(rewards)
        told = [None] * len(arms) if contexts is None else list(contexts)
        if not len(arms) == len(values) == len(told):
            raise ValueError(
                f"there are {len(arms)} decisions, {len(values)} rewards and {len(told)} contexts; "
                "there must be as many of each"
            )
        for arm in arms:
            self._bandit.place_of(arm)
        return arms, [self._range.reward(value) for value in values], told

    def _learn(self, arms: list[Any], losses: list[float], contexts: list[Any]) -> "MAB":
        bandit = self._bandit
        missing = Counter(arms)
        for arm in missing:
            missing[arm] = max(0, missing[arm] - len(bandit._open[arm]))
        elsewhere = sum(missing.values())
        for arm, loss, context in zip(arms, losses, contexts, strict=True):
            if not bandit.is_open(arm):
                bandit.played(arm, missing[arm] / elsewhere, context)
            bandit.tell(arm, loss)
        return self

    def predict(self, contexts: Any = None) -> Any:
        """Play an arm and return it; with several contexts, a list of the arms played for them."""
        if contexts is None:
            return self._bandit.ask()
        arms = [self._bandit.ask(context) for context in np.atleast_2d(contexts)]
        return arms[0] if len(arms) == 1 else arms

    def predict_expectations(self, contexts: Any = None) -> Any:
        """The probability of each arm by name; with several contexts, a list of them."""
        if contexts is None:
            return self._bandit.weights()
        found = [self._bandit.weights(context) for context in np.atleast_2d(contexts)]
        return found[0] if len(found) == 1 else found

    def add_arm(self, arm: Hashable) -> None:
        """Add an arm, for a learner whose arms may change."""
        if arm in self._bandit.arms:
            raise ValueError(f"arm is {arm!r}, which is there already")
        self._bandit.change_arms(self.arms, [arm])

    def remove_arm(self, arm: Hashable) -> None:
        """Remove an arm; its open plays are withdrawn."""
        self._bandit.place_of(arm)
        self._bandit.change_arms([each for each in self.arms if each != arm], [])
