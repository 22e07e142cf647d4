"""The grid of a sweep: every scenario with every learner and every seed, each run with its key."""

import itertools
import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from math import isfinite
from typing import Any, NamedTuple

import numpy as np

from belated.analysis.game_sums import sum_up
from belated.checks import as_count, in_order
from belated.comparison.contenders import Contender, contender
from belated.environments.environment_specs import environment_with, file_digest, is_data_file
from belated.play.game import Game
from belated.specs import as_value, named_options

Value = int | float | str
Options = dict[str, Value]
Member = tuple[str, Options]

MOST_RUNS = 10**6
TRIED_ROUNDS = 1000


class GridRun(NamedTuple):
    """One learner in one game: a scenario with its options, a learner with its own, and a seed."""

    scenario: str
    scenario_options: Options
    learner: str
    learner_options: Options
    seed: int

    @classmethod
    def of(cls, key: str) -> "GridRun":
        """Make the run that has this key."""
        return cls(**json.loads(key))

    @property
    def key(self) -> str:
        """The run as JSON text, identical in every process and every version of Python."""
        return json.dumps(self._asdict(), sort_keys=True, separators=(",", ":"))

    @property
    def contender(self) -> Contender:
        """The learner of this run with its options, as a contender of a comparison."""
        return Contender(self.learner, self.learner_options)

    @property
    def columns(self) -> dict[str, Value]:
        """The columns that identify this run in a table, except for its seed."""
        options = {f"learner_{name}": value for name, value in self.learner_options.items()}
        learner = self.contender.label
        return {"scenario": self.scenario, **self.scenario_options, "learner": learner, **options}

    def __str__(self) -> str:
        given = "".join(f" {name}={value}" for name, value in self.scenario_options.items())
        return f"{self.scenario}{given}, {self.contender.label}, seed {self.seed}"


class Grid:
    """The product of scenarios, learners and seeds, and of all values of their options.

    Scenarios are texts such as "late-best" or "late-best:delay=10|100,rounds=500", or names mapped
    to options, each a value or a list of values. The path of a data file is a scenario, too.
    Learners are texts such as "concealed" or "concealed:variant=paper|repaired".
    """

    def __init__(
        self,
        scenarios: str | Sequence[str] | Mapping[str, Mapping[str, Any]],
        learners: str | Sequence[str],
        seeds: Sequence[int],
    ) -> None:
        chosen = [contender(text) for text in _texts(learners)]
        self._learners = [m for each in chosen for m in _members(each.name, each.options)]
        places = _places(scenarios)
        self._scenarios = [m for name, options in places for m in _members(name, options)]
        self._seeds = seeds
        self._check_size()
        self._check_values()
        self._keys = [run.key for run in self._runs()]
        key, count = Counter(self._keys).most_common(1)[0]
        if count > 1:
            raise ValueError(
                f"the run {GridRun.of(key)} is in the grid {count} times; once is enough"
            )

    def keys(self) -> list[str]:
        """The keys of all runs, in the order of the table."""
        return list(self._keys)

    def _runs(self) -> Iterator[GridRun]:
        for place, learner, seed in itertools.product(self._scenarios, self._learners, self._seeds):
            yield GridRun(*place, *learner, as_count(seed, "seed", 0))

    def _check_size(self) -> None:
        if isinstance(self._seeds, str) or not isinstance(self._seeds, Sequence | np.ndarray):
            raise ValueError(f"seeds is {self._seeds!r}; it must be a list of whole numbers")
        runs = len(self._scenarios) * len(self._learners) * len(self._seeds)
        if not 1 <= runs <= MOST_RUNS:
            raise ValueError(f"the grid has {runs} runs; it must have from 1 to {MOST_RUNS}")

    def _check_values(self) -> None:
        """Raise an error if a scenario or a learner cannot be made.

        Learners are made for a short game of the first scenario only.
        """
        first, *_ = [environment_with(name, options) for name, options in self._scenarios]
        short = replace(first, rounds=min(first.rounds, TRIED_ROUNDS))
        sums = sum_up(Game(short, np.random.SeedSequence(0)))
        for name, options in self._learners:
            Contender(name, options).built(sums)


def _texts(given: str | Sequence[str]) -> Sequence[str]:
    return [given] if isinstance(given, str) else given


def _places(
    given: str | Sequence[str] | Mapping[str, Mapping[str, Any]],
) -> Sequence[tuple[str, Mapping[str, Any]]]:
    """The scenarios with their options, from a mapping or texts; a file's digest is one of them."""
    if isinstance(given, Mapping):
        found = list(given.items())
    else:
        found = [named_options(text) for text in _texts(given)]
    return [
        (name, {**options, "digest": file_digest(name)} if is_data_file(name) else options)
        for name, options in found
    ]


def _members(name: str, options: Mapping[str, Any]) -> Iterator[Member]:
    """Yield a name with every combination of the values of its options; options are sorted."""
    names = sorted(options)
    for values in itertools.product(*(_values(option, options[option]) for option in names)):
        yield name, dict(zip(names, values, strict=True))


def _values(option: str, given: Any) -> list[Value]:
    """List the values of an option, given as a list, as text such as "10|100", or as one value."""
    if isinstance(given, str):
        return [_plain(option, as_value(part.strip())) for part in given.split("|")]
    several = in_order(given)
    return [_plain(option, value) for value in ([given] if several is None else several)]


def _plain(option: str, value: Any) -> Value:
    """Convert a value to one of the types that JSON writes in one way only."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    finite = not isinstance(value, float) or isfinite(value)
    if not (isinstance(value, (int, float, str)) and finite):
        raise ValueError(f"{option} is {value!r}; it must be a finite number or text")
    return value
