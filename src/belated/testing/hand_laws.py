"""Laws of ask and tell, through the classes `Bandit` and `Experts` that users have."""

import warnings
from typing import Any, cast

import numpy as np
from hypothesis import strategies as st

from belated.asktell.loading import from_json
from belated.environments.missing import NEVER
from belated.learners.contract import Learner
from belated.learners.states import copied, identical
from belated.testing.hands import HandPlayer, by_hand, by_the_loop, in_hand
from belated.testing.trials import Kind, Laws, RandomGame, Trial, demand, is_whole
from belated.types import (
    BelatedError,
    ClosedTicketError,
    ConflictError,
    Feedback,
    Need,
    Setting,
    TicketState,
    UnknownTicketError,
)

HAND_LAWS = Laws()
Step = tuple[Any, ...]


@st.composite
def ways(draw: st.DrawFn, kind: Any) -> dict[str, Any]:
    """One of the ways in which a learner can be told its losses."""
    delivery = draw(st.sampled_from(kind.deliveries), "delivery")
    window = draw(st.none() | st.integers(0, 4), "window")
    return {"delivery": delivery, "window": window}


def told_in_time(game: RandomGame) -> RandomGame:
    """Without losses that a window gives up: no one tells their missing counts."""
    window = game.options["window"]
    if window is None or not game.tells_missing:
        return game
    in_time = np.where(game.delays == NEVER, window, np.minimum(game.delays, window))
    return game.but(delays=in_time)


def learns_in_order(kind: Kind) -> bool:
    """Whether a learner is told its losses in the order of play, unless it is told otherwise."""
    return is_whole(kind) and cast(type[Learner], kind).deliveries[0] == "in order"


@HAND_LAWS.law("Asked and told by hand, it plays as in a game.", is_whole)
def by_hand_a_game_is_what_it_is_in_the_readable_loop(trial: Trial) -> None:
    """Every q_t, to the last bit, however the learner wants to be told its losses."""
    game = told_in_time(trial.a_game(**trial.draw(ways(trial.kind))))
    learner = in_hand(game)
    expected = by_the_loop(game, learner._learner)
    trial.demand_equal(by_hand(game, learner), expected, "by hand")


@HAND_LAWS.law("Told in any order, it learns in the order of play.", learns_in_order)
def who_learns_in_order_may_be_told_in_any(trial: Trial) -> None:
    """What a user tells within a round is put in order before such a learner is told."""
    game = trial.a_game(delivery="in order")
    shuffled = trial.draw(st.randoms(use_true_random=False))
    player, q = HandPlayer(game, in_hand(game)), []
    for t in range(len(game.losses)):
        q.append(player.ask())
        shuffled.shuffle(player.arriving.get(t, []))
        player.tell()
    trial.demand_equal(np.array(q), by_hand(game, in_hand(game)), "told in another order")


# -- histories


@st.composite
def histories(draw: st.DrawFn) -> list[Step]:
    """Steps of a user; tickets are meant by how long ago they were issued."""
    ago, loss = st.integers(0, 5), st.sampled_from([0.0, 0.3, 1 / 3, 1.0])
    ask = st.just(("ask",))
    tell = st.tuples(st.just("tell"), ago, st.integers(0, 3), loss)
    other = st.one_of(st.tuples(st.just("cancel"), ago), st.just(("weights",)))
    return draw(st.lists(st.one_of(ask, ask, tell, tell, other), max_size=20))


@st.composite
def used(draw: st.DrawFn, kind: Any) -> dict[str, Any]:
    """How a learner is used: what tells its losses late, gives up on them, or starts again."""
    more = draw(ways(kind))
    if more["window"] is None and draw(st.booleans()):
        more |= {"expire_after": draw(st.integers(0, 3)), "default_loss": 0.75}
    if Need.HORIZON in kind.needs and draw(st.booleans()):
        more["horizon"] = "doubling"
    if Need.MAX_MISSING in kind.needs and draw(st.booleans()):
        more["max_missing"] = None
    return more | {"remember": draw(st.sampled_from([0, 2, 1000]))}


def done(kind: Any, learner: Any, tickets: list[Any], step: Step) -> object:
    """Do one step; returns what a user sees of it, an error included."""
    verb, *rest = step
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            if verb == "weights":
                return learner.weights()
            if verb == "ask":
                knows = Need.DELAY_AT_DECISION in kind.needs
                tickets.append(learner.ask(**{"delays": [1] * len(learner.arms)} if knows else {}))
                return tickets[-1]
            ticket = tickets[-1 - rest[0]] if rest[0] < len(tickets) else "no ticket"
            return learner.cancel(ticket) if verb == "cancel" else told(kind, learner, ticket, rest)
        except BelatedError as error:
            return type(error).__name__, str(error)


def told(kind: Any, learner: Any, ticket: Any, rest: list[Any]) -> Feedback:
    """Tell the loss of a step."""
    _, place, loss = rest
    if kind.setting is Setting.FULL_INFORMATION:
        feedback: Feedback = learner.tell(ticket, {learner.arms[place % len(learner.arms)]: loss})
        return feedback
    more = {"missing": 0} if kind.setting is Setting.PARTIALLY_CONCEALED else {}
    feedback = learner.tell(ticket, loss, **more)
    return feedback


@HAND_LAWS.law("Saved to JSON and loaded, it continues exactly.", is_whole)
def saved_and_resumed_it_goes_on_exactly(trial: Trial) -> None:
    """Saved never or before every step: the same answers, and at the end the same text."""
    game, more = trial.a_game(), trial.draw(used(trial.kind), "terms")
    never, always = in_hand(game, **more), in_hand(game, **more)
    tickets: tuple[list[Any], list[Any]] = ([], [])
    for step in trial.draw(histories(), "history"):
        always = from_json(always.to_json())
        again, once = (
            done(trial.kind, learner, mine, step)
            for learner, mine in ((always, tickets[1]), (never, tickets[0]))
        )
        demand(again == once, f"after loading, {step[0]} gives {again!r} instead of {once!r}")
    demand(always.to_json() == never.to_json(), "after loading, it is saved as another text")


# -- once is enough


@HAND_LAWS.law("A report that is repeated changes nothing; another one is refused.", is_whole)
def telling_twice_changes_nothing(trial: Trial) -> None:
    """Also while a loss is delayed; and a ticket of another learner is refused."""
    game = told_in_time(trial.a_game(most_rounds=6, **trial.draw(ways(trial.kind))))
    player = HandPlayer(game, in_hand(game))
    for _ in range(len(game.losses)):
        player.ask()
        arrived = player.arriving.get(player.now - 1, [])
        for feedback in player.tell():
            open_or_told = (TicketState.TOLD, TicketState.PENDING, TicketState.EXPIRED)
            demand(feedback.state in open_or_told, f"a ticket that is told is {feedback.state}")
        before = player.learner.to_json()
        for each in arrived:
            demand(not player.report(*each).counted, "a repeated report is counted")
            refused(player, ConflictError, *each)
        try:
            player.report(f"{player.tickets[0].id}0", 0, 0)
            demand(False, "an unknown ticket is taken")
        except UnknownTicketError:
            pass
        demand(player.learner.to_json() == before, "a repeated report changes the learner")


def refused(player: HandPlayer, error: type[Exception], ticket: Any, played: int, arm: int) -> None:
    """Demand that the other loss is refused."""
    losses = player.game.losses
    player.game = player.game.but(losses=np.where(losses < 0.5, losses + 0.5, losses - 0.5))
    try:
        player.report(ticket, played, arm)
        demand(False, "a second report with another loss is taken")
    except error:
        pass
    player.game = player.game.but(losses=losses)


@HAND_LAWS.law("Cancelling a ticket does to the state what `withdraw` does.", is_whole)
def a_cancelled_play_is_withdrawn_by_the_learners_own_verb(trial: Trial) -> None:
    """Nothing else changes in the state; then the ticket is closed, and no report counts."""
    kind: Any = trial.kind
    game = trial.a_game(delivery="own") if "own" in kind.deliveries else trial.a_game()
    player = HandPlayer(game, in_hand(game))
    for _ in range(len(game.losses)):
        player.ask()
        learner, before = player.learner, copied(player.learner._runner.workspace.state)
        if trial.draw(st.booleans(), "cancel"):
            ticket, entry = player.tickets[-1], learner._book.open[player.now]
            plays, arms = in_force(game, entry)
            for play, arm in zip(plays, arms, strict=True):
                learner._learner.withdraw(before, play, arm)
            state = learner.cancel(ticket).state
            demand(state is TicketState.CANCELLED, f"a cancelled ticket is {state}")
            now = learner._runner.workspace.state
            demand(identical(now, before), "cancelled, its state is not that after `withdraw`")
            refused(player, ClosedTicketError, ticket, player.now - 1, arms[0])
            for arrivals in player.arriving.values():
                arrivals[:] = [each for each in arrivals if each[0] != ticket]
        player.tell()


def in_force(game: RandomGame, entry: Any) -> tuple[Any, list[int]]:
    """What was in force in a round, by the arms of which something will be told."""
    if not game.is_bandit:
        return entry.plays, list(range(game.options["arms"]))
    arm, _, *play = entry
    return np.array([play]), [arm]
