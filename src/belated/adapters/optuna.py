"""A sampler for Optuna that chooses categorical parameters by a bandit, one for each parameter.

A trial that runs is a play whose loss is late, so that any number of trials may run at once, and a
trial that never ends does no harm. What a bandit knows is a fold of the trials of the study, with
the probabilities that were stored in them when they were drawn. So a study can be continued by
another process, and processes can share it.
"""

import threading
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from belated.adapters.hosted import hosted_learner
from belated.arrays import Floats
from belated.checks import as_count, as_range
from belated.learners.driver import Driver
from belated.numerics.random_stream import draw, seeded

try:
    from optuna.distributions import BaseDistribution, CategoricalDistribution
    from optuna.samplers import BaseSampler, TPESampler
    from optuna.study import Study, StudyDirection
    from optuna.trial import FrozenTrial, TrialState
except ImportError:
    raise ImportError(
        "belated.adapters.optuna needs optuna: pip install 'belated[optuna]'"
    ) from None

# Of the attribute of a trial that has the probability of a drawn choice, and in which of its ways
# the learner has played the round (see `belated.learners.branches`).
PREFIX = "belated:"
PLAYED, ENDED = 0, 1  # what an event of a trial is about


class TrialEvent(NamedTuple):
    """A trial was begun, or has ended; events are in the order of time."""

    time: float
    what: int
    trial: FrozenTrial


class Choices:
    """The bandit of one categorical parameter of one study, and what it has folded so far."""

    def __init__(self, name: str, driver: Driver) -> None:
        self.name, self.driver = name, driver
        self.rows: dict[int, tuple[int, Floats]] = {}  # of plays without an outcome, by trial
        self.seen: set[tuple[int, int]] = set()  # what was folded of which trial

    def fold(self, event: TrialEvent, loss: float | None) -> None:
        """Take in an event; without a loss, a trial that has ended is withdrawn."""
        trial = event.trial
        self.seen.add((event.what, trial.number))
        if event.what == PLAYED:
            distribution = trial.distributions[self.name]
            arm = int(distribution.to_internal_repr(trial.params[self.name]))
            probability, branch = trial.system_attrs[PREFIX + self.name]
            (row,) = self.driver.play(arm, probability=probability, branch=branch)
            self.rows[trial.number] = (arm, row)
            return
        arm, row = self.rows.pop(trial.number)
        if loss is None:
            self.driver.withdraw(row, arm)
        else:
            self.driver.tell(row, arm, loss)


class BanditSampler(BaseSampler):
    """Chooses categorical parameters by one of our bandits; `others` samples all others.

    `value_range` is the range that objective values lie in; a value outside is an error. Failed and
    pruned trials count as not played. With `give_up_after` so do trials that still run after so
    many later ones were begun. Parameters are chosen independently of each other. `others` is
    Optuna's TPE sampler if none is given. `options` are those of the learner.
    """

    def __init__(
        self,
        value_range: Sequence[float],
        learner: str = "practical-bandit",
        others: BaseSampler | None = None,
        give_up_after: int | None = None,
        seed: int | None = None,
        options: Mapping[str, Any] | None = None,
    ) -> None:
        self._range = as_range(value_range)
        self._learner, self._options = learner, dict(options or {})
        hosted_learner(learner, 2, self._options, seed)
        if give_up_after is not None:
            give_up_after = as_count(give_up_after, "give_up_after", 1)
        self._give_up_after = give_up_after
        self._others = TPESampler(seed=seed) if others is None else others
        self._seed = seed
        self._stream = seeded(seed)
        self._choices: dict[tuple[str, str, int], Choices] = {}
        self._lock = threading.Lock()  # trials may run in threads, which share the sampler

    def reseed_rng(self) -> None:
        """Draw other random numbers from now on, as parallel processes need to."""
        self._stream = seeded(None)
        self._others.reseed_rng()

    def infer_relative_search_space(
        self, study: Study, trial: FrozenTrial
    ) -> dict[str, BaseDistribution]:
        """The parameters that the other sampler chooses together, without categorical ones."""
        check_single(study)
        space = self._others.infer_relative_search_space(study, trial)
        return {k: each for k, each in space.items() if not is_choice(each)}

    def sample_relative(
        self, study: Study, trial: FrozenTrial, search_space: dict[str, BaseDistribution]
    ) -> dict[str, Any]:
        """Choose the categorical ones by their bandits, and the rest by the other sampler."""
        check_single(study)
        rest = {name: each for name, each in search_space.items() if not is_choice(each)}
        chosen = self._others.sample_relative(study, trial, rest) if rest else {}
        for name, each in search_space.items():
            if is_choice(each):
                chosen[name] = self.sample_independent(study, trial, name, each)
        return chosen

    def sample_independent(
        self,
        study: Study,
        trial: FrozenTrial,
        param_name: str,
        param_distribution: BaseDistribution,
    ) -> Any:
        """Draw a choice, and store in the trial how it was drawn."""
        check_single(study)
        if not isinstance(param_distribution, CategoricalDistribution):
            return self._others.sample_independent(study, trial, param_name, param_distribution)
        count = len(param_distribution.choices)
        with self._lock:
            driver = self._folded(study, param_name, count).driver
            weights = driver.weights()
            arm = int(draw(self._stream, weights))
            drawn = [float(weights[arm]), driver.branch()]
        study._storage.set_trial_system_attr(trial._trial_id, PREFIX + param_name, drawn)
        return param_distribution.choices[arm]

    def after_trial(
        self,
        study: Study,
        trial: FrozenTrial,
        state: TrialState,
        values: Sequence[float] | None,
    ) -> None:
        """Refuse a value outside of the range, if the trial has a choice of ours."""
        self._others.after_trial(study, trial, state, values)
        if state == TrialState.COMPLETE and values and chosen_in(trial):
            self._range.loss(values[0], "value")

    def before_trial(self, study: Study, trial: FrozenTrial) -> None:
        """Let the other sampler prepare the trial."""
        self._others.before_trial(study, trial)

    def _folded(self, study: Study, name: str, count: int) -> Choices:
        """The bandit of a parameter, with all that the study knows by now."""
        key = (study.study_name, name, count)
        if key not in self._choices:
            learner = hosted_learner(self._learner, count, self._options, self._seed)
            self._choices[key] = Choices(name, Driver(learner))
        choices = self._choices[key]
        for event in self._news(study, choices, count):
            choices.fold(event, self._loss_of(study, event.trial))
        return choices

    def _news(self, study: Study, choices: Choices, count: int) -> list[TrialEvent]:
        """What has happened since the last time, in order."""
        trials = study._storage.get_all_trials(study._study_id, deepcopy=False)
        latest, found = len(trials), []
        for trial in trials:
            drawn = PREFIX + choices.name in trial.system_attrs and choices.name in trial.params
            if not drawn or len(choices_of(trial, choices.name)) != count:
                continue
            begun, number = trial.datetime_start, trial.number
            if (PLAYED, number) not in choices.seen and begun is not None:
                found.append(TrialEvent(begun.timestamp(), PLAYED, trial))
            ended, given_up = trial.datetime_complete, self._give_up_after
            if (ENDED, number) in choices.seen:
                continue
            if trial.state.is_finished() and ended is not None:
                first = ended if begun is None else max(begun, ended)  # clocks may differ
                found.append(TrialEvent(first.timestamp(), ENDED, trial))
            elif given_up is not None and latest - number > given_up:
                found.append(TrialEvent(np.inf, ENDED, trial))
        return sorted(found, key=lambda event: (event.time, event.what, event.trial.number))

    def _loss_of(self, study: Study, trial: FrozenTrial) -> float | None:
        """The loss of a trial in [0, 1]; None if it has none."""
        if trial.state != TrialState.COMPLETE:
            return None
        if study.direction == StudyDirection.MAXIMIZE:
            return self._range.reward(trial.values[0], "value")
        return self._range.loss(trial.values[0], "value")


def choices_of(trial: FrozenTrial, name: str) -> Sequence[Any]:
    """What a parameter could be in a trial; nothing if it was no categorical one."""
    distribution = trial.distributions[name]
    return distribution.choices if isinstance(distribution, CategoricalDistribution) else ()


def is_choice(distribution: BaseDistribution) -> bool:
    """Whether a parameter is a categorical one."""
    return isinstance(distribution, CategoricalDistribution)


def chosen_in(trial: FrozenTrial) -> bool:
    """Whether a bandit has chosen any parameter of a trial."""
    return any(name.startswith(PREFIX) for name in trial.system_attrs)


def check_single(study: Study) -> None:
    """Refuse a study with several objectives."""
    if len(study.directions) > 1:
        raise ValueError(
            f"the study has {len(study.directions)} objectives; BanditSampler takes one"
        )
