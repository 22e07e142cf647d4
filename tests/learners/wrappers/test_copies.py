"""Copies of a base learner: BOLD, and rotation; each as written in its paper, from scratch."""

import math
import pickle
import subprocess
import sys
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import pytest
from scipy.optimize import brentq

from belated.analysis.bounds import bound_for
from belated.analysis.game_sums import sum_up
from belated.arrays import Floats
from belated.environments.missing import missing_counts
from belated.learners.adversarial.exp3 import Exp3
from belated.learners.contract import Facts, Learner
from belated.learners.experts.anytime_hedge import AnytimeHedge
from belated.learners.experts.msmwc import Msmwc
from belated.learners.paper.full_information import FullInformation
from belated.learners.registry import learner_named, registered
from belated.learners.tsallis.tsallis_inf import TsallisInf
from belated.learners.wrappers.bold import Bold, BoldExp3, BoldHedge, BoldMsmwc, BoldTsallis, bold
from belated.learners.wrappers.copies import FIRST_ROOM
from belated.learners.wrappers.rotating import (
    CopiesExp3,
    CopiesHedge,
    CopiesTsallis,
    Rotating,
    rotating,
)
from belated.numerics.random_stream import seeded
from belated.play.engine import entry_for, first_run
from tests.games import (
    ARMS,
    Played,
    Table,
    played,
    random_table,
    shared_delay,
    softmin,
    told_after,
)
from tests.play.test_engine import given

Distribution = Callable[[Table, Played, Sequence[int], int], Floats]


def hedge(table: Table, run: Played, told: Sequence[int], count: int) -> Floats:
    """The weights of round `count` of a learner that was told these rounds."""
    arms = table.losses.shape[1]
    eta = math.sqrt(8.0 * math.log(arms) / count)
    return softmin(sum((table.losses[s] for s in told), np.zeros(arms)), eta)


def estimates(table: Table, run: Played, told: Sequence[int]) -> Floats:
    total = np.zeros(table.losses.shape[1])
    for s in told:
        arm = run.arms[s]
        total[arm] += table.losses[s, arm] / run.q[s, arm]
    return total


def exp3(table: Table, run: Played, told: Sequence[int], count: int) -> Floats:
    arms = table.losses.shape[1]
    return softmin(estimates(table, run, told), math.sqrt(math.log(arms) / (arms * count)))


def tsallis(table: Table, run: Played, told: Sequence[int], count: int) -> Floats:
    """x_i = (eta_t (L_i + c))^-2 with eta_t = 1/sqrt(t)."""
    losses, eta = estimates(table, run, told), 1.0 / math.sqrt(count)
    gaps = losses - losses.min()

    def weights(c: float) -> Floats:
        return (eta * (gaps + c)) ** -2.0

    c = brentq(lambda c: weights(c).sum() - 1.0, 0.9 / eta, 1.1 * math.sqrt(gaps.size) / eta)
    return weights(c) / weights(c).sum()


def lowest_free(told: Floats, copies: list[int], t: int) -> int:
    """BOLD: the copies of rounds that were not told before t are busy."""
    busy = {copies[s] for s in range(t) if told[s] >= t}
    return min(set(range(t + 1)) - busy)


def assert_as_written(
    learner: Learner, table: Table, base: Distribution, turns: int | None = None
) -> None:
    """Every q_t follows from the list of what was played and told before; turns = d + 1 rotate."""
    run, copies = played(learner, table), list[int]()
    told = told_after(learner, table, run.arms)
    for t in range(len(told)):
        copies.append(lowest_free(told, copies, t) if turns is None else t % turns)
        mine = [s for s in range(t) if copies[s] == copies[t]]
        q = base(table, run, [s for s in mine if told[s] < t], len(mine) + 1)
        np.testing.assert_allclose(run.q[t], q, rtol=0, atol=1e-10)


BASES = {
    "hedge": (hedge, AnytimeHedge, BoldHedge, CopiesHedge),
    "exp3": (exp3, Exp3, BoldExp3, CopiesExp3),
    "tsallis": (tsallis, TsallisInf, BoldTsallis, CopiesTsallis),
}
every_base = pytest.mark.parametrize("name", BASES)


@every_base
@pytest.mark.parametrize("delivery", ["own", "padded"])
@pytest.mark.parametrize("arms", ARMS)
def test_bold_is_what_the_paper_writes(name: str, delivery: Any, arms: int) -> None:
    """The first copy that waits for nothing plays, from all that it was ever told."""
    base, _, kind, _ = BASES[name]
    assert_as_written(kind(arms=arms, delivery=delivery), random_table(arms, 60, arms), base)


@every_base
@pytest.mark.parametrize("max_delay", [0, 2, 40])
@pytest.mark.parametrize("arms", ARMS)
def test_rotation_is_what_its_authors_write(name: str, max_delay: int, arms: int) -> None:
    """Copy t modulo d + 1 plays, even if losses come later than was promised."""
    base, _, _, kind = BASES[name]
    learner = kind(arms=arms, max_delay=max_delay, delivery="padded")
    assert_as_written(learner, random_table(arms, 60, arms), base, max_delay + 1)


@every_base
@pytest.mark.parametrize("delay", [0, 1, 3, 17])
def test_with_one_constant_delay_bold_is_rotation(name: str, delay: int) -> None:
    """Bit for bit: the copy that is free is the one whose turn it is."""
    _, _, free, rotation = BASES[name]
    table = shared_delay(random_table(delay, 60, 3), delay)
    one, other = free(arms=3), rotation(arms=3, max_delay=delay)
    assert played(one, table).q.tobytes() == played(other, table).q.tobytes()


@every_base
def test_shorter_delays_change_nothing_for_rotation(name: str) -> None:
    """Bit for bit: whatever comes within d rounds comes in time, so each arm may be late alone."""
    rotation = BASES[name][-1](arms=3, max_delay=6)
    table = random_table(4, 80, 3)
    early = np.random.default_rng(5).integers(0, 7, (80, 3))
    late = played(rotation, shared_delay(table, 6)).q
    assert played(rotation, table._replace(delays=early)).q.tobytes() == late.tobytes()


@every_base
def test_without_delays_copies_are_the_base(name: str) -> None:
    """Bit for bit: one copy plays every round."""
    _, base, free, rotation = BASES[name]
    table = shared_delay(random_table(5, 80, 4), 0)
    expected = played(base(arms=4), table).q.tobytes()
    assert played(free(arms=4), table).q.tobytes() == expected
    assert played(rotation(arms=4), table).q.tobytes() == expected


@pytest.mark.parametrize("hint", ["none", "last"])
def test_a_base_keeps_its_options(hint: Any) -> None:
    """MsMwC in copies is MsMwC, with its horizon and its hints."""
    table = shared_delay(random_table(6, 80, 3), 0)
    options: Any = {"arms": 3, "horizon": 80, "hint": hint}
    expected = played(Msmwc(**options), table).q
    assert played(BoldMsmwc(**options), table).q.tobytes() == expected.tobytes()
    short: Any = BoldMsmwc
    uniform = played(short(arms=3, horizon=1, hint=hint), table).q
    np.testing.assert_allclose(uniform, 1 / 3, rtol=0, atol=1e-15)


registered()  # complete before there is one more
CopiesMsmwc = rotating("copies-msmwc", Msmwc, __name__)


def test_a_further_base_is_one_line() -> None:
    """In rotation a copy's horizon is its share of the rounds, and order is kept if it must be."""
    learner: Any = CopiesMsmwc
    learner = learner(arms=3, horizon=80, max_delay=6)
    assert learner.one().horizon == 12
    assert learner.delivery == "in order"
    table = shared_delay(random_table(6, 80, 3), 6)
    together: Any = BoldMsmwc
    expected = played(together(arms=3, horizon=12), table).q
    assert played(learner, table).q.tobytes() == expected.tobytes()
    assert CopiesMsmwc.__name__ == "CopiesMsmwc"


class ForeignState(NamedTuple):
    """The state of a base that is not of the package."""

    losses: Any
    round: Any


class Foreign(AnytimeHedge):
    """Hedge with a kind of state from outside the package."""

    state = ForeignState

    def start(self) -> Any:
        return ForeignState(*super().start())


def test_copies_of_a_users_base_are_not_kept_on_disk() -> None:
    """The compiled code would outlive a change of the base; ours has our sources in its key."""
    foreign = bold("bold-foreign", Foreign, __name__)
    assert entry_for(first_run(BoldHedge(arms=3), seeded(1))).may_be_kept
    assert not entry_for(first_run(foreign(arms=3), seeded(1))).may_be_kept
    table = random_table(2, 30, 3)
    assert (
        played(foreign(arms=3), table).q.tobytes() == played(BoldHedge(arms=3), table).q.tobytes()
    )


def rounds_open(told: Floats) -> int:
    """The largest number of rounds that were played and not told when another one began."""
    return max(sum(told[s] >= t for s in range(t)) for t in range(len(told)))


@pytest.mark.parametrize("kind", [BoldHedge, BoldExp3, BoldTsallis])
@pytest.mark.parametrize("delivery", ["own", "padded"])
@pytest.mark.parametrize("seed", range(4))
def test_bold_has_one_copy_more_than_rounds_are_ever_open(
    kind: type[Bold], delivery: Any, seed: int
) -> None:
    """M_T is the most that was outstanding, and one."""
    table, learner = random_table(seed, 60, 3), kind(arms=3, delivery=delivery)
    state = learner.reserved(learner.start(), 60)
    assert state.awaited.size >= 60
    told = told_after(learner, table, played(learner, table, state).arms)
    assert state.copies[0] == rounds_open(told) + 1


def test_room_is_made_as_copies_are_needed() -> None:
    """Nothing ever comes: every round has a copy of its own, as it is at the start."""
    learner = BoldHedge(arms=2)
    table = random_table(1, 50, 2)
    silent = table._replace(delays=np.full_like(table.delays, -1))
    assert np.all(played(learner, silent).q == 0.5)
    state = learner.start()
    assert learner.reserved(state, FIRST_ROOM) is state
    larger = learner.reserved(state, FIRST_ROOM + 1)
    assert len(larger.stack.losses) == len(larger.awaited) == 2 * FIRST_ROOM
    rotation = CopiesHedge(arms=2, max_delay=FIRST_ROOM - 1)
    state = rotation.start()
    assert rotation.reserved(state, 1000) is state


@pytest.mark.parametrize("kind", [BoldHedge, BoldMsmwc])
def test_a_copy_is_free_when_all_its_losses_are_told_or_withdrawn(kind: type[Bold]) -> None:
    """And not before; what is withdrawn teaches nothing."""
    learner = kind(arms=2)
    state = learner.start()
    first = learner.commit(state, learner.predict(state))
    learner.withdraw(state, first[0], 0)
    second = learner.commit(state, learner.predict(state))
    learner.withdraw(state, first[1], 1)
    third = learner.commit(state, learner.predict(state))
    assert [plays[0, -1] for plays in (first, second, third)] == [0.0, 1.0, 0.0]
    assert np.all(learner.predict(state).q == 0.5)


def test_losses_are_those_of_all_copies() -> None:
    """`losses` adds up what each of them has learned."""
    table = random_table(8, 40, 3, never=0.0)
    table = table._replace(delays=np.minimum(table.delays, 3))
    learner = BoldHedge(arms=3)
    state = learner.reserved(learner.start(), 40)
    played(learner, table, state)
    for arm, total in enumerate(learner.losses(state)[:, 0]):
        arrived = np.arange(40) + table.delays[:, arm] < 40
        assert total == pytest.approx(table.losses[arrived, arm].sum())


def test_states_can_be_found_again() -> None:
    """States and learners can be pickled; all copies by one rule have the same class of state."""
    for kind in (BoldHedge, BoldExp3, BoldTsallis, BoldMsmwc, CopiesHedge, CopiesExp3):
        state = kind(arms=2).start()
        assert type(pickle.loads(pickle.dumps(state))) is type(state)
        assert type(pickle.loads(pickle.dumps(kind(arms=2)))) is kind
    assert BoldHedge.state is BoldExp3.state is not CopiesHedge.state


def test_bounds_are_those_of_the_copies() -> None:
    """M f(T/M), where the base states an f, and the rounds are as even as they can be."""
    facts = Facts(4, 90, most_missing=8, total_delay=500, best_loss=10.0, longest_wait=8)
    hedge_bound = 9 * 3.0 * math.sqrt(10 * math.log(4) / 8.0)
    assert BoldHedge(arms=4).bound(facts) == pytest.approx(hedge_bound)
    assert CopiesHedge(arms=4, max_delay=8).bound(facts) == pytest.approx(hedge_bound)
    tsallis_bound = 9 * (4.0 * math.sqrt(4 * 10) + 1.0)
    assert BoldTsallis(arms=4).bound(facts) == pytest.approx(tsallis_bound)
    uneven = 2 * (4.0 * math.sqrt(4 * 11) + 1.0) + 7 * (4.0 * math.sqrt(4 * 10) + 1.0)
    assert BoldTsallis(arms=4).bound(facts._replace(rounds=92)) == pytest.approx(uneven)
    assert uneven < 9 * (4.0 * math.sqrt(4 * 92 / 9) + 1.0)
    few = facts._replace(rounds=3)
    assert BoldTsallis(arms=4).bound(few) == pytest.approx(3 * (4.0 * 2.0 + 1.0))
    exp3 = 9 * 2.0 * math.sqrt(4 * 10 * math.log(4))
    assert BoldExp3(arms=4).bound(facts) == pytest.approx(exp3)
    assert learner_named("bold-exp3p")(arms=4).bound(facts) is None
    assert BoldHedge(arms=4, delivery="padded").bound(facts) == BoldHedge(arms=4).bound(facts)
    assert CopiesHedge(arms=4, max_delay=7).bound(facts) is None
    assert CopiesHedge(arms=4, max_delay=8).bound(facts._replace(longest_wait=9)) is None


@pytest.mark.parametrize("kind", [BoldHedge, BoldTsallis])
@pytest.mark.parametrize("delivery", ["padded", "in order"])
@pytest.mark.parametrize("seed", range(4))
def test_told_together_as_many_are_missing_as_rounds_are_open(
    kind: type[Bold], delivery: Any, seed: int
) -> None:
    """So BOLD has its bound where each arm has its own delay, with the copies that it has."""
    table, learner = random_table(seed, 60, 3), kind(arms=3, delivery=delivery)
    state = learner.reserved(learner.start(), 60)
    played(learner, table, state)
    game = sum_up(given(table.losses, table.delays))
    bound = bound_for(learner, game, 0)
    assert game.arm_dependent
    assert bound.applies
    assert state.copies[0] == game.waits[delivery].most_missing + 1


def test_no_bound_if_losses_take_longer_than_promised() -> None:
    """However few are missing at once: a copy would play again without having heard."""
    table = shared_delay(random_table(1, 200, 3), 0)
    for rounds, delay in ((slice(5, 9), 100), (slice(5, 9), -1)):
        delays = table.delays.copy()
        delays[rounds] = delay
        delays[10] = 20
        game = sum_up(given(table.losses, delays))
        assert game.max_missing <= 20
        for promised, applies in ((20, False), (game.rounds, True)):
            bound = bound_for(CopiesHedge(arms=3, max_delay=promised), game, 0)
            assert bound.applies is applies


@pytest.mark.parametrize("delay", [0, 1, 5])
def test_the_bound_of_copied_hedge_holds(delay: int) -> None:
    """Against the best arm, along losses that change sides."""
    table = shared_delay(random_table(3, 300, 3), delay)
    signs = np.repeat(np.random.default_rng(4).integers(0, 3, 30), 10)
    losses = (np.arange(3) == signs[:, None]).astype(float)
    table = table._replace(losses=losses)
    facts = Facts(3, 300, int(missing_counts(table.delays).max()), 0, 0.0)
    learner = BoldHedge(arms=3)
    regret = (played(learner, table).q * losses).sum() - losses.sum(axis=0).min()
    assert 0.0 < regret <= learner.bound(facts)  # type: ignore[operator]


def test_the_bound_of_hedge_holds_in_every_small_game() -> None:
    """Two arms, four rounds, all losses 0 or 1."""
    learner = AnytimeHedge(arms=2)
    for bits in range(2**8):
        losses = np.array([bits >> k & 1 for k in range(8)], dtype=float).reshape(4, 2)
        table = Table(losses, np.zeros((4, 2), dtype=np.int64), np.zeros(4))
        regret = (played(learner, table).q * losses).sum() - losses.sum(axis=0).min()
        assert regret <= learner.bound(Facts(2, 4, 0, 0, 0.0))


def test_bad_options_are_named() -> None:
    """One sentence each."""
    with pytest.raises(ValueError, match=r"max_delay is -1; it must be a whole number from 0"):
        CopiesHedge(arms=2, max_delay=-1)
    with pytest.raises(ValueError, match=r"horizon is 'long'; it must be a whole number"):
        CopiesMsmwc(arms=2, horizon="long")  # type: ignore[call-arg]
    with pytest.raises(ValueError, match=r"delivery is 'own'; for copies-msmwc it must be 'in ord"):
        CopiesMsmwc(arms=2, delivery="own")
    with pytest.raises(ValueError, match=r"hint is 'best'; it must be 'none' or 'last'"):
        BoldMsmwc(arms=2, hint="best")  # type: ignore[call-arg]
    with pytest.raises(ValueError, match=r"^bold-exp3 asks for room as it plays, so there can be"):
        bold("bold-bold", BoldExp3, __name__)


@pytest.mark.parametrize("name", ["bold-log-barrier", "copies-fpl-trix", "bold-thompson"])
def test_copies_of_any_learner_are_made_when_they_are_named(name: str) -> None:
    """They play at zero delay as one copy of the base does, and their states can be saved."""
    kind = learner_named(name)
    assert kind is learner_named(name)
    assert name not in registered()
    base = registered()[name.partition("-")[2]]
    copies, alone = kind(arms=3), base(arms=3)
    state, other = copies.start(), alone.start()
    for loss in (0.3, 1.0, 0.0):
        prediction, q = copies.predict(state), alone.predict(other).q
        assert prediction.q.tolist() == q.tolist()
        copies.observe(state, copies.commit(state, prediction, 1)[0], 1, loss, -1)
        alone.observe(other, alone.commit(other, alone.predict(other), 1)[0], 1, loss, -1)
    again = pickle.loads(pickle.dumps(state))
    assert type(again) is kind.state
    assert copies.predict(again).q.tolist() == copies.predict(state).q.tolist()


def test_copies_made_when_named_are_found_by_another_process() -> None:
    """Their compiled code is kept on disk, and another process must find their states."""
    learner = learner_named("bold-exp3p")(arms=2)
    saved = pickle.dumps((learner, learner.start()))
    program = (
        "import pickle, sys; learner, state = pickle.load(sys.stdin.buffer); "
        "print(learner.name, type(state) is type(learner.start()), learner.predict(state).q)"
    )
    run = subprocess.run([sys.executable, "-c", program], input=saved, capture_output=True)
    assert run.stdout.decode().strip() == "bold-exp3p True [0.5 0.5]"


def test_what_cannot_be_copied_is_refused() -> None:
    """In one sentence."""
    with pytest.raises(ValueError, match=r"^qpm-d asks for room as it plays, so there can be no"):
        learner_named("bold-qpm-d")
    with pytest.raises(ValueError, match=r"^squarecb takes a context, which copies of it would"):
        learner_named("bold-squarecb")
    with pytest.raises(ValueError, match=r"^learner is 'bold-luck'; it must be one of"):
        learner_named("bold-luck")


def test_rotation_knows_what_it_must() -> None:
    """What copies need is what they and their base need."""
    assert [need.value for need in Rotating.needs] == ["max_delay"]
    assert [need.value for need in CopiesMsmwc.needs] == ["max_delay", "horizon"]
    assert [need.value for need in BoldMsmwc.needs] == ["horizon"]
    assert BoldExp3.needs == ()
    assert FullInformation.reserved is Learner.reserved
