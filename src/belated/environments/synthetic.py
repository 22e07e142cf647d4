"""Scenarios with invented losses and delays, each designed to demonstrate one effect."""

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
from belated.environments.losses import Bernoulli, Drifting, FirstOrder, Spread
from belated.environments.parameters import between
from belated.environments.scenarios import Parts, scenario_named


@scenario_named(
    "late-best",
    shows="The best arm's losses are late and a good arm's are prompt: experts choose the prompt "
    "arm, unless the delay is short, while a bandit prefers the late one.",
)
def late_best(rounds: int = 20_000, arms: int = 5, gap: float = 0.1, delay: int = 100) -> Parts:
    """The trade-off of eq:fullintrobound: mean losses 0.3 (late), 0.3 + gap, and 0.7 for others."""
    as_count(arms, "arms", 2, MOST_ARMS)
    labels = ["late best", "prompt good", *(f"prompt bad {n}" for n in range(1, arms - 1))]
    means = [0.3, 0.3 + gap, *[0.7] * (arms - 2)]
    return Parts(Bernoulli(means), PerArm([delay] + [0] * (arms - 1)), rounds, labels)


@scenario_named(
    "late-worst",
    shows="The best arm's losses are prompt and all others are late: a learner that ignores "
    "missing losses mistakes the late arms for good ones.",
)
def late_worst(rounds: int = 20_000, arms: int = 5, gap: float = 0.2, delay: int = 300) -> Parts:
    """Mean losses 0.3 for the prompt arm and 0.3 + gap for the late ones."""
    means = _one_better(arms, 0.3, 0.3 + gap)
    delays = PerArm([0] + [delay] * (arms - 1))
    return Parts(Bernoulli(means), delays, rounds, _first_named("prompt best", arms))


@scenario_named(
    "mixed-delays",
    shows="Delays from none to hundreds of rounds that are unrelated to the quality of the arms: "
    "neither trust nor distrust of slow arms helps.",
)
def mixed_delays(
    rounds: int = 20_000, arms: int = 8, slowest: int = 600, shuffle: int = 1
) -> Parts:
    """Mean losses evenly from 0.25 to 0.6, shuffled by the seed `shuffle`; rising delays."""
    means = np.linspace(0.25, 0.6, as_count(arms, "arms", 2, MOST_ARMS))
    np.random.default_rng(shuffle).shuffle(means)
    delays = np.round(slowest * np.linspace(0.0, 1.0, arms) ** 2).astype(int)
    return Parts(Bernoulli(means.tolist()), PerArm(delays.tolist()), rounds)


@scenario_named(
    "switching",
    shows="The best arm changes every quarter of the game, and slow arms are the good ones or, "
    "with slow_good=0, the bad ones: a learner must forget in time.",
)
def switching(
    rounds: int = 20_000, arms: int = 4, gap: float = 0.2, delay: int = 200, slow_good: int = 1
) -> Parts:
    """Mean loss 0.3 for arms 1 and 2 in turn, and 0.3 + gap for all others."""
    as_count(arms, "arms", 3, MOST_ARMS)
    other = 0.3 + gap
    phases = [[0.3 if i == leader else other for i in range(arms)] for leader in (0, 1)]
    slow = [delay, delay // 2] + [0] * (arms - 2)
    prompt = [0, 0] + [delay] * (arms - 2)
    length = max(1, as_count(rounds, "rounds", 1) // 4)
    return Parts(Switching(phases, length), PerArm(slow if slow_good else prompt), rounds)


@scenario_named(
    "reversing",
    shows="Two arms swap good and bad whenever their losses arrive: what a learner knows of them "
    "is always the opposite of the truth.",
)
def reversing(rounds: int = 20_000, arms: int = 4, gap: float = 1.0, delay: int = 100) -> Parts:
    """Mean losses 1/2 -+ gap/2 of arms 1 and 2, swapped every delay + 1 rounds; others 1/2."""
    as_count(arms, "arms", 2, MOST_ARMS)
    low, high, others = 0.5 - gap / 2.0, 0.5 + gap / 2.0, [0.5] * (arms - 2)
    phases = [[low, high, *others], [high, low, *others]]
    return Parts(Switching(phases, delay + 1), Constant(delay), rounds)


@scenario_named(
    "heavy-tails",
    shows="The better arm's delays have a much heavier tail: a learner that counts a few dozen "
    "rounds without a report as a failure prefers the worse arm.",
)
def heavy_tails(rounds: int = 10_000, worse_index: float = 1.0, better_index: float = 0.3) -> Parts:
    """Success rates 0.6 and 0.8, Pareto delays (Gael, Vernade, Carpentier and Valko, 2020)."""
    delays = Pareto([worse_index, better_index])
    return Parts(Bernoulli([0.4, 0.2]), delays, rounds, ["worse", "better"])


@scenario_named(
    "packet-loss",
    shows="A fifth of the best arm's losses never arrive and stay missing: learners that count "
    "missing losses become more and more cautious.",
)
def packet_loss(
    rounds: int = 20_000, arms: int = 5, chance: float = 0.2, delay: float = 10.0
) -> Parts:
    """Mean losses 0.3 for the arm whose losses get lost, 0.5 for others; geometric delays."""
    means = _one_better(arms, 0.3, 0.5)
    lost = PacketLoss([chance] + [0.0] * (arms - 1), Geometric(delay))
    return Parts(Bernoulli(means), lost, rounds, _first_named("lossy best", arms))


@scenario_named(
    "unbalanced",
    shows="The losses of the first few hundred rounds arrive at the end and all others at once: "
    "these few cause all of the total delay, and a learner that skips them hardly suffers.",
)
def unbalanced(rounds: int = 20_000, arms: int = 5, gap: float = 0.2) -> Parts:
    """Mean losses 0.5 - gap for the first arm and 0.5 for others; delays of `Unbalanced`."""
    means = _one_better(arms, 0.5 - gap, 0.5)
    return Parts(Bernoulli(means), Unbalanced(), rounds, _first_named("best", arms))


@scenario_named(
    "growing-late",
    shows="Feedback is prompt for half of the game, and then its delay grows: learners become "
    "cautious and lose part of what they had learned.",
)
def growing_late(
    rounds: int = 20_000, arms: int = 5, gap: float = 0.1, start: float = 0.5, most: int = 2000
) -> Parts:
    """Mean losses 0.5 - gap for the first arm and 0.5 for others; delays of `GrowingLate`."""
    means = _one_better(arms, 0.5 - gap, 0.5)
    return Parts(Bernoulli(means), GrowingLate(start, most), rounds, _first_named("best", arms))


@scenario_named(
    "first-order",
    shows="The best arm has almost no loss: the regret of learners with a bound in terms of its "
    "loss, rather than of the number of rounds, stops growing early.",
)
def first_order(
    rounds: int = 20_000, arms: int = 5, best: float = 0.01, other: float = 0.5, delay: int = 100
) -> Parts:
    """Mean losses `best` for the last arm and `other` for the rest; constant delay."""
    return Parts(FirstOrder(arms, best, other), Constant(delay), rounds)


@scenario_named(
    "constrained-adversary",
    shows="The gap between the arms is constant, but the level jumps in longer and longer phases: "
    "methods for fixed means are misled, methods for adversarial losses are not.",
)
def constrained_adversary(
    rounds: int = 100_000, arms: int = 8, gap: float = 0.125, growth: float = 1.6, delay: int = 0
) -> Parts:
    """The last arm is the best; after Zimmert and Seldin (2021), where there is no delay."""
    return Parts(ConstrainedAdversary(arms, gap, growth), Constant(delay), rounds)


@scenario_named(
    "rotating-leaders",
    shows="Each arm in turn has loss 0 for a while, and losses arrive half a turn late: experts "
    "that trust the past lose more than any single arm.",
)
def rotating_leaders(
    rounds: int = 20_000, arms: int = 5, length: int = 200, delay: int = 100
) -> Parts:
    """The leader has loss 0, all others 1; it changes every `length` rounds. Constant delay."""
    return Parts(RotatingLeaders(arms, length), Constant(delay), rounds)


@scenario_named(
    "drifting",
    shows="The means of all arms drift while losses are on their way: late feedback is also out of "
    "date.",
)
def drifting(
    rounds: int = 20_000, arms: int = 5, step: float = 0.01, delay: float = 100.0
) -> Parts:
    """Mean losses start at 0.5 and take a normal step each round; `delay` is the mean delay."""
    means = [0.5] * as_count(arms, "arms", 1, MOST_ARMS)
    return Parts(Drifting(means, step), Geometric(delay), rounds)


@scenario_named(
    "block-constant",
    shows="Losses are coin flips that change before they are known: every learner has the same "
    "expected regret, and one that does better has seen losses too early.",
)
def block_constant(rounds: int = 600, arms: int = 4, delay: int = 19) -> Parts:
    """Blocks of delay + 1 equal rounds; with the default options the expected regret is 56.1269."""
    return Parts(BlockConstant(arms, delay + 1), Constant(delay), rounds)


@scenario_named(
    "gains",
    shows="Losses lie in [-1, 1], a loss below 0 is a gain, and only the late arm gains: learners "
    "that find it end below 0, and all others above.",
)
def gains(rounds: int = 20_000, arms: int = 5, gain: float = 0.1, delay: int = 100) -> Parts:
    """Losses of -1 and 1, with the mean -gain for the late arm and gain for the prompt ones."""
    between(0.0, 1.0)(gain, "gain")
    coins = Bernoulli(_one_better(arms, 0.5 - 0.5 * gain, 0.5 + 0.5 * gain))
    delays, labels = PerArm([delay] + [0] * (arms - 1)), _first_named("late gain", arms)
    return Parts(Spread(coins, -1.0, 1.0), delays, rounds, labels, loss_range=(-1.0, 1.0))


def _one_better(arms: int, best: float, other: float) -> Sequence[float]:
    """Mean losses: `best` for the first arm and `other` for the rest."""
    as_count(arms, "arms", 1, MOST_ARMS)
    return [best, *[other] * (arms - 1)]


def _first_named(name: str, arms: int) -> Sequence[str]:
    """Labels: the name for the first arm and numbers for the rest."""
    return [name, *(str(i) for i in range(2, arms + 1))]
