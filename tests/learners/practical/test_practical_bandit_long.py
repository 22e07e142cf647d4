"""The practical bandit in games that take compiled code: very old plays, and a million draws."""

import numpy as np
import pytest

from belated.environments.environment import Environment
from belated.environments.in_memory import GivenDelays, GivenLosses
from belated.environments.missing import NEVER
from belated.learners.practical.practical_bandit import (
    EVIDENCE,
    LONG_FORECAST,
    PracticalBandit,
    PracticalBanditState,
)
from belated.learners.practical.silence import MOST_FOLLOWED
from belated.play import engine
from belated.play.game import Game
from tests.games import Table
from tests.learners.practical.both_layers import BothLayers, assert_close, late_table
from tests.twins.practical_bandit import PracticalBanditTwin

ALONE = 8150  # rounds before the comparison begins: the ring of followed plays has not wrapped yet
ROUNDS = 8900


class LongGame(BothLayers):
    """The learner plays alone first; then both go on from what is in force and the record so far.

    Neither trust nor exploration plays a part, which the account of a long game would take long to
    compute.
    """

    def __init__(self, table: Table, withdrawn: float) -> None:
        super().__init__(table, withdrawn, certified=False, exploration=0.0, default_loss=1.0)

    def start_alone(self) -> None:
        """Play all rounds but the last; the twin only keeps the record."""
        record = self.twin.record
        for t in range(1, ALONE + 1):
            for s, arm, play in self.due.pop(t, ()):
                loss = float(self.table.losses[s - 1, arm])
                if self.given_up[s - 1]:
                    self.driver.withdraw(play, arm)
                    record.withdraw(s)
                else:
                    self.driver.tell(play, arm, loss)
                    record.tell(s, loss)
            arm = self.drawn(t, self.driver.predict().q)
            row = self.driver.play(arm)[0]
            record.play(arm, row[LONG_FORECAST:], float(row[EVIDENCE]))
            self.send(t, arm, row)
        hand_over(self.driver.state, self.twin)

    def go_on(self) -> None:
        """Play the last rounds in both, and compare all but the account."""
        twin = self.twin
        for t in range(ALONE + 1, self.rounds + 1):
            self.news(t)
            q = self.driver.predict().q
            assert_close(q, twin.weights())
            arm = self.drawn(t, q)
            row = self.driver.play(arm)[0]
            twin.freeze(arm)
            self.compare(row)
            self.send(t, arm, row)


def hand_over(state: PracticalBanditState, twin: PracticalBanditTwin) -> None:
    """Put what is in force into the twin; sums and counts it computes from its record."""
    silence = state.silence
    twin.estimate[:], twin.number[:] = state.estimates.means, state.estimates.counts
    twin.pooled[:], twin.gain = state.estimates.pooled, float(state.memories.gain[0])
    twin.memory, twin.meaning = int(state.memories.used[0]), float(silence.meaning[0])
    twin.counts_as[:] = np.stack([silence.weight.T, silence.loss.T], axis=-1)
    due = int(state.next_refresh[0])
    twin.next_when_judged = next(t for t in range(due) if t + t // 20 == due)


@pytest.mark.compiled
@pytest.mark.core
def test_a_game_in_which_the_last_bin_fills() -> None:
    """Plays are told and withdrawn in the last bin, which has no end, and the ring has wrapped."""
    table = late_table(4, ROUNDS, 2, longest=20)
    random = np.random.default_rng(4)
    late = random.random((600, 2)) < 0.3
    table.delays[:600][late] = random.integers(8150, 8500, int(late.sum()))
    game = LongGame(table, withdrawn=0.1)
    game.start_alone()
    assert game.driver.state.silence.followed_arm.size == MOST_FOLLOWED
    game.go_on()
    assert game.twin.next_when_judged > MOST_FOLLOWED
    game.compare_law()
    law = game.twin.law_of_silence()
    assert law.counts[:, -1].sum() > 500
    assert (game.twin.record.came[:600] - np.arange(1, 601) >= 8192).sum() > 10
    early = game.given_up[:600] & (table.delays[:600].max(axis=1) != NEVER)
    assert (game.twin.record.withdrawn[:600][early] - np.arange(1, 601)[early] >= 8192).any()


@pytest.mark.compiled
def test_arms_are_drawn_as_often_as_their_probabilities_say() -> None:
    """A million draws: plays less probabilities, over their standard deviation at most."""
    rounds, games, arms = 40_000, 25, 4
    off, weights = np.zeros(arms), np.zeros(arms)
    for seed in range(games):
        table = late_table(seed, rounds, arms, "mixed", period=7_000)
        parts = GivenLosses(table.losses), GivenDelays(table.delays)
        seeds = np.random.SeedSequence(seed).spawn(2)
        game = Game(Environment("late", *parts, rounds), seeds[0])
        trace = engine.play(PracticalBandit(arms, beta=0.5), game, seeds[1])
        off += trace.plays - trace.weight_at[-1]
        weights += trace.weight_at[-1]
    largest = np.sqrt(np.minimum(weights, games * rounds - weights))
    assert (np.abs(off) < 4.0 * largest).all()
    assert weights.min() > 1_000.0
