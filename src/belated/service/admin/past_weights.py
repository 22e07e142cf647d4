"""The weights of problems after their latest events, for decisions that were made from them.

With several workers a decision is made from a state that may be older than its place in the
journal. The decision names that state (`state_version`), so it can be judged exactly.

Where weights depend on a context, or on which arms may be drawn, all of a state would have to be
kept. There the journal is read ahead instead, and the weights of a decision are computed while the
fold is at its state.
"""

from collections import deque
from collections.abc import Iterable, Mapping

from belated.arrays import Floats
from belated.service.core.replica import Replica
from belated.service.core.snapshots import made_from, short_code_version
from belated.service.store import START, Decision, Event, Position

MOST_NUMBERS = 5_000_000  # kept of all problems together
BESIDE = 32  # numbers that take as much memory as what is kept beside the weights of a state

NamedWeights = tuple[Mapping[str, int], Floats]  # the places of the arms, and their weights


class PastWeights:
    """Weights by problem and position; the oldest are forgotten, but for the last of a problem."""

    def __init__(self) -> None:
        self._states: dict[str, deque[tuple[Position, NamedWeights]]] = {}
        self._order: deque[tuple[str, int]] = deque()  # problems and sizes, the oldest first
        self._numbers = 0
        self._expected: dict[str, list[Decision]] = {}  # by problem: read, and not folded yet
        self._in_context: dict[str, NamedWeights] = {}  # by ticket

    def expect(self, events: Iterable[Event]) -> None:
        """Read ahead: these decisions will be judged, if the fold is not beyond their states."""
        for event in events:
            body = event.body
            if isinstance(body, Decision) and body.arm is not None and body.weights is not None:
                self._expected.setdefault(event.problem, []).append(body)

    def before(self, position: Position, replica: Replica) -> None:
        """Compute what the state before the event at a position says of decisions made from it."""
        waiting = self._expected.pop(replica.problem.name, [])
        later = [decision for decision in waiting if made_from(decision)[0] >= position]
        if later:
            self._expected[replica.problem.name] = later
        for decision in waiting:
            if replica.position <= made_from(decision)[0] < position:
                weights = replica.weights_in(replica.given_with(decision))
                self._in_context[decision.ticket] = (replica.problem.places, weights)

    def begin(self, replica: Replica) -> None:
        """Begin with the weights of a problem as its checkpoint has them."""
        self._add(replica.position, replica)

    def add(self, position: Position, replica: Replica) -> None:
        """Add the weights after the event at a position.

        Before the first event of all they are equal.
        """
        self._add(position if replica.problem.name in self._states else START, replica)

    def _add(self, position: Position, replica: Replica) -> None:
        if replica.problem.takes_context:
            return
        name, weights = replica.problem.name, replica.weights().copy()
        state = (position, (replica.problem.places, weights))
        self._states.setdefault(name, deque()).append(state)
        self._order.append((name, BESIDE + len(weights)))
        self._numbers += BESIDE + len(weights)
        while self._numbers > MOST_NUMBERS:
            oldest, size = self._order.popleft()
            self._numbers -= size
            if len(self._states[oldest]) > 1:
                self._states[oldest].popleft()

    def of(self, decision: Decision) -> NamedWeights | None:
        """The weights that a decision was made from; None if this code cannot tell."""
        in_context = self._in_context.pop(decision.ticket, None)
        position, code = made_from(decision)
        states = self._states.get(decision.problem, ())
        if code != short_code_version():
            return None
        if in_context is not None:
            return in_context
        return next((named for at, named in reversed(states) if at <= position), None)
