"""Worlds by name: a family and a number give one world, the same everywhere and always.

Which worlds may be looked at while a learner is designed was fixed before any learner was played on
the others, and must not be changed. A world is of the *judge* set if its number is at least
`JUDGE_FROM` or its family is for the judge only; all others are of the *design* set.
`docs/worlds.md` has the ledger of looks at the judge set.
"""

import functools
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from belated.checks import as_count
from belated.environments.environment import Environment
from belated.specs import listed
from belated.worlds import changing, hostile, late, rare, recorded, steady
from belated.worlds.family import Family

WorldSet = Literal["design", "judge"]
SETS: tuple[WorldSet, ...] = get_args(WorldSet)
MODULES = (steady, rare, late, changing, hostile, recorded)
JUDGE_FROM = 500_000  # worlds of smaller numbers are for the design, of larger ones for the judge
NUMBERS = 1_000_000
PARAMETERS, GAMES = 0, 1  # the random streams of a world


@dataclass(frozen=True)
class World:
    """One world: its environment, and a line that says what it is.

    The environment's `default_loss` is what the world declares silence to mean, if it does. The
    games of a world differ in their seeds; `seed` gives them.
    """

    family: str
    number: int
    environment: Environment
    line: str

    @property
    def name(self) -> str:
        """The family and the number, from which the world can be made again: "seasons/17"."""
        return self.environment.name

    @property
    def set(self) -> WorldSet:
        """The set that the world belongs to."""
        only = families()[self.family].judge_only
        return "judge" if only or self.number >= JUDGE_FROM else "design"

    def seed(self, game: int) -> np.random.SeedSequence:
        """Return the seed of a game of this world."""
        return _seed(self.family, self.number, GAMES, game)


def world(family: str, number: int | None = None) -> World:
    """Return a world by family and number, or by its name: world("seasons", 17) or "seasons/17"."""
    if number is None:
        family, slash, digits = family.partition("/")
        if not (slash and digits.isdecimal()):
            raise ValueError(f"the world is {family + slash + digits!r}; it must read seasons/17")
        number = int(digits)
    number = as_count(number, "the number of a world", 0, NUMBERS - 1)
    drawn = family_named(family).draw(np.random.default_rng(_seed(family, number, PARAMETERS)))
    line = (
        f"{drawn.losses.arms} arms, {drawn.rounds} rounds; {drawn.says_losses}; "
        f"{drawn.says_delays}; {drawn.says_silence}"
    )
    environment = Environment(
        f"{family}/{number}",
        drawn.losses,
        drawn.delays,
        drawn.rounds,
        shows=line,
        default_loss=drawn.default_loss,
    )
    return World(family, number, environment, line)


def draw_worlds(
    count: int,
    seed: int,
    world_set: WorldSet = "design",
    only: Sequence[str] = (),
) -> list[str]:
    """Draw the names of some worlds of a set, of all its families in turn or of those named.

    More worlds of one seed begin with the same worlds.
    """
    as_count(count, "the number of worlds", 1, NUMBERS)
    entropy = as_count(seed, "seed", 0)
    if world_set not in SETS:
        raise ValueError(f"the set is {world_set!r}; it must be one of {', '.join(SETS)}")
    judging = world_set == "judge"
    for name in only:
        if family_named(name).judge_only and not judging:
            raise ValueError(f"{name} is for the judge set only; the set is {world_set}")
    allowed = [each.name for each in families().values() if judging or not each.judge_only]
    chosen = list(only) or allowed
    random = np.random.default_rng(np.random.SeedSequence(entropy))
    least, most = (JUDGE_FROM, NUMBERS) if judging else (0, JUDGE_FROM)
    found: dict[str, None] = {}
    while len(found) < count:
        found[f"{chosen[len(found) % len(chosen)]}/{random.integers(least, most)}"] = None
    return list(found)


def family_named(name: str) -> Family:
    """Return the family of this name; an unknown one raises a ValueError that lists the known."""
    known = families()
    if name not in known:
        raise ValueError(f"the family is {name!r}; it must be one of {listed(known, name)}")
    return known[name]


@functools.cache
def families() -> dict[str, Family]:
    """Return all families by name."""
    return {
        each.name: each
        for module in MODULES
        for each in vars(module).values()
        if isinstance(each, Family)
    }


def _seed(family: str, number: int, *stream: int) -> np.random.SeedSequence:
    entropy = (zlib.crc32(family.encode()), number)
    return np.random.SeedSequence(entropy, spawn_key=stream)
