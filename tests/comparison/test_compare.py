"""Comparisons: paired, repeatable, the same on one core and on many, and honest when cut short."""

import math
import os
import signal
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from belated.analysis.statistics import estimate, student_quantile
from belated.comparison.compare import compare
from belated.comparison.contenders import Contender, contenders
from belated.comparison.result import Comparison
from belated.environments.changing_losses import BlockConstant
from belated.environments.delays import Constant, PerArm, UniformDelays
from belated.environments.environment import Environment
from belated.environments.files import environment_from_arrays
from belated.environments.in_memory import GivenDelays
from belated.environments.losses import Bernoulli
from belated.learners.contract import PaperLearner
from belated.learners.paper.concealed import Concealed
from belated.learners.registry import registered
from belated.learners.uniform import Uniform as UniformPlay
from belated.types import BelatedWarning, Setting

ALL = list(registered())


def coins(rounds: int = 300, arms: int = 3) -> Environment:
    means = np.linspace(0.3, 0.7, arms)
    return Environment("coins", Bernoulli(means), UniformDelays(0, 20), rounds)


def digits(comparison: Comparison) -> list[dict[str, Any]]:
    """The tidy table without the time that runs took."""
    return [
        {name: value for name, value in row.items() if name != "seconds"}
        for row in comparison.runs()
    ]


@pytest.mark.compiled  # slow without
def test_nobody_looks_ahead() -> None:
    """X1: on blocks of equal coin flips, known when they are over, all regret 56.1269 on average.

    Whatever a learner does, its expected loss is 1/2 a round, and n = T/(d+1) coins decide the
    best arm: (d+1) (n/2 - E min of K binomials), here from the binomial distribution itself.
    """
    rounds, arms, delay = 600, 4, 19
    coins = rounds // (delay + 1)
    above = [sum(math.comb(coins, k) for k in range(j + 1, coins + 1)) for j in range(coins)]
    least = sum((count / 2**coins) ** arms for count in above)
    expected = (delay + 1) * (coins / 2 - least)
    assert expected == pytest.approx(56.1269, abs=1e-4)
    environment = Environment(
        "block-constant", BlockConstant(arms, delay + 1), Constant(delay), rounds
    )
    papers = [name for name, kind in registered().items() if issubclass(kind, PaperLearner)]
    variants = [f"{name}:variant=repaired" for name in papers]
    result = compare([*ALL, *variants], environment, repetitions=100, seed=5)
    for k, label in enumerate(result.labels):
        regret = estimate(result.regret(k))
        assert abs(regret.mean - expected) <= 4.0 * regret.error, label


@pytest.mark.compiled  # slow without
def test_a_learner_that_looks_ahead_is_found_out() -> None:
    """The same game with half of the delay: what was never known in time now is, and is used."""
    environment = Environment("leak", BlockConstant(4, 20), Constant(9), 600)
    result = compare(["full-information"], environment, repetitions=400, seed=5)
    regret = estimate(result.regret(0))
    assert regret.mean < 56.1269 - 4.0 * regret.error


@pytest.mark.compiled  # slow without
def test_repetitions_are_paired_and_do_not_depend_on_company_or_workers() -> None:
    """A learner's runs are the same alone, among others, and on any number of threads."""
    together = compare(ALL, coins(), repetitions=5, seed=3, workers=2)
    assert digits(together) == digits(compare(ALL, coins(), repetitions=5, seed=3, workers=1))
    assert digits(together) == digits(compare(ALL, coins(), repetitions=5, seed=3, workers=9))
    alone = compare(["concealed"], coins(), repetitions=3, seed=3)
    among = [row for row in digits(together) if row["learner"] == "concealed"]
    assert digits(alone) == among[:3]
    best = {(row["repetition"], row["best_loss"]) for row in digits(together)}
    assert len(best) == 5
    assert digits(together) != digits(compare(ALL, coins(), repetitions=5, seed=4))


def test_a_given_game_is_the_same_in_every_repetition() -> None:
    """Only the learners' draws differ; in full information nothing does."""
    random = np.random.default_rng(1)
    delays = random.integers(0, 9, (200, 3))
    environment = environment_from_arrays(random.random((200, 3)), delays)
    result = compare(["full-information", "concealed"], environment, repetitions=4, seed=1)
    assert np.ptp(result.regret(0)) == 0.0
    assert np.ptp(result.regret(1)) > 0.0


@pytest.mark.compiled  # slow without
def test_the_table_states_regret_bound_and_time() -> None:
    """One row a learner; the numbers are those of the runs."""
    environment = Environment("late", Bernoulli([0.2, 0.5]), PerArm([10, 0]), 400)
    result = compare(ALL, environment, repetitions=6, seed=2)
    table = {row["learner"]: row for row in result.table()}
    assert set(table) == set(ALL)
    for k, name in enumerate(result.labels):
        rows = [row for row in result.runs() if row["learner"] == name]
        regret = np.array([row["loss"] - row["best_loss"] for row in rows])
        assert table[name]["regret"] == pytest.approx(regret.mean())
        half = student_quantile(5) * regret.std(ddof=1) / math.sqrt(6)
        assert table[name]["±"] == pytest.approx(half, rel=1e-9, abs=1e-12)
        assert table[name]["is told"] == result.traces[k][0].learner.setting.value
        assert table[name]["loss per round"] == pytest.approx(
            np.mean([row["loss"] for row in rows]) / 400
        )
    assert table["uniform"]["bound"] is None
    expected = np.mean([trace.expected_missing for trace in result.traces[ALL.index("concealed")]])
    most = max(sums.max_missing for sums in result.game_sums)
    theorem = 9 * math.sqrt(2 * 400) + most / 2 + 3 * math.sqrt(math.log(2) * expected)
    assert table["concealed"]["bound"] == pytest.approx(theorem)
    ratio = table["concealed"]["regret"] / theorem
    assert table["concealed"]["regret / bound"] == pytest.approx(ratio)


def test_curves_end_at_the_totals() -> None:
    """Regret, weights and rate weights over time agree with the sums over all rounds."""
    result = compare(["partially-concealed"], coins(500), repetitions=3, seed=1)
    assert result.regret_over_time(0).mean[-1] == pytest.approx(result.regret(0).mean())
    rounds = np.diff(result.checkpoints, prepend=0)
    weights = result.weights_over_time(0)
    np.testing.assert_allclose(weights.sum(axis=1), 1.0, rtol=1e-9)
    np.testing.assert_allclose(rounds @ weights / 500, result.mean_weights(0), rtol=1e-9)
    np.testing.assert_allclose(result.rate_weights_over_time(0).sum(axis=1), 1.0, rtol=1e-9)


class FollowsTheLeader:
    """A user's own learner in plain Python: all weight on the least mean loss seen."""

    setting = Setting.CONCEALED

    def start(self) -> dict[str, Any]:
        return {"sums": np.zeros(3), "counts": np.zeros(3), "told": []}

    def predict(self, state: dict[str, Any]) -> Any:
        means = state["sums"] / np.maximum(state["counts"], 1)
        return type("Prediction", (), {"q": np.eye(3)[int(means.argmin())]})

    def commit(self, state: dict[str, Any], prediction: Any, arm: int) -> list[int]:
        return [arm]

    def observe(
        self, state: dict[str, Any], play: int, arm: int, loss: float, missing: int
    ) -> None:
        assert play == arm
        state["sums"][arm] += loss
        state["counts"][arm] += 1


def test_a_learner_in_plain_python_plays_along() -> None:
    """The readable loop runs what is not compiled, on the same games."""
    result = compare([FollowsTheLeader(), "uniform"], coins(), repetitions=3, seed=1)
    assert result.labels == ["FollowsTheLeader", "uniform"]
    assert result.regret(0).mean() < result.regret(1).mean()
    assert result.table().column("bound")[0] is None


def test_an_interrupt_keeps_the_complete_repetitions() -> None:
    """Ctrl-C after some repetitions: those that all learners finished are there and right."""
    whole = compare(["exp3", "uniform"], coins(), repetitions=40, seed=2, workers=2)

    def interrupt(done: int, total: int) -> None:
        if done > total // 2 and not pressed:
            pressed.append(True)
            os.kill(os.getpid(), signal.SIGINT)

    pressed: list[bool] = []
    with pytest.warns(BelatedWarning, match="interrupted"):
        part = compare(["exp3", "uniform"], coins(), 40, 2, 2, progress=interrupt)
    assert 0 < len(part.repetitions) < 40
    kept = [row for row in digits(whole) if row["repetition"] in part.repetitions]
    assert digits(part) == kept


def test_an_interrupt_before_anything_is_complete_is_an_interrupt() -> None:
    """There is nothing to keep."""

    def interrupt(done: int, total: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        compare(["uniform"], coins(), repetitions=2, progress=interrupt)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ([], "at least one"),
        (["concealed", "concealed"], "two learners are called 'concealed'"),
        (["conceald"], "did you mean 'concealed'"),
        (["concealed:horizon=5"], "has no option 'horizon'"),
        (["concealed:variant"], "name=value"),
        (["concealed:variant=repaired,variant=paper"], "twice"),
    ],
)
def test_bad_learners_get_a_clear_sentence(given: list[str], said: str) -> None:
    """The value and the rule, before anything is played."""
    with pytest.raises(ValueError, match=said):
        contenders(given)


def test_contenders_are_labelled_by_what_was_said() -> None:
    """Two variants of one learner are two contenders."""
    found = contenders(["concealed", "concealed:variant=repaired,max_missing=50"])
    assert [each.label for each in found] == ["concealed", "concealed (repaired, max_missing=50)"]
    assert found[1] == Contender("concealed", {"variant": "repaired", "max_missing": 50})


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"repetitions": 0}, "repetitions is 0"),
        ({"seed": -1}, "seed is -1"),
        ({"workers": -2}, "workers is -2"),
        ({"environment": "late-bst"}, "did you mean 'late-best'"),
    ],
)
def test_bad_options_get_a_clear_sentence(options: dict[str, Any], said: str) -> None:
    """One sentence each."""
    environment = options.pop("environment", coins())
    with pytest.raises(ValueError, match=said):
        compare(["uniform"], environment, **options)


def test_the_certificate_stands_beside_the_bound() -> None:
    """Full information only: above the regret in every game, and below the theorem's bound here."""
    environment = Environment("late", Bernoulli([0.2, 0.5]), PerArm([10, 0]), 400)
    result = compare(["full-information", "concealed"], environment, repetitions=4, seed=2)
    certificates = result.table().column("certificate")
    assert certificates[1] is None
    assert result.regret(0).mean() < certificates[0] < result.table().column("bound")[0]


def test_lower_bounds_on_request() -> None:
    """Orders for the mean delay of all arms, each with its origin."""
    environment = Environment("late", Bernoulli([0.2, 0.5]), PerArm([12, 0]), 400)
    rows = list(compare(["uniform"], environment, repetitions=1).lower_bounds())
    assert [row["delay"] for row in rows] == [6, 6]
    values = [math.sqrt(7 * 400 * math.log(2)), math.sqrt(6 * 400 * math.log(2))]
    assert [row["order of regret"] for row in rows] == pytest.approx(values)


def test_regret_against_any_comparator() -> None:
    """Every arm, a mixture, and the balanced one, from the sums of each game."""
    result = compare(["concealed"], coins(), repetitions=3, seed=1)
    losses = np.array([sums.losses for sums in result.game_sums])
    totals = np.array([trace.loss for trace in result.traces[0]])
    np.testing.assert_allclose(result.regrets(0), totals[:, None] - losses)
    np.testing.assert_allclose(result.regret(0, against=2), totals - losses[:, 2])
    np.testing.assert_allclose(
        result.regret(0, against=[0.5, 0.5, 0.0]), totals - losses[:, :2].mean(axis=1)
    )
    np.testing.assert_allclose(result.regret(0), result.regrets(0).max(axis=1))


@pytest.mark.parametrize("delay_arms", [1, 2, 4])
def test_processes_of_different_shapes_are_refused(delay_arms: int) -> None:
    """Compiled code never sees them."""
    delays = GivenDelays(np.zeros((300, delay_arms), dtype=np.int64))
    environment = Environment("odd", Bernoulli([0.1, 0.2, 0.3]), delays, 300)
    with pytest.raises(ValueError, match="delays of rounds 1 to 300 have the shape"):
        compare(["uniform"], environment, repetitions=1)


@pytest.mark.parametrize("prior", [[0.5, 0.5], [0.5, 0.5, 0.5], 0.3])
def test_a_bad_prior_of_an_environment_is_refused(prior: Any) -> None:
    """One weight for each arm, and they sum to one."""
    with pytest.raises(ValueError, match="prior"):
        Environment("odd", Bernoulli([0.1, 0.2, 0.3]), Constant(1), 30, prior=prior)


def test_a_learner_for_another_number_of_arms_is_refused() -> None:
    """Before it reads beyond the losses."""
    with pytest.raises(ValueError, match="Concealed is for 5 arms; the game has 3"):
        compare([Concealed(arms=5)], coins(), repetitions=1)
    with pytest.raises(ValueError, match="there must be one for each arm, 5"):
        compare([FollowsTheLeader()], coins(arms=5), repetitions=1)


@pytest.mark.parametrize("q", [(0.1, 0.1, 0.1), (1.0, 1.0, -1.0), (np.nan, 0.5, 0.5)])
def test_weights_that_are_no_distribution_are_refused(q: tuple[float, ...]) -> None:
    """Otherwise a learner with small weights would win, and a sum of NaN would pass unseen."""

    class Wrong(FollowsTheLeader):
        def predict(self, state: Any) -> Any:
            return SimpleNamespace(q=np.array(q))

    with pytest.raises(ValueError, match=r"^Wrong gives weights in round 1 whose sum is"):
        compare([Wrong()], coins(), repetitions=1)


class NoSetting(FollowsTheLeader):
    """Names its setting in words."""

    setting: Any = "concealed"


@pytest.mark.parametrize(
    ("learner", "sentence"),
    [
        (object(), "object has no method 'start'; a learner must have start, predict, commit"),
        (NoSetting(), "the setting of NoSetting is 'concealed'; it must be one of"),
        (object, "object cannot be made with arms=3: .* a class that takes the number of arms"),
    ],
)
def test_what_cannot_play_is_refused(learner: Any, sentence: str) -> None:
    """One sentence says what a learner must have."""
    with pytest.raises(TypeError, match=f"^{sentence}"):
        compare([learner], coins(), repetitions=1)


def test_what_is_no_environment_is_refused() -> None:
    """A table of another library, for example."""
    table: Any = {"round": [1]}
    with pytest.raises(TypeError, match=r"^environment is a dict; it must be an Environment, the"):
        compare(["uniform"], table, repetitions=1)


USERS_LEARNER = """
from dataclasses import dataclass
from typing import ClassVar, NamedTuple
import numba
import numpy as np
import belated
from belated.learners import uniform
from belated.learners.contract import Verbs
from belated.learners.uniform import Uniform

class MineState(NamedTuple):
    round: np.ndarray

@numba.njit
def predict(state, prediction):
    prediction.q[:] = 0.0
    prediction.q[FAVOURITE] = 1.0

@dataclass(frozen=True)
class Mine(Uniform):
    name: ClassVar[str] = "mine"
    state: ClassVar[type] = MineState
    verbs: ClassVar[Verbs] = Verbs(predict, uniform.commit, uniform.withdraw, uniform.observe)

    def start(self):
        return MineState(np.ones(1, dtype=np.int64))

game = belated.environment_from_arrays(np.zeros((20, 3)), np.zeros((20, 3), dtype=int))
print(belated.compare([Mine(arms=3)], game, repetitions=1).traces[0][0].plays.argmax())
"""


def test_a_users_compiled_learner_is_never_stale(tmp_path: Path) -> None:
    """An edited verb is compiled anew although the loop around it did not change."""
    path = tmp_path / "mine.py"
    for favourite in (0, 2):
        path.write_text(USERS_LEARNER.replace("FAVOURITE", str(favourite)))
        run = subprocess.run(
            [sys.executable, str(path)], capture_output=True, text=True, timeout=300
        )
        assert run.stdout.strip() == str(favourite), run.stderr


def test_other_verbs_need_another_state() -> None:
    """The compiled loop finds the verbs by the kind of state."""
    with pytest.raises(TypeError, match="a kind of state of its own"):

        class Odd(UniformPlay):
            verbs = Concealed.verbs
