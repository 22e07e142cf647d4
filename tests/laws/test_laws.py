"""Every registered learner obeys the laws of `belated.testing`, and the paper's learners more."""

import math
import os
from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import brentq

from belated.arrays import Floats
from belated.environments.missing import NEVER
from belated.learners.advice.advice import Advice
from belated.learners.advice.policies import OverPolicies
from belated.learners.contract import Learner, PaperLearner
from belated.learners.paper.concealed import Concealed
from belated.learners.paper.full_information import FullInformation
from belated.learners.paper.partially_concealed import PartiallyConcealed
from belated.learners.practical.practical_experts import PracticalExperts
from belated.learners.registry import registered
from belated.learners.states import copied, identical, leaves
from belated.testing.game_laws import GAME_LAWS
from belated.testing.trials import CLOSE, LearnerLaw, RandomGame, Trial, Watcher, games, has
from belated.testing.trials import played as played_through
from belated.types import VARIANTS
from tests.conftest import COMPILED
from tests.games import assert_certified, assert_policies_certified
from tests.laws.pathwise import Pathwise
from tests.twins.practical_certificate import practical_certificate

Kind = type[Learner]

TESTED_ELSEWHERE = {"the_fast_loop_plays_as_the_readable_one"}  # by tests/play
KINDS = registered()
RATES_FALL = {
    "adaptive-hedge", "centred-hedge", "anytime-hedge", "fpl", "delay-tolerant-hedge",
    "delayed-dual-averaging", "exp3", "exp4",
}  # fmt: skip
every_kind = pytest.mark.parametrize("kind", list(KINDS.values()), ids=list(KINDS))
THE_PAPERS = {name: kind for name, kind in KINDS.items() if issubclass(kind, PaperLearner)}
papers_kind = pytest.mark.parametrize("kind", list(THE_PAPERS.values()), ids=list(THE_PAPERS))
in_both_variants = pytest.mark.parametrize("variant", VARIANTS)
EXAMPLES = "6" if COMPILED else "3"  # interpreted, where make test plays every learner
few = settings(max_examples=int(os.environ.get("BELATED_EXAMPLES", EXAMPLES)), deadline=None)


def made(kind: Kind, arms: int, variant: str = "paper", **options: Any) -> Learner:
    """A learner of any kind; options that it does not have are left out."""
    given = options | {"variant": variant}
    return kind(arms=arms, **{name: value for name, value in given.items() if has(kind, name)})


class Proven(Watcher):
    """Checks what is proven of a run, round by round, and at its end."""

    def __init__(self, game: RandomGame, is_from_start: bool) -> None:
        self.game, self.is_from_start = game, is_from_start
        self.path = Pathwise(game.learner())
        self.predictions: list[Any] = []
        self.state: Any = None

    def before(self, learner: Any, state: Any, round_: int) -> None:
        self.state = self.path.before(state)

    def after(self, learner: Any, prediction: Any, round_: int) -> None:
        self.predictions.append(prediction)
        arm = int(self.game.arms[round_])
        if self.is_from_start:
            self.path.check(self.state, prediction, arm, float(self.game.losses[round_, arm]))

    def check_run(self) -> None:
        """Check the certificates of the whole run."""
        learner, losses, predictions = self.game.learner(), self.game.losses, self.predictions
        from_start = self.is_from_start
        if isinstance(learner, FullInformation) and learner.prior is not None and from_start:
            assert_certified(losses, self.game.delays, predictions, learner.prior)
        if isinstance(learner, Advice):
            assert_policies_certified(learner, losses, predictions)
        if learner.name in RATES_FALL:
            assert (np.diff([each.eta[0] for each in predictions]) <= 0.0).all()
        if isinstance(learner, PracticalExperts) and from_start:
            assert practical_certificate(learner, losses, predictions).holds


def played(game: RandomGame, *arguments: Any, start: Any = None, **more: Any) -> Floats:
    """q_t in row t-1, of a run that keeps what is proven of it."""
    proven = Proven(game, start is None)
    q = played_through(game, *arguments, start=start, watcher=proven, **more)
    proven.check_run()
    return q


# -- the laws of all learners


LAWS = [law for law in GAME_LAWS if law.name not in TESTED_ELSEWHERE]


@pytest.mark.parametrize(
    ("law", "kind"),
    [
        pytest.param(law, kind, id=f"{law.name}-{name}")
        for law in LAWS
        for name, kind in KINDS.items()
        if law.applies(kind)
    ],
)
@few
@given(data=st.data())
def test_every_learner_obeys(law: LearnerLaw, kind: Kind, data: st.DataObject) -> None:
    """The laws of `belated.testing`, which are about all learners, and what is proven of each."""
    law.check(Trial(kind, data, played))


# -- what else holds of learners of this package


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


def plain_full_information(game: RandomGame) -> Floats:
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


def plain_log_barrier(game: RandomGame) -> Floats:
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


def plain_tsallis(game: RandomGame) -> Floats:
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
def test_a_single_round_is_played_by_the_prior_or_evenly(kind: Kind) -> None:
    """T = 1: full information and policies play their prior, others know no better than 1/K."""
    has_prior = kind is FullInformation or issubclass(kind, OverPolicies)
    for variant, max_missing, arms in product(VARIANTS, (0, 1, 7), (1, 2, 5)):
        parts = np.arange(1.0, arms + 1.0)
        prior = (parts / parts.sum()).tolist()
        learner = made(kind, arms, variant, horizon=1, max_missing=max_missing, prior=prior)
        q = learner.predict(learner.start()).q
        expected = prior if has_prior else [1.0 / arms] * arms
        said = f"{variant=}, {max_missing=}, {arms=}"
        np.testing.assert_allclose(q, expected, rtol=0, atol=CLOSE, err_msg=said)


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


@papers_kind
@few
@given(data=st.data())
def test_without_feedback_the_papers_learners_play_on_as_in_round_1(
    kind: Kind, data: st.DataObject
) -> None:
    """d = infinity: nothing is learned, and only a guarded rate moves."""
    game = data.draw(games(kind))
    if not guards_its_rate(game):
        q = played(game.but(delays=np.full_like(game.delays, NEVER)))
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


def guards_its_rate(game: RandomGame) -> bool:
    """Whether outstanding plays alone move a rate (E3), and with it a slanted distribution."""
    return game.kind is PartiallyConcealed and game.options["variant"] == "repaired"
