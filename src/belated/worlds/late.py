"""Families in which feedback is late in its own way: slow arms, nights, losses that never come."""

from belated.environments.changing_delays import GrowingLate
from belated.environments.combined_delays import ByOutcome, Pauses
from belated.environments.delays import PacketLoss, Pareto
from belated.environments.environment import Random
from belated.worlds.draws import (
    Size,
    draw_size,
    log_uniform,
    rounded,
    said_range,
    shuffled,
    uniform,
)
from belated.worlds.family import Sketch, family, sketch
from belated.worlds.laws import DelayLaw, LossLaw, coins, delays_of_scale, draw_delays, steady


@family("slow-good", "The better an arm is, the later its losses are known.")
def slow_good(random: Random) -> Sketch:
    """Slow arms are the good ones."""
    size, losses, scales = _slow_arms(random)
    return _slow(random, size, losses, scales[::-1], "later for better arms")


@family("slow-bad", "The worse an arm is, the later its losses are known.")
def slow_bad(random: Random) -> Sketch:
    """Slow arms are the bad ones."""
    size, losses, scales = _slow_arms(random)
    return _slow(random, size, losses, scales, "later for worse arms")


@family("slow-any", "Delays differ much between arms, whether these are good or bad.")
def slow_any(random: Random) -> Sketch:
    """Slow arms are good and bad ones."""
    size, losses, scales = _slow_arms(random)
    return _slow(random, size, losses, shuffled(random, scales), "unrelated to how good arms are")


@family("heavy-tails", "Pareto delays with so heavy a tail that many losses come after the end.")
def heavy_tails(random: Random) -> Sketch:
    """Tail indices from 0.2 to 1, by arm."""
    size = draw_size(random)
    index = [log_uniform(random, 0.2, 1.0) for _ in range(size.arms)]
    delays = DelayLaw(Pareto(index), f"Pareto delays of index {said_range(index)} by arm")
    losses = steady(random, size)
    return sketch(losses.process, losses.says, delays, size.rounds)


@family("by-outcome", "Coins whose good reports arrive sooner than bad ones, or later.")
def by_outcome(random: Random) -> Sketch:
    """Delays of losses of 0 and of 1 differ by a factor of about ten and more."""
    size = draw_size(random)
    soon, late = draw_delays(random, size, longest=0.005), draw_delays(random, size, longest=0.15)
    good, bad = shuffled(random, [soon, late])
    says = f"{good.says} for losses of 0, {bad.says} for losses of 1"
    losses = coins(random, size)
    law = DelayLaw(ByOutcome(good.process, bad.process), says)
    return sketch(losses.process, losses.says, law, size.rounds)


@family("nightly", "Reports come in batches, at the end of each day.")
def nightly(random: Random) -> Sketch:
    """From 5 to 100 days, and delays besides."""
    size = draw_size(random)
    day = max(2, round(size.rounds / log_uniform(random, 5.0, 100.0)))
    law, losses = draw_delays(random, size, longest=0.02), steady(random, size)
    says = f"{law.says}, told at the end of days of {day} rounds"
    delays = DelayLaw(Pauses(day, day, law.process), says)
    return sketch(losses.process, losses.says, delays, size.rounds)


@family(
    "outages", "For long periods nothing is reported, and then everything at once.", judge_only=True
)
def outages(random: Random) -> Sketch:
    """From 2 to 20 outages, which take a tenth to nine tenths of the time."""
    size = draw_size(random)
    every = max(4, round(size.rounds / log_uniform(random, 2.0, 20.0)))
    pause = round(every * uniform(random, 0.1, 0.9))
    law, losses = draw_delays(random, size, longest=0.02), steady(random, size)
    says = f"{law.says}, and outages of {pause} in every {every} rounds"
    delays = DelayLaw(Pauses(every, pause, law.process), says)
    return sketch(losses.process, losses.says, delays, size.rounds)


@family("lost-at-random", "A share of all reports is lost, good and bad ones equally.")
def lost_at_random(random: Random) -> Sketch:
    """From 10 to 90 % are lost."""
    size, chance = draw_size(random), uniform(random, 0.1, 0.9)
    law, losses = draw_delays(random, size), steady(random, size)
    silence = f"{chance:.0%} of the reports are lost at random"
    delays = PacketLoss(chance, law.process)
    return Sketch(losses.process, delays, size.rounds, losses.says, law.says, silence)


@family("lost-by-arm", "Some arms lose many of their reports and others few.")
def lost_by_arm(random: Random) -> Sketch:
    """From none to 95 % of an arm's reports are lost."""
    size = draw_size(random)
    chance = [uniform(random, 0.0, 0.95) for _ in range(size.arms)]
    law, losses = draw_delays(random, size), steady(random, size)
    silence = f"of an arm's reports {said_range([100 * c for c in chance])} % are lost"
    delays = PacketLoss(chance, law.process)
    return Sketch(losses.process, delays, size.rounds, losses.says, law.says, silence)


@family(
    "lost-by-outcome",
    "Good reports are lost more often than bad ones, or less often; this is not declared.",
    judge_only=True,
)
def lost_by_outcome(random: Random) -> Sketch:
    """Two shares are lost, of which one is at most a third of the other."""
    size = draw_size(random)
    much = uniform(random, 0.2, 0.8)
    good, bad = shuffled(random, [much, rounded(much * random.uniform(0.0, 0.33))])
    law, losses = draw_delays(random, size), coins(random, size)
    delays = ByOutcome(PacketLoss(good, law.process), PacketLoss(bad, law.process))
    silence = f"{good:.0%} of the losses of 0 and {bad:.0%} of the losses of 1 are lost"
    return Sketch(losses.process, delays, size.rounds, losses.says, law.says, silence)


@family("growing-late", "Feedback is prompt at first and comes later and later.", judge_only=True)
def growing_late(random: Random) -> Sketch:
    """From some round on delays grow, to between 5 and 40 % of all rounds."""
    size, start = draw_size(random), uniform(random, 0.05, 0.6)
    most = round(size.rounds * log_uniform(random, 0.05, 0.4))
    losses = steady(random, size)
    says = f"no delays for {start:.0%} of the rounds, then growing to {most}"
    delays = DelayLaw(GrowingLate(start, most), says)
    return sketch(losses.process, losses.says, delays, size.rounds)


def _slow_arms(random: Random) -> tuple[Size, LossLaw, list[float]]:
    """Draw losses, and rising typical delays from a round or two to up to 20 % of the rounds."""
    size = draw_size(random)
    fast, slow = log_uniform(random, 1.0, 5.0), size.rounds * log_uniform(random, 0.02, 0.2)
    ratio = slow / fast
    scales = [rounded(fast * ratio ** (i / (size.arms - 1))) for i in range(size.arms)]
    return size, steady(random, size), scales


def _slow(
    random: Random, size: Size, losses: LossLaw, by_rank: list[float], relation: str
) -> Sketch:
    """Give the best arm the first of these typical delays, the second best the next, and so on."""
    ranked = sorted(range(size.arms), key=lambda i: losses.means[i])
    scales = [0.0] * size.arms
    for arm, scale in zip(ranked, by_rank, strict=True):
        scales[arm] = scale
    law = delays_of_scale(random, scales)
    says = f"{law.says}, {relation}"
    return sketch(losses.process, losses.says, DelayLaw(law.process, says), size.rounds)
