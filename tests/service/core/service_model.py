"""What the service is meant to do with a group of requests, without a store and without a learner.

Asks come first, then reports and cancellations, then changes, and what is due expires at last.
"""

from dataclasses import dataclass, field
from typing import Any

from belated.service.core.errors import (
    InvalidRequestError,
    NotFoundError,
    RequestError,
    StateConflictError,
    TicketExpiredError,
)
from belated.service.core.requests import (
    Ask,
    Cancel,
    CreateProblem,
    ReportResult,
    Request,
    SetStatus,
    Tell,
    TicketReport,
)
from belated.service.store import Decision

CLOSED = ("cancelled", "expired", "told")
STATUS = {"paused": "paused", "resumed": "active", "archived": "archived"}


@dataclass
class Play:
    """A decision as it was answered, when it was made, and what came of its arms."""

    decision: Decision
    at: float
    outcomes: dict[str, tuple[str, float | None]] = field(default_factory=dict)

    @property
    def awaited(self) -> set[str]:
        arms = {self.decision.arm} if self.decision.arm else set(self.decision.weights or ())
        return {arm for arm in arms if arm} - set(self.outcomes)

    @property
    def state(self) -> str:
        kinds = {kind for kind, _ in self.outcomes.values()}
        return "pending" if self.awaited else next(kind for kind in CLOSED if kind in kinds)


@dataclass
class Game:
    """A problem: how it was created, and what has happened to it."""

    spec: dict[str, Any]
    status: str = "active"
    round: int = 0
    late: int = 0
    keyed: dict[str, tuple[str | None, list[str]]] = field(default_factory=dict)


class Model:
    """All problems and all plays; `noted` is what the process that runs remembers."""

    def __init__(self) -> None:
        self.now = 1000.0
        self.games: dict[str, Game] = {}
        self.plays: dict[str, Play] = {}
        self.noted: set[tuple[str, str]] = set()
        self._before: dict[str, tuple[str, set[str]]] = {}

    def create(self, request: CreateProblem) -> None:
        assert request.name not in self.games
        self.games[request.name] = Game(request.spec)

    def check(self, requests: list[Request], answers: list[Any]) -> None:
        """Go on by a group, and compare each answer with what is expected."""
        known = self.plays.items()
        self._before = {name: (play.state, set(play.outcomes)) for name, play in known}
        expected: list[Any] = [None] * len(requests)
        for kinds in ((Ask,), (Tell, Cancel), (SetStatus,)):
            for place, request in enumerate(requests):
                if isinstance(request, kinds):
                    expected[place] = self._answer(request, answers[place])
        for request, answer, wanted in zip(requests, answers, expected, strict=True):
            pairs = zip(answer, wanted, strict=True) if isinstance(request, Tell) else None
            for got, want in pairs or [(answer, wanted)]:
                later = callable(want) and not isinstance(want, type)
                assert plain(got) == (want() if later else want), request
        self.expire()

    def _answer(self, request: Request, answer: Any) -> Any:
        try:
            if isinstance(request, Ask):
                return self._ask(request, answer)
            if isinstance(request, Cancel):
                return self._cancel(request)
            if isinstance(request, SetStatus):
                return self._change(request)
        except RequestError as refusal:
            return type(refusal)
        assert isinstance(request, Tell)
        return [self._report(report) for report in request.reports]

    def _ask(self, ask: Ask, answer: Any) -> list[str]:
        game = self.games[ask.problem]
        if ask.key is not None and ask.key in game.keyed:
            digest, tickets = game.keyed[ask.key]
            if digest != ask.digest:
                raise InvalidRequestError("")
            return tickets
        if game.status != "active":
            raise StateConflictError("")
        for decision in answer:
            game.round += 1
            check_decision(decision, ask.problem, game, self.now)
            assert decision.ticket not in self.plays
            self.plays[decision.ticket] = Play(decision, self.now)
        tickets = [decision.ticket for decision in answer]
        assert len(tickets) == ask.number
        if ask.key is not None:
            game.keyed[ask.key] = (ask.digest, tickets)
        return tickets

    def _report(self, report: TicketReport) -> Any:
        """What is expected of a report; its state is that after the group unless it was known."""
        play = self.plays.get(report.ticket)
        if play is None:
            return NotFoundError
        arm = report.arm or play.decision.arm
        if arm is None or arm not in play.awaited | set(play.outcomes):
            return InvalidRequestError
        if arm not in play.outcomes:
            play.outcomes[arm] = ("told", report.loss)
            return lambda: (True, play.state)
        kind, loss = play.outcomes[arm]
        if kind == "expired":
            self.games[play.decision.problem].late += (report.ticket, arm) not in self.noted
            self.noted.add((report.ticket, arm))
            return TicketExpiredError
        if kind == "cancelled" or loss != report.loss:
            return StateConflictError
        state, known = self._before.get(report.ticket, ("", set()))
        return (False, state) if arm in known else lambda: (False, play.state)

    def _cancel(self, cancel: Cancel) -> Any:
        play = self.plays.get(cancel.ticket)
        if play is None:
            raise NotFoundError("")
        if not play.awaited:
            if play.state == "cancelled":
                return (False, "cancelled")
            raise (TicketExpiredError if play.state == "expired" else StateConflictError)("")
        play.outcomes |= dict.fromkeys(play.awaited, ("cancelled", None))
        return (True, "cancelled")

    def _change(self, change: SetStatus) -> str:
        game = self.games[change.problem]
        if game.status == "archived" != STATUS[change.kind]:
            raise StateConflictError("")
        game.status = STATUS[change.kind]
        return game.status

    def expire(self) -> None:
        """Give up what is due."""
        for play in self.plays.values():
            game = self.games[play.decision.problem]
            seconds, rounds = game.spec["expire_seconds"], game.spec["expire_after"]
            by_time = seconds is not None and play.at + seconds <= self.now
            if by_time or (rounds is not None and play.decision.round + rounds <= game.round):
                default = game.spec["default_loss"]
                play.outcomes |= dict.fromkeys(play.awaited, ("expired", default))


def check_decision(decision: Decision, problem: str, game: Game, now: float) -> None:
    """What must be so whatever the learner thinks."""
    assert (decision.problem, decision.round, decision.at) == (problem, game.round, now)
    if game.spec["kind"] == "bandit":
        assert decision.arm in game.spec["arms"]
        assert decision.probability is not None
        assert 0.0 < decision.probability <= 1.0
    else:
        assert decision.weights is not None
        assert list(decision.weights) == game.spec["arms"]
        assert abs(sum(decision.weights.values()) - 1.0) < 1e-9


def plain(answer: Any) -> Any:
    """An answer without what only the service can know."""
    if isinstance(answer, RequestError):
        return type(answer)
    if isinstance(answer, ReportResult):
        return (answer.counted, answer.state)
    return [each.ticket for each in answer] if isinstance(answer, list) else answer
