"""Which model to train: losses and training times that others have measured, a job a round."""

import numpy as np

from belated.environments.in_memory import GivenDelays, GivenLosses
from belated.environments.packaged_data import as_rounds, packaged
from belated.environments.parameters import as_positive
from belated.environments.scenarios import Parts, scenario_named


@scenario_named(
    "network-width",
    shows="Wider networks are better and train a hundred times longer: the widest is best if you "
    "wait, a middling one if you count what waiting costs.",
    real=True,
)
def network_width(rounds: int | None = None) -> Parts:
    """HPOBench: validation error of ten widths; a round is 10 seconds.

    In a round every width has the same data set and other settings. Data sets come one after the
    other. Width was chosen among five settings because it shows the trade-off.
    """
    with packaged("hpobench_width.npz") as file:
        data = np.load(file)
        losses, delays, labels = data["loss"], data["delay"], data["arms"]
    count = as_rounds(rounds, len(losses))
    return Parts(GivenLosses(losses[:count]), GivenDelays(delays[:count]), count, list(labels))


@scenario_named(
    "which-learner",
    shows="Boosting and a random forest are equally good, but boosting takes so much longer that a "
    "tenth of its results come after the game.",
    real=True,
)
def which_learner(seconds: float = 0.05, rounds: int | None = None) -> Parts:
    """LCDB: test error of eight learners; a round lasts so many seconds.

    A round is a data set and a split of it, at the largest training size up to 2048 that all eight
    were run with. Data sets come one after the other.
    """
    as_positive(seconds, "seconds")
    with packaged("lcdb_learners.npz") as file:
        data = np.load(file)
        losses, times, labels = data["loss"], data["traintime"], data["learners"]
    count = as_rounds(rounds, len(losses))
    delays = np.floor(times[:count].astype(np.float64) / seconds)
    return Parts(GivenLosses(losses[:count]), GivenDelays(delays), count, list(labels))
