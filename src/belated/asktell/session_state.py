"""What is saved of a session, as records: `saving` writes them, `loading` reads them."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from numpy.typing import NDArray

from belated.asktell.options import FeedbackOptions
from belated.asktell.ticket_book import ClosedTicket, ToldLosses
from belated.types import Arm, Ticket


class SavedRound(NamedTuple):
    """A round from which something is still to be learned.

    `plays` has the row of numbers that was frozen for each arm whose loss the learner was not told,
    by the place of the arm; `told` is what the user has told so far.
    """

    ticket: Ticket
    plays: dict[int, tuple[float, ...]]
    told: ToldLosses


class SavedBook(NamedTuple):
    """A ticket book: how its ids begin, the rounds played, and its open and closed tickets."""

    key: str
    remember: int
    opened: int
    open: list[SavedRound]
    closed: dict[int, ClosedTicket]


class SessionState(NamedTuple):
    """A whole session. The arrays in it are the session's own: copy them before you go on."""

    session: str  # the name of its class
    learner: str  # the name of its learner
    is_bandit: bool
    arms: tuple[Arm, ...]
    options: Mapping[str, Any]
    feedback: FeedbackOptions
    epoch: int
    warned: set[str]
    stream: NDArray[Any]
    state: Any
    book: SavedBook
    held: list[SavedRound]
    minimum_share: float = 0.0
