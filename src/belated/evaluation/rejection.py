"""Replay by rejection: what a learner would have earned, had it chosen in the place of the log.

Along the log the learner says q, the weights of its next play. A row whose arm a was drawn with
probability p is accepted with chance min(1, q(a) / (M p)); with M at least the largest q / p,
accepted rows are arms that the learner itself has drawn, in its own order. It is told only those,
each as soon as the log's clock passes its arrival, so that what was late in the log is late for
it. A ratio above M is kept as the row's weight. The default M = 1 / min p never needs one. A
learner that takes contexts sees that of each row before it says q, and one that counts ages in
seconds is told the time, if the log has it.
"""

from collections import defaultdict
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from belated.arrays import Floats
from belated.evaluation.betting import known_from
from belated.evaluation.logs.journal import Journal
from belated.learners.contextual.contextual_learner import ContextualLearner
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


class _Coming(NamedTuple):
    """An outcome that is outstanding: when it arrives, of which play and arm, and its loss."""

    at: float
    play: Any
    arm: int
    loss: float


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
    learner = _learner(spec, journal)
    driver = Driver(learner, room=len(journal))
    if default_loss is not None:
        driver.declare_silence(default_loss)
    most = 1.0 / float(journal.probability.min()) if limit is None else limit
    weights, table = np.zeros(len(journal)), np.empty((len(journal), len(journal.arms)))
    first = known_from(journal.played, journal.delays)
    coming: dict[int, list[_Coming]] = defaultdict(list)
    for row, arm in enumerate(journal.chosen.tolist()):
        for each in sorted(coming.pop(row, ()), key=lambda each: each.at):
            driver.tick(each.at)
            driver.tell(each.play, each.arm, each.loss)
        driver.tick(float(journal.played[row]))
        if isinstance(learner, ContextualLearner):
            driver.consider(_coordinates(learner, journal, row))
        table[row] = driver.weights()
        ratio = table[row, arm] / (most * journal.probability[row])
        if random.random() < ratio:
            weights[row] = max(1.0, ratio)
            [play] = driver.play(arm)
            if journal.told[row]:
                at = float(journal.played[row] + journal.delays[row])
                loss = 1.0 - float(journal.rewards[row])
                coming[int(first[row])].append(_Coming(at, play, arm, loss))
        progress()
    if not weights.any():
        raise ValueError(f"no row was accepted for {spec}; the log must be longer")
    return Replayed(weights, table)


def _coordinates(learner: ContextualLearner, journal: Journal, row: int) -> Floats:
    """Return the context of a row as the learner sees it."""
    try:
        return learner.encoder.encode(journal.context_rows[row])
    except ValueError as error:
        raise ValueError(f"{learner.name} in row {row + 1}: {error}") from None


def _learner(spec: str, journal: Journal) -> Learner:
    """Make the learner; what it must know and is not told is taken from the log."""
    name, given = named_options(spec)
    options: dict[str, Any] = dict(given)
    kind = learner_named(name)
    check_options(kind, options)
    if kind.setting is Setting.FULL_INFORMATION:
        raise ValueError(f"{name} is told the losses of all arms; a log has only those chosen")
    if Need.DELAY_AT_DECISION in kind.needs:
        raise ValueError(f"{name} must know delays beforehand, which a log does not say")

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
    if learner.takes_actions:
        raise ValueError(f"{name} takes features of arms, which cannot be replayed")
    if learner.keeps_time and journal.clock != "seconds":
        raise ValueError(f"{name} counts ages in seconds, which the log does not have")
    return learner
