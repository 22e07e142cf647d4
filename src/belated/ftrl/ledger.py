"""The ledger: every play so far and every loss that has arrived, which is all a learner may use.

In the full-information setting each round produces one loss for every arm; in the bandit settings
only one, that of the arm played. No count is kept incrementally: each is computed from the records.
"""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from belated.arrays import Floats
from belated.ftrl.regularizers import HybridRegularizer


@dataclass(frozen=True)
class Play:
    """One round as it was played, with the prediction, rates and regularizer used in it."""

    round: int
    arm: int | None
    q: Floats
    p: Floats
    rates: Floats
    regularizer: HybridRegularizer
    available: Floats  # Lhat_t^av, from which the prediction was made
    missing: NDArray[np.int64]  # rho_t(i) (bandits: counts the learner's own plays only)
    waiting: tuple[int, ...]  # outstanding rounds of the arm played: m_t(i_t) with i_s = i_t
    advice: Floats | None = None  # xi_t(n, i) over (policy, arm), if policies gave advice
    missing_mass: Floats | None = None  # rho_t(n) by policy, if policies gave advice

    def due(self, arms: int) -> range | tuple[int]:
        """The arms whose loss of this round the learner will observe."""
        return range(arms) if self.arm is None else (self.arm,)


@dataclass(eq=False)
class Ledger:
    """All plays so far, and the pending and arrived losses by (round, arm).

    `ended` maps a loss that arrived or was withdrawn to the last round played before that.
    """

    arms: int
    plays: list[Play] = field(default_factory=list)
    pending: set[tuple[int, int]] = field(default_factory=set)
    arrived: dict[tuple[int, int], float] = field(default_factory=dict)
    ended: dict[tuple[int, int], int] = field(default_factory=dict)

    @property
    def round(self) -> int:
        """t, the number of the round to be predicted next, from 1."""
        return len(self.plays) + 1

    def missing(self) -> NDArray[np.int64]:
        """rho_t(i): the number of pending losses of each arm."""
        counts = np.zeros(self.arms, dtype=np.int64)
        for _, arm in self.pending:
            counts[arm] += 1
        return counts

    def most_missing(self) -> int:
        """rho_t^max: the largest rho_s(i) over all arms and rounds s <= t."""
        return max(int(m.max()) for m in [self.missing(), *(play.missing for play in self.plays)])

    def missing_mass(self, policies: int) -> Floats:
        """rho_t(n) of Theorem 5: how much of each policy's advice has losses that are pending."""
        mass = np.zeros(policies)
        for s, arm in sorted(self.pending):
            advice = self.plays[s - 1].advice
            assert advice is not None
            mass += advice[:, arm]
        return mass

    def most_missing_mass(self, policies: int) -> float:
        """rho_t^max of Theorem 5: the largest rho_s(n) over all policies and rounds s <= t."""
        before = (play.missing_mass for play in self.plays if play.missing_mass is not None)
        return max(float(mass.max()) for mass in [self.missing_mass(policies), *before])

    def most_outstanding(self) -> int:
        """The largest number of pending losses at the start of any round s <= t."""
        return max(int(m.sum()) for m in [self.missing(), *(play.missing for play in self.plays)])

    def most_waiting(self) -> int:
        """The largest number of pending plays of one arm so far, counted right after each play."""
        return max((1 + len(play.waiting) for play in self.plays), default=0)

    def outstanding_at(self, round_: int) -> list[Play]:
        """A bandit's plays whose loss was pending at the start of a round s <= t."""
        return [
            play
            for play in self.plays[: round_ - 1]
            if play.arm is not None and self.ended.get((play.round, play.arm), round_) >= round_
        ]

    def observed_loss(self) -> float:
        """The sum of the arrived losses, neither weighted nor corrected (used in eq:banditeta)."""
        return float(sum(self.arrived.values()))

    def outstanding_rounds(self, arm: int) -> tuple[int, ...]:
        """The rounds whose loss of this arm is pending, in increasing order."""
        return tuple(sorted(s for s, i in self.pending if i == arm))

    def record(self, play: Play) -> None:
        """Add a play; its losses are pending from now on."""
        self.plays.append(play)
        self.pending.update((play.round, arm) for arm in play.due(self.arms))

    def withdraw(self, play: Play, arm: int) -> None:
        """Remove a loss from the pending ones without a value."""
        if (play.round, arm) not in self.pending:
            raise ValueError(f"the loss of arm {arm} in round {play.round} is not pending")
        self.pending.remove((play.round, arm))
        self.ended[play.round, arm] = len(self.plays)

    def receive(self, play: Play, arm: int, loss: float) -> None:
        """Record the value of a pending loss that has arrived."""
        self.withdraw(play, arm)
        self.arrived[play.round, arm] = loss
