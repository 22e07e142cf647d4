"""Hostile families: what a learner hears is no longer true when it hears it."""

from belated.environments.changing_losses import ConstrainedAdversary, Switching
from belated.environments.delays import Constant, PerArm
from belated.environments.environment import Random
from belated.environments.moving_losses import AroundPath, MeanPath
from belated.worlds.draws import draw_size, log_uniform, rounded, shuffled, uniform
from belated.worlds.family import Sketch, family, sketch
from belated.worlds.laws import DelayLaw, draw_delays, draw_gap

CHANGING = (2000, 50_000)  # rounds


@family("bait", "The best arm turns bad when the first feedback of it comes.")
def bait(random: Random) -> Sketch:
    """A late arm with loss 0 until its first loss arrives, and bad from then on; others steady."""
    size = draw_size(random, (2, 20), CHANGING)
    delay = max(5, round(size.rounds * log_uniform(random, 0.01, 0.2)))
    gap = max(0.1, draw_gap(random, size))
    best = uniform(random, 0.1, 0.4)
    others = [best, *(rounded(best + gap * random.uniform(1.0, 1.5)) for _ in range(size.arms - 2))]
    before, after = [0.0, *others], [0.95, *others]
    order = shuffled(random, range(size.arms))
    path = MeanPath([0, delay], [[row[i] for i in order] for row in (before, after)])
    delays = PerArm([delay if i == 0 else delay // 10 for i in order])
    says = f"coins; an arm of loss 0 turns to 0.95 in round {delay}, the best other is {best:g}"
    law = DelayLaw(delays, f"constant delays, {delay} of that arm and {delay // 10} of others")
    return sketch(AroundPath(path), says, law, size.rounds)


@family("reversing", "Two arms swap good and bad whenever their losses arrive.")
def reversing(random: Random) -> Sketch:
    """What is known of the two is always out of date; another arm is nearly as good on average."""
    size = draw_size(random, (3, 10), CHANGING)
    delay = max(5, round(size.rounds * log_uniform(random, 0.005, 0.1)))
    gap = uniform(random, 0.4, 1.0)
    low, high = rounded(0.5 - gap / 2.0), rounded(0.5 + gap / 2.0)
    best, worse = uniform(random, 0.35, 0.5), [uniform(random, 0.5, 0.7)] * (size.arms - 3)
    phases = [[low, high, best, *worse], [high, low, best, *worse]]
    says = f"coins; two arms swap {low:g} and {high:g} every {delay + 1} rounds; the best: {best:g}"
    law = DelayLaw(Constant(delay), f"constant delays of {delay}")
    return sketch(Switching(phases, delay + 1), says, law, size.rounds)


@family(
    "jumping-levels",
    "The gap between the arms is steady, but the level jumps from near 0 to near 1 and back.",
    judge_only=True,
)
def jumping_levels(random: Random) -> Sketch:
    """The stochastically constrained adversary, in longer and longer phases."""
    size = draw_size(random, (2, 20), CHANGING)
    gap, growth = uniform(random, 0.05, 0.3), uniform(random, 1.2, 3.0)
    says = f"coins with a gap of {gap:g} at levels 0 and 1, in phases that grow by {growth:g}"
    losses = ConstrainedAdversary(size.arms, gap, growth)
    return sketch(losses, says, draw_delays(random, size), size.rounds)
