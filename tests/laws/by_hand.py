"""Games played by hand, ask by ask, with any registered learner, and in the readable loop."""

from typing import Any

import numpy as np

import belated
from belated.arrays import Floats
from belated.environments.missing import NEVER, missing_counts
from belated.numerics.random_stream import draw, seeded
from belated.play.delivery import FeedbackDelivery, longest_delays
from belated.types import Need
from tests.games import contexts_for, weights_of, whole_game
from tests.laws.test_laws import Game, has


def in_hand(game: Game, **more: Any) -> Any:
    """The learner of a game as a user has it."""
    options = {name: value for name, value in game.options.items() if name != "arms"} | more
    make = belated.Bandit if game.is_bandit else belated.Experts
    return make(game.options["arms"], learner=game.kind.name, seed=7, **options)


def by_the_loop(game: Game, learner: Any) -> Floats:
    """q_t in row t-1, from the readable loop, drawing as a learner in the hand draws."""
    stream = seeded(7)
    return weights_of(learner, game.losses, game.delays, lambda t, q: int(draw(stream, q)))


class Player:
    """Asks, and tells whatever arrives at the end of a round, in the order of play.

    A bandit whose losses are padded is told its own when the last of the round would arrive: of
    the others it never hears.
    """

    def __init__(self, game: Game, learner: Any) -> None:
        self.game, self.learner, self.now = game, learner, 0
        self.delays = game.delays
        kind = learner._learner
        if game.is_bandit and kind.delivery != "own" and kind.window is None:
            self.delays = np.repeat(longest_delays(game.delays)[:, None], kind.arms, axis=1)
        self.known = FeedbackDelivery(kind).deliver(whole_game(game.losses, game.delays)).delays
        self.missing = missing_counts(game.delays)
        self.arriving: dict[int, list[tuple[Any, int, int]]] = {}
        self.tickets: list[Any] = []
        self.contexts = contexts_for(kind, len(game.losses))

    def ask(self) -> Floats:
        """One round; returns its weights."""
        told: dict[str, Any] = {}
        if self.contexts is not None:
            seen = self.contexts[self.now].tolist()
            told["context"] = [None if each == np.inf else each for each in seen]
        q = np.array(list(self.learner.weights(**told).values()))
        if Need.DELAY_AT_DECISION in self.game.kind.needs:
            told["delays"] = [None if d == NEVER else int(d) for d in self.known[self.now]]
        ticket = self.learner.ask(**told)
        self.tickets.append(ticket)
        for arm in [ticket.arm] if self.game.is_bandit else range(q.size):
            delay = self.delays[self.now, arm]
            if delay != NEVER:
                arrivals = self.arriving.setdefault(self.now + int(delay), [])
                arrivals.append((ticket, self.now, arm))
        self.now += 1
        return q

    def tell(self) -> list[belated.Feedback]:
        """All that arrives at the end of the round."""
        return [self.report(*each) for each in self.arriving.pop(self.now - 1, ())]

    def report(self, ticket: Any, played: int, arm: int) -> belated.Feedback:
        loss = float(self.game.losses[played, arm])
        if not self.game.is_bandit:
            return self.learner.tell(ticket, {arm: loss})
        absent = {"missing": int(self.missing[played, arm])} if self.game.tells_missing else {}
        return self.learner.tell(ticket, loss, **absent)


def by_hand(game: Game, learner: Any, resume_every: int = 0) -> Floats:
    """q_t in row t-1, asked and told by hand; saved and resumed now and then."""
    player, q = Player(game, learner), []
    for t in range(len(game.losses)):
        if resume_every and t % resume_every == resume_every - 1:
            player.learner = belated.from_json(player.learner.to_json())
        q.append(player.ask())
        player.tell()
    return np.array(q)


def long_game(kind: Any, rounds: int, arms: int = 3, **options: Any) -> Game:
    """A game of some length with delays by arm, a tenth of which never end."""
    random = np.random.default_rng(11)
    delays = random.integers(0, [4, 20, 60], (rounds, arms))
    delays[random.random((rounds, arms)) < 0.1] = NEVER
    given = {"arms": arms, "horizon": rounds, "total_delay": 40 * rounds, "max_delay": 60}
    given |= {"max_missing": 60, "mean_delay": 20.0, "delay_law": (0.1, 0.5, 1.0), "features": 2}
    known = {name: value for name, value in given.items() if name == "arms" or has(kind, name)}
    nobody = np.zeros(rounds, dtype=np.int64)
    return Game(kind, known | options, random.random((rounds, arms)), delays, nobody)
