"""Families with steady means, in which what differs is the law of the losses and the size."""

from belated.environments.environment import Random
from belated.environments.losses import Beta
from belated.worlds import laws
from belated.worlds.draws import Size, draw_size, log_uniform
from belated.worlds.family import Sketch, family, sketch


@family("coins", "Losses of 0 and 1 with steady means, small and large gaps, any delays.")
def coins(random: Random) -> Sketch:
    """Steady coins with delays of any law."""
    return _steady(random, draw_size(random), laws.coins)


@family("narrow", "Losses with a small variance around steady means, and any delays.")
def narrow(random: Random) -> Sketch:
    """Narrow losses with delays of any law."""
    return _steady(random, draw_size(random), laws.narrow)


@family("many-arms", "Many arms and so few rounds that each can be tried some dozen times.")
def many_arms(random: Random) -> Sketch:
    """From 30 to 100 arms with 10 to 60 rounds for each."""
    arms = draw_size(random, arms=(30, 100), rounds=(4000, 4000)).arms
    rounds = max(500, round(arms * log_uniform(random, 10.0, 60.0)))
    return _steady(random, Size(arms, rounds), laws.steady)


@family("few-rounds", "Few arms and from 500 to 1,500 rounds: early mistakes decide.")
def few_rounds(random: Random) -> Sketch:
    """From 2 to 10 arms in a short game."""
    return _steady(random, draw_size(random, (2, 10), (500, 1500)), laws.steady)


@family("reals", "Losses anywhere between 0 and 1 around steady means.", judge_only=True)
def reals(random: Random) -> Sketch:
    """Beta-distributed losses with delays of any law."""
    return _steady(random, draw_size(random), beta)


def beta(random: Random, size: Size) -> laws.LossLaw:
    """Draw beta-distributed losses, from nearly coins to rather narrow ones."""
    concentration = log_uniform(random, 0.5, 20.0)
    means = laws.draw_means(random, size, laws.draw_gap(random, size))
    says = f"beta-distributed losses of concentration {concentration:g}, {laws.said_means(means)}"
    return laws.LossLaw(Beta(means, concentration), means, says)


def _steady(random: Random, size: Size, law: laws.DrawsLosses) -> Sketch:
    losses = law(random, size)
    return sketch(losses.process, losses.says, laws.draw_delays(random, size), size.rounds)
