"""The paper's three session classes, made and told in one way, so that one test serves all."""

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest

import belated

COLOURS = ("red", "green", "blue")


@dataclass(frozen=True, eq=False)
class Kind:
    """A class of learner, the options it is made with here, and how it is told a loss."""

    name: str
    make_class: type[Any]
    defaults: dict[str, Any] = field(default_factory=dict)

    def __repr__(self) -> str:
        return self.name

    @property
    def is_bandit(self) -> bool:
        return self.name != "experts"

    def make(self, arms: Any = COLOURS, **options: Any) -> Any:
        return self.make_class(arms, **{**self.defaults, **options})

    def told(self, learner: Any, loss: Any) -> Any:
        """A loss as this kind wants it: experts get it for every expert."""
        return loss if self.is_bandit else dict.fromkeys(learner.arms, loss)

    def tell(self, learner: Any, ticket: Any, loss: Any, missing: int = 0) -> belated.Feedback:
        more = {"missing": missing} if self.name == "partial" else {}
        return learner.tell(ticket, self.told(learner, loss), **more)

    def tell_reward(self, learner: Any, ticket: Any, reward: Any) -> belated.Feedback:
        more = {"missing": 0} if self.name == "partial" else {}
        return learner.tell(ticket, reward=self.told(learner, reward), **more)


EXPERTS = Kind("experts", belated.DelayedExperts, {"horizon": 100, "seed": 7})
PARTIAL = Kind(
    "partial", belated.PartiallyConcealedBandit, {"horizon": 100, "max_missing": 50, "seed": 7}
)
CONCEALED = Kind("concealed", belated.ConcealedBandit, {"max_missing": 50, "seed": 7})
KINDS = (EXPERTS, PARTIAL, CONCEALED)
BANDITS = (PARTIAL, CONCEALED)
WITH_HORIZON = (EXPERTS, PARTIAL)


def part_of_state(learner: Any, name: str) -> list[Any]:
    """A part of the state, as the saved text shows it."""
    return json.loads(learner.to_json())["state"][name]


def asked_like(learner: Any, weights: dict[Any, float]) -> belated.Ticket:
    """Ask, and hold the ticket against the weights that were announced, digit for digit."""
    ticket = learner.ask()
    if ticket.weights is None:
        assert ticket.probability == weights[ticket.arm]
    else:
        assert dict(ticket.weights) == weights
    return ticket


def refused(
    learner: Any, error: type[Exception], match: str, action: Callable[[], object]
) -> Exception:
    """The action raises exactly this error, the message names what is wrong, nothing changes."""
    before = learner.to_json()
    with pytest.raises(error) as caught:
        action()
    assert type(caught.value) is error
    assert match in str(caught.value)
    assert learner.to_json() == before
    return caught.value
