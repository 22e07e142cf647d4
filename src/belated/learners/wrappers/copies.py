"""Copies: a learner for delayed losses, made from any learner for losses without delay.

Several copies of a base learner share the rounds in such a way that no copy plays before it has
observed the losses of its previous round. Each copy plays as if there were no delays, and the
regrets of the copies add up.
"""

import functools
import itertools
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, make_dataclass
from typing import Any, ClassVar, TypeVar

import numpy as np

from belated.arrays import Floats
from belated.compiled.stacking import copy_of
from belated.learners.contract import Facts, Learner, Prediction
from belated.learners.paper.concealed import added_in_version_5
from belated.learners.states import leaves, mapped
from belated.types import Delivery, Need, Origin

FIRST_ROOM = 4  # the number of copies that a new stack has room for


@dataclass(frozen=True)
class Copied(Learner):
    """Copies of a base learner, and a rule that decides which of them plays.

    The state has the stacked states of the copies in `stack`, and what the rule needs. The last
    number that is frozen for a loss is the number of the copy that waits for it.
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
        """Return the ways in which losses may be delivered to copies of this base."""

    @abstractmethod
    def copies_after(self, state: Any, rounds: int) -> int:
        """Return the largest number of copies that there may be after `rounds` more rounds."""

    @abstractmethod
    def with_stack(self, state: Any, stack: Any) -> Any:
        """Return the state with a larger stack, or the first state if `state` is None."""

    @abstractmethod
    def copies_in(self, facts: Facts) -> int | None:
        """Return the largest number of copies that share a game's rounds, or None if unknown."""

    def one(self) -> Learner:
        """Return the base learner with the options of one copy."""
        return self.base(arms=self.arms, **self.options_for_one())

    def options_for_one(self) -> dict[str, Any]:
        """Return the options of one copy, by name."""
        return {option.name: getattr(self, option.name) for option in options_of(self.base)}

    @property
    def row_width(self) -> int:
        return self.one().row_width + 1

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
        """Return the stacked first states of `room` copies."""
        return mapped(
            lambda _, array: np.repeat(array[np.newaxis], room, axis=0), self.one().start()
        )

    def blank(self) -> Prediction:
        return self.one().blank()

    def losses(self, state: Any) -> Floats:
        """Return the sum of the losses that all copies have observed."""
        one, room = self.one(), copies_in_stack(state.stack)
        copies = [one.losses(copy_of(state.stack, index)) for index in range(room)]
        total: Floats = np.sum(copies, axis=0)
        return total

    def own_missing(self, play: Sequence[float] | Floats) -> int:
        """Return the missing count of the copy that played.

        The frozen numbers of a play begin with those of the base, which can read them itself.
        """
        return self.one().own_missing(play)

    def from_version_3(self, parts: Mapping[str, list[Any]]) -> dict[str, list[Any]]:
        """Return the parts of a state saved in version 3, which was flat, for the present state.

        The stack of that version consisted of the base's parts of that version.
        """
        one, before = self.one(), "copy_"
        now = leaves(one.start())
        added = added_in_version_5(now)
        fresh = {name: array for name, array in now.items() if name not in added}
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
        """Return M f(T/M) for M copies of a base with the bound f, in whole rounds per copy.

        f is concave, so the bound is largest when the rounds are shared as evenly as possible.
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
    """Return the number of copies that a stack has room for."""
    return len(next(iter(leaves(stack).values())))


def options_of(base: type[Learner]) -> list[Any]:
    """Return the options that a learner has in addition to those of every learner."""
    return [each for each in fields(base) if each.name not in {f.name for f in fields(Learner)}]


@functools.cache
def over(parent: type[SomeCopied], name: str, base: type[Learner], module: str) -> type[SomeCopied]:
    """Return the wrapper class of a base, called `name`: "bold-exp3" is the module's BoldExp3.

    All wrapper classes with the same rule share one class of state.
    """
    title = "".join(word.title() for word in name.split("-"))
    if base.reserved is not Learner.reserved:
        raise ValueError(f"{base.name} asks for room as it plays, so there can be no copies of it")
    if Need.ADVICE in base.needs:
        raise ValueError(f"{base.name} takes advice, which copies of it would not be given")
    if Need.CONTEXT in base.needs:
        raise ValueError(f"{base.name} takes a context, which copies of it would not be given")
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
        "origin": Origin.MEMORY if base.origin is Origin.MEMORY else parent.origin,
        "source": f"{parent.source}; base: {base.source}",
    }
    return make_dataclass(title, options, bases=(parent,), namespace=namespace, frozen=True)


def _share(values: list[Any], copy: int, room: int) -> list[Any]:
    """Return the numbers of one copy, from a list with the numbers of `room` copies in a row."""
    size = len(values) // room
    return values[copy * size : (copy + 1) * size]


def _remade(
    parent: type[Copied], name: str, base: type[Learner], module: str, options: dict[str, Any]
) -> Copied:
    """Make the learner again that was pickled, from its wrapper class and its options."""
    kind: Any = over(parent, name, base, module)
    remade: Copied = kind(**options)
    return remade
