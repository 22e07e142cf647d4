"""The ledger: what has been played, what has arrived, and so what the learner may know.

In the full-information setting a loss of every arm is due for every round; in a bandit setting only
that of the arm played. Nothing here is kept incrementally: each count is taken from the records.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from belated.arrays import Floats
from belated.ftrl.regularizers import Hybrid


@dataclass(frozen=True)
class Play:
    """One round as it was played: everything in force then, frozen."""

    round: int
    arm: int | None
    q: Floats
    p: Floats
    rates: Floats
    regularizer: Hybrid
    available: Floats  # Lhat_t^av, what the prediction was made from
    missing: NDArray[np.int64]  # rho_t(i) (bandits: the learner's own plays only)
    waiting: tuple[int, ...]  # outstanding rounds of the arm played: m_t(i_t) with i_s = i_t

    def due(self, arms: int) -> range | tuple[int]:
        """The arms whose loss of this round will be told."""
        return range(arms) if self.arm is None else (self.arm,)


@dataclass(eq=False)
class Ledger:
    """All plays so far, and the losses that have arrived, by (round, arm).

    `ended` has the last round played when a loss arrived or was withdrawn.
    """

    arms: int
    plays: list[Play] = field(default_factory=list)
    pending: set[tuple[int, int]] = field(default_factory=set)
    arrived: dict[tuple[int, int], float] = field(default_factory=dict)
    ended: dict[tuple[int, int], int] = field(default_factory=dict)

    @property
    def round(self) -> int:
        """t, the round to be predicted next."""
        return len(self.plays) + 1

    def missing(self) -> NDArray[np.int64]:
        """rho_t(i): how many losses of each arm are due and have not arrived."""
        counts = np.zeros(self.arms, dtype=np.int64)
        for _, arm in self.pending:
            counts[arm] += 1
        return counts

    def most_missing(self) -> int:
        """rho_t^max, the largest rho_s(i) of all arms and rounds s <= t."""
        return max(int(m.max()) for m in [self.missing(), *(play.missing for play in self.plays)])

    def most_outstanding(self) -> int:
        """The largest number of pending losses at the start of any round s <= t."""
        return max(int(m.sum()) for m in [self.missing(), *(play.missing for play in self.plays)])

    def most_waiting(self) -> int:
        """The largest number of pending plays of one arm, right after any of the plays."""
        return max((1 + len(play.waiting) for play in self.plays), default=0)

    def observed_loss(self) -> float:
        """The sum of the losses that have arrived, as they are (in eq:banditeta)."""
        return float(sum(self.arrived.values()))

    def outstanding_rounds(self, arm: int) -> tuple[int, ...]:
        """The rounds in which this arm's loss became due and has not arrived."""
        return tuple(sorted(s for s, i in self.pending if i == arm))

    def only(self, rounds: Sequence[int]) -> "Ledger":
        """These rounds as a game of their own: the first of them is round 1, and so on.

        What was available to their predictions stays as it was.
        """
        number, own = {s: k for k, s in enumerate(rounds, 1)}, Ledger(self.arms)
        ended_after: dict[int, list[tuple[int, int]]] = {}
        for (s, arm), after in self.ended.items():
            if s in number:
                ended_after.setdefault(after, []).append((s, arm))
        for play in self.plays:
            if play.round in number:
                waiting = () if play.arm is None else own.outstanding_rounds(play.arm)
                k, missing = number[play.round], own.missing()
                own.record(replace(play, round=k, missing=missing, waiting=waiting))
            for s, arm in ended_after.get(play.round, ()):
                if (s, arm) in self.arrived:
                    own.receive(own.plays[number[s] - 1], arm, self.arrived[s, arm])
                else:
                    own.withdraw(own.plays[number[s] - 1], arm)
        return own

    def record(self, play: Play) -> None:
        """A round was played; its losses are due from now on."""
        self.plays.append(play)
        self.pending.update((play.round, arm) for arm in play.due(self.arms))

    def withdraw(self, play: Play, arm: int) -> None:
        """The loss is not waited for any longer."""
        if (play.round, arm) not in self.pending:
            raise ValueError(f"the loss of arm {arm} in round {play.round} is not pending")
        self.pending.remove((play.round, arm))
        self.ended[play.round, arm] = len(self.plays)

    def receive(self, play: Play, arm: int, loss: float) -> None:
        """A loss has arrived."""
        self.withdraw(play, arm)
        self.arrived[play.round, arm] = loss
