"""Advertising: a sale is known when it happens, its absence only when the waiting period ends.

The delays follow two quantiles of the hours from click to sale of eight products in Criteo's
sponsored search log; the log itself is not included. The sales rates and the number of clicks per
hour are invented.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from belated.arrays import Counts, Floats
from belated.environments.environment import Random, Span
from belated.environments.losses import Bernoulli
from belated.environments.parameters import between
from belated.environments.scenarios import Parts, scenario_named

MEDIANS = (0.43, 0.62, 0.75, 1.36, 6.2, 8.0, 19.0, 31.0)  # hours from click to sale
NINE_IN_TEN = (48.0, 237.0, 358.0, 357.0, 442.0, 363.0, 372.0, 318.0)  # hours, 90 % quantile
WINDOW = 720.0  # hours, 30 days
SOONEST = 1.0 / 60.0  # hours, one minute
SALES = (0.10, 0.11, 0.11, 0.12, 0.13, 0.14, 0.15, 0.16)  # sales per click, invented


@dataclass(frozen=True)
class KnownAtSale:
    """Delays of sales: a loss of 0 (a sale) is known at the sale, a loss of 1 after 30 days."""

    rounds_per_hour: float

    random = True

    def sampler(self, random: Random) -> Callable[[Span, Floats], Counts]:
        def draw(span: Span, losses: Floats) -> Counts:
            hours = hours_to_sale(random.random(losses.shape))
            waited = np.where(losses == 0.0, hours, WINDOW)
            return (waited * self.rounds_per_hour).astype(np.int64)

        return draw


def hours_to_sale(levels: Floats) -> Floats:
    """The quantiles of the hours from click to sale, at levels in [0, 1]; one column per product.

    The logarithm of the hours is interpolated linearly between one minute at level 0, the median,
    the 90 % quantile, and 30 days at level 1.
    """
    hours = np.empty_like(levels)
    for arm, (median, nine_in_ten) in enumerate(zip(MEDIANS, NINE_IN_TEN, strict=True)):
        knots = np.log([SOONEST, median, nine_in_ten, WINDOW])
        hours[:, arm] = np.exp(np.interp(levels[:, arm], [0.0, 0.5, 0.9, 1.0], knots))
    return np.minimum(hours, WINDOW)


@scenario_named(
    "ads",
    shows="The ad that sells most sells latest, so that one day after the clicks it looks like the "
    "worst; that a click led to no sale is known only after a month.",
)
def ads(rounds: int = 30_000, clicks_per_hour: float = 4.0) -> Parts:
    """Eight ads, one click per round: loss 0 if it leads to a sale within 30 days, else 1."""
    between(0.001, 1e6)(clicks_per_hour, "clicks_per_hour")
    labels = [f"median {hours:g} h" for hours in MEDIANS]
    losses = Bernoulli([1.0 - rate for rate in SALES])
    return Parts(losses, KnownAtSale(clicks_per_hour), rounds, labels)
