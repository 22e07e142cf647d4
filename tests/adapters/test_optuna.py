"""The sampler of Optuna: its own suite, late and lost trials, and a fold that is shared."""

from collections.abc import Callable
from typing import Any

import numpy as np
import optuna
import pytest
from optuna.samplers import TPESampler
from optuna.testing.pytest_samplers import (
    BasicSamplerTestCase,
    RelativeSamplerTestCase,
    SingleOnlySamplerTestCase,
)
from optuna.trial import TrialState

from belated.adapters.optuna import PREFIX, BanditSampler

pytestmark = [
    pytest.mark.check,
    pytest.mark.filterwarnings("ignore::optuna.exceptions.ExperimentalWarning"),
]
optuna.logging.set_verbosity(optuna.logging.WARNING)
MEANS = {"sgd": 0.9, "adam": 0.2, "rmsprop": 0.6}
RANGE = (0.0, 2.0)


def objective(trial: Any) -> float:
    """A loss that depends on a choice and a little on a number."""
    name = trial.suggest_categorical("optimizer", list(MEANS))
    return MEANS[name] + 0.1 * trial.suggest_float("rate", 0, 1)


def study_with(sampler: BanditSampler, **more: Any) -> optuna.Study:
    """A new study in memory."""
    return optuna.create_study(sampler=sampler, **more)


def chosen(study: optuna.Study) -> list[str]:
    """The choices of all trials, in order."""
    return [trial.params["optimizer"] for trial in study.trials]


class TestAsOptunaTestsSamplers(
    BasicSamplerTestCase, RelativeSamplerTestCase, SingleOnlySamplerTestCase
):
    """The parts of Optuna's own suite for samplers that apply: all but that of several objectives.

    With a relative sampler for all other parameters, ours passes the suite for relative ones, too.
    """

    @pytest.fixture
    def sampler(self) -> Callable[[], BanditSampler]:
        """Values of the suite's objectives lie far inside of the range."""
        others = TPESampler(multivariate=True, n_startup_trials=0, seed=1)
        return lambda: BanditSampler((-1e6, 1e6), others=others, seed=1)


@pytest.mark.parametrize("direction", ["minimize", "maximize"])
def test_it_finds_the_best_choice(direction: str) -> None:
    """In both directions."""
    study = study_with(BanditSampler(RANGE, seed=1), direction=direction)
    study.optimize(objective, n_trials=150)
    best = {"minimize": "adam", "maximize": "sgd"}[direction]
    assert chosen(study)[-50:].count(best) > 25


def test_trials_that_never_end_do_no_harm() -> None:
    """Twenty workers die with a trial each; the others go on, and learn."""
    study = study_with(BanditSampler(RANGE, seed=2))
    for _ in range(20):
        study.ask().suggest_categorical("optimizer", list(MEANS))
    study.optimize(objective, n_trials=120)
    assert len(study.get_trials(states=[TrialState.RUNNING])) == 20
    assert chosen(study)[-40:].count("adam") > 20
    bandit = next(iter(study.sampler._choices.values()))  # type: ignore[attr-defined]
    assert len(bandit.rows) >= 20
    sampler = BanditSampler(RANGE, give_up_after=30, seed=2)
    study.sampler = sampler
    study.optimize(objective, n_trials=1)
    assert len(next(iter(sampler._choices.values())).rows) < 20


def test_many_trials_at_once() -> None:
    """Asked for in a row and told in another order; and in threads."""
    study = study_with(BanditSampler(RANGE, seed=3))
    random = np.random.default_rng(1)
    for _ in range(12):
        trials = [study.ask() for _ in range(10)]
        values = [objective(trial) for trial in trials]
        for k in random.permutation(10):
            study.tell(trials[k], values[k])
    assert chosen(study)[-40:].count("adam") > 20
    threaded = study_with(BanditSampler(RANGE, seed=3))
    threaded.optimize(objective, n_trials=60, n_jobs=4)
    assert len(threaded.trials) == 60


def test_failed_and_pruned_trials_are_withdrawn() -> None:
    """They count as not played: the learner's losses are those of the others."""

    def fails(trial: Any) -> float:
        value = objective(trial)
        if trial.number % 3 == 1:
            raise optuna.TrialPruned
        if trial.number % 3 == 2:
            return float("nan")
        return value

    sampler = BanditSampler(RANGE, "exp3", seed=4)
    study = study_with(sampler)
    study.optimize(fails, n_trials=30)
    study.ask().suggest_categorical("optimizer", list(MEANS))
    (bandit,) = sampler._choices.values()
    assert bandit.rows == {}
    told = sum(1 for trial in study.trials if trial.state == TrialState.COMPLETE)
    assert told == 10
    losses = np.zeros(3)
    for trial in study.get_trials(states=[TrialState.COMPLETE]):
        k = list(MEANS).index(trial.params["optimizer"])
        losses[k] += trial.value / 2.0 / trial.system_attrs[PREFIX + "optimizer"][0]
    np.testing.assert_allclose(bandit.driver.state.losses, losses, rtol=1e-12)


def test_another_process_goes_on_from_the_study(tmp_path: Any) -> None:
    """A sampler that has seen nothing folds the trials, and has the same weights."""
    storage = f"sqlite:///{tmp_path / 'study.db'}"
    first = BanditSampler(RANGE, seed=5)
    study = study_with(first, storage=storage, study_name="mine")
    study.optimize(objective, n_trials=40)
    second = BanditSampler(RANGE, seed=5)
    again = optuna.load_study(study_name="mine", storage=storage, sampler=second)
    weights = []
    for each in (study, again):
        trial = each.ask()
        trial.suggest_categorical("optimizer", list(MEANS))
        weights.append(each.trials[-1].system_attrs[PREFIX + "optimizer"])
    third = optuna.load_study(
        study_name="mine", storage=storage, sampler=BanditSampler(RANGE, seed=9)
    )
    one, other = (
        s.sampler._folded(s, "optimizer", 3).driver.weights().tolist()  # type: ignore[attr-defined]
        for s in (again, third)
    )
    assert one == pytest.approx(other, rel=1e-9)
    assert len(weights) == 2


def test_bad_input_gets_a_sentence() -> None:
    """Values outside of the range, several objectives, learners that do not fit."""
    study = study_with(BanditSampler((0, 0.5), seed=1))
    with pytest.raises(ValueError, match=r"value is .*; it must be in \[0, 0.5\]"):
        study.optimize(lambda trial: 2.0 + 0 * objective(trial), n_trials=1)
    two = optuna.create_study(directions=["minimize"] * 2, sampler=BanditSampler((0, 1)))
    with pytest.raises(ValueError, match="takes one"):
        two.optimize(lambda t: (objective(t), 0.0), n_trials=1)
    with pytest.raises(ValueError, match="give_up_after is 0"):
        BanditSampler((0, 1), give_up_after=0)
    with pytest.raises(ValueError, match=r"use belated.Experts"):
        BanditSampler((0, 1), "adaptive-hedge")
    with pytest.raises(ValueError, match="loss_range is"):
        BanditSampler((1, 1))


def test_choices_that_were_given_are_not_learned_from() -> None:
    """An enqueued trial was not drawn, so it has no probability."""
    study = study_with(BanditSampler(RANGE, seed=6))
    study.enqueue_trial({"optimizer": "sgd"})
    study.optimize(objective, n_trials=5)
    assert PREFIX + "optimizer" not in study.trials[0].system_attrs
    assert all(PREFIX + "optimizer" in trial.system_attrs for trial in study.trials[1:])
