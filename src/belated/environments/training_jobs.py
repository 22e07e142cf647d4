"""Which model to train: measured losses and training times, one training job per round."""

import numpy as np

from belated.environments.in_memory import GivenDelays, GivenLosses
from belated.environments.packaged_data import as_rounds, packaged
from belated.environments.parameters import as_positive
from belated.environments.scenarios import Parts, scenario_named


@scenario_named(
    "network-width",
    shows="Wider networks are better and train up to a hundred times longer: the widest has the "
    "smallest loss, but with the cost of waiting a medium one is best.",
    real=True,
)
def network_width(rounds: int | None = None) -> Parts:
    """HPOBench: the loss is the validation error of ten network widths; a round lasts 10 seconds.

    In a round all widths have the same data set and hyper-parameters. The data sets follow one
    another. Width was chosen among five hyper-parameters because it shows the trade-off.
    """
    with packaged("hpobench_width.npz") as file:
        data = np.load(file)
        losses, delays, labels = data["loss"], data["delay"], data["arms"]
    count = as_rounds(rounds, len(losses))
    return Parts(GivenLosses(losses[:count]), GivenDelays(delays[:count]), count, list(labels))


@scenario_named(
    "which-learner",
    shows="Boosting and a random forest are equally good, but boosting takes so much longer that a "
    "tenth of its results arrive after the game.",
    real=True,
)
def which_learner(seconds: float = 0.05, rounds: int | None = None) -> Parts:
    """LCDB: the loss is the test error of eight classifiers; a round lasts `seconds`.

    A round is a data set and a split of it, at the largest training size up to 2048 with results of
    all eight. The data sets follow one another.
    """
    as_positive(seconds, "seconds")
    with packaged("lcdb_learners.npz") as file:
        data = np.load(file)
        losses, times, labels = data["loss"], data["traintime"], data["learners"]
    count = as_rounds(rounds, len(losses))
    delays = np.floor(times[:count].astype(np.float64) / seconds)
    return Parts(GivenLosses(losses[:count]), GivenDelays(delays), count, list(labels))
