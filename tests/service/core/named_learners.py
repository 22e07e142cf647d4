"""Learners over names, worked out anew from the records in every round: slow, literal, and alone.

They know arms only by name, so that no place can be mistaken for another when arms come and go. An
arm that comes back is another one of the same name.
"""

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, field, replace

import numpy as np

from belated.ftrl.argmin import argmin
from belated.ftrl.regularizers import (
    HybridRegularizer,
    NegativeEntropy,
    Regularizer,
    Tsallis,
    ZeroRegularizer,
)

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
