"""The Open Bandit Pipeline: policies for its simulations, and logs for its estimators.

This module does not import OBP, whose interfaces are methods and dictionaries. Reading its logs
needs no adapter: `belated.read_log` takes a `bandit_feedback`.
"""

import sys
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from belated.adapters.hosted import HostedBandit
from belated.checks import as_count, as_range
from belated.evaluation.logs.journal import Journal


class ObpPolicy:
    """One of our bandits as a context-free policy of OBP: `select_action`, `update_params`.

    A simulation on a log updates a policy only in rounds where it chose as the log did. A selection
    without an update is given up at the next one, so that it does not count as outstanding.
    """

    len_list = 1
    batch_size = 1

    def __init__(
        self,
        n_actions: int,
        learner: str = "practical-bandit",
        reward_range: Sequence[float] = (0.0, 1.0),
        random_state: int | None = None,
        **options: Any,
    ) -> None:
        self.n_actions = as_count(n_actions, "n_actions", 2)
        self.policy_name, self.n_trial = learner, 0
        self._range = as_range(reward_range)
        self._made_of = (range(self.n_actions), learner, random_state, options)
        self.initialize()

    @property
    def policy_type(self) -> Any:
        """How OBP calls this kind of policy: its own constant if it is imported, else a name."""
        own = sys.modules.get("obp.policy.policy_type")
        return "contextfree" if own is None else own.PolicyType.CONTEXT_FREE

    def initialize(self) -> None:
        """Begin again, with nothing learned."""
        arms, learner, seed, options = self._made_of
        self._bandit = HostedBandit(arms, learner, seed, **options)
        self.n_trial = 0

    def select_action(self) -> NDArray[np.int64]:
        """Play an arm, as a list of one action."""
        for arm in self._bandit.arms:
            while self._bandit.is_open(arm):
                self._bandit.withdraw(arm)
        return np.array([self._bandit.ask()], dtype=np.int64)

    def update_params(self, action: int, reward: float) -> None:
        """Tell the reward of the action that was selected."""
        self._bandit.tell(int(action), self._range.reward(reward))
        self.n_trial += 1


def bandit_feedback(journal: Journal) -> dict[str, Any]:
    """A log with outcomes as OBP's `bandit_feedback`; rounds without an outcome are left out.

    OBP knows no late outcomes: what has not been told is not in the result, which favours actions
    with fast outcomes. `belated.evaluate` corrects for that. Values of contexts must be numbers.
    """
    told = journal.told
    if np.isnan(journal.probability[told]).any():
        raise ValueError("the log does not say with which probability arms were drawn")
    names = sorted({name for context in journal.context_rows for name in context})
    contexts = [
        [float(context.get(name, 0.0)) for name in names]
        for context, is_told in zip(journal.context_rows, told, strict=True)
        if is_told
    ]
    low, high = journal.units.low, journal.units.high
    return {
        "n_rounds": int(told.sum()),
        "n_actions": len(journal.arms),
        "action": journal.chosen[told].astype(np.int64),
        "reward": low + (high - low) * journal.rewards[told],
        "pscore": journal.probability[told],
        "context": np.array(contexts, dtype=np.float64).reshape(len(contexts), len(names)),
        "action_context": np.eye(len(journal.arms)),
        "position": None,
        "expected_reward": None,
    }
