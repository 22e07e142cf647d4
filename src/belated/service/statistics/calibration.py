"""Whether what a model foretells is what comes: foretold and true rewards, by what was foretold."""

from typing import NamedTuple

import numpy as np

from belated.arrays import Floats
from belated.service.statistics.delays import Z

BINS = 10  # of foretold rewards from 0 to 1; what is foretold beyond is in the first or last
NUMBER, FORETOLD, REWARDS, SQUARES = range(4)


class CalibrationBin(NamedTuple):
    """Some plays of about the same foretold reward: how many, its mean, and that of the rewards.

    `half_width` is that of the 95 % interval of the mean reward; None with one play only.
    """

    number: int
    foretold: float
    reward: float
    half_width: float | None


class ForetoldRewards:
    """The sums of foretold and true rewards of the plays that are told or expired, by bin."""

    def __init__(self) -> None:
        self.sums = np.zeros((BINS, 4))

    def add(self, foretold: float, reward: float) -> None:
        """Count a play whose reward was foretold when it was decided."""
        place = min(BINS - 1, max(0, int(BINS * foretold)))
        self.sums[place] += (1.0, foretold, reward, reward * reward)

    def shown(self) -> list[CalibrationBin]:
        """The bins in which there are plays."""
        return [of_sums(row) for row in self.sums if row[NUMBER] > 0.0]


def of_sums(row: Floats) -> CalibrationBin:
    """A bin with these sums."""
    number, foretold, rewards, squares = row.tolist()
    half = None
    if number >= 2:
        variance = max(0.0, squares - rewards**2 / number) / (number - 1)
        half = float(Z * np.sqrt(variance / number))
    return CalibrationBin(int(number), foretold / number, rewards / number, half)
