"""Replay by rejection: what a learner would have earned, had it chosen in the place of the log.

Along the log the learner says q, the weights of its next play. A row whose arm a was drawn with
probability p is accepted with chance min(1, q(a) / (M p)); with M at least the largest q / p,
accepted rows are arms that the learner itself has drawn, in its own order. It is told only those,
each as soon as the log's clock passes its arrival, so that what was late in the log is late for
it. A ratio above M is kept as the row's weight. The default M = 1 / min p never needs one.
"""

from collections import defaultdict
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from belated.arrays import Floats
from belated.evaluation.betting import known_from
from belated.evaluation.logs.journal import Journal
from belated.learners.contract import Learner
from belated.learners.driver import Driver
from belated.learners.needs import needed_options
from belated.learners.registry import check_options, learner_named
from belated.specs import named_options
from belated.types import Need, Setting


class Replayed(NamedTuple):
    """The weight of each row, 0 where it was not accepted, and the learner's probabilities."""

    weights: Floats
    table: Floats


def replayed(
    spec: str,
    journal: Journal,
    random: np.random.Generator,
    *,
    limit: float | None = None,
    default_loss: float | None = None,
    progress: Callable[[], None] = lambda: None,
) -> Replayed:
    """Run a learner, named as in "exp3:gamma=0.1", along a journal by rejection."""
    if journal.allowed is not None:
        raise ValueError("the arms of the log change; a learner can be replayed on one set of arms")
    driver = Driver(_learner(spec, journal), room=len(journal))
    if default_loss is not None:
        driver.declare_silence(default_loss)
    most = 1.0 / float(journal.probability.min()) if limit is None else limit
    weights, table = np.zeros(len(journal)), np.empty((len(journal), len(journal.arms)))
    first = known_from(journal.played, journal.delays)
    coming: dict[int, list[tuple[Any, int, float]]] = defaultdict(list)
    for row, arm in enumerate(journal.chosen.tolist()):
        for play, place, loss in coming.pop(row, ()):
            driver.tell(play, place, loss)
        table[row] = driver.weights()
        ratio = table[row, arm] / (most * journal.probability[row])
        if random.random() < ratio:
            weights[row] = max(1.0, ratio)
            [play] = driver.play(arm)
            if journal.told[row]:
                coming[int(first[row])].append((play, arm, 1.0 - float(journal.rewards[row])))
        progress()
    if not weights.any():
        raise ValueError(f"no row was accepted for {spec}; the log must be longer")
    return Replayed(weights, table)


def _learner(spec: str, journal: Journal) -> Learner:
    """Make the learner; what it must know and is not told is taken from the log."""
    name, given = named_options(spec)
    options: dict[str, Any] = dict(given)
    kind = learner_named(name)
    check_options(kind, options)
    if kind.setting is Setting.FULL_INFORMATION:
        raise ValueError(f"{name} is told the losses of all arms; a log has only those chosen")

    def fact(need: Need) -> int:
        if need in (Need.HORIZON, Need.MAX_MISSING):
            return len(journal)
        raise ValueError(
            f"{name} must know {need.value}, which a log does not say; give it, "
            f"as learner:{name}:{need.value}=..."
        )

    learner = kind(arms=len(journal.arms), **needed_options(kind, fact, options), **options)
    if learner.takes_advice:
        raise ValueError(f"{name} takes advice, which a log does not have")
    return learner
