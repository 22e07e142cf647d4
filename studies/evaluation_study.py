"""How well evaluation does on logs whose truth is known: the table of corrections, and coverage."""

from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from typing import NamedTuple

import numpy as np

from belated.arrays import Floats
from belated.evaluation.estimators import ESTIMATORS, Inputs
from belated.evaluation.evaluate import evaluate
from belated.evaluation.silence import Corrected, filled, silence_correction
from studies.late_logs import (
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

    def corrected(meaning: str) -> Corrected:
        return silence_correction(journal, meaning, 0.0).corrected(counts)  # type: ignore[arg-type]

    missing = corrected("missing")
    return [
        value("ips", Corrected(counts, log.rewards)),
        value("snips", Corrected(told, np.nan_to_num(journal.rewards))),
        value("ips", filled(journal, 0.0)),
        value("ips", Corrected((delays <= WINDOW) * told, np.nan_to_num(journal.rewards)), old),
        value("ips", missing),
        value("snips", missing),
        value("ips", corrected("default")),
        value("snips", corrected("speeds")),
    ]


COVERAGE_ROWS, COVERAGE_DELAYS = 1500, (5.0, 60.0)
LOGGERS = {"fixed": fixed_logger, "learner": learning_logger}
RIGHT = {  # the meaning of silence that is right for each way, as arguments of evaluate
    "independent": {"silence": "missing"},
    "lost": {"silence": "missing"},
    "slow zeros": {"silence": "speeds"},
    "never zeros": {"silence": "default", "default_loss": 1.0},
}
JUDGED = ("ips", "snips", "dr")
WAYS_OF_INTERVALS = ("bootstrap", "normal", "bernstein", "betting")


class Coverage(NamedTuple):
    """For one log: whether each interval holds the truth, and whether the bounds do."""

    covered: dict[str, bool]


def coverage_of(seed: int, way: str, logger: str, draws: int = 200) -> dict[str, bool]:
    """Return what holds the truth on the log with this seed, by the name of the interval."""
    log = known_log(draws_of(seed, COVERAGE_ROWS), LOGGERS[logger])
    journal = journal_with(log, delays_of(log, way, COVERAGE_DELAYS))
    policies, found = {"policy": policy_of(log)}, {}
    for interval in WAYS_OF_INTERVALS:
        result = evaluate(
            journal, policies, estimators=JUDGED, interval=interval, draws=draws, seed=seed,
            **RIGHT[way],  # type: ignore[arg-type]
        )["policy"]  # fmt: skip
        for name, each in result.estimates.items():
            if each.low is not None and each.high is not None:
                found[f"{interval}, {name}"] = each.low <= TRUTH <= each.high
            if interval == "normal":
                found[f"bounds, {name}"] = each.bounds[0] <= TRUTH <= each.bounds[1]
                found[f"outer bounds, {name}"] = each.outer[0] <= TRUTH <= each.outer[1]
    return {
        name: held
        for name, held in found.items()
        if not name.startswith(("bernstein", "betting")) or name.endswith(", ips")
    }


def in_processes(work: Callable[[int], object], seeds: Sequence[int], workers: int) -> list[object]:
    """Return the results of all seeds, in their order."""
    if workers == 1:
        return [work(seed) for seed in seeds]
    with ProcessPoolExecutor(workers) as pool:
        return list(pool.map(work, seeds, chunksize=5))


def table_study(logs: int, workers: int, first: int = 1) -> tuple[Floats, Floats]:
    """Return the mean and the standard deviation over the logs: (way, correction)."""
    found = np.array(in_processes(corrections_of, range(first, first + logs), workers))
    return found.mean(axis=0), found.std(axis=0, ddof=1)


def coverage_study(
    way: str, logger: str, logs: int, workers: int, draws: int = 200, first: int = 1
) -> dict[str, float]:
    """Return the share of logs in which each interval holds the truth."""
    work = partial(coverage_of, way=way, logger=logger, draws=draws)
    found = in_processes(work, range(first, first + logs), workers)
    names = found[0]
    assert isinstance(names, dict)
    return {name: float(np.mean([each[name] for each in found])) for name in names}  # type: ignore[index]
