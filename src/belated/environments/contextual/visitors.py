"""Scenarios with invented contexts: visitors of whom something is known, and late outcomes.

In all of them the arms' delays differ, and every game draws its own parameters, so that slow arms
are as often good as bad.
"""

import numpy as np

from belated.checks import MOST_ARMS, as_count
from belated.environments.combined_delays import ByOutcome
from belated.environments.contextual.drawn_contexts import NormalContexts
from belated.environments.contextual.mean_losses import (
    CoinsByContext,
    CrossedMeans,
    IdleMeans,
    LinearMeans,
    MeanLosses,
    RareRewards,
)
from belated.environments.contextual.segment_delays import BySegment
from belated.environments.delays import Constant, Geometric, PacketLoss, Pareto
from belated.environments.environment import ContextualDelays, DelayProcess
from belated.environments.scenarios import Parts, scenario_named

SPREAD = 0.25  # the standard deviation of a mean loss over contexts
RARE_LEVEL, RARE_SPREAD = -4.0, 1.5  # log-odds of a conversion: five of a hundred in the mean
FIRST_DELAY = 20  # the mean delay of the fastest arm where delays rise by factors


def rising(most: float, arms: int) -> list[float]:
    """A number for each arm, rising evenly from 0 to the largest."""
    as_count(arms, "arms", 2, MOST_ARMS)
    return [most * i / (arms - 1) for i in range(arms)]


def visitors(
    means: MeanLosses,
    delays: DelayProcess | ContextualDelays,
    rounds: int,
    features: int,
    default_loss: float | None = None,
) -> Parts:
    """A scenario of visitors with so many normal features."""
    return Parts(
        CoinsByContext(means),
        delays,
        rounds,
        default_loss=default_loss,
        contexts=NormalContexts(features),
    )


@scenario_named(
    "visitors",
    shows="Which arm is good depends on eight numbers that are known of each visitor, and slow "
    "arms are as often good as bad: without the numbers little can be learned.",
)
def linear_visitors(
    rounds: int = 10_000, arms: int = 5, features: int = 8, delay: float = 600.0
) -> Parts:
    """Means are linear in the features; mean delays rise evenly from 0."""
    return visitors(LinearMeans(arms, SPREAD), Geometric(rising(delay, arms)), rounds, features)


@scenario_named(
    "conversions",
    shows="One visitor in twenty buys, some within hours and some after weeks, and others report "
    "nothing: a learner that waits for reports learns nothing, one that models silence does.",
)
def conversions(
    rounds: int = 20_000, arms: int = 5, features: int = 8, delay: float = 2000.0
) -> Parts:
    """Purchases are logistic in the features; mean delays rise by equal factors to `delay`."""
    means = np.geomspace(FIRST_DELAY, delay, as_count(arms, "arms", 2, MOST_ARMS)).tolist()
    delays = ByOutcome(Geometric(means), Constant(None))
    return visitors(RareRewards(arms, RARE_LEVEL, RARE_SPREAD), delays, rounds, features, 1.0)


@scenario_named(
    "lossy-visitors",
    shows="Up to three fifths of an arm's outcomes are lost, good ones as often as bad ones: "
    "silence means nothing, and a learner that counts it as failure prefers the arms that report.",
)
def lossy_visitors(
    rounds: int = 10_000, arms: int = 5, features: int = 8, lost: float = 0.6, delay: float = 100.0
) -> Parts:
    """Means are linear in the features; the chance of a loss and the delay rise with the arm."""
    delays = PacketLoss(rising(lost, arms), Geometric(rising(delay, arms)[::-1]))
    return visitors(LinearMeans(arms, SPREAD), delays, rounds, features)


@scenario_named(
    "late-complaints",
    shows="Successes are reported soon and failures late: a learner that counts only the reports "
    "so far overrates slow arms, unless it knows that the delay depends on the outcome.",
)
def late_complaints(
    rounds: int = 10_000, arms: int = 5, features: int = 8, delay: float = 600.0
) -> Parts:
    """Means are linear; failures take up to `delay` rounds in the mean, successes a tenth of it."""
    delays = ByOutcome(Geometric(rising(delay / 10.0, arms)), Geometric(rising(delay, arms)))
    return visitors(LinearMeans(arms, SPREAD), delays, rounds, features)


@scenario_named(
    "crossed-visitors",
    shows="Half of the arms are good where two features have the same sign, the other half where "
    "they differ: a linear learner finds only the smaller part, which is linear.",
)
def crossed_visitors(
    rounds: int = 10_000, arms: int = 4, features: int = 4, delay: float = 300.0
) -> Parts:
    """Means with a part that only the product of two features tells, and a linear part."""
    as_count(features, "features", 2)
    delays = Geometric(rising(delay, arms))
    return visitors(CrossedMeans(arms, 0.2, 0.12), delays, rounds, features)


@scenario_named(
    "idle-contexts",
    shows="The numbers that are known about each visitor carry no information: a learner that uses "
    "them loses by it, and one that ignores them is better.",
)
def idle_contexts(
    rounds: int = 10_000, arms: int = 5, features: int = 8, delay: float = 300.0
) -> Parts:
    """Means that no feature changes."""
    return visitors(IdleMeans(arms, 0.1), Geometric(rising(delay, arms)), rounds, features)


@scenario_named(
    "redrawn",
    shows="In the middle of the game everything that was learned becomes wrong, and the feedback "
    "that shows it is late: a learner must forget and start again.",
)
def redrawn(rounds: int = 10_000, arms: int = 5, features: int = 8, delay: float = 300.0) -> Parts:
    """Means are linear in the features, with parameters that are drawn again at half time."""
    means = LinearMeans(arms, SPREAD, every=max(1, (rounds + 1) // 2))
    return visitors(means, Geometric(rising(delay, arms)), rounds, features)


@scenario_named(
    "late-segments",
    shows="Half of the visitors answer at once and the other half much later: early feedback is "
    "about one half only.",
)
def late_segments(
    rounds: int = 10_000, arms: int = 5, features: int = 8, delay: float = 600.0
) -> Parts:
    """Means are linear; delays are long where the first feature is above 0, else a tenth."""
    slow = Geometric([delay / 2.0 + each for each in rising(delay / 2.0, arms)])
    delays = BySegment(Geometric(rising(delay / 10.0, arms)), slow)
    return visitors(LinearMeans(arms, 1.2 * SPREAD), delays, rounds, features)


@scenario_named(
    "heavy-conversions",
    shows="Purchases arrive with heavy-tailed delays, and other visitors report nothing: every "
    "attribution window is too short for some and too long for others.",
)
def heavy_conversions(
    rounds: int = 20_000, arms: int = 5, features: int = 8, index: float = 0.8
) -> Parts:
    """Purchases are logistic in the features; delays are Pareto, with scales that rise to 20."""
    scales = [1.0 + each for each in rising(19.0, arms)]
    delays = ByOutcome(Pareto(index, scales), Constant(None))
    return visitors(RareRewards(arms, RARE_LEVEL, RARE_SPREAD), delays, rounds, features, 1.0)


@scenario_named(
    "twenty-arms",
    shows="Twenty arms and eight features: most of what has been played is still pending when a "
    "choice must be made, and every arm needs its own evidence.",
)
def twenty_arms(
    rounds: int = 10_000, arms: int = 20, features: int = 8, delay: float = 400.0
) -> Parts:
    """Means are linear in the features; mean delays rise evenly from 0."""
    return visitors(LinearMeans(arms, SPREAD), Geometric(rising(delay, arms)), rounds, features)
