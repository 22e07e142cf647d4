"""Learners and forked processes: a child does not go on with a learner of its parent.

Both would issue the same tickets and the same arms, and each would learn from what it is told
itself only. So every learner that exists when a process forks refuses to be asked and told in the
child. This costs an ask nothing: the child replaces the methods of the objects it has inherited.
"""

import os
from typing import Any, NoReturn, Protocol
from weakref import WeakSet

from belated.types import BelatedError

CHANGING = ("ask", "tell", "cancel")  # the methods that a child refuses


class Inheritable(Protocol):
    """An object that a child process inherits."""

    def renew_lock(self) -> None:
        """Make a new lock: a thread that the child does not have may hold the present one."""


_existing: "WeakSet[Any]" = WeakSet()


def refuse_in_children(learner: Inheritable) -> None:
    """Make a learner refuse to be asked and told in processes that this one forks."""
    _existing.add(learner)


def _refuse(*_: object, **__: object) -> NoReturn:
    raise BelatedError(
        "this learner was made before the process was forked, and the children would issue the "
        "same tickets and arms; make a learner in each process, let one go on with a copy "
        "(belated.from_json(learner.to_json())), or share one through the service (belated serve)"
    )


def _after_fork() -> None:
    for learner in list(_existing):
        learner.renew_lock()
        learner.__dict__.update(dict.fromkeys(CHANGING, _refuse))


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
