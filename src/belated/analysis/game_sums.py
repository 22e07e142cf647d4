"""Sums over a game: losses, missing losses and delays of every arm, whatever is played in it."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from belated.analysis.contextual_goals import contextual_goals
from belated.analysis.waiting import Waits, WaitSums, in_time, waits_for_window
from belated.arrays import Counts, Floats
from belated.environments.environment import Environment
from belated.environments.missing import NEVER
from belated.play.game import Game, Stretch
from belated.types import DELIVERIES, Delivery

LEVELS = (0.1, 0.25, 0.5, 0.75, 0.9, 0.99)
MOST_CHARGED = 2**21
SAMPLED_PAIRS = 2**19
LONGEST_LAW = 2**14
LARGEST_TAIL_INDEX = 10.0
SCATTER = np.uint64(0x9E3779B97F4A7C15)  # 2^64 / golden ratio


@dataclass(frozen=True)
class DelayStatistics:
    """The delays of each arm in a sample of rounds.

    A loss that has not arrived by the end of the game counts as one that never comes; quantiles
    among such losses are infinite.
    """

    sampled: int  # the number of rounds in the sample
    mean: Floats  # the mean delay of the losses that come
    never: Floats
    quantiles: Floats  # (level, arm)
    law: Floats  # the share of all losses that come within 0, 1, 2, ... rounds
    tail_index: float  # alpha, if at most m^-alpha of an arm's losses take more than m >= 2 rounds


@dataclass(frozen=True)
class GameSums:
    """Sums over all rounds of a game; arrays have an entry for each arm.

    losses is L_T, missing_losses is L_T^rho, the sum of rho_t(i) l_t(i). caps are the values that
    rho_t^max takes, and charged[k] is the sum of (1 + rho_t(i)) l_t(i) over the rounds in which it
    is caps[k]; both are None if the table would be too large. waits has, for each way of
    delivery, how many losses are missing to a learner that is told its losses in this way.
    """

    rounds: int
    labels: tuple[str, ...]
    prior: Floats
    losses: Floats
    missing_losses: Floats
    most_missing: Counts
    mean_missing: Floats
    waits: Mapping[Delivery, Waits]
    arm_dependent: bool  # whether any round has different delays for its arms
    caps: Counts | None
    charged: Floats | None
    delays: DelayStatistics
    delays_together: Mapping[Delivery, DelayStatistics]  # padded and in order, as of a single arm
    checkpoints: Counts
    losses_at: Floats  # L_t after each checkpoint
    policies: tuple[str, ...]  # the names of the policies that give advice, if there are any
    policy_losses: Floats  # the sum of y_t(n) = <xi_t(n), l_t> for each policy
    default_loss: float | None = None  # what silence means, if the environment declares it
    features: tuple[str, ...] = ()  # the names of the numbers of a context, if there are contexts
    goals: Mapping[str, float] = field(default_factory=dict)  # what policies of contexts would lose

    @property
    def arms(self) -> int:
        """K, the number of arms."""
        return self.losses.size

    @property
    def max_missing(self) -> int:
        """rho*: the largest missing count of any round and arm."""
        return int(self.most_missing.max())

    @property
    def total_delay(self) -> int:
        """The sum over rounds of the largest missing count."""
        return self.waits["own"].total_delay

    @property
    def max_delay(self) -> int:
        """The longest delay that ends within the game."""
        return self.waits["own"].max_delay

    def told(self, delivery: Delivery, window: int | None = None) -> tuple[Waits, DelayStatistics]:
        """Return the waits and delays of a learner with this delivery, or with this window."""
        if window is not None:
            delay = window if window < self.rounds else NEVER
            law = _delays(np.full((1, 1), delay), self.rounds)
            return waits_for_window(window, self.rounds), law
        return self.waits[delivery], self.delays_together.get(delivery, self.delays)

    @property
    def best_arm(self) -> int:
        """The arm of the smallest total loss."""
        return int(self.losses.argmin())


def sum_up(game: Game) -> GameSums:
    """Read a game once and compute all its sums."""
    environment = game.environment
    sums = _Sums(environment, game.checkpoints)
    for stretch in game.stretches():
        sums.add(stretch)
    return replace(sums.close(environment), goals=contextual_goals(game))


class _Sums:
    def __init__(self, environment: Environment, checkpoints: Counts) -> None:
        arms, rounds = environment.arms, environment.rounds
        self.losses = np.zeros(arms)
        self.missing_losses = np.zeros(arms)
        self.missing = np.zeros(arms)
        self.most_missing = np.zeros(arms, dtype=np.int64)
        self.waits = WaitSums()
        self.arm_dependent = False
        self.caps: list[int] | None = []
        self.charged: list[Floats] = []
        self.sampled: list[Counts] = []
        share = min(1.0, max(64.0, SAMPLED_PAIRS / arms) / rounds)
        self.threshold = np.uint64(min(int(share * 2.0**64), 2**64 - 1))
        self.checkpoints = checkpoints
        self.losses_at = np.empty((checkpoints.size, arms))
        self.policy_losses = np.zeros(len(environment.policies))
        self.passed = 0

    def add(self, stretch: Stretch) -> None:
        """Add the sums of one stretch."""
        weighted = stretch.missing * stretch.losses
        self.losses += stretch.losses.sum(axis=0)
        self.missing_losses += weighted.sum(axis=0)
        self.missing += stretch.missing.sum(axis=0)
        self.charge(stretch, weighted + stretch.losses)
        if stretch.advice is not None:
            self.policy_losses += np.einsum("tni,ti->n", stretch.advice, stretch.losses)
        np.maximum(self.most_missing, stretch.missing.max(axis=0), out=self.most_missing)
        together = self.waits.add(stretch)
        delays = in_time(stretch, stretch.delays)
        self.arm_dependent |= bool((delays != delays[:, :1]).any())
        index = np.arange(stretch.first, stretch.end, dtype=np.uint64)
        chosen = index * SCATTER <= self.threshold
        self.sampled.append(np.column_stack([delays[chosen], together[chosen]]))
        if stretch.end == self.checkpoints[self.passed]:
            self.losses_at[self.passed] = self.losses
            self.passed += 1

    def charge(self, stretch: Stretch, charged: Floats) -> None:
        """Add (1 + rho_t) l_t of each round to the row of the round's rho_t^max."""
        if self.caps is None:
            return
        before = self.caps[-1] if self.caps else 0
        highest = np.maximum.accumulate(np.maximum(stretch.missing.max(axis=1), before))
        starts = np.flatnonzero(np.r_[True, highest[1:] > highest[:-1]])
        if (len(self.caps) + starts.size) * charged.shape[1] > MOST_CHARGED:
            self.caps, self.charged = None, []
            return
        for cap, row in zip(highest[starts], np.add.reduceat(charged, starts, axis=0), strict=True):
            if self.caps and self.caps[-1] == cap:
                self.charged[-1] += row
            else:
                self.caps.append(int(cap))
                self.charged.append(row)

    def close(self, environment: Environment) -> GameSums:
        """Return the sums of the whole game."""
        arms, rounds = environment.arms, environment.rounds
        prior = np.full(arms, 1.0 / arms) if environment.prior is None else environment.prior
        sampled = np.concatenate(self.sampled)
        return GameSums(
            rounds=rounds,
            labels=tuple(environment.labels),
            prior=np.asarray(prior, dtype=np.float64),
            losses=self.losses,
            missing_losses=self.missing_losses,
            most_missing=self.most_missing,
            mean_missing=self.missing / rounds,
            waits=self.waits.waits,
            arm_dependent=self.arm_dependent,
            caps=None if self.caps is None else np.array(self.caps),
            charged=None if self.caps is None else np.array(self.charged),
            delays=_delays(sampled[:, :arms], rounds),
            delays_together={
                delivery: _delays(sampled[:, [column]], rounds)
                for column, delivery in enumerate(DELIVERIES[1:], start=arms)
            },
            checkpoints=self.checkpoints,
            losses_at=self.losses_at,
            policies=environment.policies,
            policy_losses=self.policy_losses,
            default_loss=environment.default_loss,
            features=environment.features,
        )


def _delays(sampled: Counts, rounds: int) -> DelayStatistics:
    never = sampled == NEVER
    waits = np.where(never, np.inf, sampled)
    total = np.where(never, 0, sampled).sum(axis=0)
    return DelayStatistics(
        sampled=len(sampled),
        mean=total / np.maximum((~never).sum(axis=0), 1),
        never=never.mean(axis=0),
        quantiles=np.quantile(waits, LEVELS, axis=0, method="inverted_cdf"),
        law=_law(sampled[~never], sampled.size),
        tail_index=min(_tail_index(column, rounds) for column in waits.T),
    )


def _law(waits: Counts, count: int) -> Floats:
    """Return the share of losses that arrive within 0, 1, ... rounds, up to the longest delay."""
    if not waits.size:
        return np.zeros(1)
    longest = min(int(waits.max()), LONGEST_LAW - 1)
    within: Floats = np.cumsum(np.bincount(waits, minlength=longest + 1)) / count
    return within[: longest + 1]


def _tail_index(waits: Floats, rounds: int) -> float:
    """Return the tail index of the delays of an arm.

    It is the largest alpha such that, for 2 <= m < rounds, a share of at most m^-alpha of the
    losses takes more than m rounds. This share changes at the waits only, so it is enough to look
    at the last m before each of them. A loss that never comes takes more than any m: in a game
    without an end, alpha would be 0.
    """
    ordered = np.sort(np.minimum(waits, rounds))
    ordered = ordered[ordered > 2.0]
    if not ordered.size:
        return LARGEST_TAIL_INDEX
    longer = (ordered.size - np.arange(ordered.size)) / waits.size  # the share at that m
    index = float((np.log(1.0 / longer) / np.log(ordered - 1.0)).min())
    return min(index, LARGEST_TAIL_INDEX)
