"""Learners over names, worked out anew from the records in every round: slow, literal, and alone.

They know arms only by name, so that no place can be mistaken for another when arms come and go. An
arm that comes back is another one of the same name.
"""

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, field, replace

import numpy as np

from belated.ftrl.argmin import argmin
from belated.ftrl.ledger import Ledger
from belated.ftrl.ledger import Play as LedgerPlay
from belated.ftrl.regularizers import (
    HybridRegularizer,
    NegativeEntropy,
    Regularizer,
    Tsallis,
    ZeroRegularizer,
)
from tests.twins.practical_imputation import SLOW, History, Told, renewals

Arm = tuple[str, int]  # its name, and how many of that name were before it
Weights = dict[Arm, float]


@dataclass
class Played:
    """A play: its round and arm, the divisor of its loss, and what came of it, and when."""

    round: int
    arm: Arm
    probability: float
    divisor: float = 1.0
    waiting: float = 0.0  # the weights of earlier plays of the arm that were unanswered
    loss: float | None = None
    is_open: bool = True


@dataclass
class NamedLearner(ABC):
    """What all of them keep: the present arms, the plays by ticket, and at what an arm entered."""

    present: list[Arm]
    plays: dict[str, Played] = field(default_factory=dict)
    entered_at: dict[Arm, float] = field(default_factory=dict)

    @property
    def round(self) -> int:
        """The round to come."""
        return len(self.plays) + 1

    @abstractmethod
    def weights(self) -> Weights:
        """q of the coming round."""

    def decided(self, ticket: str, name: str, probability: float) -> None:
        """An arm was drawn."""
        arm = next(each for each in self.present if each[0] == name)
        self.plays[ticket] = self.frozen(Played(self.round, arm, probability))

    def frozen(self, play: Played) -> Played:
        """A play with what has to be kept of this moment."""
        return play

    def ended(self, ticket: str, loss: float | None) -> None:
        """A loss came, or none ever will; of an arm that is gone nothing is learned."""
        play = self.plays[ticket]
        if play.is_open and play.arm in self.present:
            self.plays[ticket] = replace(play, loss=loss, is_open=False)

    def changed(self, add: list[str], remove: list[str]) -> None:
        """Arms leave, and with them what was waited for; others enter."""
        for ticket, play in self.plays.items():
            if play.arm[0] in remove and play.is_open:
                self.ended(ticket, None)
        self.present = [arm for arm in self.present if arm[0] not in remove]
        level, stay = self.entry(), len(self.present)
        for name in add:
            before = sum(arm[0] == name for arm in {*self.known(), *self.present})
            self.present.append((name, before))
        self.entered_at |= dict.fromkeys(self.present[stay:], level)

    def known(self) -> set[Arm]:
        """All arms that were ever played or that entered."""
        return {play.arm for play in self.plays.values()} | set(self.entered_at)

    def entry(self) -> float:
        """At what a new arm would enter now."""
        return 0.0

    def of(self, arm: Arm) -> list[Played]:
        """The plays of an arm of which the loss was told."""
        return [each for each in self.plays.values() if each.arm == arm and each.loss is not None]


class NamedUcb1(NamedLearner):
    """Delayed-UCB1."""

    def weights(self) -> Weights:
        index = {}
        for arm in self.present:
            rewards = [1.0 - (each.loss or 0.0) for each in self.of(arm)]
            bonus = math.sqrt(2.0 * math.log(self.round) / len(rewards)) if rewards else math.inf
            index[arm] = math.fsum(rewards) / max(1, len(rewards)) + bonus
        best = [arm for arm in self.present if index[arm] == max(index.values())]
        number = {arm: sum(each.arm == arm for each in self.plays.values()) for arm in best}
        least = [arm for arm in best if number[arm] == min(number.values())]
        return {arm: (arm in least) / len(least) for arm in self.present}


class NamedLeader(NamedLearner):
    """Follows the regularized leader: a new arm enters at what the present weights have lost."""

    def losses(self) -> Weights:
        """The estimated losses."""
        return {
            arm: self.entered_at.get(arm, 0.0)
            + math.fsum((each.loss or 0.0) / each.divisor for each in self.of(arm))
            for arm in self.present
        }

    def entry(self) -> float:
        q, losses = self.weights(), self.losses()
        return math.fsum(q[arm] * losses[arm] for arm in self.present)


class NamedExp3(NamedLeader):
    """Exp3."""

    def frozen(self, play: Played) -> Played:
        return replace(play, divisor=play.probability)

    def weights(self) -> Weights:
        losses, arms = self.losses(), len(self.present)
        eta = math.sqrt(math.log(arms) / (arms * self.round))
        parts = {arm: math.exp(-eta * (losses[arm] - min(losses.values()))) for arm in losses}
        return {arm: part / sum(parts.values()) for arm, part in parts.items()}


@dataclass
class NamedConcealed(NamedLeader):
    """The repaired concealed bandit."""

    max_missing: int = 20

    def epsilon(self) -> float:
        """1/sqrt(K t)."""
        return 1.0 / math.sqrt(len(self.present) * self.round)

    def frozen(self, play: Played) -> Played:
        open_ = [each for each in self.plays.values() if each.arm == play.arm and each.is_open]
        waiting = math.fsum(1.0 / each.divisor for each in open_)
        return replace(play, divisor=play.probability + self.epsilon(), waiting=waiting)

    def weights(self) -> Weights:
        cost = self.max_missing / self.epsilon()
        cost += math.fsum(each.waiting for each in self.plays.values())
        gamma = math.sqrt(math.log(len(self.present)) / cost)
        entropy: Regularizer = NegativeEntropy(gamma) if gamma > 0.0 else ZeroRegularizer()
        centre = np.full((len(self.present), 1), 1.0 / len(self.present))
        leader = HybridRegularizer(Tsallis(0.5 / math.sqrt(self.round)), entropy, centre, centre)
        losses = np.array(list(self.losses().values()))[:, None]
        return dict(zip(self.present, argmin(leader, losses).p[:, 0].tolist(), strict=True))


@dataclass
class NamedPractical(NamedLearner):
    """The practical bandit while it trusts what it imputes; estimates are those of the records.

    Their history is told of all arms there will ever be, of which the absent are never played.
    """

    ever: list[Arm] = field(default_factory=list)
    changed_after: int = 0  # so many rounds
    came_after: dict[Arm, int] = field(default_factory=dict)  # by arm, if not there from the first

    def __post_init__(self) -> None:
        self.ledger = Ledger(arms=len(self.ever))
        self.history = History(self.ledger)

    def frozen(self, play: Played) -> Played:
        nothing = np.zeros(0)
        centre = HybridRegularizer(ZeroRegularizer(), ZeroRegularizer(), nothing, nothing)
        counts = np.zeros(0, dtype=np.int64)
        place = self.ever.index(play.arm)
        self.ledger.record(
            LedgerPlay(play.round, place, nothing, nothing, nothing, centre, nothing, counts, ())
        )
        return play

    def ended(self, ticket: str, loss: float | None) -> None:
        play = self.plays[ticket]
        if play.is_open and play.arm in self.present:
            record, place = self.ledger.plays[play.round - 1], self.ever.index(play.arm)
            if loss is None:
                self.ledger.withdraw(record, place)
            else:
                self.ledger.receive(record, place, loss)
        super().ended(ticket, loss)

    def changed(self, add: list[str], remove: list[str]) -> None:
        super().changed(add, remove)
        self.changed_after = len(self.plays)
        self.came_after |= dict.fromkeys(add, self.changed_after)

    def worth(self, arm: Arm) -> float:
        """An arm's mean loss less its uncertainty, as of the last change of anything about it."""
        place, t = self.ever.index(arm), self.round
        played = [play.round for play in self.ledger.plays if play.arm == place]
        ended = [after for (_, i), after in self.ledger.ended.items() if i == place]
        u = max([self.changed_after, *played, *ended, *renewals(t - 1)])
        told, standing = Told.until(self.ledger, t), self.history.standing(u)
        estimates, counts = self.history.estimates(place, told, u, standing.overall)
        own = (1.0 - standing.level_share) * self.history.shares(place, told, standing.echo)
        shares = np.append(own, standing.level_share)
        mean, count = float(shares @ estimates), float(shares @ counts)
        waiting = self.ledger.outstanding_rounds(place)
        if waiting:
            recent = sum((s / (u + 1)) ** 2 for s in waiting)
            count += recent
            took = self.history.above_expected(told, told.arm == place)
            worse = standing.silence(u + 1 - sum(waiting) / len(waiting), took)
            mean += recent * worse / (count + 1.0)
        share = min(1.0, max(0.0, (mean * (count + 1.0) + 1.0) / (count + 3.0)))
        growth = 1.0 + max(0.0, math.log((u + 1) / (len(self.present) * (count + 1.0))))
        met = self.history.standing(max([self.came_after.get(arm, 0), *played])).level
        risen = 0.5 * standing.level_share * max(0.0, standing.level - met)
        return mean - 0.85 * math.sqrt(share * (1.0 - share) * growth / (count + 1.0)) - risen

    def weights(self) -> Weights:
        t, arms = self.round, len(self.present)
        self.history.standing(t - 1)
        worth = np.array([t * self.worth(arm) for arm in self.present])
        centre = np.full((arms, 1), 1.0 / arms)
        leader = HybridRegularizer(Tsallis(6.0 / math.sqrt(t)), ZeroRegularizer(), centre, centre)
        q = argmin(leader, worth[:, None]).p[:, 0]
        checked, last = 0.5, max([0, *renewals(t - 1)])
        if last > 0:
            overall = float(self.history.standing(last).overall[SLOW])
            checked = min(0.5, 5.0 * overall / (1.0 - overall) * last ** (-5.0 / 6.0))
        q = np.maximum(q, checked / arms)
        return dict(zip(self.present, (q / q.sum()).tolist(), strict=True))
