"""Families in which losses change over time: levels, seasons, swaps, drift, arms that turn."""

from collections.abc import Sequence

import numpy as np

from belated.environments.changing_losses import BlockConstant
from belated.environments.delays import Constant
from belated.environments.environment import Random
from belated.environments.moving_losses import (
    AroundPath,
    MeanPath,
    SharedLevel,
    Sticky,
    Waves,
    Weather,
)
from belated.worlds.draws import (
    Size,
    draw_size,
    log_uniform,
    rounded,
    said_range,
    shuffled,
    uniform,
)
from belated.worlds.family import Sketch, family, sketch
from belated.worlds.laws import DelayLaw, draw_delays, draw_gap, draw_means, said_means, steady

CHANGING = (2000, 50_000)  # rounds, so that there is time to notice a change


@family("seasons", "All arms share a level that goes up and down, by the hour or by the day.")
def seasons(random: Random) -> Sketch:
    """From 3 to 300 periods, with a swing above the gap; narrow losses or coins."""
    size = draw_size(random)
    period = rounded(size.rounds / log_uniform(random, 3.0, 300.0))
    swing = uniform(random, 0.1, 0.35)
    says = f"plus a level that all arms share, up and down by {swing:g} in {period:g} rounds"
    return _levelled(random, size, Waves(swing, period), says)


@family("weather", "All arms share a level that jumps at random times.", judge_only=True)
def weather(random: Random) -> Sketch:
    """The level stays for 0.2 to 10 % of the rounds on average."""
    size = draw_size(random)
    lasting = rounded(max(2.0, size.rounds * log_uniform(random, 0.002, 0.1)))
    swing = uniform(random, 0.1, 0.35)
    says = f"plus a level within {swing:g} that all arms share for about {lasting:g} rounds"
    return _levelled(random, size, Weather(swing, lasting), says)


@family("autocorrelated", "An arm's loss stays the same for a while, so news is worth less.")
def autocorrelated(random: Random) -> Sketch:
    """A loss stays for 2 rounds to 1 % of all rounds on average, for each arm on its own."""
    size = draw_size(random, (2, 30), CHANGING)
    lasting = log_uniform(random, 2.0, max(3.0, 0.01 * size.rounds))
    law = steady(random, size)
    says = f"{law.says}, each kept for {lasting:g} rounds on average"
    return sketch(Sticky(law.process, lasting), says, draw_delays(random, size), size.rounds)


@family("swaps", "Now and then two arms, of which one is the best, swap their means.")
def swaps(random: Random) -> Sketch:
    """From 1 to 6 swaps at random rounds."""
    size = draw_size(random, (2, 20), CHANGING)
    means = draw_means(random, size, _clear_gap(random, size))
    count = int(random.integers(1, 7))
    rows = [means]
    for _ in range(count):
        row = list(rows[-1])
        best, other = row.index(min(row)), int(random.integers(size.arms))
        row[best], row[other] = row[other], row[best]
        rows.append(row)
    knots = _rounds_between(random, count, size.rounds)
    says = f"coins with {said_means(means)}, the best arm swaps {count} times"
    losses = AroundPath(MeanPath([0, *knots], rows))
    return sketch(losses, says, draw_delays(random, size), size.rounds)


@family("drift", "The means of all arms move slowly and evenly between random places.")
def drift(random: Random) -> Sketch:
    """From 1 to 6 stretches; in each the means move to new places."""
    size = draw_size(random, (2, 20), CHANGING)
    count = int(random.integers(1, 7))
    centre, reach = uniform(random, 0.3, 0.7), uniform(random, 0.1, 0.3)
    rows = [
        [rounded(centre + reach * random.uniform(-1.0, 1.0)) for _ in range(size.arms)]
        for _ in range(count + 1)
    ]
    knots = [0, *(size.rounds * (k + 1) // count for k in range(count))]
    says = f"coins whose means drift within {centre:g} +- {reach:g}, to {count} places in turn"
    losses = AroundPath(MeanPath(knots, rows, sudden=False))
    return sketch(losses, says, draw_delays(random, size), size.rounds)


@family("emerging", "An arm that was bad turns good, and is the best from then on.")
def emerging(random: Random) -> Sketch:
    """Between 10 and 45 % of the way, at once or slowly; it is the best in total, too."""
    size = draw_size(random, (2, 30), CHANGING)
    gap, best = min(0.25, _clear_gap(random, size)), uniform(random, 0.5, 0.65)
    means = [best, *(rounded(best + gap * random.uniform(0.3, 1.0)) for _ in range(size.arms - 1))]
    means = shuffled(random, means)
    turn, sudden = uniform(random, 0.1, 0.45), random.random() < 0.7
    at, after, turning = round(turn * size.rounds), list(means), means.index(max(means))
    made_up = (max(means) - best) * turn / (1.0 - turn)  # what it must win back
    after[turning] = rounded(best - made_up - gap * random.uniform(0.3, 1.0))
    path = _turn(means, after, at, max(1, size.rounds // 10), sudden)
    how = "at once" if sudden else "slowly"
    says = (
        f"coins with {said_means(means)}, the worst turns to {after[turning]:g} {how} from round "
        f"{at} on"
    )
    return sketch(AroundPath(path), says, draw_delays(random, size), size.rounds)


@family("fading", "The best arm turns bad, at once or slowly.", judge_only=True)
def fading(random: Random) -> Sketch:
    """Between 15 and 70 % of the way the best arm turns into the worst."""
    size = draw_size(random, (2, 30), CHANGING)
    means = draw_means(random, size, _clear_gap(random, size), most=0.8)
    turn, sudden = uniform(random, 0.15, 0.7), random.random() < 0.5
    at, after = max(1, round(turn * size.rounds)), list(means)
    after[means.index(min(means))] = rounded(min(0.95, max(means) + uniform(random, 0.05, 0.3)))
    path = _turn(means, after, at, max(1, size.rounds // 5), sudden)
    how = "at once" if sudden else "slowly"
    says = f"coins with {said_means(means)}, the best turns to the worst {how} from round {at} on"
    return sketch(AroundPath(path), says, draw_delays(random, size), size.rounds)


@family("rotating", "Each arm in turn is by far the best for a while, some for longer.")
def rotating(random: Random) -> Sketch:
    """Turns of 1 to 10 % of the rounds, up to twice as long or half as long by arm."""
    size = draw_size(random, (2, 8), CHANGING)
    length = size.rounds * log_uniform(random, 0.01, 0.1)
    turns = [max(5, round(length * 2.0 ** random.uniform(-1.0, 1.0))) for _ in range(size.arms)]
    ends = np.cumsum(turns * (size.rounds // sum(turns) + 1))
    knots = [0, *(int(end) for end in ends if end < size.rounds)]
    means = 1.0 - np.eye(size.arms)[np.arange(len(knots)) % size.arms]
    delay = round(length * log_uniform(random, 0.05, 1.0))
    says = f"the loss is 0 for one arm and 1 for others, in turns of {said_range(turns)} rounds"
    law = DelayLaw(Constant(delay), f"constant delays of {delay}")
    return sketch(AroundPath(MeanPath(knots, means.tolist())), says, law, size.rounds)


@family("blocks", "Losses are coin flips that stay the same for a block of rounds.")
def blocks(random: Random) -> Sketch:
    """Blocks of 0.5 to 5 % of the rounds, delays from a twentieth of a block to a block."""
    size = draw_size(random, (2, 20), CHANGING)
    length = max(10, round(size.rounds * log_uniform(random, 0.005, 0.05)))
    delay = round((length - 1) * log_uniform(random, 0.05, 1.0))
    law = DelayLaw(Constant(delay), f"constant delays of {delay}")
    says = f"coin flips that stay for {length} rounds"
    return sketch(BlockConstant(size.arms, length), says, law, size.rounds)


def _levelled(random: Random, size: Size, level: SharedLevel, says: str) -> Sketch:
    """Draw steady means in the middle of the range, to which a shared level is added."""
    spread = None if random.random() < 0.5 else log_uniform(random, 0.02, 0.1)
    gap = draw_gap(random, size) if spread is None else log_uniform(random, 0.02, 0.2)
    centre = 0.5 - 0.5 * min(gap, 0.3)
    others = [rounded(centre + gap * random.uniform(1.0, 1.5)) for _ in range(size.arms)]
    others[int(random.integers(size.arms))] = rounded(centre)
    kind = "coins" if spread is None else f"losses of spread {spread:g}"
    losses = AroundPath(MeanPath([0], [others]), level, spread)
    said = f"{kind} with {said_means(others)} {says}"
    return sketch(losses, said, draw_delays(random, size), size.rounds)


def _clear_gap(random: Random, size: Size) -> float:
    """Draw a gap that can be noticed in a part of the game."""
    return rounded(max(0.1, draw_gap(random, size)))


def _rounds_between(random: Random, count: int, rounds: int) -> list[int]:
    """Draw different rounds in rising order, none at the beginning."""
    return sorted(int(at) for at in random.choice(rounds - 1, count, replace=False) + 1)


def _turn(
    before: Sequence[float], after: Sequence[float], at: int, time: int, sudden: bool
) -> MeanPath:
    """The path on which the means turn, at once or within some time."""
    if sudden:
        return MeanPath([0, at], [before, after])
    return MeanPath([0, at, at + time], [before, before, after], sudden=False)
