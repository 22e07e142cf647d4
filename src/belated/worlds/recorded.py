"""Families of measured data: parts of the data that the package has, in several orders."""

import functools

import numpy as np

from belated.environments.environment import Random
from belated.environments.in_memory import GivenDelays, GivenLosses
from belated.environments.missing import NEVER
from belated.environments.scenarios import Parts
from belated.environments.stocks import OFFSETS, limit_orders
from belated.environments.training_jobs import network_width, which_learner
from belated.worlds.draws import log_uniform, one_of, whole
from belated.worlds.family import Sketch, family

TICKERS = ("AAPL", "GOOG", "IBM", "MSFT")


@family("limit-orders", "Real share prices: at which limit to sell, in some years of a share.")
def orders(random: Random) -> Sketch:
    """A window of at least 500 days of one share; a limit stands for 10 to 60 days."""
    ticker, days = one_of(random, TICKERS), one_of(random, (10, 20, 40, 60))
    parts = _prices(ticker, days)
    count = whole(random, 500, parts.rounds)
    first = int(random.integers(parts.rounds - count + 1))
    says = f"{ticker}: {len(OFFSETS)} limits above the close, {count} days from day {first} on"
    return _rows(parts, np.arange(first, first + count), 1.0, says, f"up to {days} days, measured")


@family("network-width", "Real training jobs: which width of a network is best.")
def widths(random: Random) -> Sketch:
    """Jobs of HPOBench, in their order or shuffled; a round lasts 0.3 to 30 seconds."""
    return _jobs(random, _widths(), "validation errors of ten network widths")


@family(
    "which-learner", "Real training jobs: which classifier has the smallest error.", judge_only=True
)
def classifiers(random: Random) -> Sketch:
    """Jobs of LCDB, in their order or shuffled; a round lasts 2 to 170 milliseconds."""
    return _jobs(random, _classifiers(), "test errors of eight classifiers")


def _jobs(random: Random, parts: Parts, what: str) -> Sketch:
    """Draw jobs that follow one another, or any jobs in any order, and how long a round lasts."""
    count, pace = whole(random, 500, parts.rounds), log_uniform(random, 0.3, 30.0)
    if random.random() < 0.5:
        rows, order = random.permutation(parts.rounds)[:count], "shuffled"
    else:
        first = int(random.integers(parts.rounds - count + 1))
        rows, order = np.arange(first, first + count), f"in their order from job {first} on"
    says = f"{what}, {count} jobs {order}"
    return _rows(parts, rows, pace, says, f"measured times, {pace:g} times as long")


def _rows(
    parts: Parts, rows: np.ndarray, pace: float, says_losses: str, says_delays: str
) -> Sketch:
    losses, delays = parts.losses, parts.delays
    assert isinstance(losses, GivenLosses)
    assert isinstance(delays, GivenDelays)
    kept = delays.values[rows]
    times = np.where(kept == NEVER, NEVER, (kept * pace).astype(np.int64))
    given = GivenLosses(losses.values[rows]), GivenDelays(times)
    return Sketch(*given, len(rows), says_losses, says_delays)


@functools.cache
def _prices(ticker: str, days: int) -> Parts:
    return limit_orders.parts(ticker=ticker, days=days)


@functools.cache
def _widths() -> Parts:
    return network_width.parts()


@functools.cache
def _classifiers() -> Parts:
    return which_learner.parts()
