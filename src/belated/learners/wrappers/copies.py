"""Copies: a learner for delayed losses from any learner that knows none.

Several copies of a base learner share the rounds, such that none plays before the losses of its
last round are in. Each lives in a world without delays, and pays its own price for learning.
"""

from abc import abstractmethod
from dataclasses import dataclass, field, fields, make_dataclass
from typing import Any, ClassVar, TypeVar

import numpy as np

from belated.arrays import Floats
from belated.compiled.jit import compiled_afresh
from belated.compiled.stacking import stack_of
from belated.learners.contract import Facts, Learner, Prediction, Verbs
from belated.types import Delivery

FIRST_ROOM = 4  # copies


@dataclass(frozen=True)
class Copied(Learner):
    """Copies of a base learner, and who of them plays.

    The state has the parts of the base's, stacked, and `own_parts`; the last number that is frozen
    for a loss is the copy that waits for it.
    """

    base: ClassVar[type[Learner]]
    own_parts: ClassVar[tuple[str, ...]]

    def __post_init__(self) -> None:
        super().__post_init__()
        self.one()

    @classmethod
    @abstractmethod
    def deliveries_over(cls, base: type[Learner]) -> tuple[Delivery, ...]:
        """The ways in which copies of this base can be told their losses."""

    @abstractmethod
    def room(self, state: Any, rounds: int) -> int:
        """How many copies there may be after so many more rounds."""

    @abstractmethod
    def own(self, state: Any, room: int) -> dict[str, Any]:
        """The own parts with room for so many copies, from a state, or afresh if it is None."""

    @abstractmethod
    def copies_in(self, facts: Facts) -> int | None:
        """How many copies at most share the rounds of a game, if the facts tell."""

    def one(self) -> Learner:
        """The base learner, with the options that were given for it."""
        return self.base(arms=self.arms, **self.options_for_one())

    def options_for_one(self) -> dict[str, Any]:
        """What each copy is told."""
        return {option.name: getattr(self, option.name) for option in options_of(self.base)}

    def start(self) -> Any:
        return self.enlarged(None, FIRST_ROOM)

    def reserved(self, state: Any, rounds: int) -> Any:
        room, needed = len(state[0]), self.room(state, rounds)
        return state if needed <= room else self.enlarged(state, max(needed, 2 * room))

    def enlarged(self, state: Any, room: int) -> Any:
        """The state with room for so many copies, those that are new as at the start."""
        fresh, parts = self.one().start(), []
        for place, part in enumerate(fresh):
            old = part[np.newaxis][:0] if state is None else state[place]
            more = np.repeat(part[np.newaxis], room - len(old), axis=0)
            parts.append(np.concatenate([old, more]))
        return self.state(*parts, **self.own(state, room))

    def blank(self) -> Prediction:
        return self.one().blank()

    def losses(self, state: Any) -> Floats:
        """The losses that all copies together have learned."""
        one, parts = self.one(), state[: len(self.base.state._fields)]  # type: ignore[attr-defined]
        copies = (self.base.state(*copy) for copy in zip(*parts, strict=True))
        total: Floats = np.sum([one.losses(copy) for copy in copies], axis=0)
        return total

    def bound(self, facts: Facts) -> float | None:
        """M f(T/M) for M copies of a base with the bound f, to the whole round.

        f is concave, so shares that are as even as rounds can be are the worst for all copies.
        """
        copies = self.copies_in(facts)
        if copies is None:
            return None
        copies = min(copies, facts.rounds)
        short, longer = divmod(facts.rounds, copies)
        total = 0.0
        for rounds, count in ((short, copies - longer), (short + 1, longer)):
            share = Facts(facts.arms, rounds, 0, 0, facts.best_loss / copies)
            value = self.one().bound(share)
            if value is None:
                return None
            total += count * value
        return total


SomeCopied = TypeVar("SomeCopied", bound=Copied)


def options_of(base: type[Learner]) -> list[Any]:
    """The options that a learner has and others have not."""
    return [each for each in fields(base) if each.name not in {f.name for f in fields(Learner)}]


def titled(name: str) -> str:
    """The name of a class, of that of its learner."""
    return "".join(word.title() for word in name.split("-"))


def over(parent: type[SomeCopied], name: str, base: type[Learner], module: str) -> type[SomeCopied]:
    """Copies of a base, called `name`: "bold-exp3" is to be the BoldExp3 of that module."""
    title = titled(name)
    if base.reserved is not Learner.reserved:
        raise ValueError(f"{base.name} asks for room as it plays, so there can be no copies of it")
    state: Any = stack_of(base.state, f"{title}State", parent.own_parts)
    state.__module__, state.__qualname__ = module, f"{title}.state"  # where pickle looks for it
    shared = {each.name for each in fields(parent)}
    options = [
        (each.name, each.type, field(default=each.default))
        for each in options_of(base)
        if each.name not in shared
    ]
    namespace = {
        "__module__": module,
        "__doc__": f"{parent.__doc__} The base is {base.name}.",
        "name": name,
        "base": base,
        "setting": base.setting,
        "needs": tuple(dict.fromkeys((*parent.needs, *base.needs))),
        "deliveries": parent.deliveries_over(base),
        "source": f"{parent.source}; base: {base.source}",
        "play_width": base.play_width + 1,
        "state": state,
    }
    if not module.startswith("belated."):  # the base may change without our sources
        verbs: Any = parent.verbs
        namespace["verbs"] = Verbs(*(compiled_afresh(verb) for verb in verbs))
    return make_dataclass(title, options, bases=(parent,), namespace=namespace, frozen=True)
