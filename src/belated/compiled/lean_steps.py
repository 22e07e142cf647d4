"""Lean steps: compiled first, and replaced by whole ones when they are not enough."""

import weakref
from collections.abc import Callable
from typing import Any

from belated.compiled import background, entries
from belated.compiled.entries import Entry
from belated.compiled.lean import LeftOut
from belated.compiled.records import Handle


def exchange(owner: Any, name: str, whole: Entry, lean_entry: Entry, lean_record: Any) -> None:
    """Set a step of an object, now plain Python, to its compiled form, now or when it is there.

    That is the whole step if it was compiled before; else the lean one, until it is not enough.
    """
    if whole == lean_entry or entries.find(whole) is not None or not entries.can_compile():
        background.exchange(owner, name, whole)
    else:
        step = LeanStep(owner, name, whole, lean_record)
        setattr(owner, name, step.run)
        background.exchange(step, "compiled", lean_entry)


class LeanStep:
    """A step that runs lean when it is compiled, and as plain Python where that is not enough."""

    __slots__ = ("__weakref__", "_address", "_handle", "_owner", "_whole", "compiled", "plain")

    def __init__(self, owner: Any, name: str, whole: Entry, lean_record: Any) -> None:
        self.plain: Callable[..., Any] = getattr(owner, name)
        self.compiled: Callable[..., Any] = self.plain
        self._handle = Handle(lean_record)
        self._address = self._handle.address
        self._owner, self._whole = weakref.ref(owner), (name, whole)

    def run(self, address: int, *arguments: Any) -> Any:
        """Run the step; the address is that of the whole record."""
        try:
            return self.compiled(self._address, *arguments)
        except LeftOut:
            owner, (name, whole) = self._owner(), self._whole
            if self.compiled is not self.plain and owner is not None:
                background.exchange(owner, name, whole)
            return self.plain(address, *arguments)
