"""Laws that every registered learner obeys, whatever its losses, delays and plays."""

import dataclasses
import math
import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import brentq

from belated.arrays import Counts, Floats
from belated.environments.missing import NEVER
from belated.learners.advice.advice import Advice
from belated.learners.advice.policies import OverPolicies
from belated.learners.contract import Learner, PaperLearner
from belated.learners.driver import driver_for
from belated.learners.paper.concealed import Concealed
from belated.learners.paper.full_information import FullInformation
from belated.learners.paper.partially_concealed import PartiallyConcealed
from belated.learners.practical.practical_experts import PracticalExperts
from belated.learners.registry import registered
from belated.learners.states import copied, identical, leaves
from belated.play.readable import Arrival, rounds_of
from belated.types import VARIANTS, Setting
from tests.games import (
    assert_certified,
    assert_policies_certified,
    contexts_for,
    whole_game,
)
from tests.laws.pathwise import Pathwise
from tests.twins.practical_certificate import practical_certificate

Kind = type[Learner]
Arrivals = list[Arrival]

CLOSE = 1e-12
KINDS = registered()
RATES_FALL = {
    "adaptive-hedge", "centred-hedge", "anytime-hedge", "fpl", "delay-tolerant-hedge",
    "delayed-dual-averaging", "exp3", "exp4",
}  # fmt: skip
every_kind = pytest.mark.parametrize("kind", list(KINDS.values()), ids=list(KINDS))
THE_PAPERS = {name: kind for name, kind in KINDS.items() if issubclass(kind, PaperLearner)}
papers_kind = pytest.mark.parametrize("kind", list(THE_PAPERS.values()), ids=list(THE_PAPERS))
in_both_variants = pytest.mark.parametrize("variant", VARIANTS)
few = settings(max_examples=int(os.environ.get("BELATED_EXAMPLES", "6")), deadline=None)


@dataclass(frozen=True)
class Game:
    """A learner's options, and the losses, delays and plays it is led through."""

    kind: Kind
    options: dict[str, Any]
    losses: Floats
    delays: Counts
    arms: Counts

    @property
    def is_bandit(self) -> bool:
        return self.kind.setting is not Setting.FULL_INFORMATION

    @property
    def tells_missing(self) -> bool:
        return self.kind.setting is Setting.PARTIALLY_CONCEALED

    def learner(self) -> Learner:
        return self.kind(**self.options)

    def but(self, **changes: Any) -> "Game":
        return dataclasses.replace(self, **changes)


def has(kind: Kind, field: str) -> bool:
    return field in {each.name for each in dataclasses.fields(kind)}


def made(kind: Kind, arms: int, variant: str = "paper", **options: Any) -> Learner:
    """A learner of any kind; options that it does not have are left out."""
    given = options | {"variant": variant}
    return kind(arms=arms, **{name: value for name, value in given.items() if has(kind, name)})


@st.composite
def games(
    draw: st.DrawFn, kind: Kind, most_arms: int = 4, most_rounds: int = 12, **fixed: Any
) -> Game:
    """Random games; `fixed` options are not drawn."""
    arms = draw(st.integers(1, most_arms), "arms")
    rounds = draw(st.integers(1, most_rounds), "rounds")
    told = {"horizon": [1, 1, 10, 1000], "total_delay": [0, 1, 5, 100]}
    chosen = {
        "variant": VARIANTS,
        "max_missing": [0, 1, 3, 50],
        "max_delay": [0, 1, 5, 50],
        "mean_delay": [0.0, 0.5, 7.0],
        "delay_law": [(1.0,), (0.5, 0.5, 0.75), (0.1, 0.2, 0.3, 1.0)],
        "tail_index": [0.1, 0.5, 3.0],
        "features": [0, 1, 3],
        "interactions": [1, 2],
    }
    options: dict[str, Any] = {"arms": arms}
    options |= {
        name: rounds * draw(st.sampled_from(told[name])) for name in told if has(kind, name)
    }
    options |= {name: draw(st.sampled_from(chosen[name])) for name in chosen if has(kind, name)}
    if has(kind, "prior"):
        parts = draw(st.none() | st.lists(st.integers(1, 20), min_size=arms, max_size=arms))
        options["prior"] = parts and [part / sum(parts) for part in parts]
    if has(kind, "skipping") and options.get("variant") == "repaired":
        options["skipping"] = draw(st.booleans())
    options |= fixed
    loss = st.sampled_from([0.0, 1.0]) | st.floats(0.0, 1.0)
    delay = st.sampled_from([0, 0, 1, 2, 5, rounds, NEVER])
    table = st.lists(st.lists(loss, min_size=arms, max_size=arms), min_size=rounds, max_size=rounds)
    waits = st.lists(
        st.lists(delay, min_size=arms, max_size=arms), min_size=rounds, max_size=rounds
    )
    played = st.lists(st.integers(0, arms - 1), min_size=rounds, max_size=rounds)
    return Game(
        kind,
        options,
        np.array(draw(table, "losses"), dtype=np.float64),
        np.array(draw(waits, "delays"), dtype=np.int64),
        np.array(draw(played, "plays"), dtype=np.int64),
    )


def played(
    game: Game,
    order: Callable[[Arrivals], Arrivals] = lambda arrivals: arrivals,
    each_round: Callable[[Learner, Any], None] = lambda learner, state: None,
    start: Any = None,
) -> Floats:
    """q_t in row t-1; `order` shuffles what arrives at the end of one round."""
    learner = game.learner()
    driver = driver_for(learner, start)

    def ordered(arrivals: Arrivals) -> Arrivals:
        shuffled = order(arrivals)
        if learner.delivery == "in order":
            return sorted(shuffled, key=lambda arrival: (arrival.round, arrival.arm))
        return shuffled

    contexts = contexts_for(learner, len(game.losses))
    stretch = whole_game(game.losses, game.delays, contexts)
    rounds = rounds_of(driver, [stretch], lambda t, q: int(game.arms[t]), ordered)
    q = np.empty_like(game.losses)
    predictions, path = [], Pathwise(learner)
    for t in range(len(q)):
        each_round(learner, driver.state)
        before, arm = path.before(driver.state), int(game.arms[t])
        predictions.append(next(rounds).prediction)
        q[t] = predictions[t].q
        if start is None:
            path.check(before, predictions[t], arm, float(game.losses[t, arm]))
    if isinstance(learner, FullInformation) and learner.prior is not None and start is None:
        assert_certified(game.losses, game.delays, predictions, learner.prior)
    if isinstance(learner, Advice):
        assert_policies_certified(learner, game.losses, predictions)
    if learner.name in RATES_FALL:
        assert (np.diff([each.eta[0] for each in predictions]) <= 0.0).all()
    if isinstance(learner, PracticalExperts) and start is None:
        assert practical_certificate(learner, game.losses, predictions).holds
    return q


# -- the laws


@every_kind
@few
@given(data=st.data())
def test_q_is_a_distribution(kind: Kind, data: st.DataObject) -> None:
    """No negative weight, no NaN, and a sum of one."""
    q = played(data.draw(games(kind, most_arms=6)))
    assert np.all(q >= 0.0)
    assert np.abs(q.sum(axis=1) - 1.0).max() <= CLOSE


@every_kind
@few
@given(data=st.data())
def test_the_order_of_feedback_inside_a_round_is_irrelevant(
    kind: Kind, data: st.DataObject
) -> None:
    """Whatever arrives at the end of a round is a set, not a list."""
    game = data.draw(games(kind))
    shuffled = data.draw(st.randoms(use_true_random=False))

    def shuffle(arrivals: Arrivals) -> Arrivals:
        return shuffled.sample(arrivals, len(arrivals))

    reference = played(game)
    np.testing.assert_allclose(played(game, shuffle), reference, rtol=0, atol=CLOSE)
    backwards = played(game, lambda arrivals: arrivals[::-1])
    np.testing.assert_allclose(backwards, reference, rtol=0, atol=CLOSE)


@every_kind
@few
@given(data=st.data())
def test_predict_changes_nothing(kind: Kind, data: st.DataObject) -> None:
    """Every array of the state stays as it is, and a second prediction is the first again."""
    game = data.draw(games(kind))

    def look(learner: Learner, state: Any) -> None:
        before = copied(state)
        first = learner.predict(state)
        assert identical(state, before)
        assert identical(learner.predict(state), first)

    assert played(game, each_round=look).tobytes() == played(game).tobytes()


@every_kind
@few
@given(data=st.data())
def test_permuting_the_arms_permutes_q(kind: Kind, data: st.DataObject) -> None:
    """Arms have no order: losses, delays, plays and prior permuted, so are the weights."""
    game = data.draw(games(kind))
    count = game.options["arms"]
    order = np.array(data.draw(st.permutations(range(count)), "permutation"))
    options = dict(game.options)
    if options.get("prior"):
        options["prior"] = [options["prior"][i] for i in order]
    permuted = game.but(
        options=options,
        losses=game.losses[:, order],
        delays=game.delays[:, order],
        arms=np.argsort(order)[game.arms],
    )
    np.testing.assert_allclose(played(permuted), played(game)[:, order], rtol=0, atol=CLOSE)


@every_kind
@few
@given(data=st.data())
def test_what_was_not_revealed_before_round_t_changes_no_q_up_to_t(
    kind: Kind, data: st.DataObject
) -> None:
    """Losses and delays of what arrives in round t or later may be anything."""
    game = data.draw(games(kind), "game")
    rounds = len(game.losses)
    other = data.draw(games_like(game), "another future")
    now = data.draw(st.integers(1, rounds), "t")
    made_in = np.arange(1, rounds + 1)[:, None]
    hidden = (game.delays == NEVER) | (made_in + game.delays >= now)
    late = np.where(other.delays == NEVER, NEVER, np.maximum(other.delays, now - made_in))
    changed = game.but(
        losses=np.where(hidden, other.losses, game.losses),
        delays=np.where(hidden, late, game.delays),
        arms=np.where(made_in[:, 0] >= now, other.arms, game.arms),
    )
    assert played(changed)[:now].tobytes() == played(game)[:now].tobytes()


@st.composite
def games_like(draw: st.DrawFn, game: Game) -> Game:
    """Another game of the same size with the same learner."""
    random = np.random.default_rng(draw(st.integers(0, 2**32)))
    shape = game.losses.shape
    return game.but(
        losses=random.random(shape),
        delays=random.integers(NEVER, 6, shape),
        arms=random.integers(0, shape[1], shape[0]),
    )


BANDITS = {
    name: kind for name, kind in KINDS.items() if kind.setting is not Setting.FULL_INFORMATION
}


@pytest.mark.parametrize("kind", list(BANDITS.values()), ids=list(BANDITS))
@few
@given(data=st.data())
def test_losses_of_arms_that_were_not_played_never_matter(kind: Kind, data: st.DataObject) -> None:
    """Nor, where no missing counts are told, do their delays."""
    game = data.draw(games(kind))
    other = data.draw(games_like(game))
    unseen = np.arange(game.losses.shape[1]) != game.arms[:, None]
    changed = game.but(losses=np.where(unseen, other.losses, game.losses))
    if kind.setting is Setting.CONCEALED:
        changed = changed.but(delays=np.where(unseen, other.delays, game.delays))
    assert played(changed).tobytes() == played(game).tobytes()


@every_kind
@few
@given(data=st.data())
def test_an_infinite_delay_equals_one_beyond_the_end(kind: Kind, data: st.DataObject) -> None:
    """A loss that never comes and one that comes after the last round are the same."""
    game = data.draw(games(kind))
    rounds = len(game.losses)
    late = game.but(delays=np.where(game.delays == NEVER, rounds, game.delays))
    never = game.but(delays=np.where(game.delays >= rounds, NEVER, game.delays))
    assert played(late).tobytes() == played(never).tobytes()


HISTORY = {
    "last_arm",
    "most_waiting",
    *("round", "dual", "multiplier", "carried", "weights", "most_missing", "most_outstanding"),
    "overlap",
}
FORM = {"losses", "columns", "arrived", "ratios", "chained", "basis"}  # how Lhat^av is kept


@papers_kind
@few
@given(data=st.data())
def test_withdrawing_undoes_a_commit_but_for_history(kind: Kind, data: st.DataObject) -> None:
    """What is waited for is as before; round, warm start, running maxima and overlaps stay.

    The concealed learner's `waiting` is a sum and its rounding error: their sum is as before, and
    exactly zero when nothing is outstanding. With skipping, a commit may end the wait for others.
    """
    game = data.draw(games(kind, skipping=False) if has(kind, "skipping") else games(kind))

    def look(learner: Learner, state: Any) -> None:
        trial = copied(state)
        arm = data.draw(st.integers(0, learner.arms - 1)) if game.is_bandit else -1
        plays = learner.commit(trial, learner.predict(trial), arm)
        assert not identical(trial, state)
        for i, play in enumerate(plays):
            learner.withdraw(trial, play, arm if game.is_bandit else i)
        after_it = leaves(trial)
        for name, before in leaves(state).items():
            after = after_it[name]
            if name == "waiting":
                np.testing.assert_allclose(after.sum(axis=0), before.sum(axis=0), rtol=1e-15)
                assert np.all(after[:, state.outstanding == 0] == 0.0)
            elif name.partition(".")[0] not in HISTORY | FORM:
                assert after.tobytes() == before.tobytes(), name
        np.testing.assert_allclose(learner.losses(trial), learner.losses(state), rtol=1e-14)
        assert trial.round[0] == state.round[0] + 1

    played(game, each_round=look)


@papers_kind
@few
@given(data=st.data())
def test_a_withdrawn_play_teaches_what_a_loss_of_zero_teaches(
    kind: Kind, data: st.DataObject
) -> None:
    """Nothing: with either the state is the same, bit for bit."""
    game = data.draw(games(kind))

    def look(learner: Learner, state: Any) -> None:
        one, other = copied(state), copied(state)
        arm = data.draw(st.integers(0, learner.arms - 1)) if game.is_bandit else -1
        for trial in (one, other):
            plays = learner.commit(trial, learner.predict(trial), arm)
        for i, play in enumerate(plays):
            learner.withdraw(one, play, arm if game.is_bandit else i)
            learner.observe(other, play, arm if game.is_bandit else i, 0.0, 0)
        assert identical(one, other)

    played(game, each_round=look)


@every_kind
@few
@given(data=st.data())
def test_the_horizon_enters_only_through_the_start(kind: Kind, data: st.DataObject) -> None:
    """Through J and ln T, that is: from one start the rounds go alike, whatever T is said to be."""
    game = data.draw(games(kind, prior=None) if has(kind, "prior") else games(kind))
    if not has(kind, "horizon"):
        shorter = data.draw(st.integers(1, len(game.losses)), "T")
        prefix = game.but(
            losses=game.losses[:shorter], delays=game.delays[:shorter], arms=game.arms[:shorter]
        )
        assert played(prefix).tobytes() == played(game)[:shorter].tobytes()
        return
    horizon = game.options["horizon"]
    other = data.draw(st.integers(max(1, horizon // 2), horizon * 2), "another horizon")
    changed = game.but(options=game.options | {"horizon": other})
    start, elsewhere = game.learner().start(), changed.learner().start()
    sizes = [[part.shape for part in leaves(each).values()] for each in (start, elsewhere)]
    if sizes[0] != sizes[1]:
        return
    assert played(changed, start=start).tobytes() == played(game).tobytes()


@pytest.mark.parametrize("kind", [FullInformation, PartiallyConcealed])
@in_both_variants
@pytest.mark.parametrize("horizon", [1, 2, 4, 5, 16, 17, 64, 65, 10**6])
def test_the_start_holds_the_horizon_as_J_and_ln_T(kind: Kind, variant: str, horizon: int) -> None:
    """J rates whose steps grow with the root of ln T."""
    state = made(kind, 3, variant, horizon=horizon, max_missing=2).start()
    base = 2 if (kind, variant) == (FullInformation, "repaired") else 4
    size = max(1, next(j for j in range(99) if base**j >= horizon))
    logs = math.log(horizon) + 1.0
    scale = math.sqrt(math.log(3) + (2.0 * logs if kind is FullInformation else logs)) / 4.0
    np.testing.assert_allclose(state.steps, [scale / 2**j for j in range(1, size + 1)], rtol=1e-14)
    if kind is PartiallyConcealed:
        assert state.log_horizon[0] == math.log(horizon)


# -- zero delay: the undelayed algorithms, written anew


def root(function: Callable[[float], float], low: float, high: float) -> float:
    """The root of an increasing function, as exactly as doubles have it."""
    return float(brentq(function, low, high, xtol=1e-300, rtol=8.9e-16, maxiter=500))


def plain_full_information(game: Game) -> Floats:
    """Entropic FTRL over (expert, rate) on the sum of l (1 + 4 eta), with eta fixed."""
    rounds, count = game.losses.shape
    horizon, repaired = game.options["horizon"], game.options["variant"] == "repaired"
    size = 1
    while (2 if repaired else 4) ** size < horizon:
        size += 1
    j = np.arange(1, size + 1)
    scale = math.sqrt(math.log(count) + 2.0 * (math.log(horizon) + 1.0))
    eta = np.minimum(0.25, scale / (4.0 * 2.0**j))
    weight = 4.0**-j / (4.0**-j).sum()
    prior = np.full(count, 1.0 / count) if game.options["prior"] is None else game.options["prior"]
    log_prior = np.log(np.outer(prior, weight))
    q = np.empty((rounds, count))
    total = np.zeros((count, size))
    for t in range(rounds):

        def log_sum(c: float, total: Floats = total) -> float:
            return float(np.logaddexp.reduce(log_prior + eta * (c - total), axis=None))

        high = (total - log_prior / eta).min()
        p = np.exp(log_prior + eta * (root(log_sum, total.min() - 1.0, high) - total))
        q[t] = p.sum(axis=1) / p.sum()
        total = total + game.losses[t][:, None] * (1.0 + 4.0 * eta)
    return q


def plain_log_barrier(game: Game) -> Floats:
    """FTRL with the log barrier on the sum of l/q, at a rate that falls with the losses seen."""
    rounds, count = game.losses.shape
    q = np.empty((rounds, count))
    total, seen = np.zeros(count), 0.0
    for t in range(rounds):
        eta = math.sqrt(count * math.log(game.options["horizon"]) / (4.0 * (1.0 + seen)))
        q[t] = centred(total, lambda x, eta=eta: 1.0 / (eta * x), count / eta) if eta else 1 / count
        arm = game.arms[t]
        total[arm] += game.losses[t, arm] / q[t, arm]
        seen += game.losses[t, arm]
    return q


def plain_tsallis(game: Game) -> Floats:
    """FTRL with the Tsallis entropy on the sum of l/(q + epsilon)."""
    rounds, count = game.losses.shape
    spread = count if game.options["variant"] == "repaired" else 1
    q = np.empty((rounds, count))
    total = np.zeros(count)
    for t in range(rounds):
        eta = 0.5 / math.sqrt(t + 1)
        far = math.sqrt(count) / (2.0 * eta)
        q[t] = centred(total, lambda x, eta=eta: (2.0 * eta * x) ** -2.0, far)
        arm = game.arms[t]
        total[arm] += game.losses[t, arm] / (q[t, arm] + 1.0 / math.sqrt(spread * (t + 1)))
    return q


def centred(total: Floats, weight: Callable[[Floats], Floats], far: float) -> Floats:
    """weight(total - c) with the c left of all totals for which it sums to one."""
    if len(total) == 1:
        return np.ones(1)
    gaps = total - total.min()
    near = far / len(total)
    distance = root(lambda x: 1.0 - float(weight(gaps + x).sum()), 0.5 * near, 2.0 * far)
    q = weight(gaps + distance)
    return q / q.sum()


UNDELAYED = {
    "full-information": plain_full_information,
    "partially-concealed": plain_log_barrier,
    "concealed": plain_tsallis,
}


@pytest.mark.parametrize("name", UNDELAYED)
@few
@given(data=st.data())
def test_zero_delay_equals_the_undelayed_algorithm(name: str, data: st.DataObject) -> None:
    """With nothing ever missing each learner is plain FTRL on the sum of its estimates."""
    kind = KINDS[name]
    fixed = {"max_missing": 0} if has(kind, "max_missing") else {}
    game = data.draw(games(kind, **fixed))
    prompt = game.but(delays=np.zeros_like(game.delays))
    np.testing.assert_allclose(played(prompt), UNDELAYED[name](prompt), rtol=0, atol=CLOSE)


# -- degenerate inputs (E10)


@every_kind
@few
@given(data=st.data())
def test_one_arm_has_all_the_weight(kind: Kind, data: st.DataObject) -> None:
    """K = 1: q is one, whatever is lost, late or missing."""
    assert np.abs(played(data.draw(games(kind, most_arms=1))) - 1.0).max() <= CLOSE


@every_kind
@in_both_variants
@pytest.mark.parametrize("max_missing", [0, 1, 7])
@pytest.mark.parametrize("arms", [1, 2, 5])
def test_a_single_round_is_played_by_the_prior_or_evenly(
    kind: Kind, variant: str, max_missing: int, arms: int
) -> None:
    """T = 1: full information and policies play their prior, others know no better than 1/K."""
    parts = np.arange(1.0, arms + 1.0)
    prior = (parts / parts.sum()).tolist()
    learner = made(kind, arms, variant, horizon=1, max_missing=max_missing, prior=prior)
    q = learner.predict(learner.start()).q
    even = [1.0 / arms] * arms
    has_prior = kind is FullInformation or issubclass(kind, OverPolicies)
    expected = prior if has_prior else even
    np.testing.assert_allclose(q, expected, rtol=0, atol=CLOSE)


@in_both_variants
def test_without_missing_the_partially_concealed_bandit_is_a_pure_log_barrier(variant: str) -> None:
    """rho* = 0: gamma is infinite and the prior plays no part."""
    options = {"arms": 3, "variant": variant, "horizon": 40, "max_missing": 0}
    learner = PartiallyConcealed(**options)
    slanted = PartiallyConcealed(**options, prior=(0.7, 0.2, 0.1))
    state, other = learner.start(), slanted.start()
    for t in range(40):
        prediction = learner.predict(state)
        assert np.all(np.isinf(prediction.gamma))
        assert slanted.predict(other).q.tobytes() == prediction.q.tobytes()
        for each, its_state in ((learner, state), (slanted, other)):
            plays = each.commit(its_state, prediction, t % 3)
            each.observe(its_state, plays[0], t % 3, (t % 5) / 5, 0)


def test_without_a_promise_there_is_no_entropy_until_a_round_begins_with_a_play_outstanding() -> (
    None
):
    """Proposition 2: gamma is infinite while every loss is told before the next round."""
    learner = Concealed(arms=3, variant="repaired")
    state = learner.start()
    for arm in (0, 1, 1):
        prediction = learner.predict(state)
        assert math.isinf(prediction.gamma[0])
        learner.observe(state, learner.commit(state, prediction, arm)[0], arm, 0.5, 0)
    prediction = learner.predict(state)
    learner.commit(state, prediction, 2)
    waiting = 1.0 / (prediction.q[2] + 1.0 / math.sqrt(3 * 4))
    gamma = learner.predict(state).gamma[0]
    assert gamma == pytest.approx(math.sqrt(math.log(3) / waiting), rel=1e-14)


@in_both_variants
def test_without_missing_the_concealed_bandit_has_no_entropy_until_plays_overlap(
    variant: str,
) -> None:
    """rho* = 0: gamma is infinite until an arm is played while it is outstanding, finite after."""
    learner = Concealed(arms=3, variant=variant, gamma_bound="max_missing", max_missing=0)
    state = learner.start()
    for arm in (0, 1, 2):
        prediction = learner.predict(state)
        assert math.isinf(prediction.gamma[0])
        learner.commit(state, prediction, arm)
    prediction = learner.predict(state)
    assert math.isinf(prediction.gamma[0])
    learner.commit(state, prediction, 1)
    assert math.isfinite(learner.predict(state).gamma[0])


@every_kind
@few
@given(data=st.data())
def test_feedback_that_never_comes_teaches_nothing(kind: Kind, data: st.DataObject) -> None:
    """d = infinity: the losses never matter; the paper's learners play on as in round 1."""
    game = data.draw(games(kind))
    silent = game.but(delays=np.full_like(game.delays, NEVER))
    q = played(silent)
    assert q.tobytes() == played(silent.but(losses=1.0 - silent.losses)).tobytes()
    if kind in THE_PAPERS.values() and not guards_its_rate(game):
        np.testing.assert_allclose(q, np.broadcast_to(q[0], q.shape), rtol=0, atol=CLOSE)


@papers_kind
@few
@given(data=st.data())
def test_losses_that_are_all_zero_teach_nothing(kind: Kind, data: st.DataObject) -> None:
    """l = 0: full information keeps its prior, and evenly started bandits stay even."""
    game = data.draw(games(kind))
    q = played(game.but(losses=np.zeros_like(game.losses)))
    arms, prior = game.options["arms"], game.options.get("prior")
    if kind is FullInformation or not prior:
        expected = np.full(arms, 1.0 / arms) if prior is None else np.array(prior)
        np.testing.assert_allclose(q, np.broadcast_to(expected, q.shape), rtol=0, atol=CLOSE)
    elif not guards_its_rate(game):
        np.testing.assert_allclose(q, np.broadcast_to(q[0], q.shape), rtol=0, atol=CLOSE)


def guards_its_rate(game: Game) -> bool:
    """Whether outstanding plays alone move a rate (E3), and with it a slanted distribution."""
    return game.kind is PartiallyConcealed and game.options["variant"] == "repaired"
