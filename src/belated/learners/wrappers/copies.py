"""Copies: a learner for delayed losses, made from any learner that knows of no delays.

Several copies of a base learner share the rounds, such that none plays before it was told the
losses of its last round. Each plays as if there were no delays, and pays its own price for
learning.
"""

import functools
import itertools
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, make_dataclass
from typing import Any, ClassVar, TypeVar

import numpy as np

from belated.arrays import Floats
from belated.compiled.jit import compiled_afresh
from belated.compiled.stacking import copy_of
from belated.learners.contract import Facts, Learner, Prediction, Verbs
from belated.learners.states import leaves, mapped
from belated.types import Delivery

FIRST_ROOM = 4  # copies


@dataclass(frozen=True)
class Copied(Learner):
    """Copies of a base learner, and a rule that says which of them plays.

    The state has the base's states, stacked, in `stack`, and what the rule needs. The last number
    that is frozen for a loss is the copy that waits for it.
    """

    base: ClassVar[type[Learner]]

    def __post_init__(self) -> None:
        super().__post_init__()
        self.one()

    def __reduce__(self) -> Any:
        options = {each.name: getattr(self, each.name) for each in fields(self)}
        parent = type(self).__mro__[1]
        return _remade, (parent, self.name, self.base, type(self).__module__, options)

    @classmethod
    @abstractmethod
    def deliveries_over(cls, base: type[Learner]) -> tuple[Delivery, ...]:
        """The ways in which copies of this base can be told their losses."""

    @abstractmethod
    def copies_after(self, state: Any, rounds: int) -> int:
        """How many copies there may be after so many more rounds."""

    @abstractmethod
    def with_stack(self, state: Any, stack: Any) -> Any:
        """The state with a larger stack; the first state if there is none before."""

    @abstractmethod
    def copies_in(self, facts: Facts) -> int | None:
        """How many copies at most share the rounds of a game, if the facts tell."""

    def one(self) -> Learner:
        """The base learner, with the options that were given for it."""
        return self.base(arms=self.arms, **self.options_for_one())

    def options_for_one(self) -> dict[str, Any]:
        """The options of each copy."""
        return {option.name: getattr(self, option.name) for option in options_of(self.base)}

    def start(self) -> Any:
        return self.with_stack(None, self._stacked(FIRST_ROOM))

    def reserved(self, state: Any, rounds: int) -> Any:
        room, needed = copies_in_stack(state.stack), self.copies_after(state, rounds)
        if needed <= room:
            return state
        old, stack = leaves(state.stack), self._stacked(max(needed, 2 * room))
        for name, array in leaves(stack).items():
            array[:room] = old[name]
        return self.with_stack(state, stack)

    def _stacked(self, room: int) -> Any:
        """So many copies as they start."""
        return mapped(
            lambda _, array: np.repeat(array[np.newaxis], room, axis=0), self.one().start()
        )

    def blank(self) -> Prediction:
        return self.one().blank()

    def losses(self, state: Any) -> Floats:
        """The losses that all copies together have learned."""
        one, room = self.one(), copies_in_stack(state.stack)
        copies = [one.losses(copy_of(state.stack, index)) for index in range(room)]
        total: Floats = np.sum(copies, axis=0)
        return total

    def own_missing(self, play: Sequence[float] | Floats) -> int:
        """The count of the copy that played; its row begins with the base's columns."""
        return self.one().own_missing(play)

    def from_version_3(self, parts: Mapping[str, list[Any]]) -> dict[str, list[Any]]:
        """The numbers of a saved flat state, whose stack had the base's parts of that version."""
        one, before = self.one(), "copy_"
        fresh = leaves(one.start())
        old = {name.removeprefix(before): parts[name] for name in parts if name.startswith(before)}
        room = sum(map(len, old.values())) // sum(array.size for array in fresh.values())
        stack: dict[str, list[Any]] = {f"stack.{name}": [] for name in fresh}
        for copy in range(room):
            rows = {name: _share(values, copy, room) for name, values in old.items()}
            numbers = iter(itertools.chain(*one.from_version_3(rows).values()))
            for name, array in fresh.items():
                stack[f"stack.{name}"] += itertools.islice(numbers, array.size)
        return stack | {name: parts[name] for name in parts if not name.startswith(before)}

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


def copies_in_stack(stack: Any) -> int:
    """The number of copies that a stack has room for."""
    return len(next(iter(leaves(stack).values())))


def options_of(base: type[Learner]) -> list[Any]:
    """The options that a learner has beyond those of every learner."""
    return [each for each in fields(base) if each.name not in {f.name for f in fields(Learner)}]


@functools.cache
def over(parent: type[SomeCopied], name: str, base: type[Learner], module: str) -> type[SomeCopied]:
    """The class of copies of a base, called `name`: "bold-exp3" is the BoldExp3 of that module.

    All copies by one rule have the same class of state. Only a base from outside this package gets
    a class of its own, with verbs that are not kept on disk, since it may change without our
    sources.
    """
    title = "".join(word.title() for word in name.split("-"))
    if base.reserved is not Learner.reserved:
        raise ValueError(f"{base.name} asks for room as it plays, so there can be no copies of it")
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
    }
    if not module.startswith("belated."):
        verbs: Any = parent.verbs
        namespace["verbs"] = Verbs(*(compiled_afresh(verb) for verb in verbs))
        names = {"__module__": module, "__qualname__": f"{title}.state"}  # where pickle looks
        namespace["state"] = type(f"{title}State", (parent.state,), names)
    return make_dataclass(title, options, bases=(parent,), namespace=namespace, frozen=True)


def _share(values: list[Any], copy: int, room: int) -> list[Any]:
    """The numbers of one copy in a part that has those of so many, one after the other."""
    size = len(values) // room
    return values[copy * size : (copy + 1) * size]


def _remade(
    parent: type[Copied], name: str, base: type[Learner], module: str, options: dict[str, Any]
) -> Copied:
    """Copies as they were pickled."""
    kind: Any = over(parent, name, base, module)
    remade: Copied = kind(**options)
    return remade
