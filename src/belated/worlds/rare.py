"""Families with rare events: conversions, complaints and sales, and what silence means in them."""

from collections.abc import Sequence

from belated.environments.combined_delays import ByOutcome, Within
from belated.environments.delays import Constant
from belated.environments.environment import DelayProcess, Random
from belated.environments.losses import Bernoulli
from belated.environments.moving_losses import Revenue
from belated.worlds.draws import (
    Size,
    draw_size,
    log_uniform,
    one_of,
    rounded,
    said_range,
    shuffled,
    uniform,
)
from belated.worlds.family import Sketch, family, sketch
from belated.worlds.laws import DelayLaw, delays_of_scale, draw_delays

NEVER_TOLD = Constant(None)
UNDECLARED = "failures never report, which no one says"
DECLARED = "failures never report, and silence is declared to mean a loss of 1"


@family("conversions-late", "Rare conversions, whose absence is reported later or sooner.")
def conversions_late(random: Random) -> Sketch:
    """Successes and failures both report, each with delays of its own."""
    size, rates = _rates(random)
    good, bad = draw_delays(random, size), draw_delays(random, size, longest=0.15)
    if random.random() < 0.3:
        good, bad = bad, good
    delays = ByOutcome(good.process, bad.process)
    says = f"{good.says} for conversions, {bad.says} for failures"
    return sketch(_failures(rates), _said(rates), DelayLaw(delays, says), size.rounds)


@family("conversions-expiring", "Rare conversions; each failure is known when a window ends.")
def conversions_expiring(random: Random) -> Sketch:
    """An expiry with default_loss = 1: only conversions within the window count."""
    size, rates = _rates(random)
    window = round(size.rounds * log_uniform(random, 0.01, 0.15))
    law = _sales_within(random, size, window)
    silence = f"a play without news expires after {window} rounds with a loss of 1, as declared"
    process = ByOutcome(law.process, Constant(window))
    return Sketch(_failures(rates), process, size.rounds, _said(rates), law.says, silence)


@family("conversions-declared", "Rare conversions; silence means failure, and learners know it.")
def conversions_declared(random: Random) -> Sketch:
    """Failures never report, and default_loss = 1 is declared, without an expiry."""
    return _conversions(random, DECLARED, default_loss=1.0)


@family("conversions-silent", "Rare conversions; silence means failure, but this is not declared.")
def conversions_silent(random: Random) -> Sketch:
    """Failures never report, and learners are not told that they do not."""
    return _conversions(random, UNDECLARED, default_loss=None)


@family(
    "complaints",
    "Only complaints report: silence means that all is well, declared in half of the worlds.",
    judge_only=True,
)
def complaints(random: Random) -> Sketch:
    """Losses of 1 are rare and come late; losses of 0 never report."""
    size, rates = _rates(random)
    law, declared = draw_delays(random, size), random.random() < 0.5
    silence = "losses of 0 never report, " + (
        "and silence is declared to mean a loss of 0" if declared else "which no one says"
    )
    return Sketch(
        losses=Bernoulli(rates),
        delays=ByOutcome(NEVER_TOLD, law.process),
        rounds=size.rounds,
        says_losses=f"complaints with rates {said_range(rates)}",
        says_delays=law.says,
        says_silence=silence,
        default_loss=0.0 if declared else None,
    )


@family(
    "slow-sales",
    "The better an arm sells, the later its sales are known; failures when a window ends.",
    judge_only=True,
)
def slow_sales(random: Random) -> Sketch:
    """As in advertising: the best arm looks like the worst for a while."""
    size = draw_size(random, (2, 10), (5000, 50_000))
    window = round(size.rounds * log_uniform(random, 0.03, 0.2))
    rates = sorted(log_uniform(random, 0.02, 0.3) for _ in range(size.arms))
    slowest = 0.5 * window
    scales = [rounded(slowest ** (i / (size.arms - 1))) for i in range(size.arms)]
    law = delays_of_scale(random, scales)
    return Sketch(
        losses=_failures(rates),
        delays=ByOutcome(Within(window, law.process), Constant(window)),
        rounds=size.rounds,
        says_losses=_said(rates),
        says_delays=f"{law.says}, later for better arms",
        says_silence=f"a failure is known after {window} rounds",
    )


@family("revenue", "Losses are 1 - revenue: expensive offers sell rarely, and amounts vary.")
def revenue(random: Random) -> Sketch:
    """Rates fall and amounts rise from arm to arm; sales and failures have delays of their own."""
    size = draw_size(random, (2, 20), (2000, 50_000))
    rate, amount = log_uniform(random, 0.02, 0.5), log_uniform(random, 0.05, 0.3)
    steps = [random.normal(0.0, 0.7) for _ in range(size.arms)]
    rates = [rounded(min(0.9, rate * 2.0**-step)) for step in steps]
    amounts = [
        rounded(min(0.8, amount * 2.0 ** (step + random.normal(0.0, 0.5)))) for step in steps
    ]
    spread = uniform(random, 0.2, 1.0)
    sold, unsold = draw_delays(random, size), draw_delays(random, size)
    says = f"revenue: sales with rates {said_range(rates)}, mean amounts {said_range(amounts)}"
    delays = ByOutcome(sold.process, unsold.process, below=1.0)
    law = DelayLaw(delays, f"{sold.says} for sales, {unsold.says} for failures")
    return sketch(Revenue(rates, amounts, spread), f"{says}, spread {spread:g}", law, size.rounds)


def _conversions(random: Random, silence: str, default_loss: float | None) -> Sketch:
    size, rates = _rates(random)
    law = draw_delays(random, size)
    delays: DelayProcess = ByOutcome(law.process, NEVER_TOLD)
    says, losses = _said(rates), _failures(rates)
    return Sketch(losses, delays, size.rounds, says, law.says, silence, default_loss)


def _rates(random: Random) -> tuple[Size, list[float]]:
    """Draw the size of a world and its rates: 1 to 5 % for one arm, 0.5 % and more for others."""
    size = draw_size(random, (2, 10), (5000, 50_000))
    best, ratio = log_uniform(random, 0.01, 0.05), log_uniform(random, 1.3, 3.0)
    alike = random.random() < 0.5
    others = [best / ratio / (1.0 if alike else 2.0 ** random.random()) for _ in range(size.arms)]
    return size, shuffled(random, [best, *(rounded(max(0.005, rate)) for rate in others[1:])])


def _failures(rates: Sequence[float]) -> Bernoulli:
    return Bernoulli([1.0 - rate for rate in rates])


def _said(rates: Sequence[float]) -> str:
    best, *others = sorted(rates, reverse=True)
    return f"conversions with rates {best:.3g} and {said_range(others)}"


def _sales_within(random: Random, size: Size, window: int) -> DelayLaw:
    typical = window * one_of(random, (0.03, 0.1, 0.3))
    factors = [2.0 ** random.uniform(-2.0, 2.0) for _ in range(size.arms)]
    law = delays_of_scale(random, [rounded(typical * factor) for factor in factors])
    return DelayLaw(Within(window, law.process), f"{law.says} for conversions")
