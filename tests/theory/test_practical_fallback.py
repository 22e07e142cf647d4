"""The rounds of the practical bandit that are not certified are a game of their own.

docs/theory-practical.md, Theorem 3: a repaired concealed bandit plays them, and knows of no others.
So what holds for that learner in every game holds for them. Here one is played beside it, told only
of those rounds, and must have the same weights, up to the last bits of the two solvers.
"""

import itertools
import math
from dataclasses import dataclass

import numpy as np
import pytest

from belated.arrays import Floats
from belated.learners.branches import TAKEN
from belated.learners.paper.concealed import Concealed
from belated.learners.practical.practical_bandit import TRUSTED, PracticalBandit
from belated.learners.states import leaves

ROUNDS, ARMS = 400, 4
SEEDS = range(4)


@dataclass
class Waiting:
    """A play, in which the repaired bandit has a part unless its round was trusted."""

    made: Floats
    beside: Floats | None
    arm: int
    loss: float


class Game:
    """In every second hundred of rounds the likeliest arm loses, and no other.

    Delays, some infinite, carry plays from rounds of the one kind to rounds of the other, and some
    plays are withdrawn. ended has, of all plays that were told or withdrawn, whether they were made
    with trust, whether they ended in a round with trust, and whether they were withdrawn.
    """

    def __init__(self, seed: int) -> None:
        self.random = np.random.default_rng(seed)
        self.learner = PracticalBandit(ARMS, beta=0.5)
        self.repaired = Concealed(ARMS, variant="repaired")
        self.state, self.beside = self.learner.start(), self.repaired.start()
        self.due: dict[int, list[Waiting]] = {}
        self.trusted: list[bool] = []
        self.gammas: list[float] = []
        self.ended: list[tuple[bool, bool, bool]] = []

    def play(self) -> None:
        """One more round of both, compared if it is one without trust."""
        t, prediction, beside = len(self.trusted), self.learner.predict(self.state), None
        trusted = prediction.info.branch[TAKEN] == TRUSTED
        self.trusted.append(trusted)
        arm = int(self.random.choice(ARMS, p=prediction.q))
        if not trusted:
            own = self.repaired.predict(self.beside)
            # The fallback has the safe solver, so that the last bits may differ.
            np.testing.assert_allclose(prediction.q, own.q, rtol=0.0, atol=1e-12)
            assert prediction.eta[0] == own.eta[0]
            assert math.isclose(prediction.gamma[0], own.gamma[0], rel_tol=1e-12)
            self.gammas.append(float(own.gamma[0]))
            beside = self.repaired.commit(self.beside, own, arm)[0]
        play = self.learner.commit(self.state, prediction, arm)[0]
        loss = arm / (ARMS - 1.0)
        if t % 200 < 100:
            loss = float(arm == prediction.q.argmax())
        if self.random.random() < 0.95:
            after = t + int(self.random.geometric(0.1)) - 1
            self.due.setdefault(after, []).append(Waiting(play, beside, arm, loss))
        for each in self.due.pop(t, ()):
            self.end(each, self.random.random() < 0.05)

    def end(self, play: Waiting, is_withdrawn: bool) -> None:
        """A loss is told, or the play withdrawn."""
        self.ended.append((play.beside is None, self.trusted[-1], is_withdrawn))
        if is_withdrawn:
            self.learner.withdraw(self.state, play.made, play.arm)
        else:
            self.learner.observe(self.state, play.made, play.arm, play.loss)
        if play.beside is not None and is_withdrawn:
            self.repaired.withdraw(self.beside, play.beside, play.arm)
        elif play.beside is not None:
            self.repaired.observe(self.beside, play.beside, play.arm, play.loss)


@pytest.mark.parametrize("seed", SEEDS)
def test_rounds_without_trust_are_played_by_a_repaired_bandit_of_their_own(seed: int) -> None:
    """Whatever happens in trusted rounds; and gamma never rises."""
    game = Game(seed)
    for _ in range(ROUNDS):
        game.play()
    assert all(later <= earlier for earlier, later in itertools.pairwise(game.gammas))
    assert sum(a != b for a, b in itertools.pairwise(game.trusted)) >= 3
    assert 20 <= game.trusted.count(False) <= ROUNDS - 20
    for crossing in ((True, False), (False, True)):
        assert sum(each == (*crossing, False) for each in game.ended) >= 5
    assert any(with_trust and withdrawn for with_trust, _, withdrawn in game.ended)


def test_when_arms_come_and_go_it_is_still_that_bandit() -> None:
    """In a round without trust, while plays of both kinds wait; those of the arm that goes end."""
    game, waiting = Game(1), list[Waiting]()
    for _ in range(ROUNDS):
        game.play()
        waiting = [play for plays in game.due.values() for play in plays]
        both_kinds = len({play.beside is None for play in waiting}) == 2
        if len(game.trusted) > 100 and both_kinds and not game.trusted[-1]:
            break
    assert len(game.trusted) < ROUNDS
    for play in waiting:
        if play.arm == 1:
            game.end(play, is_withdrawn=True)
    changed = game.learner.with_arms(game.state, [0, 2, 3], 2)
    beside = game.repaired.with_arms(game.beside, [0, 2, 3], 2)
    assert beside.losses[-1] > beside.losses.min() >= 0.0
    of_fallback = leaves(changed.fallback)
    for name, array in leaves(beside).items():
        if name != "dual":  # the two solvers start from different numbers
            np.testing.assert_allclose(of_fallback[name], array, 1e-12, 1e-12, err_msg=name)
