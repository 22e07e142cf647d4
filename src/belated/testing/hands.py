"""Games played by hand, ask by ask, with a learner of any name, and in the readable loop."""

from typing import Any

import numpy as np

from belated.arrays import Floats
from belated.asktell.bandits import Bandit
from belated.asktell.experts import Experts
from belated.asktell.loading import from_json
from belated.environments.missing import NEVER, missing_counts
from belated.learners.driver import driver_for
from belated.numerics.random_stream import draw, seeded
from belated.play.delivery import FeedbackDelivery, longest_delays
from belated.play.readable import rounds_of
from belated.testing.trials import RandomGame, contexts_for, whole_game
from belated.types import Feedback, Need


def in_hand(game: RandomGame, **more: Any) -> Any:
    """The learner of a game as a user has it."""
    options = {name: value for name, value in game.options.items() if name != "arms"} | more
    make: Any = Bandit if game.is_bandit else Experts
    return make(game.options["arms"], learner=game.kind.name, seed=7, **options)


def by_the_loop(game: RandomGame, learner: Any) -> Floats:
    """q_t in row t-1, from the readable loop, drawing as a learner in the hand draws."""
    stream = seeded(7)
    stretch = whole_game(game.losses, game.delays, contexts_for(learner, len(game.losses)))
    rounds = rounds_of(driver_for(learner), [stretch], lambda t, q: int(draw(stream, q)))
    return np.array([each.prediction.q for each in rounds])


class HandPlayer:
    """Asks, and tells whatever arrives at the end of a round, in the order of play.

    A bandit whose losses are padded is told its own when the last of the round would arrive: of
    the others it never hears.
    """

    def __init__(self, game: RandomGame, learner: Any) -> None:
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
        """Play one round; returns its weights."""
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

    def tell(self) -> list[Feedback]:
        """Tell all that arrives at the end of the round."""
        return [self.report(*each) for each in self.arriving.pop(self.now - 1, ())]

    def report(self, ticket: Any, played: int, arm: int) -> Feedback:
        """Tell the loss of one arm of a round."""
        loss = float(self.game.losses[played, arm])
        if not self.game.is_bandit:
            told: Feedback = self.learner.tell(ticket, {arm: loss})
            return told
        absent = {"missing": int(self.missing[played, arm])} if self.game.tells_missing else {}
        told = self.learner.tell(ticket, loss, **absent)
        return told


def by_hand(game: RandomGame, learner: Any, resume_every: int = 0) -> Floats:
    """q_t in row t-1, asked and told by hand; saved and resumed now and then."""
    player, q = HandPlayer(game, learner), []
    for t in range(len(game.losses)):
        if resume_every and t % resume_every == resume_every - 1:
            player.learner = from_json(player.learner.to_json())
        q.append(player.ask())
        player.tell()
    return np.array(q)
