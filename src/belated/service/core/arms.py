"""The arms of a problem as they come and go, and what may be changed about them."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from belated.learners.contract import Learner
from belated.service.core.errors import Conflict, Invalid
from belated.service.core.problems import MOST_ARMS, checked_arms
from belated.service.store import Note

ARMS = "arms"  # the kind of note that a change of arms is


class Lineup(NamedTuple):
    """The present arms in order, all there ever were, and how often they were changed.

    A name that was taken out and comes back is a new arm of the same name.
    """

    arms: tuple[str, ...]
    ever: tuple[str, ...]
    changes: int = 0

    @classmethod
    def first(cls, arms: Iterable[str]) -> "Lineup":
        """As a problem is created."""
        names = tuple(arms)
        return cls(names, names)

    @classmethod
    def of(cls, arms: Iterable[str], notes: Iterable[Note]) -> "Lineup":
        """As the notes of a problem leave it."""
        found = cls.first(arms)
        for note in notes:
            if note.kind == ARMS:
                found = found.after(note.payload)
        return found

    def after(self, change: Mapping[str, Sequence[str]]) -> "Lineup":
        """With some arms taken out, then others put at the end."""
        stay = tuple(arm for arm in self.arms if arm not in change["remove"])
        added = tuple(arm for arm in change["add"] if arm not in stay)
        known = set(self.ever)
        ever = (*self.ever, *(arm for arm in added if arm not in known))
        return Lineup((*stay, *added), ever, self.changes + 1)

    def checked(
        self, name: str, learner: Learner, add: Sequence[str], remove: Sequence[str]
    ) -> dict[str, list[str]] | None:
        """What is to be written of a wanted change of problem `name`; None if all is so already."""
        check_names(add, remove)
        strange = [arm for arm in remove if arm not in self.ever]
        if strange:
            raise Invalid(f"arm {strange[0]!r} is to be removed, but {name!r} has no such arm")
        change = {
            "add": [arm for arm in add if arm not in self.arms],
            "remove": [arm for arm in remove if arm in self.arms],
        }
        if not change["add"] and not change["remove"]:
            return None
        after = self.after(change)
        if not learner.can_change_arms:
            raise Conflict(
                f"learner {learner.name!r} cannot change its arms; archive {name!r} and create "
                f"another problem with the arms {', '.join(after.arms)}; its journal can be "
                "exported"
            )
        if len(change["remove"]) == len(self.arms):
            raise Conflict(
                f"all present arms of {name!r} are to be removed, and at least one must stay; "
                "archive it and create another problem"
            )
        if len(after.ever) > MOST_ARMS:
            raise Conflict(
                f"{name!r} would have had {len(after.ever)} arms in all; a problem may have "
                f"{MOST_ARMS}, so create another one"
            )
        return change


def check_names(add: Sequence[str], remove: Sequence[str]) -> None:
    """Refuse what is not a change of arms, whatever there are."""
    if not add and not remove:
        raise Invalid("neither add nor remove names an arm; at least one of them must")
    for word, arms in (("add", add), ("remove", remove)):
        if len(set(arms)) < len(arms):
            raise Invalid(f"{word} names an arm twice; each must be named once")
    both = [arm for arm in add if arm in remove]
    if both:
        raise Invalid(f"arm {both[0]!r} is to be both added and removed; it can only be one")
    if add:
        try:
            checked_arms(list(add))
        except ValueError as error:
            raise Invalid(str(error)) from None


def in_words(change: Mapping[str, Any]) -> str:
    """A change in a few words."""
    parts = [f"{arm} added" for arm in change["add"]]
    return ", ".join(parts + [f"{arm} removed" for arm in change["remove"]])
