"""The arms of a problem, present and former, and the rules for changing them.

And a draw from some of them, if the others may not be shown this time: the weights of those that
are left are divided by their sum. The probability in the journal is that of the draw as it was
made, so that a loss is weighed with the true one. Such a decision keeps the weights it was drawn
with, by which `verify` can check it.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from belated.arrays import Floats
from belated.asktell.shares import shares_of
from belated.service.core.errors import InvalidRequestError, StateConflictError
from belated.service.core.problems import MOST_ARMS, ServedProblem, checked_arms
from belated.service.store import Note

ARMS = "arms"  # the kind of note about a change of arms


class ArmHistory(NamedTuple):
    """The present arms in order, all names there ever were, and the number of changes.

    A name that was removed and is added again is a new arm.
    """

    arms: tuple[str, ...]
    ever: tuple[str, ...]
    changes: int = 0

    @classmethod
    def first(cls, arms: Iterable[str]) -> "ArmHistory":
        """The history of a problem that was just created."""
        names = tuple(arms)
        return cls(names, names)

    @classmethod
    def of(cls, arms: Iterable[str], notes: Iterable[Note]) -> "ArmHistory":
        """The history of a problem that was created with these arms and has these notes."""
        found = cls.first(arms)
        for note in notes:
            if note.kind == ARMS:
                found = found.after(note.payload)
        return found

    def after(self, change: Mapping[str, Sequence[str]]) -> "ArmHistory":
        """The history after a change: some arms are removed, then others added at the end."""
        stay = tuple(arm for arm in self.arms if arm not in change["remove"])
        added = tuple(arm for arm in change["add"] if arm not in stay)
        known = set(self.ever)
        ever = (*self.ever, *(arm for arm in added if arm not in known))
        return ArmHistory((*stay, *added), ever, self.changes + 1)

    def checked(
        self, problem: ServedProblem, add: Sequence[str], remove: Sequence[str]
    ) -> dict[str, list[str]] | None:
        """The payload of the note about a change of a problem's arms; None if nothing changes."""
        name, learner, held = problem.name, problem.learner, problem.holdout
        check_names(add, remove)
        strange = [arm for arm in remove if arm not in self.ever]
        if strange:
            raise InvalidRequestError(
                f"arm {strange[0]!r} is to be removed, but {name!r} has no such arm"
            )
        change = {
            "add": [arm for arm in add if arm not in self.arms],
            "remove": [arm for arm in remove if arm in self.arms],
        }
        if not change["add"] and not change["remove"]:
            return None
        played = [arm for arm in change["remove"] if held is not None and arm in held.arms]
        if played:
            raise StateConflictError(
                f"arm {played[0]!r} is to be removed, but it is the control of the holdout of "
                f"{name!r}; it must stay"
            )
        after = self.after(change)
        if not learner.can_change_arms:
            raise StateConflictError(
                f"learner {learner.name!r} cannot change its arms; archive {name!r} and create "
                f"another problem with the arms {', '.join(after.arms)}; its journal can be "
                "exported"
            )
        if len(change["remove"]) == len(self.arms):
            raise StateConflictError(
                f"all present arms of {name!r} are to be removed, and at least one must stay; "
                "archive it and create another problem"
            )
        if problem.minimum_share * len(after.arms) > 1.0:
            raise StateConflictError(
                f"{name!r} would have {len(after.arms)} arms, which cannot all have its "
                f"minimum_share of {problem.minimum_share!r}; create another problem"
            )
        if len(after.ever) > MOST_ARMS:
            raise StateConflictError(
                f"{name!r} would have had {len(after.ever)} arms in all; a problem may have "
                f"{MOST_ARMS}, so create another one"
            )
        return change


def check_names(add: Sequence[str], remove: Sequence[str]) -> None:
    """Refuse a change that no problem could make, such as one that names an arm twice."""
    if not add and not remove:
        raise InvalidRequestError("neither add nor remove names an arm; at least one of them must")
    for word, arms in (("add", add), ("remove", remove)):
        if len(set(arms)) < len(arms):
            raise InvalidRequestError(f"{word} names an arm twice; each must be named once")
    both = [arm for arm in add if arm in remove]
    if both:
        raise InvalidRequestError(
            f"arm {both[0]!r} is to be both added and removed; it can only be one"
        )
    if add:
        try:
            checked_arms(list(add))
        except ValueError as error:
            raise InvalidRequestError(str(error)) from None


def describe_change(change: Mapping[str, Any]) -> str:
    """A change of arms as a short text, such as "blue added, red removed"."""
    parts = [f"{arm} added" for arm in change["add"]]
    return ", ".join(parts + [f"{arm} removed" for arm in change["remove"]])


def check_may_leave_out(problem: ServedProblem) -> None:
    """Refuse to leave arms out if the learner of a problem would learn from it wrongly."""
    if not (problem.is_bandit and problem.learner.can_leave_arms_out):
        raise InvalidRequestError(
            f"some arms are left out, and {problem.name!r} runs {problem.learner.name!r}, which "
            "would take an arm that could not be drawn for one without loss; send all arms and "
            "exclude none, or take a learner that may leave arms out, such as practical-bandit"
        )


def check_among(problem: ServedProblem, among: Collection[str]) -> None:
    """Refuse arms that are none of the problem's, or a draw from some that it cannot make."""
    unknown = sorted(arm for arm in among if arm not in problem.places)
    if unknown or not among:
        said = f"arms names {unknown[0]!r}, which is no arm of" if unknown else "arms is empty for"
        raise InvalidRequestError(
            f"{said} {problem.name!r}; it must name at least one of {', '.join(problem.arms[:20])}"
        )
    if len(among) < len(problem.arms):
        check_may_leave_out(problem)


def drawn_shares(problem: ServedProblem, weights: Floats, eligible: Floats | None) -> Floats:
    """The probabilities of a draw by weights, from the eligible arms, each with its least share."""
    if eligible is None and problem.minimum_share == 0.0:
        return weights
    try:
        return shares_of(weights, eligible, problem.minimum_share)
    except ValueError:
        raise StateConflictError(
            f"no arm of {problem.name!r} that may be drawn has any weight; send more of its arms"
        ) from None


def written_weights(
    problem: ServedProblem, weights: Floats, eligible: Floats | None, all_asked: bool = False
) -> dict[str, float] | None:
    """The weights that a decision keeps: those of experts, or of all arms that could be drawn.

    A bandit's are kept if some arms are left out, its learner takes a context, or it is asked to.
    """
    if problem.is_bandit and eligible is None and not (problem.takes_context or all_asked):
        return None
    shares = dict(zip(problem.arms, weights.tolist(), strict=True))
    if eligible is None:
        return shares
    allowed = eligible.tolist()
    return {arm: q for (arm, q), may in zip(shares.items(), allowed, strict=True) if may}
