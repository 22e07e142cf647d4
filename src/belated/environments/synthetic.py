"""Scenarios with invented losses and delays, each made to show one thing."""

from collections.abc import Sequence

import numpy as np

from belated.checks import MOST_ARMS, as_count
from belated.environments.changing_delays import GrowingLate, Unbalanced
from belated.environments.changing_losses import (
    BlockConstant,
    ConstrainedAdversary,
    RotatingLeaders,
    Switching,
)
from belated.environments.delays import Constant, Geometric, PacketLoss, Pareto, PerArm
from belated.environments.losses import Bernoulli, Drifting, FirstOrder
from belated.environments.scenarios import Parts, scenario_named


@scenario_named(
    "late-best",
    shows="The best arm answers late and a good one at once: experts settle for the prompt arm, "
    "unless the delay is short, while a bandit leans towards the late one.",
)
def late_best(rounds: int = 20_000, arms: int = 5, gap: float = 0.1, delay: int = 100) -> Parts:
    """The trade-off of eq:fullintrobound: mean losses 0.3 (late), 0.3 + gap, and 0.7 for others."""
    as_count(arms, "arms", 2, MOST_ARMS)
    labels = ["late best", "prompt good", *(f"prompt bad {n}" for n in range(1, arms - 1))]
    means = [0.3, 0.3 + gap, *[0.7] * (arms - 2)]
    return Parts(Bernoulli(means), PerArm([delay] + [0] * (arms - 1)), rounds, labels)


@scenario_named(
    "late-worst",
    shows="The best arm answers at once and all others late: whoever leaves out what is missing "
    "takes the late arms for good ones.",
)
def late_worst(rounds: int = 20_000, arms: int = 5, gap: float = 0.2, delay: int = 300) -> Parts:
    """The mirror image of late-best: mean losses 0.3 (prompt) and 0.3 + gap (late)."""
    means = _one_better(arms, 0.3, 0.3 + gap)
    delays = PerArm([0] + [delay] * (arms - 1))
    return Parts(Bernoulli(means), delays, rounds, _first_named("prompt best", arms))


@scenario_named(
    "mixed-delays",
    shows="Delays from none to many hundred rounds that have nothing to do with how good an arm "
    "is: neither trust nor distrust of slow arms helps.",
)
def mixed_delays(
    rounds: int = 20_000, arms: int = 8, slowest: int = 600, shuffle: int = 1
) -> Parts:
    """Mean losses evenly from 0.25 to 0.6, delays rising with the arm; `shuffle` is a seed."""
    means = np.linspace(0.25, 0.6, as_count(arms, "arms", 2, MOST_ARMS))
    np.random.default_rng(shuffle).shuffle(means)
    delays = np.round(slowest * np.linspace(0.0, 1.0, arms) ** 2).astype(int)
    return Parts(Bernoulli(means.tolist()), PerArm(delays.tolist()), rounds)


@scenario_named(
    "switching",
    shows="The best arm changes every quarter of the game, and slow arms are the good ones, or "
    "(slow_good=0) the bad ones: what was learned must be forgotten in time.",
)
def switching(
    rounds: int = 20_000, arms: int = 4, gap: float = 0.2, delay: int = 200, slow_good: int = 1
) -> Parts:
    """Mean loss 0.3 for the best of the first two arms in turn, 0.3 + gap for all others."""
    as_count(arms, "arms", 3, MOST_ARMS)
    other = 0.3 + gap
    phases = [[0.3 if i == leader else other for i in range(arms)] for leader in (0, 1)]
    slow = [delay, delay // 2] + [0] * (arms - 2)
    prompt = [0, 0] + [delay] * (arms - 2)
    length = max(1, as_count(rounds, "rounds", 1) // 4)
    return Parts(Switching(phases, length), PerArm(slow if slow_good else prompt), rounds)


@scenario_named(
    "reversing",
    shows="Two arms swap good and bad just when news of them arrives: what is known of them is "
    "always the contrary of what is so.",
)
def reversing(rounds: int = 20_000, arms: int = 4, gap: float = 1.0, delay: int = 100) -> Parts:
    """Mean losses 1/2 -+ gap/2 of the two, swapped every delay + 1 rounds; 1/2 for the others."""
    as_count(arms, "arms", 2, MOST_ARMS)
    low, high, others = 0.5 - gap / 2.0, 0.5 + gap / 2.0, [0.5] * (arms - 2)
    phases = [[low, high, *others], [high, low, *others]]
    return Parts(Switching(phases, delay + 1), Constant(delay), rounds)


@scenario_named(
    "heavy-tails",
    shows="The better arm's delays have a far heavier tail: whoever takes some dozen rounds of "
    "silence for a failure prefers the worse arm.",
)
def heavy_tails(rounds: int = 10_000, worse_index: float = 1.0, better_index: float = 0.3) -> Parts:
    """Success rates 0.6 and 0.8, Pareto delays (Gael, Vernade, Carpentier and Valko, 2020)."""
    delays = Pareto([worse_index, better_index])
    return Parts(Bernoulli([0.4, 0.2]), delays, rounds, ["worse", "better"])


@scenario_named(
    "packet-loss",
    shows="A fifth of the best arm's reports get lost: they stay missing for good, so learners "
    "that count what is missing grow more cautious all the time.",
)
def packet_loss(
    rounds: int = 20_000, arms: int = 5, chance: float = 0.2, delay: float = 10.0
) -> Parts:
    """Mean losses 0.3 for the arm whose losses get lost, 0.5 for others; delay is a mean."""
    means = _one_better(arms, 0.3, 0.5)
    lost = PacketLoss([chance] + [0.0] * (arms - 1), Geometric(delay))
    return Parts(Bernoulli(means), lost, rounds, _first_named("lossy best", arms))


@scenario_named(
    "unbalanced",
    shows="The first few hundred rounds are known only at the end and all others at once: these "
    "few make all of the total delay, and a learner that skips them hardly suffers.",
)
def unbalanced(rounds: int = 20_000, arms: int = 5, gap: float = 0.2) -> Parts:
    """Mean losses 0.5 - gap for the first arm and 0.5 for others."""
    means = _one_better(arms, 0.5 - gap, 0.5)
    return Parts(Bernoulli(means), Unbalanced(), rounds, _first_named("best", arms))


@scenario_named(
    "growing-late",
    shows="Feedback is prompt for half of the game and then later and later: learners "
    "grow cautious and give up part of what they knew.",
)
def growing_late(
    rounds: int = 20_000, arms: int = 5, gap: float = 0.1, start: float = 0.5, most: int = 2000
) -> Parts:
    """From the fraction `start` of the rounds on, delays rise to `most`; means as in unbalanced."""
    means = _one_better(arms, 0.5 - gap, 0.5)
    return Parts(Bernoulli(means), GrowingLate(start, most), rounds, _first_named("best", arms))


@scenario_named(
    "first-order",
    shows="The best arm loses hardly anything: learners whose regret is bounded by its loss "
    "rather than by the number of rounds stop regretting early.",
)
def first_order(
    rounds: int = 20_000, arms: int = 5, best: float = 0.01, other: float = 0.5, delay: int = 100
) -> Parts:
    """Mean losses `best` for the last arm and `other` for the rest, constant delay."""
    return Parts(FirstOrder(arms, best, other), Constant(delay), rounds)


@scenario_named(
    "constrained-adversary",
    shows="The gap between the arms stays but the level jumps in ever longer phases: methods made "
    "for fixed means are misled, methods made for adversaries are not.",
)
def constrained_adversary(
    rounds: int = 100_000, arms: int = 8, gap: float = 0.125, growth: float = 1.6, delay: int = 0
) -> Parts:
    """After Zimmert and Seldin (2021), there without delay; the last arm is the best."""
    return Parts(ConstrainedAdversary(arms, gap, growth), Constant(delay), rounds)


@scenario_named(
    "rotating-leaders",
    shows="Each arm in turn is perfect for a while, and news is half a turn old: experts "
    "that trust the past lose more than any single arm.",
)
def rotating_leaders(
    rounds: int = 20_000, arms: int = 5, length: int = 200, delay: int = 100
) -> Parts:
    """The leader loses 0, all others 1; it changes every `length` rounds. Constant delay."""
    return Parts(RotatingLeaders(arms, length), Constant(delay), rounds)


@scenario_named(
    "drifting",
    shows="All arms wander between good and bad while news is on its way: late knowledge is also "
    "out of date.",
)
def drifting(
    rounds: int = 20_000, arms: int = 5, step: float = 0.01, delay: float = 100.0
) -> Parts:
    """Mean losses start at 0.5 and take a normal step a round; `delay` is the mean delay."""
    means = [0.5] * as_count(arms, "arms", 1, MOST_ARMS)
    return Parts(Drifting(means, step), Geometric(delay), rounds)


@scenario_named(
    "block-constant",
    shows="Losses are coin flips that are over before anyone hears of them: every learner has the "
    "same expected regret, and one that seems to do better has looked ahead.",
)
def block_constant(rounds: int = 600, arms: int = 4, delay: int = 19) -> Parts:
    """Blocks of delay + 1 equal rounds; by default the expected regret is 56.1269."""
    return Parts(BlockConstant(arms, delay + 1), Constant(delay), rounds)


def _one_better(arms: int, best: float, other: float) -> Sequence[float]:
    as_count(arms, "arms", 1, MOST_ARMS)
    return [best, *[other] * (arms - 1)]


def _first_named(name: str, arms: int) -> Sequence[str]:
    return [name, *(str(i) for i in range(2, arms + 1))]
