"""The practical bandit and its literal twin through one game, compared in every round."""

import math
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from belated.arrays import Counts, Floats
from belated.environments.missing import NEVER
from belated.learners.branches import TAKEN
from belated.learners.delay_law import HERE, ONES, PASSED, ZEROS
from belated.learners.driver import Driver
from belated.learners.following import NO_MEANING
from belated.learners.paper.concealed import DIVISOR, WEIGHT
from belated.learners.practical.certified_trust import estimated_regret, largest_regret
from belated.learners.practical.practical_bandit import (
    EVIDENCE,
    LONG_FORECAST,
    ROUND,
    TRUSTED,
    PracticalBandit,
)
from belated.learners.practical.silence import BY_OUTCOME
from tests.games import Table
from tests.twins.practical_bandit import Meaning, Options, PracticalBanditTwin

CLOSE = 1e-9
GIVEN_UP = 40  # rounds after which a play that would never be told is withdrawn, if any is


class Seen(NamedTuple):
    """The branch of a round, and the memory and the meaning of silence from its end on."""

    trusted: bool
    memory: int
    meaning: Meaning


class BothLayers:
    """One game of a table; some plays are withdrawn when their losses would have been told."""

    def __init__(self, table: Table, withdrawn: float = 0.0, **options: Any) -> None:
        self.table, (self.rounds, self.arms) = table, table.losses.shape
        self.driver = Driver(PracticalBandit(self.arms, **options), room=64)
        self.twin = PracticalBanditTwin(self.arms, self.rounds, Options(**options))
        chances = np.random.default_rng(self.rounds).random((self.rounds,))
        self.given_up: NDArray[np.bool_] = chances < withdrawn
        self.due: dict[int, list[tuple[int, int, Floats]]] = {}
        self.budget = math.inf  # of the last round

    def compared(self) -> list[Seen]:
        """Play all rounds, and compare what both layers have, to nine digits."""
        return list(self.each_round())

    def each_round(self) -> Iterator[Seen]:
        for t in range(1, self.rounds + 1):
            self.news(t)
            arm = self.drawn(t, self.begin())
            self.play(t, arm)
            yield Seen(self.twin.account.trusted[-1], self.twin.memory, self.twin.meaning)
        self.compare_law()

    def drawn(self, t: int, q: Floats) -> int:
        """The arm of round t, with a little probability for each, lest estimates explode."""
        mixed = np.cumsum(0.9 * q + 0.1 / self.arms)
        return int(np.searchsorted(mixed, self.table.draws[t - 1] * mixed[-1], side="right"))

    def compare_law(self) -> None:
        """What the law of delays has counted is what a count over all plays gives."""
        law, counts = self.twin.law_of_silence(), self.driver.state.silence.law.counts
        for i in range(self.arms):
            own = (law.arm == i)[:, None]
            for outcome, kind in ((ONES, 0.0), (ZEROS, 1.0)):
                assert_close(counts[outcome, :, i], law.of_kind(law.told & own, kind))
                assert_close(counts[HERE + outcome, :, i], law.of_kind(law.is_report & own, kind))
            assert_close(counts[PASSED, :, i], (law.counts & own).sum(axis=0))

    def news(self, t: int) -> None:
        """The losses that come before round t, and the plays that are withdrawn."""
        for s, arm, play in self.due.pop(t, ()):
            if self.given_up[s - 1]:
                self.driver.withdraw(play, arm)
                self.twin.withdraw(s)
            else:
                loss = float(self.table.losses[s - 1, arm])
                self.driver.tell(play, arm, loss)
                self.twin.tell(s, loss)

    def begin(self) -> Floats:
        """q_t of both, with the account of Theorem 4 and its floor."""
        made, wanted, state = self.driver.predict(), self.twin.begin(), self.driver.state
        assert (made.info.branch[TAKEN] == TRUSTED) == wanted["trusted"]
        assert_close(made.q, wanted["q"])
        assert_close(made.info.budget[0], float(wanted["b"]))
        regrets = np.array([estimated_regret(state.account, u) for u in range(self.arms)])
        assert_close(regrets, np.array(wanted["C"], np.float64), 1e-9 * (1.0 + abs(regrets).max()))
        if self.twin.options.is_certified:
            assert largest_regret(state.account) <= self.budget + 1.0 + 1e-9
        self.budget = float(made.info.budget[0])
        if wanted["trusted"]:
            self.assert_explored(made.q, self.budget - regrets)
        return np.array(made.q)

    def assert_explored(self, q: Floats, room: Floats) -> None:
        """The least probability of an arm in a trusted round, as the text states it."""
        most, c = 0.5 / self.arms, self.twin.options.exploration
        with np.errstate(divide="ignore"):
            floor = np.minimum(most, c * self.twin.record.round / room**2)
        assert (q >= 2.0 / 3.0 * floor * (1.0 - 1e-12)).all()

    def play(self, t: int, arm: int) -> None:
        """Play the arm in both, and compare the frozen row and all that the round's end changes."""
        row, twin = self.driver.play(arm)[0], self.twin
        twin.play(arm)
        if twin.account.trusted[-1]:
            assert row[WEIGHT] == 0.0
            assert_close(row[DIVISOR], twin.account.q[-1][arm])
        else:
            weight = float(twin.fallback.weight(len(twin.fallback.arms)))
            assert_close(row[DIVISOR], 1.0 / weight)
        self.compare(row)
        self.send(t, arm, row)

    def compare(self, row: Floats) -> None:
        """The frozen forecasts of the last round, and what is in force from then on."""
        state, twin, last = self.driver.state, self.twin, self.twin.record.number
        assert row[ROUND] == last
        assert_close(row[EVIDENCE], twin.record.evidence[last - 1], CLOSE * row[EVIDENCE])
        assert_close(row[LONG_FORECAST:], twin.record.forecasts[last - 1])
        assert state.memories.used[0] == twin.memory
        assert state.silence.meaning[0] == as_number(twin.meaning)
        assert_close(state.estimates.means, twin.estimate)
        assert_close(state.estimates.counts, twin.number, CLOSE * twin.number.max())

    def send(self, t: int, arm: int, row: Floats) -> None:
        """The loss of the play of round t is on its way."""
        delay = int(self.table.delays[t - 1, arm])
        if delay != NEVER or self.given_up[t - 1]:
            after = GIVEN_UP if delay == NEVER else delay
            self.due.setdefault(t + after + 1, []).append((t, arm, row))


def as_number(meaning: Meaning) -> float:
    """The twin's meaning of silence as the learner has it."""
    if isinstance(meaning, float):
        return meaning
    return NO_MEANING if meaning is None else BY_OUTCOME


def assert_close(found: Any, wanted: Any, tolerance: Any = CLOSE) -> None:
    """Equal to an absolute tolerance, with the numbers in the message if they are not."""
    apart = np.abs(np.asarray(found) - np.asarray(wanted))
    assert (apart <= tolerance).all(), f"{found} is not {wanted}"


def late_table(
    seed: int, rounds: int, arms: int, kind: str = "coins", period: int = 10**9, longest: int = 25
) -> Table:
    """Losses whose means move from arm to arm now and then; delays by arm and by outcome.

    Of "coins" a high loss takes longer, of "narrow" losses all are near the mean of their arm, and
    of "mixed" ones half are coins. One loss in twenty never comes, and one in ten takes up to all
    rounds. Of "zeros" only losses of 0 come, of "ones" only losses of 1.
    """
    random = np.random.default_rng(seed)
    shape = (rounds, arms)
    order = (np.arange(arms) + np.arange(rounds)[:, None] // period) % arms
    means = np.linspace(0.2, 0.8, arms)[order] if arms > 1 else np.full(shape, 0.4)
    coins = (random.random(shape) < means).astype(np.float64)
    narrow = np.clip(means + 0.03 * random.standard_normal(shape), 0.0, 1.0)
    of_coins = {"narrow": 0.0, "mixed": 0.5}.get(kind, 1.0)
    losses = np.where(random.random(shape) < of_coins, coins, narrow)
    by_arm = random.integers(0, 1 + np.arange(arms) % 7, shape)
    delays: Counts = by_arm + (losses * random.integers(0, longest, shape)).astype(np.int64)
    delays += np.where(random.random(shape) < 0.1, random.integers(0, rounds, shape), 0)
    never = random.random(shape) < 0.05
    if kind in ("zeros", "ones"):
        never |= losses != float(kind == "ones")
    delays[never] = NEVER
    return Table(losses, delays, random.random(rounds))
