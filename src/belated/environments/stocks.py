"""Selling a share by a limit order: the higher the limit, the later its outcome is known."""

import csv
import functools
import gzip
import io
from datetime import date
from typing import NamedTuple

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from belated.arrays import Counts, Floats
from belated.checks import as_count
from belated.environments.in_memory import GivenDelays, GivenLosses
from belated.environments.packaged_data import as_rounds, packaged
from belated.environments.parameters import between
from belated.environments.scenarios import Parts, scenario_named

OFFSETS = (0.0, 0.01, 0.02, 0.04, 0.08, 0.16)  # of the limit above the close, one per arm


class Prices(NamedTuple):
    """The highest and the last price of each trading day."""

    dates: list[str]
    high: Floats
    close: Floats


@scenario_named(
    "limit-orders",
    shows="With real prices, high limits earn most in a rising market, but their outcomes are "
    "known weeks later, while the outcome of selling at once is known at once.",
    real=True,
)
def limit_orders(
    ticker: str = "IBM",
    start: str = "2000-03-01",
    end: str = "2013-03-01",
    days: int = 60,
    cap: float = 0.4,
    rounds: int | None = None,
) -> Parts:
    """Every trading day one share is sold at one of six limits, as in `sales`."""
    return _limit_orders(ticker, (start, end), days, cap, rounds)


@scenario_named(
    "limit-orders-falling",
    shows="Limit orders in a falling market: selling at once is best, and its outcome is known at "
    "once; the highest limit is the slowest and the worst.",
    real=True,
)
def limit_orders_falling(
    ticker: str = "MSFT",
    start: str = "2007-10-09",
    end: str = "2009-03-09",
    days: int = 60,
    cap: float = 0.4,
    rounds: int | None = None,
) -> Parts:
    """Limit orders from the peak of the S&P 500 in 2007 to its bottom in 2009.

    The case was chosen among four shares and eleven periods because it shows the opposite of
    limit-orders. In the same months the slowest limit was still the best one for IBM.
    """
    return _limit_orders(ticker, (start, end), days, cap, rounds)


def _limit_orders(
    ticker: str, period: tuple[str, str], days: int, cap: float, rounds: int | None
) -> Parts:
    prices = _prices_of(ticker)
    as_count(days, "days", 1, len(prices.dates) - 1)
    between(0.0, 1.0)(cap, "cap")
    returns, delays = sales(prices, days)
    losses = np.clip((OFFSETS[-1] - returns) / (OFFSETS[-1] + cap), 0.0, 1.0)
    first, last = (_as_date(day, name) for day, name in zip(period, ("start", "end"), strict=True))
    inside = [t for t, day in enumerate(prices.dates[: len(losses)]) if first <= day <= last]
    if not inside:
        raise ValueError(
            f"from {first} to {last} {ticker} has no day with {days} more days after it; the first "
            f"such day is {prices.dates[0]} and the last {prices.dates[len(losses) - 1]}"
        )
    kept = slice(inside[0], inside[0] + as_rounds(rounds, len(inside)))
    labels = [f"+{offset:.0%}" for offset in OFFSETS]
    given = GivenLosses(losses[kept]), GivenDelays(delays[kept])
    return Parts(*given, kept.stop - kept.start, labels)


def sales(prices: Prices, days: int) -> tuple[Floats, Counts]:
    """The return of each limit, relative to that day's close, and the days until it was known.

    The limit close (1 + offset) is filled on the first later day whose high is not below it; after
    `days` days without a fill, the share is sold at the close. An offset of 0 sells at once. The
    rounds are the days with at least `days` days after them. Both arrays have shape (round, arm).
    """
    count = len(prices.close) - days
    now, then = prices.close[:count], prices.close[days:]
    later = sliding_window_view(prices.high, days)[1:]
    returns, delays = np.zeros((count, len(OFFSETS))), np.zeros((count, len(OFFSETS)), np.int64)
    for arm, offset in enumerate(OFFSETS[1:], 1):
        reached = later >= (now * (1.0 + offset))[:, None]
        sold = reached.any(axis=1)
        returns[:, arm] = np.where(sold, offset, then / now - 1.0)
        delays[:, arm] = np.where(sold, reached.argmax(axis=1) + 1, days)
    return returns, delays


@functools.cache
def all_prices() -> dict[str, Prices]:
    """The prices of all shares by ticker, adjusted for splits and dividends."""
    rows: dict[str, list[tuple[str, float, float]]] = {}
    with packaged("stocks_daily.csv.gz") as packed, gzip.open(packed) as file:
        for row in csv.DictReader(io.TextIOWrapper(file, encoding="ascii", newline="")):
            day = (row["date"], float(row["high"]), float(row["close"]))
            rows.setdefault(row["ticker"], []).append(day)
    found = {}
    for ticker, listed in rows.items():
        dates, high, close = zip(*listed, strict=True)
        found[ticker] = Prices(list(dates), np.array(high), np.array(close))
    return found


def _prices_of(ticker: str) -> Prices:
    known = all_prices()
    if ticker.upper() not in known:
        raise ValueError(f"ticker is {ticker!r}; it must be one of {', '.join(known)}")
    return known[ticker.upper()]


def _as_date(text: str, name: str) -> str:
    try:
        return date.fromisoformat(text).isoformat()
    except ValueError:
        raise ValueError(f"{name} is {text!r}; it must be a date like 2007-10-09") from None
