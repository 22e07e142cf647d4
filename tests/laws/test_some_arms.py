"""Arms left out of a draw: every registered bandit either draws among the others, or refuses."""

from typing import Any

import numpy as np
import pytest

import belated
from belated.learners.contract import Learner
from belated.learners.registry import registered
from belated.testing.hands import in_hand
from belated.testing.trials import has
from belated.types import Need
from tests.laws.long_games import long_game

Kind = type[Learner]

pytestmark = pytest.mark.filterwarnings("ignore::belated.BelatedWarning")
BANDITS = {
    name: kind for name, kind in registered().items() if kind.setting.name != "FULL_INFORMATION"
}
ABLE = {name: kind for name, kind in BANDITS.items() if kind.can_leave_arms_out}
INDICES = ("d-klucb", "d-ucb", "delayed-ucb1", "leading-arm", "patient-bandits")
every_bandit = pytest.mark.parametrize("kind", list(BANDITS.values()), ids=list(BANDITS))
ARMS = 3


def more_of(kind: Kind) -> dict[str, Any]:
    """What a learner must know besides, and few coordinates of arms' features."""
    told = {"tail_index": 1.0, "action_features": 1}
    return {name: value for name, value in told.items() if has(kind, name)}


def given_with(kind: Kind) -> dict[str, Any]:
    """What must be told with each ask."""
    return {"delays": [3.0] * ARMS} if Need.DELAY_AT_DECISION in kind.needs else {}


def test_who_can() -> None:
    """What is learned of an arm comes from its own plays, or from its own features."""
    assert set(ABLE) >= {
        "practical-bandit", "thompson", "uniform", *INDICES, "linear", "linear-shared",
        "linear-thompson", "linear-ucb", "otflinucb", "otflints", "squarecb",
    }  # fmt: skip
    assert not ABLE.keys() & {"exp3", "concealed", "successive-elimination", "qpm-d", "exp4"}


@every_bandit
def test_arms_are_left_out_or_the_ask_is_refused(kind: Kind) -> None:
    """Some arms may be drawn in each round, and all that is told is learned as ever."""
    learner = in_hand(long_game(kind, 40, ARMS, **more_of(kind)))
    random = np.random.default_rng(3)
    more = {"missing": 0} if kind.setting.name == "PARTIALLY_CONCEALED" else {}
    if not kind.can_leave_arms_out:
        before = learner.to_json()
        with pytest.raises(ValueError, match=f"{kind.name} would take an arm that could not be"):
            learner.ask(arms=[0, 2], **given_with(kind))
        assert learner.to_json() == before
        return
    waiting: list[belated.Ticket] = []
    for t in range(40):
        count = int(random.integers(1, ARMS + 1))
        allowed = sorted(random.choice(ARMS, count, replace=False).tolist())
        shares = learner.weights(arms=allowed)
        ticket = learner.ask(arms=allowed, **given_with(kind))
        assert ticket.probabilities == {arm: shares[arm] for arm in allowed}
        assert sum(shares.values()) == pytest.approx(1.0, abs=1e-12)
        assert ticket.probability == shares[ticket.arm] > 0.0
        waiting.append(ticket)
        if t % 3:
            told = waiting.pop(0)
            learner.tell(told, 0.2 * float(told.arm), **more)
        if t == 20:
            learner = belated.from_json(learner.to_json())


@pytest.mark.parametrize("name", INDICES)
def test_the_best_of_the_others_is_played(name: str) -> None:
    """Where the best arm is left out, one after the other; a share of its weight would be 0/0."""
    learner = in_hand(long_game(BANDITS[name], 400, ARMS, **more_of(BANDITS[name])))
    for _ in range(300):
        ticket = learner.ask(**given_with(BANDITS[name]))
        learner.tell(ticket, 0.1 + 0.25 * float(ticket.arm))
    learner.ask()
    indices = learner._runner.workspace.prediction.info[0]
    for left in ([0, 1, 2], [1, 2], [0, 2], [2]):
        shares = learner.weights(arms=left)
        best = max(left, key=lambda arm: indices[arm])
        assert shares[best] > 0.0
