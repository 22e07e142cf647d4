"""The study of contexts: learners that see them and learners that do not, on eighteen worlds.

Regret is against the arm of smallest mean loss in each round, in shares of uniform play's. Learners
with an option `default_loss` are told it where the world declares what silence means. Vowpal Wabbit
is played with three learning rates, on arrival and, where silence is declared to be a failure, with
two windows; its share in a world is that of its best form there, which nobody knows beforehand.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from belated.analysis.contextual_goals import TRUE_MEANS
from belated.arrays import Floats
from belated.comparison.compare import Progress, compare
from belated.comparison.contenders import Contender, LearnerSpec
from belated.comparison.result import Comparison
from belated.comparison.table import Table
from belated.environments.environment import Environment
from belated.environments.environment_specs import environment_named
from belated.specs import listed
from studies.vowpal import Vowpal

WORLDS = {
    "linear": "visitors",
    "conversions": "conversions",
    "lossy": "lossy-visitors",
    "complaints": "late-complaints",
    "xor": "crossed-visitors",
    "idle": "idle-contexts",
    "redrawn": "redrawn",
    "digits": "classes:data=digits,rounds=10000",
    "cancer": "classes:data=cancer,rounds=5000",
    "wine": "classes:data=wine",
    "segments": "classes:data=segments,rounds=8000",
    "phishing": "classes:data=phishing,rounds=5000",
    "purchases": "purchases",
    "iris": "classes:data=iris",
    "banana": "classes:data=banana,rounds=8000",
    "late segments": "late-segments",
    "heavy tails": "heavy-conversions",
    "twenty arms": "twenty-arms",
}
OURS: tuple[LearnerSpec, ...] = ("linear", "practical-bandit", "thompson", "uniform")
RATES, WINDOWS = (0.1, 0.5, 2.0), (500, 2000)
VOWPAL, VOWPAL_ON_ARRIVAL = "vw squarecb, best form", "vw squarecb on arrival, best rate"


class ContextualWorld(NamedTuple):
    """A world by its name in the study."""

    name: str
    environment: Environment


class WorldOutcome(NamedTuple):
    """What was played of a world: our learners' games and Vowpal Wabbit's, the same from the first.

    A part is None if none of its games were played.
    """

    world: str
    ours: Comparison | None
    vowpal: Comparison | None


def worlds(names: Sequence[str]) -> list[ContextualWorld]:
    """Return some worlds, or all if none are named."""
    for name in names:
        if name not in WORLDS:
            raise ValueError(f"world is {name!r}; it must be one of {listed(WORLDS, name)}")
    return [ContextualWorld(name, environment_named(WORLDS[name])) for name in names or WORLDS]


def vowpals(environment: Environment) -> list[Contender]:
    """Return the forms of Vowpal Wabbit that play in an environment.

    Where silence is a failure the three rates have the longer window, and the middle rate is also
    played with the shorter one and on arrival, where nothing but successes comes.
    """
    forms: list[tuple[float, int | None]] = [(rate, None) for rate in RATES]
    if environment.default_loss == 1.0:
        usual, shorter, longer = RATES[1], *WINDOWS
        forms = [(rate, longer) for rate in RATES] + [(usual, shorter), (usual, None)]
    return [
        Contender(
            Vowpal.name,
            {"learning_rate": rate} | ({} if window is None else {"window": window}),
            kind=Vowpal,
        )
        for rate, window in forms
    ]


def played(
    world: ContextualWorld,
    games: tuple[int, int],
    seed: int,
    workers: int | None,
    progress: Progress = lambda done, total: None,
) -> WorldOutcome:
    """Play our learners and Vowpal Wabbit so many games of a world."""
    sides = zip((OURS, vowpals(world.environment)), games, strict=True)
    ours, vowpal = (
        compare(side, world.environment, count, seed, workers, progress) if count else None
        for side, count in sides
    )
    return WorldOutcome(world.name, ours, vowpal)


def shares(comparison: Comparison, k: int) -> Floats:
    """Return a learner's regret in each game, in shares of uniform play's mean regret."""
    games = comparison.game_sums
    chance = float(np.mean([sums.losses.mean() - sums.goals[TRUE_MEANS] for sums in games]))
    return comparison.regret_to(k, TRUE_MEANS) / chance


def rows_of(outcome: WorldOutcome) -> list[dict[str, object]]:
    """Return a row for each learner of a world, and for the best forms of Vowpal Wabbit."""
    parts = [part for part in (outcome.ours, outcome.vowpal) if part is not None]
    rows = [row_of(outcome.world, part, k) for part in parts for k in range(len(part.labels))]
    if outcome.vowpal is not None:
        forms = rows[-len(outcome.vowpal.labels) :]
        best = min(forms, key=share_in)
        prompt = min((row for row in forms if "window" not in str(row["learner"])), key=share_in)
        rows += [best | {"learner": VOWPAL}, prompt | {"learner": VOWPAL_ON_ARRIVAL}]
    return rows


def share_in(row: dict[str, object]) -> float:
    """Return the share of uniform play in a row."""
    share = row["of uniform"]
    assert isinstance(share, float)
    return share


def row_of(world: str, comparison: Comparison, k: int) -> dict[str, object]:
    """Return the row of one learner in one world."""
    own = shares(comparison, k)
    error = float(own.std(ddof=1) / np.sqrt(own.size)) if own.size > 1 else None
    return {
        "world": world,
        "scenario": comparison.environment.name,
        "learner": comparison.labels[k],
        "against": TRUE_MEANS,
        "regret": float(comparison.regret_to(k, TRUE_MEANS).mean()),
        "of uniform": float(own.mean()),
        "standard error": error,
        "games": own.size,
        "us per round": 1e6
        * float(np.median([trace.seconds for trace in comparison.traces[k]]))
        / comparison.environment.rounds,
    }


def contexts_table(outcomes: Sequence[WorldOutcome]) -> Table:
    """Make a table with a row for each learner in each world."""
    return Table.of([row for outcome in outcomes for row in rows_of(outcome)])


def by_world(table: Table) -> Table:
    """Make a table of shares with a row for each learner, a column for each world and the mean."""
    names = list(dict.fromkeys(table.column("world")))
    found: dict[str, dict[str, float]] = {}
    for row in table:
        found.setdefault(row["learner"], {})[row["world"]] = row["of uniform"]
    whole = [each for each in found.items() if len(each[1]) == len(names)]
    return Table.of(
        [
            {"learner": name, "mean": float(np.mean(list(own.values()))), **own}
            for name, own in sorted(whole, key=lambda each: np.mean(list(each[1].values())))
        ]
    )
