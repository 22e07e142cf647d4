"""python -m studies holdout: how often the uplift of a holdout excludes 0, looked at daily.

A month has DAYS days. The chance of a reward has a rhythm of the day and drifts from day to day. Of
two arms the learner plays the second ever more often, and the control always the first. Outcomes
come days later, of the second arm later than of the first, and some never do. Without an effect the
arms earn the same; with one the second earns so much more.

Beside the interval of `belated.evaluation.uplift` stands what is often done instead: the normal
interval for the difference of the means over all that was told by the day of the look.
"""

import json
from typing import NamedTuple

import click
import numpy as np
from numpy.typing import NDArray

from belated.arrays import Counts, Floats
from belated.cli.console import progress_of, show_table
from belated.evaluation.uplift import intervals, scores

DAYS, A_DAY, SHARE, RATE = 30, 3000, 0.2, 0.3
WITHIN, LOST = 7.0, 0.1  # days after which silence is final, and the share that never comes
LATEST = 6.5  # days; so that an effect is one on what is told within that time
LEARNING = 3.0  # days in which the learner finds the second arm
DELAYS = (0.5, 2.0)  # days on the average, of each arm
Z = 1.96
Flags = NDArray[np.bool_]


class Month(NamedTuple):
    """The decisions of a month in their order; times are in days."""

    at: Floats
    is_control: Flags
    rewards: Floats
    arrivals: Floats  # infinite if it never comes


class Looks(NamedTuple):
    """The first day on which an interval excluded 0 on each side; 0 if it never did."""

    above: int
    below: int

    @property
    def excluded(self) -> bool:
        """Whether it ever did."""
        return self.above > 0 or self.below > 0


def month(effect: float, seed: int) -> Month:
    """Draw a month in which the second arm earns `effect` of its rate more than the first."""
    random = np.random.default_rng(seed)
    number = DAYS * A_DAY
    at = np.sort(random.random(number)) * DAYS
    drift = np.cumsum(random.normal(0.0, 0.01, DAYS + 1))[at.astype(np.int64)]
    rate = np.clip(RATE + 0.08 * np.sin(2.0 * np.pi * at) + drift, 0.05, 0.9)
    is_control = random.random(number) < SHARE
    second = ~is_control & (random.random(number) < 1.0 - 0.5 * np.exp(-at / LEARNING))
    rewards = (random.random(number) < rate * (1.0 + effect * second)).astype(np.float64)
    delays = np.minimum(random.exponential(np.where(second, DELAYS[1], DELAYS[0])), LATEST)
    delays[random.random(number) < LOST] = np.inf
    return Month(at, is_control, rewards, at + delays)


def looked_at_daily(played: Month) -> Looks:
    """Look at the uplift at the end of each day, with the decisions that count by then."""
    last = played.at + WITHIN
    counts_with = np.where(played.arrivals <= last, played.rewards, 0.0)
    fixed = np.maximum.accumulate(np.minimum(played.arrivals, last))
    places = np.searchsorted(fixed, np.arange(1, DAYS + 1), side="right")
    shown = np.flatnonzero(places)
    z = scores(played.is_control, counts_with, SHARE)
    _, low, high = intervals(z, places[shown], SHARE)
    return Looks(first_day(shown, low > 0.0), first_day(shown, high < 0.0))


def told_so_far(played: Month) -> Looks:
    """Look at the difference of the means of what was told by the end of each day."""
    above, below = [], []
    for day in range(1, DAYS + 1):
        told = played.arrivals <= day
        sums = [played.rewards[told & which] for which in (~played.is_control, played.is_control)]
        error = np.sqrt(sum(float(each.var()) / max(each.size, 1) for each in sums))
        gap = float(sums[0].mean() - sums[1].mean())
        above.append(gap > Z * error)
        below.append(gap < -Z * error)
    days = np.arange(DAYS)
    return Looks(first_day(days, np.array(above)), first_day(days, np.array(below)))


def first_day(days: Counts, is_so: Flags) -> int:
    """Return the first of the days, counted from 1, on which something is so; 0 if none."""
    found = days[is_so]
    return int(found[0]) + 1 if found.size else 0


def months(effect: float, number: int, seed: int) -> tuple[list[Looks], list[Looks]]:
    """Return the looks of many months by both intervals."""
    kept, naive = [], []
    with progress_of("Playing months") as progress:
        for done in range(number):
            played = month(effect, seed + done)
            kept.append(looked_at_daily(played))
            naive.append(told_so_far(played))
            progress(done + 1, number)
    return kept, naive


@click.command("holdout")
@click.option("--months", "number", type=click.IntRange(1), default=1000, show_default=True)
@click.option("--effect", type=float, default=0.1, show_default=True, help="A share of the rate.")
@click.option("--seed", type=click.IntRange(0), default=1, show_default=True, help="Of the first.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def holdout_study(number: int, effect: float, seed: int, as_json: bool) -> None:
    """Look daily at the uplift of a holdout in simulated months, without an effect and with one."""
    found = []
    for size in (0.0, effect):
        names = ("belated", "means of what was told")
        for name, looks in zip(names, months(size, number, seed), strict=True):
            ups = [each.above for each in looks if each.above]
            found.append(
                {
                    "effect": f"{100.0 * size:g} %",
                    "interval": name,
                    "excluded 0": f"{100.0 * np.mean([each.excluded for each in looks]):.1f} %",
                    "below 0": f"{100.0 * np.mean([each.below > 0 for each in looks]):.1f} %",
                    "median day": f"{np.median(ups):.0f}" if ups else "",
                }
            )
    if as_json:
        click.echo(json.dumps(found))
        return
    show_table(list(found[0]), [list(row.values()) for row in found])
