"""How well evaluation does on logs whose truth is known: the table of corrections, and coverage."""

from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from typing import TypeVar

import numpy as np

from belated.arrays import Floats
from belated.evaluation.betting import betting_interval, known_from
from belated.evaluation.estimators import ESTIMATORS, Inputs
from belated.evaluation.evaluate import evaluate
from belated.evaluation.intervals import bernstein_interval
from belated.evaluation.measuring import Measured, largest_weight
from belated.evaluation.silence import Corrected, filled, silence_correction
from studies.evaluation.late_logs import (
    TRUTH,
    WAYS,
    Known,
    delays_of,
    draws_of,
    fixed_logger,
    journal_with,
    known_log,
    learning_logger,
    policy_of,
)

Result = TypeVar("Result")
TABLE_ROWS, TABLE_DELAYS, WINDOW = 4000, (30.0, 1500.0), 500.0
CORRECTIONS = (
    "all known, IPS",
    "told rows only, SNIPS",
    "untold as 0, IPS",
    "window of 500, untold as 0, IPS",
    "missing, IPS",
    "missing, SNIPS",
    "default, IPS",
    "speeds, SNIPS",
)


def corrections_of(seed: int) -> Floats:
    """Return what each correction says of a log with this seed: (way, correction)."""
    log = known_log(draws_of(seed, TABLE_ROWS))
    return np.array([_corrections(log, way) for way in WAYS])


def _corrections(log: Known, way: str) -> list[float]:
    delays = delays_of(log, way, TABLE_DELAYS)
    journal = journal_with(log, delays)
    rows = np.arange(len(journal))
    weights = policy_of(log)[rows, log.chosen] / log.probability
    counts, told = np.ones(len(journal)), journal.told.astype(np.float64)
    old = (journal.ages >= WINDOW).astype(np.float64)

    def value(name: str, rows: Corrected, counts: Floats = counts) -> float:
        inputs = Inputs(weights, rows.factor, rows.outcome)
        return float(ESTIMATORS[name].terms(inputs, np.inf).value(counts))

    def corrected(name: str, meaning: str) -> float:
        correction = silence_correction(journal, meaning, 0.0)  # type: ignore[arg-type]
        return value(name, correction.corrected(counts), counts * correction.is_old)

    return [
        value("ips", Corrected(counts, log.rewards)),
        value("snips", Corrected(told, np.nan_to_num(journal.rewards))),
        value("ips", filled(journal, 0.0)),
        value("ips", Corrected((delays <= WINDOW) * told, np.nan_to_num(journal.rewards)), old),
        corrected("ips", "missing"),
        corrected("snips", "missing"),
        corrected("ips", "default"),
        corrected("snips", "speeds"),
    ]


COVERAGE_ROWS, COVERAGE_DELAYS = 1000, (4.0, 40.0)
LOGGERS = {"fixed": fixed_logger, "learner": learning_logger}
RIGHT = {  # the meaning of silence that is right for each way, and its default loss
    "independent": ("missing", None),
    "lost": ("missing", None),
    "slow zeros": ("speeds", None),
    "never zeros": ("default", 1.0),
}
JUDGED = ("ips", "snips", "dr")
Held = dict[str, bool]


def coverage_of(seed: int, way: str, logger: str, draws: int = 200) -> Held:
    """Return what holds the truth on the log with this seed, by the name of the interval."""
    log = known_log(draws_of(seed, COVERAGE_ROWS), LOGGERS[logger])
    journal = journal_with(log, delays_of(log, way, COVERAGE_DELAYS))
    policy = Measured("policy", np.zeros(0), policy_of(log))
    weights = policy_of(log)[np.arange(len(journal)), log.chosen] / log.probability
    silence, default_loss = RIGHT[way]
    held: Held = {}
    for interval in ("bootstrap", "normal"):
        found = evaluate(
            journal,
            {"policy": policy_of(log)},
            silence=silence,
            default_loss=default_loss,
            estimators=JUDGED,
            interval=interval,
            draws=draws,
            seed=seed,
        )["policy"]
        for name, each in found.estimates.items():
            held[f"{interval}, {name}"] = _within(TRUTH, (each.low, each.high))
            if interval == "normal":
                held[f"bounds, {name}"] = _within(TRUTH, each.bounds)
                held[f"outer bounds, {name}"] = _within(TRUTH, each.outer)
    least, most = (filled(journal, reward).outcome * weights for reward in (0.0, 1.0))
    held["bernstein"] = _within(
        TRUTH, bernstein_interval(least, most, largest_weight(journal, policy))
    )
    first = known_from(journal.played, journal.delays)
    held["betting, every look"] = _within(TRUTH, betting_interval(weights, journal.rewards, first))
    return held


def _within(value: float, ends: tuple[float | None, float | None]) -> bool:
    low, high = ends
    return low is not None and high is not None and low <= value <= high


def seeds_in_processes(
    work: Callable[[int], Result], seeds: Sequence[int], workers: int
) -> list[Result]:
    """Return the results of all seeds, in their order."""
    if workers == 1:
        return [work(seed) for seed in seeds]
    with ProcessPoolExecutor(workers) as pool:
        return list(pool.map(work, seeds, chunksize=5))


def table_study(logs: int, workers: int = 1, first: int = 1) -> tuple[Floats, Floats]:
    """Return the mean and the standard deviation over the logs: (way, correction)."""
    found = np.array(seeds_in_processes(corrections_of, range(first, first + logs), workers))
    return found.mean(axis=0), found.std(axis=0, ddof=1)


def coverage_study(
    way: str, logger: str, logs: int, workers: int = 1, draws: int = 200, first: int = 1
) -> dict[str, float]:
    """Return the share of logs in which each interval holds the truth."""
    work = partial(coverage_of, way=way, logger=logger, draws=draws)
    found = seeds_in_processes(work, range(first, first + logs), workers)
    return {name: float(np.mean([each[name] for each in found])) for name in found[0]}
