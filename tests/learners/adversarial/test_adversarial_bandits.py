"""The bandits of other papers: against their definitions, known numbers, and each other."""

import math
from typing import Any, NamedTuple

import numpy as np
import pytest

from belated.arrays import Counts, Floats
from belated.environments.missing import NEVER, missing_counts
from belated.learners.adversarial.dew import DelayedExponentialWeights
from belated.learners.adversarial.dew_skipping import DelayedExponentialWeightsSkipping
from belated.learners.adversarial.log_barrier import LogBarrier
from belated.learners.contract import Facts, Learner
from belated.learners.registry import registered
from belated.learners.tsallis.hybrid_regularizer import Hybrid
from belated.learners.tsallis.masoudian import Masoudian
from belated.learners.tsallis.tsallis_inf import TsallisInf
from belated.learners.tsallis.zimmert_seldin import ZimmertSeldin
from belated.learners.tsallis.zimmert_seldin_skipping import ZimmertSeldinSkipping
from belated.types import Covers
from tests.games import records_of, weights_of
from tests.twins.adversarial_bandits import (
    Divisor,
    Now,
    Play,
    Weights,
    exponential,
    hybrid,
    log_barrier,
    played_literally,
    skipped_late,
)

ROUNDS = 60


def game(seed: int, arms: int, rounds: int = ROUNDS) -> tuple[Floats, Counts]:
    """Losses and delays of every kind: none, short, as long as the game, and for ever."""
    random = np.random.default_rng(seed)
    losses = random.random((rounds, arms))
    losses[random.random((rounds, arms)) < 0.3] = 1.0
    delays = random.choice([0, 0, 1, 2, 3, 7, 20, rounds, NEVER], (rounds, arms))
    return losses, delays


def run(learner: Learner, losses: Floats, delays: Counts, seed: int) -> tuple[Floats, list[Play]]:
    """q_t in row t-1, and the plays, drawn from it."""
    random = np.random.default_rng(seed)
    q, plays = [], []
    draw = lambda t, q: int(random.choice(q.size, p=q))  # noqa: E731
    for record in records_of(learner, losses, delays, draw):
        q.append(record.prediction.q)
        delay, loss = delays[record.round, record.arm], losses[record.round, record.arm]
        late = math.inf if delay == NEVER else float(delay)
        plays.append(Play(record.round + 1, record.arm, late, float(loss)))
    return np.array(q), plays


def exp3_ix_rate(now: Now) -> float:
    return math.sqrt(now.log_arms / (now.arms * now.t))


def gyorgy_joulani_rate(now: Now) -> float:
    cost = sum(now.arms + len(now.under_way(s)) for s in range(1, now.t + 1))
    return math.sqrt(now.log_arms / (2 * cost))


def tuned(arms: int, late: int) -> float:
    return math.sqrt(math.log(arms) / (arms * ROUNDS * math.e / 2 + late))


def by_delay(arms: int, late: int) -> Divisor:
    """Skipping: a loss that takes beta rounds or more is divided by infinity."""
    beta = math.inf
    if arms > 1:
        beta = math.sqrt((math.e * arms * ROUNDS / 2 + late) / math.log(arms)) / (4 * math.e)
    return lambda now, q: math.inf if now.plays[-1].delay >= beta else q


def masoudian(now: Now, longest: int) -> Floats:
    if now.arms == 1:
        return np.ones(1)
    power, log = now.arms ** (1 / 3), now.log_arms
    eta_0 = 10 * longest + longest**2 / (power * log) ** 2
    gamma_0 = 24**2 * longest**2 * now.arms ** (2 / 3) * log
    inverse = math.sqrt((now.late + gamma_0) / log)
    return hybrid(now.estimates, math.sqrt(now.t + eta_0), inverse)


def entropic(now: Now, late: float) -> Floats:
    inverse = math.sqrt(late / now.log_arms) if now.arms > 1 else 0.0
    return hybrid(now.estimates, math.sqrt(now.t), inverse)


def literal(name: str, arms: int, late: int, longest: int) -> tuple[Weights, Divisor]:
    """Weights and divisors of a learner, as its paper says them."""
    dew = min(tuned(arms, late), 1 / (4 * math.e * longest) if longest else math.inf)
    fixed = math.sqrt(math.log(arms) / (arms * ROUNDS + late))
    barrier = min(0.5, math.sqrt(arms * math.log(ROUNDS) / ROUNDS))
    plain: Divisor = lambda now, q: q  # noqa: E731
    rules: dict[str, tuple[Weights, Divisor]] = {
        "exp3-ix": (
            lambda now: exponential(now.estimates, exp3_ix_rate(now)),
            lambda now, q: q + exp3_ix_rate(now) / 2,
        ),
        "dew": (lambda now: exponential(now.estimates, dew), plain),
        "dew-skipping": (
            lambda now: exponential(now.estimates, tuned(arms, late)),
            by_delay(arms, late),
        ),
        "bistritz": (lambda now: exponential(now.estimates, fixed), plain),
        "gyorgy-joulani": (
            lambda now: exponential(now.estimates, gyorgy_joulani_rate(now)),
            plain,
        ),
        "gyorgy-joulani-ix": (
            lambda now: exponential(now.estimates, gyorgy_joulani_rate(now)),
            lambda now, q: q + gyorgy_joulani_rate(now) / 2,
        ),
        "tsallis-inf": (lambda now: hybrid(now.estimates, math.sqrt(now.t), 0.0), plain),
        "zimmert-seldin": (lambda now: entropic(now, 2 * now.late), plain),
        "zimmert-seldin-skipping": (
            lambda now: entropic(now, skipped_late(now) if now.arms > 1 else 0),
            plain,
        ),
        "masoudian": (lambda now: masoudian(now, longest), plain),
        "log-barrier": (lambda now: log_barrier(now.estimates, barrier), plain),
    }
    return rules[name]


NAMES = [
    *("exp3-ix", "dew", "dew-skipping", "bistritz", "gyorgy-joulani", "gyorgy-joulani-ix"),
    *("tsallis-inf", "zimmert-seldin", "zimmert-seldin-skipping", "masoudian", "log-barrier"),
]


def made(name: str, arms: int, late: int = 0, longest: int = 0, rounds: int = ROUNDS) -> Learner:
    """A learner that is told what it asks for."""
    kind = registered()[name]
    told: dict[str, Any] = {"horizon": rounds, "total_delay": late, "max_delay": longest}
    asked = {need.value for need in kind.needs}
    return kind(arms=arms, **{option: told[option] for option in told if option in asked})


@pytest.mark.parametrize("arms", [1, 2, 3, 7])
@pytest.mark.parametrize("name", NAMES)
def test_it_plays_what_its_definition_says(name: str, arms: int) -> None:
    """Every q_t, in games with delays of every kind, equals that of the slow twin."""
    for seed, late, longest in ((1, 12, 0), (2, 300, 1), (3, 3000, 20)):
        learner = made(name, arms, late, longest)
        losses, delays = game(seed + 10 * arms, arms)
        q, plays = run(learner, losses, delays, seed)
        expected = played_literally(arms, plays, *literal(name, arms, late, longest))
        np.testing.assert_allclose(q, expected, rtol=1e-8, atol=1e-10)


# -- numbers known beforehand


def at(learner: Learner, losses: list[float], **fields: int | float) -> Floats:
    """q when these losses have been learned, with some fields of the state set."""
    state = learner.start()
    state.losses[:] = losses
    for name, value in fields.items():
        getattr(state, name)[0] = value
    return learner.predict(state).q


NOT_LATE = ["0.534814335982", "0.286761628265", "0.178424035753"]
LATE_BY_3 = ["0.4182000901", "0.3253786405", "0.2564212693"]
LATE_BY_50 = ["0.3633300563", "0.3323939602", "0.3042759835"]
BARRIER = ["0.451605962956", "0.311107817466", "0.237286219578"]


@pytest.mark.parametrize(
    ("learner", "fields", "expected"),
    [
        (TsallisInf(arms=3), {"round": 4}, NOT_LATE),
        (ZimmertSeldin(arms=3), {"round": 4}, NOT_LATE),
        (ZimmertSeldin(arms=3), {"round": 4, "total": 3}, LATE_BY_3),
        (ZimmertSeldin(arms=3), {"round": 4, "total": 50}, LATE_BY_50),
        (LogBarrier(arms=3), {"rate": 1.0}, BARRIER),
    ],
)
def test_known_weights(learner: Learner, fields: dict[str, int], expected: list[str]) -> None:
    """L = (0, 1, 2): the weights to all digits that are known."""
    places = len(expected[0]) - len("0.")
    q = at(learner, [0.0, 1.0, 2.0], **fields)
    assert [f"{weight:.{places}f}" for weight in q] == expected


LATE = (9, 0, 6, 0, 5, 0, 0, 0, 0, 0)


class Count(NamedTuple):
    """The start of a round: plays that count, their sum over the rounds, the inverse rate, and
    which play is skipped in it, if any."""

    waiting: int
    total: int
    inverse_rate: float
    skipped: int | None


def counts(learner: Learner) -> list[Count]:
    """What a learner counts in a game with the delays `LATE`."""
    state = learner.start()
    found: list[Count] = []
    arriving: dict[int, list[Floats]] = {}
    for t, delay in enumerate(LATE, 1):
        state = learner.reserved(state, 1)
        prediction = learner.predict(state)
        hybrid = state if isinstance(learner, Hybrid) else state.hybrid
        waiting, total = int(hybrid.waiting[0]), int(hybrid.total[0] + hybrid.waiting[0])
        arriving.setdefault(t + delay, []).append(learner.commit(state, prediction, t % 2)[0])
        skipped = int(state.oldest[0]) - 1 if hybrid.waiting[0] == waiting else None
        found.append(Count(waiting, total, 1.0 / prediction.gamma[0], skipped))
        for play in arriving.pop(t, []):
            learner.observe(state, play, 0, 0.0)
    return found


def test_plays_under_way_are_counted_as_in_the_first_figure() -> None:
    """The counts that Zimmert and Seldin print for these delays, whose sum is D."""
    waiting = [count.waiting for count in counts(ZimmertSeldin(arms=2))]
    assert waiting == [0, 1, 1, 2, 2, 3, 3, 3, 3, 2]
    assert sum(waiting) == sum(LATE)


def test_late_plays_are_skipped_one_by_one() -> None:
    """The same delays with skipping, K = 2: sums, what is skipped when, and the last rate."""
    found = counts(ZimmertSeldinSkipping(arms=2))
    assert [count.total for count in found] == [0, 1, 2, 3, 4, 6, 7, 8, 9, 9]
    skipped = {t: count.skipped for t, count in enumerate(found, 1) if count.skipped}
    assert skipped == {3: 1, 6: 3, 9: 5}
    assert found[-1].inverse_rate == pytest.approx(3.603367, abs=5e-7)


# -- identities


def along(learner: Learner, losses: Floats, delays: Counts, arms: list[int]) -> Floats:
    """q_t in row t-1 along given plays."""
    return weights_of(learner, losses, delays, lambda t, q: arms[t])


@pytest.mark.parametrize("name", ["zimmert-seldin", "zimmert-seldin-skipping", "masoudian"])
def test_without_delay_the_hybrids_are_tsallis_inf(name: str) -> None:
    """No entropy is ever added; the weights are equal to the last digit."""
    losses, _ = game(5, 3)
    prompt = np.zeros(losses.shape, dtype=np.int64)
    q, plays = run(TsallisInf(arms=3), losses, prompt, 1)
    arms = [play.arm for play in plays]
    assert np.array_equal(along(made(name, 3), losses, prompt, arms), q)


def test_masoudian_without_a_longest_delay_is_zimmert_seldin_with_one_for_two() -> None:
    """d_max = 0, though losses are late: the inverse rate of the entropy is sqrt(D_t / ln K)."""
    losses, delays = game(6, 3)
    q, plays = run(Masoudian(arms=3), losses, delays, 1)
    expected = played_literally(3, plays, lambda now: entropic(now, now.late))
    np.testing.assert_allclose(q, expected, rtol=1e-8, atol=1e-10)
    doubled = played_literally(3, plays, lambda now: entropic(now, 2 * now.late))
    assert np.abs(q - doubled).max() > 1e-3


def test_what_takes_too_long_is_never_used() -> None:
    """DEW with skipping: losses from beta on change nothing, those below do."""
    learner = DelayedExponentialWeightsSkipping(arms=3, horizon=ROUNDS, total_delay=300)
    losses, delays = game(7, 3)
    _, plays = run(learner, losses, delays, 1)
    arms = [play.arm for play in plays]
    skipped = delays >= learner.threshold
    assert skipped.any()
    assert not skipped.all()
    q = along(learner, losses, delays, arms)
    changed = along(learner, np.where(skipped, 1.0 - losses, losses), delays, arms)
    assert np.array_equal(changed, q)
    changed = along(learner, np.where(skipped, losses, 1.0 - losses), delays, arms)
    assert not np.array_equal(changed, q)


def test_where_nothing_takes_long_skipping_changes_nothing() -> None:
    """DEW with skipping is then DEW at the same rate."""
    learner = DelayedExponentialWeightsSkipping(arms=3, horizon=ROUNDS, total_delay=10**4)
    losses, delays = game(8, 3)
    delays %= math.floor(learner.threshold)
    q, plays = run(learner, losses, delays, 1)
    plain = DelayedExponentialWeights(arms=3, horizon=ROUNDS, total_delay=10**4)
    assert plain.rate == learner.rate
    assert np.array_equal(along(plain, losses, delays, [play.arm for play in plays]), q)


# -- extremes


@pytest.mark.parametrize("name", NAMES)
def test_a_play_forced_again_and_again_upsets_nothing(name: str) -> None:
    """An arm of vanishing probability that always loses: q stays a distribution."""
    learner = made(name, 3)
    rounds, delays = 300, np.zeros((300, 3), dtype=np.int64)
    losses = np.tile([1.0, 0.5, 0.25], (rounds, 1))
    losses[::3] = 0.0
    q = along(learner, losses, delays, [0] * rounds)
    assert np.abs(q.sum(axis=1) - 1.0).max() <= 1e-12
    assert q.min() >= 0.0
    assert q[-1, 0] < 0.02


def test_room_is_made_for_what_is_under_way() -> None:
    """Reserved for one round at a time or for all at once, the weights are the same."""
    learner = ZimmertSeldinSkipping(arms=2)
    random = np.random.default_rng(3)
    delays = random.integers(0, 60, 300)
    runs = []
    for ahead in (1, 300):
        state, q = learner.start(), []
        arriving: dict[int, list[Floats]] = {}
        for t, delay in enumerate(delays):
            if t % ahead == 0:
                state = learner.reserved(state, ahead)
            prediction = learner.predict(state)
            q.append(prediction.q)
            arriving.setdefault(t + int(delay), []).append(learner.commit(state, prediction, 0)[0])
            for play in arriving.pop(t, []):
                learner.observe(state, play, 0, 0.5)
        runs.append(np.array(q))
        waiting = [s for plays in arriving.values() for s in (int(play[1]) for play in plays)]
        assert state.hybrid.waiting[0] == sum(s >= state.oldest[0] for s in waiting)
        assert state.is_waiting.sum() == state.hybrid.waiting[0]
    assert np.array_equal(runs[0], runs[1])


def test_a_withdrawn_play_is_counted_no_more() -> None:
    """Whether it was still counted or had been skipped."""
    for name in ("gyorgy-joulani", "zimmert-seldin", "masoudian", "zimmert-seldin-skipping"):
        learner = made(name, 2)
        state, plays = learner.start(), []
        for _ in range(30):
            state = learner.reserved(state, 1)
            plays.append(learner.commit(state, learner.predict(state), 0)[0])
        for play in plays:
            learner.withdraw(state, play, 0)
        parts = state.hybrid if name == "zimmert-seldin-skipping" else state
        assert parts.waiting[0] == 0
        assert not parts.losses.any()


# -- bounds


def expected_regret(learner: Learner, losses: Floats, delays: Counts) -> float:
    """Over all plays of two arms, each with its probability; against the best arm."""
    rounds, expected = len(losses), 0.0
    for code in range(2**rounds):
        arms = [code >> t & 1 for t in range(rounds)]
        q = along(learner, losses, delays, arms)
        expected += np.prod(q[range(rounds), arms]) * losses[range(rounds), arms].sum()
    return float(expected - losses.sum(axis=0).min())


@pytest.mark.parametrize("name", NAMES)
def test_the_regret_keeps_its_bound(name: str) -> None:
    """Exactly, over all plays of a short game with one delay for all arms, if it has a bound."""
    losses = np.array([[0.0, 1.0]] * 7)
    for late in ([0] * 7, [1, 0, 2, 0, 6, 1, 0]):
        shared = np.repeat(np.array(late)[:, None], 2, axis=1)
        missing = missing_counts(shared)
        total = int(missing.max(axis=1).sum())
        facts = Facts(2, 7, int(missing.max()), total, 0.0)
        learner = made(name, 2, total, max(late), rounds=7)
        bound = learner.bound(facts)
        assert (bound is None) == (name == "masoudian")
        if bound is not None and (learner.covers is Covers.SHARED or not any(late)):
            assert expected_regret(learner, losses, shared) <= bound


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("exp3-ix", 3 * math.sqrt(800 * math.log(2))),
        ("bistritz", 2 * math.sqrt(1000 * math.log(2))),
        ("gyorgy-joulani", 2 * math.sqrt(2000 * math.log(2))),
        ("gyorgy-joulani-ix", 2 * math.sqrt(2000 * math.log(2)) + math.sqrt(400 * math.log(2))),
        ("tsallis-inf", 4 * math.sqrt(800) + 1),
        ("zimmert-seldin", 4 * math.sqrt(800) + math.sqrt(1600 * math.log(2))),
        ("zimmert-seldin-skipping", 4 * math.sqrt(800) + 10 * math.sqrt(200 * math.log(2))),
    ],
)
def test_the_bounds_in_numbers(name: str, expected: float) -> None:
    """K = 2, T = 400, D = 200."""
    learner = made(name, 2, 200, rounds=400)
    assert learner.bound(Facts(2, 400, 5, 200, 100.0)) == pytest.approx(expected, rel=1e-12)


# -- bad input


@pytest.mark.parametrize(
    ("name", "options", "sentence"),
    [
        ("dew", {"horizon": 0}, "horizon is 0; it must be a whole number"),
        ("dew", {"total_delay": -1}, "total_delay is -1; it must be a whole number"),
        ("dew", {"max_delay": 0.5}, "max_delay is 0.5; it must be a whole number"),
        ("dew-skipping", {"horizon": 1.5}, "horizon is 1.5; it must be a whole number"),
        ("dew-skipping", {"total_delay": "many"}, "total_delay is 'many'; it must be a whole"),
        ("bistritz", {"horizon": -3}, "horizon is -3; it must be a whole number"),
        ("bistritz", {"total_delay": math.inf}, "total_delay is inf; it must be a whole number"),
        ("masoudian", {"max_delay": -1}, "max_delay is -1; it must be a whole number"),
        ("log-barrier", {"horizon": 0}, "horizon is 0; it must be a whole number"),
        ("log-barrier", {"best_loss": -0.5}, "best_loss is -0.5; it must be at least 0"),
        ("log-barrier", {"best_loss": math.nan}, "best_loss is nan; it must be finite"),
        ("tsallis-inf", {"delivery": "late"}, "delivery is 'late'; for tsallis-inf it must be"),
    ],
)
def test_bad_options_get_one_clear_sentence(
    name: str, options: dict[str, Any], sentence: str
) -> None:
    """The sentence names the option, its value and the rule."""
    with pytest.raises(ValueError, match=sentence):
        registered()[name](arms=2, **options)
