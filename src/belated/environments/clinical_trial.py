"""A clinical trial: the better a treatment works, the later its outcome is known.

The HIV trial ACTG 175 gave each of its patients one of four treatments at random. Its table is read
from the files of the installed package lifelines, which is not imported; belated has no copy.
"""

import csv
import functools
from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import numpy as np

from belated.arrays import Counts, Floats
from belated.environments.environment import Random, Span
from belated.environments.packaged_data import as_rounds
from belated.environments.scenarios import Parts, scenario_named

TREATMENTS = ("ZDV", "ZDV+ddI", "ZDV+zal", "ddI")
FOLLOWED = 730  # days that a patient is followed
DAYS_PER_ROUND = 2


@dataclass(frozen=True, eq=False)
class Patients:
    """The patients, one per round: stratum, treatment (an arm), and days until an event."""

    strata: Counts
    treatments: Counts
    days: Counts


@dataclass(frozen=True, eq=False)
class EventFreeTimeLost:
    """Loss 1 - days/730: the fraction of two years that was not free of an event.

    For the treatment that a patient had, the outcome is the real one. For every other treatment it
    is the outcome of a random patient of the same stratum who had it, drawn again for each seed.
    """

    patients: Patients

    arms = len(TREATMENTS)
    random = True

    def sampler(self, random: Random) -> Callable[[Span], Floats]:
        peers, sizes = self._peers()
        arms = np.arange(self.arms)

        def draw(span: Span) -> Floats:
            strata = self.patients.strata[span.index, None]
            drawn = random.random((span.count, self.arms)) * sizes[strata, arms]
            days = peers[strata, arms, drawn.astype(np.int64)]
            had = self.patients.treatments[span.index, None] == arms
            days = np.where(had, self.patients.days[span.index, None], days)
            return 1.0 - days / FOLLOWED

        return draw

    def _peers(self) -> tuple[Counts, Counts]:
        """The days of all patients by stratum and treatment, and the number of these patients."""
        kinds = self.patients.strata.max() + 1
        sizes = np.zeros((kinds, self.arms), dtype=np.int64)
        np.add.at(sizes, (self.patients.strata, self.patients.treatments), 1)
        peers = np.zeros((kinds, self.arms, sizes.max()), dtype=np.int64)
        for stratum, arm in np.argwhere(sizes):
            same = (self.patients.strata == stratum) & (self.patients.treatments == arm)
            peers[stratum, arm, : sizes[stratum, arm]] = self.patients.days[same]
        return peers, sizes


@dataclass(frozen=True)
class KnownAtEvent:
    """Delays of outcomes: known at the event, or after two years without one."""

    random = False

    def sampler(self, random: Random) -> Callable[[Span, Floats], Counts]:
        return lambda span, losses: days_of(losses) // DAYS_PER_ROUND


def days_of(losses: Floats) -> Counts:
    """The days without an event, computed back from the loss."""
    return np.rint((1.0 - losses) * FOLLOWED).astype(np.int64)


@scenario_named(
    "clinical-trial",
    shows="Failures are known early, but a success only after 365 rounds: when the last patient "
    "arrives, cautious learners have just begun to avoid the worst of four treatments.",
    real=True,
)
def clinical_trial(rounds: int | None = None) -> Parts:
    """ACTG 175, one patient every two days, without those who dropped out within two years."""
    patients = read_patients()
    count = as_rounds(rounds, len(patients.days))
    return Parts(EventFreeTimeLost(patients), KnownAtEvent(), count, TREATMENTS)


@functools.cache
def read_patients() -> Patients:
    """All patients with a known outcome, in the order of the table."""
    rows = []
    with _table().open(newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            days, event = int(row["days"]), row["cens"] == "1"
            if event or days >= FOLLOWED:
                rows.append((int(row["strat"]), int(row["arms"]), min(days, FOLLOWED)))
    strata, treatments, days = np.array(rows, dtype=np.int64).T
    return Patients(strata, treatments, days)


def _table() -> Path:
    package = find_spec("lifelines")
    folders = package.submodule_search_locations if package else None
    for folder in folders or ():
        path = Path(folder) / "datasets" / "ACTG175.csv"
        if path.exists():
            return path
    raise ValueError(
        "clinical-trial reads its data from the package lifelines, which is not installed: "
        "pip install lifelines"
    )
