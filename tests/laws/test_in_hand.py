"""Laws of ask and tell that every registered learner obeys, without a test being written for it."""

import warnings
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import belated
from belated import TicketState
from belated.environments.missing import NEVER
from belated.learners.contract import Learner
from belated.learners.states import leaves
from belated.types import Need, Setting
from tests.laws.by_hand import Player, by_hand, by_the_loop, in_hand, long_game
from tests.laws.test_laws import KINDS, Game, Kind, copied, every_kind, few, games, identical

pytestmark = [
    pytest.mark.filterwarnings("ignore::belated.BelatedWarning"),
]
GROWING = {n: kind for n, kind in KINDS.items() if kind.reserved is not Learner.reserved}
IN_ORDER = {n: kind for n, kind in KINDS.items() if kind.deliveries[0] == "in order"}
Step = tuple[Any, ...]


@st.composite
def ways(draw: st.DrawFn, kind: Kind) -> dict[str, Any]:
    """One of the ways in which a learner can be told its losses."""
    delivery = draw(st.sampled_from(kind.deliveries), "delivery")
    window = draw(st.none() | st.integers(0, 4), "window")
    return {"delivery": delivery, "window": window}


def size_of(state: Any) -> int:
    """How many numbers a state holds."""
    return sum(array.size for array in leaves(state).values())


def told_in_time(game: Game) -> Game:
    """Without losses that a window gives up: nobody tells their missing counts."""
    window = game.options["window"]
    if window is None or not game.tells_missing:
        return game
    in_time = np.where(game.delays == NEVER, window, np.minimum(game.delays, window))
    return game.but(delays=in_time)


@every_kind
@few
@given(data=st.data())
def test_by_hand_a_game_is_what_it_is_in_the_readable_loop(kind: Kind, data: st.DataObject) -> None:
    """Every q_t, to the last bit, however the learner wants to be told its losses."""
    game = told_in_time(data.draw(games(kind, **data.draw(ways(kind)))))
    learner = in_hand(game)
    expected = by_the_loop(game, learner._learner)
    assert by_hand(game, learner).tobytes() == expected.tobytes()


@pytest.mark.parametrize("kind", list(IN_ORDER.values()), ids=list(IN_ORDER))
@few
@given(data=st.data())
def test_who_learns_in_order_may_be_told_in_any(kind: Kind, data: st.DataObject) -> None:
    """What a user tells within a round is put in order before such a learner hears of it."""
    game = data.draw(games(kind, delivery="in order"))
    shuffled = data.draw(st.randoms(use_true_random=False))
    player, q = Player(game, in_hand(game)), []
    for t in range(len(game.losses)):
        q.append(player.ask())
        shuffled.shuffle(player.arriving.get(t, []))
        player.tell()
    assert np.array(q).tobytes() == by_hand(game, in_hand(game)).tobytes()


@pytest.mark.parametrize("kind", list(GROWING.values()), ids=list(GROWING))
def test_states_that_grow_are_given_room_by_hand(kind: Kind) -> None:
    """With dozens of plays under way, through many portions of rounds, saved and resumed."""
    options: dict[str, Any] = {}
    if kind.name in ("adahedged", "dorm", "dorm-plus", "dub"):
        options = {"hint": "recent"}
    elif kind.name == "concealed":
        options = {"variant": "repaired", "skipping": True}
    game = long_game(kind, 150, **options)
    learner = in_hand(game)
    size = size_of(learner._runner.workspace.state)
    expected = by_the_loop(game, learner._learner)
    assert by_hand(game, learner).tobytes() == expected.tobytes()
    if Need.ADVICE not in kind.needs:  # what is given again is kept once
        assert size_of(learner._runner.workspace.state) > size
    resumed = by_hand(game, in_hand(game), resume_every=7)
    assert resumed.tobytes() == expected.tobytes()


# -- histories


@st.composite
def histories(draw: st.DrawFn) -> list[Step]:
    """Steps of a user; tickets are meant by how long ago they were handed out."""
    ago, loss = st.integers(0, 5), st.sampled_from([0.0, 0.3, 1 / 3, 1.0])
    ask = st.just(("ask",))
    tell = st.tuples(st.just("tell"), ago, st.integers(0, 3), loss)
    other = st.one_of(st.tuples(st.just("cancel"), ago), st.just(("weights",)))
    return draw(st.lists(st.one_of(ask, ask, tell, tell, other), max_size=20))


@st.composite
def used(draw: st.DrawFn, kind: Kind) -> dict[str, Any]:
    """How a learner is used: what tells its losses late, gives up on them, or starts anew."""
    more = draw(ways(kind))
    if more["window"] is None and draw(st.booleans()):
        more |= {"expire_after": draw(st.integers(0, 3)), "default_loss": 0.75}
    if Need.HORIZON in kind.needs and draw(st.booleans()):
        more["horizon"] = "doubling"
    if Need.MAX_MISSING in kind.needs and draw(st.booleans()):
        more["max_missing"] = None
    return more | {"remember": draw(st.sampled_from([0, 2, 1000]))}


def done(kind: Kind, learner: Any, tickets: list[Any], step: Step) -> object:
    """Do one step; what a user sees of it, an error included."""
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
            ticket = tickets[-1 - rest[0]] if rest[0] < len(tickets) else "nobody's"
            return learner.cancel(ticket) if verb == "cancel" else told(kind, learner, ticket, rest)
        except belated.BelatedError as error:
            return type(error).__name__, str(error)


def told(kind: Kind, learner: Any, ticket: Any, rest: list[Any]) -> belated.Feedback:
    _, place, loss = rest
    if kind.setting is Setting.FULL_INFORMATION:
        return learner.tell(ticket, {learner.arms[place % len(learner.arms)]: loss})
    more = {"missing": 0} if kind.setting is Setting.PARTIALLY_CONCEALED else {}
    return learner.tell(ticket, loss, **more)


@every_kind
@few
@given(data=st.data())
def test_saved_and_resumed_a_learner_goes_on_exactly(kind: Kind, data: st.DataObject) -> None:
    """Saved never or before every step: the same answers, and at the end the same text."""
    game, more = data.draw(games(kind)), data.draw(used(kind), "terms")
    never, always = in_hand(game, **more), in_hand(game, **more)
    tickets: tuple[list[Any], list[Any]] = ([], [])
    for step in data.draw(histories(), "history"):
        always = belated.from_json(always.to_json())
        assert done(kind, always, tickets[1], step) == done(kind, never, tickets[0], step)
    assert always.to_json() == never.to_json()


# -- once is enough


@every_kind
@few
@given(data=st.data())
def test_telling_twice_changes_nothing_and_telling_otherwise_is_refused(
    kind: Kind, data: st.DataObject
) -> None:
    """Also while a loss is held back; and nobody else's ticket is taken."""
    game = told_in_time(data.draw(games(kind, most_rounds=6, **data.draw(ways(kind)))))
    player = Player(game, in_hand(game))
    for _ in range(len(game.losses)):
        player.ask()
        arrived = player.arriving.get(player.now - 1, [])
        for feedback in player.tell():
            assert feedback.state in (TicketState.TOLD, TicketState.PENDING, TicketState.EXPIRED)
        before = player.learner.to_json()
        for each in arrived:
            assert not player.report(*each).counted
            refused(player, belated.ConflictError, *each)
        with pytest.raises(belated.UnknownTicketError):
            player.report(f"{player.tickets[0].id}0", 0, 0)
        assert player.learner.to_json() == before


def refused(player: Player, error: type[Exception], ticket: Any, played: int, arm: int) -> None:
    """The other loss is refused."""
    losses = player.game.losses
    player.game = player.game.but(losses=np.where(losses < 0.5, losses + 0.5, losses - 0.5))
    with pytest.raises(error):
        player.report(ticket, played, arm)
    player.game = player.game.but(losses=losses)


@every_kind
@few
@given(data=st.data())
def test_a_cancelled_play_is_withdrawn_by_the_learners_own_verb(
    kind: Kind, data: st.DataObject
) -> None:
    """Nothing else changes in the state; then the ticket is closed, and no report counts."""
    game = data.draw(games(kind, delivery="own") if "own" in kind.deliveries else games(kind))
    player = Player(game, in_hand(game))
    for _ in range(len(game.losses)):
        player.ask()
        learner, before = player.learner, copied(player.learner._runner.workspace.state)
        if data.draw(st.booleans(), "cancel"):
            ticket, entry = player.tickets[-1], learner._book.open[player.now]
            plays, arms = in_force(game, entry)
            for play, arm in zip(plays, arms, strict=True):
                learner._learner.withdraw(before, play, arm)
            assert learner.cancel(ticket).state is TicketState.CANCELLED
            assert identical(learner._runner.workspace.state, before)
            with pytest.raises(belated.ClosedTicketError):
                player.report(ticket, player.now - 1, arms[0])
            for arrivals in player.arriving.values():
                arrivals[:] = [each for each in arrivals if each[0] != ticket]
        player.tell()


def in_force(game: Game, entry: Any) -> tuple[Any, list[int]]:
    """What was in force in a round, by the arms of which something will be told."""
    if not game.is_bandit:
        return entry.plays, list(range(game.options["arms"]))
    arm, _, *play = entry
    return np.array([play]), [arm]
