"""A program that plays learners and prints, as JSON, every digit of what they did.

It runs in an environment of its own: `python playing.py ROUNDS LEARNER ...`. For each learner it
prints which of its steps are native, hashes of so many asks by several numbers of arms, with tells
that are late, lost or withdrawn, and a hash of a game of so many rounds that the engine plays. A
learner that takes advice, contexts or features of arms is given them.
"""

import hashlib
import json
import random
import sys
from typing import Any, NamedTuple

import numpy as np

import belated
from belated.cli.learners import entries_of
from belated.compiled import native
from belated.environments.environment import Environment
from belated.environments.in_memory import GivenAdvice, GivenDelays, GivenLosses
from belated.learners.needs import needed_options
from belated.learners.registry import learner_named
from belated.play.engine import play
from belated.play.game import Game
from belated.types import Need, Setting

ARMS = {"concealed": (3, 300)}  # many arms have steps of their own
LAW = (0.1, 0.5, 1.0)  # the shares of losses that arrive within 0, 1 and 2 rounds
POLICIES, FEATURES = ("one", "two", "three"), ("age", "hour")


class GivenContexts(NamedTuple):
    """Contexts from an array with a row for each round."""

    values: Any
    features = FEATURES
    random = False

    def sampler(self, random: Any) -> Any:
        """Return the rows of a span."""
        return lambda span: self.values[span.first : span.first + span.count]


def fact(need: Need) -> Any:
    """What a learner is told that must know something beforehand; it need not be true."""
    return LAW if need is Need.DELAY_LAW else 1000


def options_of(kind: Any, given: dict[str, Any]) -> dict[str, Any]:
    """What a learner is made with: what it must know, and names for what it is told each round."""
    options = needed_options(kind, fact, given=given)
    if Need.ADVICE in kind.needs:
        options["policies"] = POLICIES
    if Need.CONTEXT in kind.needs:
        options["features"] = FEATURES
    return options


def session_of(kind: Any, arms: int) -> Any:
    """A session with a learner; what it can find out by itself it is not told."""
    options = options_of(kind, dict.fromkeys((Need.HORIZON.value, Need.MAX_MISSING.value)))
    if kind.setting is Setting.FULL_INFORMATION:
        return belated.Experts(arms, learner=kind.name, seed=5, **options)
    return belated.Bandit(arms, learner=kind.name, seed=5, **options)


def asked_and_told(kind: Any, arms: int, rounds: int) -> str:
    """Ask and tell; returns all decisions and the state at the end."""
    session, chance = session_of(kind, arms), random.Random(7)
    decisions, waiting = [], []
    for _ in range(rounds):
        ticket = session.ask(**circumstances(kind, arms, chance))
        decisions.append(repr((ticket.arm, ticket.probability, ticket.weights)))
        waiting.append(ticket)
        while waiting and chance.random() < 0.8:
            answer(session, kind, waiting.pop(chance.randrange(min(len(waiting), 20))), chance)
    return "\n".join([*decisions, session.to_json()])


def circumstances(kind: Any, arms: int, chance: random.Random) -> dict[str, Any]:
    """What a learner is told of a round before it."""
    told: dict[str, Any] = {}
    if Need.DELAY_AT_DECISION in kind.needs:
        told["delays"] = [chance.randrange(5) for _ in range(arms)]
    if Need.ADVICE in kind.needs:
        rows = [[chance.random() for _ in range(arms)] for _ in POLICIES]
        told["advice"] = [[share / sum(row) for share in row] for row in rows]
    if Need.CONTEXT in kind.needs:
        told["context"] = {name: chance.gauss(1.0, 2.0) for name in FEATURES}
        told["arms"] = [arm for arm in range(arms) if chance.random() < 0.8] or [0]
    if kind.name == "linear-shared":
        del told["arms"]
        told["actions"] = {
            arm: {"price": chance.random()} for arm in range(chance.randint(1, arms))
        }
    return told


def answer(session: Any, kind: Any, ticket: Any, chance: random.Random) -> None:
    """Tell a loss, or of experts some losses; withdraw the ticket; or let it be lost."""
    fate = chance.random()
    if fate < 0.1:
        session.cancel(ticket)
    elif fate > 0.2:
        loss: Any = chance.random()
        if kind.setting is Setting.FULL_INFORMATION:
            loss = {arm: chance.random() for arm in session.arms if arm > 0 or fate < 0.6}
        partial = kind.setting is Setting.PARTIALLY_CONCEALED
        session.tell(ticket, loss, **({"missing": chance.randrange(4)} if partial else {}))


def played(kind: Any, arms: int, rounds: int) -> str:
    """Play a game by the engine; returns its sums, the last weights and the learner's own info."""
    chance = np.random.default_rng(3)
    losses, delays = chance.random((rounds, arms)), chance.integers(0, 50, (rounds, arms))
    advice = chance.dirichlet(np.ones(arms), (rounds, len(POLICIES)))
    environment = Environment(
        "random",
        GivenLosses(losses),
        GivenDelays(delays),
        rounds,
        advice=GivenAdvice(advice, POLICIES),
        contexts=GivenContexts(chance.normal(1.0, 2.0, (rounds, len(FEATURES)))),
    )
    game = Game(environment, np.random.SeedSequence(1))
    learner = kind(arms=arms, **options_of(kind, {}))
    trace = play(learner, game, np.random.SeedSequence(2))
    sums = (trace.loss_at, trace.realised_at, trace.weight_at, trace.plays, trace.strategies)
    return repr([array.tolist() for array in (*sums, trace.last, trace.eta)]) + repr(trace.info)


def main(rounds: int, names: list[str]) -> None:
    """Play all learners of these names."""
    results = {}
    for name in names:
        kind = learner_named(name)
        found = [native.find(entry) is not None for entry in entries_of(kind)]
        texts = [asked_and_told(kind, arms, rounds) for arms in ARMS.get(name, (2, 5))]
        texts.append(played(kind, 5, rounds))
        digits = [hashlib.sha256(text.encode()).hexdigest() for text in texts]
        results[name] = {"native": found, "digits": digits}
    print(json.dumps({"numba": "numba" in sys.modules, "learners": results}))


if __name__ == "__main__":
    np.set_printoptions(threshold=sys.maxsize, floatmode="unique")
    main(int(sys.argv[1]), sys.argv[2:])
