"""A program that plays learners and prints, as JSON, every digit of what they did.

It runs in an environment of its own: `python playing.py ROUNDS LEARNER ...`. For each learner it
prints which of its steps are native, hashes of so many asks by several numbers of arms, with tells
that are late, lost or withdrawn, and a hash of a game of so many rounds that the engine plays.
"""

import hashlib
import json
import random
import sys
from typing import Any

import numpy as np

import belated
from belated.cli.learners import entries_of
from belated.compiled import native
from belated.environments.environment import Environment
from belated.environments.in_memory import GivenDelays, GivenLosses
from belated.learners.needs import needed_options
from belated.learners.registry import learner_named
from belated.play.engine import play
from belated.play.game import Game
from belated.types import Need, Setting

ARMS = {"concealed": (3, 300)}  # many arms have steps of their own
LAW = (0.1, 0.5, 1.0)  # the shares of losses that arrive within 0, 1 and 2 rounds


def fact(need: Need) -> Any:
    """What a learner is told that must know something beforehand; it need not be true."""
    return LAW if need is Need.DELAY_LAW else 1000


def session_of(kind: Any, arms: int) -> Any:
    """A session with a learner; what it can find out by itself it is not told."""
    known = dict.fromkeys((Need.HORIZON.value, Need.MAX_MISSING.value))
    options = needed_options(kind, fact, given=known)
    if kind.setting is Setting.FULL_INFORMATION:
        return belated.Experts(arms, learner=kind.name, seed=5, **options)
    return belated.Bandit(arms, learner=kind.name, seed=5, **options)


def asked_and_told(kind: Any, arms: int, rounds: int) -> str:
    """Ask and tell; returns all decisions and the state at the end."""
    session, chance = session_of(kind, arms), random.Random(7)
    decisions, waiting = [], []
    for _ in range(rounds):
        told = Need.DELAY_AT_DECISION in kind.needs
        delays = {"delays": [chance.randrange(5) for _ in range(arms)]} if told else {}
        ticket = session.ask(**delays)
        decisions.append(repr((ticket.arm, ticket.probability, ticket.weights)))
        waiting.append(ticket)
        while waiting and chance.random() < 0.8:
            answer(session, kind, waiting.pop(chance.randrange(min(len(waiting), 20))), chance)
    return "\n".join([*decisions, session.to_json()])


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
    game = Game(
        Environment("random", GivenLosses(losses), GivenDelays(delays), rounds),
        np.random.SeedSequence(1),
    )
    learner = kind(arms=arms, **needed_options(kind, fact, given={}))
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
