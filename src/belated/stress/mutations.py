"""Random games that a search begins with, and small random changes of a game.

A script is a whole game: the losses and delays of every round and arm. The search starts from
scripts with some structure and changes single cells, columns, or stretches of rounds.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from belated.arrays import Counts, Floats
from belated.environments.changing_delays import Batches, GrowingLate, ProportionalToLoss
from belated.environments.changing_losses import RotatingLeaders, Switching
from belated.environments.delays import Constant, PacketLoss, Pareto, PerArm
from belated.environments.environment import DelayProcess, Environment, LossProcess, Random
from belated.environments.losses import Bernoulli
from belated.environments.missing import NEVER


class Script(NamedTuple):
    """All losses and delays of a game, arrays of shape (round, arm)."""

    losses: Floats
    delays: Counts


def opening(random: Random, rounds: int, arms: int, longest: int | None = None) -> Script:
    """Draw a random game of a kind that is hard for some learner, with delays limited by `cut`."""
    losses = LOSSES[random.integers(len(LOSSES))](random, rounds, arms)
    delays = DELAYS[random.integers(len(DELAYS))](random, rounds, arms)
    environment = Environment("opening", losses, delays, rounds)
    seed = np.random.SeedSequence(int(random.integers(2**63)))
    blocks = list(environment.blocks(seed))
    return Script(
        np.concatenate([block.losses for block in blocks]),
        cut(np.concatenate([block.delays for block in blocks]), longest),
    )


def cut(delays: Counts, longest: int | None = None) -> Counts:
    """Limit the delays to `longest`, and set them to NEVER where they end after the last round.

    If `longest` is given, longer delays and losses that never come get this delay.
    """
    if longest is not None:
        delays = np.where((delays == NEVER) | (delays > longest), longest, delays)
    left = len(delays) - np.arange(len(delays))[:, None]
    return np.where(delays >= left, NEVER, delays)


def _bernoulli(random: Random, rounds: int, arms: int) -> LossProcess:
    return Bernoulli(random.random(arms).tolist())


def _one_good(random: Random, rounds: int, arms: int) -> LossProcess:
    means = np.ones(arms)
    means[random.integers(arms)] = 0.0
    return Bernoulli(means.tolist())


def _phases(random: Random, rounds: int, arms: int) -> LossProcess:
    """Losses in blocks of rounds, in each of which an arm loses always, never, or half the time."""
    means = random.choice([0.0, 0.5, 1.0], (int(random.integers(2, 6)), arms))
    return Switching(means.tolist(), _length(random, rounds))


def _late_turn(random: Random, rounds: int, arms: int) -> LossProcess:
    """Losses in two phases: the arms that lose in the first are those that do not in the second."""
    means = random.integers(0, 2, arms).astype(np.float64)
    turn = int(random.integers(rounds // 4, rounds)) + 1
    return Switching([means.tolist(), (1.0 - means).tolist()], turn)


def _rotating(random: Random, rounds: int, arms: int) -> LossProcess:
    return RotatingLeaders(arms, _length(random, rounds))


def _constant(random: Random, rounds: int, arms: int) -> DelayProcess:
    return Constant(_length(random, rounds) - 1)


def _per_arm(random: Random, rounds: int, arms: int) -> DelayProcess:
    lengths = [_length(random, rounds) - 1 for _ in range(arms)]
    return PerArm([None if random.random() < 0.2 else length for length in lengths])


def _heavy(random: Random, rounds: int, arms: int) -> DelayProcess:
    return Pareto((0.3 + 1.5 * random.random(arms)).tolist())


def _losing(random: Random, rounds: int, arms: int) -> DelayProcess:
    chances = random.random(arms) ** 2
    return PacketLoss(chances.tolist(), _constant(random, rounds, arms))


def _growing(random: Random, rounds: int, arms: int) -> DelayProcess:
    return GrowingLate(0.9 * random.random(), (rounds * random.random(arms)).tolist())


def _batches(random: Random, rounds: int, arms: int) -> DelayProcess:
    return Batches([_length(random, rounds) for _ in range(arms)])


def _by_loss(random: Random, rounds: int, arms: int) -> DelayProcess:
    return ProportionalToLoss(_length(random, rounds), rising=bool(random.integers(2)))


def _length(random: Random, rounds: int) -> int:
    """Draw a number of rounds from 1 to `rounds`, log-uniformly."""
    return int(np.exp(random.random() * np.log(rounds)))


LOSSES: tuple[Callable[[Random, int, int], LossProcess], ...] = (
    _bernoulli,
    _one_good,
    _phases,
    _late_turn,
    _rotating,
)
DELAYS: tuple[Callable[[Random, int, int], DelayProcess], ...] = (
    _constant,
    _per_arm,
    _heavy,
    _losing,
    _growing,
    _batches,
    _by_loss,
)


def mutated(random: Random, script: Script, longest: int | None = None) -> Script:
    """Return the script with one or two random changes, and with delays limited by `cut`."""
    changed = Script(script.losses.copy(), script.delays.copy())
    for _ in range(1 + int(random.random() < 0.3)):
        CHANGES[random.integers(len(CHANGES))](random, changed)
    return Script(changed.losses, cut(changed.delays, longest))


def _part(random: Random, script: Script) -> tuple[slice, slice]:
    """Choose rows and columns: one cell, a column, or some rounds of one arm or of all arms."""
    rounds, arms = script.losses.shape
    first = int(random.integers(rounds))
    arm = int(random.integers(arms))
    columns = slice(None) if random.random() < 0.25 else slice(arm, arm + 1)
    match random.integers(4):
        case 0:
            return slice(first, first + 1), columns
        case 1:
            return slice(None), slice(arm, arm + 1)
        case _:
            return slice(first, first + _length(random, rounds)), columns


def _set_losses(random: Random, script: Script) -> None:
    value = random.choice([0.0, 1.0]) if random.random() < 0.9 else random.random()
    script.losses[_part(random, script)] = value


def _flip_losses(random: Random, script: Script) -> None:
    part = _part(random, script)
    script.losses[part] = 1.0 - script.losses[part]


def _set_delays(random: Random, script: Script) -> None:
    rounds = len(script.delays)
    value = random.choice([0, NEVER, _length(random, rounds)])
    script.delays[_part(random, script)] = value


def _shift_delays(random: Random, script: Script) -> None:
    """Make some delays a little longer or shorter; losses that never come still never come."""
    part = _part(random, script)
    delays = script.delays[part]
    moved = np.maximum(delays + random.choice([-2, -1, 1, 2]), 0)
    script.delays[part] = np.where(delays == NEVER, NEVER, moved)


def _arrive_together(random: Random, script: Script) -> None:
    """Let all losses of a stretch arrive at its end."""
    rows, columns = _part(random, script)
    first, last, _ = rows.indices(len(script.delays))
    script.delays[rows, columns] = (last - 1 - np.arange(first, last))[:, None]


def _copy_stretch(random: Random, script: Script) -> None:
    """Copy one stretch of rounds over another."""
    rounds = len(script.losses)
    length = _length(random, rounds)
    source, target = random.integers(0, rounds - length + 1, 2)
    for table in script:
        table[target : target + length] = table[source : source + length].copy()


def _shift_stretch(random: Random, script: Script) -> None:
    """Rotate a stretch of rounds by a few places, in one arm or in all."""
    rows, columns = _part(random, script)
    places = int(random.choice([-3, -2, -1, 1, 2, 3]))
    for table in script:
        table[rows, columns] = np.roll(table[rows, columns], places, axis=0)


def _swap_arms(random: Random, script: Script) -> None:
    """Swap two arms from some round on."""
    rounds, arms = script.losses.shape
    pair = random.integers(0, arms, 2)
    first = int(random.integers(rounds))
    for table in script:
        table[first:, pair] = table[first:, pair[::-1]].copy()


def _splice(random: Random, script: Script) -> None:
    """Replace losses, delays or both by those of a random game, everywhere or in a stretch."""
    other = opening(random, *script.losses.shape)
    rows, columns = _part(random, script) if random.random() < 0.5 else (slice(None), slice(None))
    tables = [(0,), (1,), (0, 1)][random.integers(3)]
    for k in tables:
        script[k][rows, columns] = other[k][rows, columns]


CHANGES: tuple[Callable[[Random, Script], None], ...] = (
    _set_losses,
    _set_losses,
    _splice,
    _flip_losses,
    _set_delays,
    _set_delays,
    _shift_delays,
    _arrive_together,
    _copy_stretch,
    _shift_stretch,
    _swap_arms,
)
