"""What no learner can do better, as orders to draw beside a regret.

Most of these results are known up to a constant factor. Such a value has no constant here either:
it says how the least possible regret grows, not where it lies.
"""

import math
from dataclasses import dataclass

from belated.checks import as_count, as_number


@dataclass(frozen=True)
class LowerBound:
    """Every learner's regret reaches this in some game of the kind that `when` describes.

    `exact` is False for an order of growth, whose constant factor is unknown.
    """

    value: float
    exact: bool
    when: str
    origin: str


def experts_with_delay(rounds: int, arms: int, delay: int) -> LowerBound:
    """sqrt((d + 1) T ln K)."""
    _checked(rounds, arms, delay)
    return LowerBound(
        value=math.sqrt((delay + 1) * rounds * math.log(arms)),
        exact=False,
        when="the losses of all arms are known after the same delay in every round; order only",
        origin="Weinberger and Ordentlich (2002)",
    )


def bandit_with_delay(rounds: int, arms: int, delay: int) -> LowerBound:
    """max{sqrt(K T), sqrt(d T ln K)}."""
    _checked(rounds, arms, delay)
    return LowerBound(
        value=max(math.sqrt(arms * rounds), math.sqrt(delay * rounds * math.log(arms))),
        exact=False,
        when="the loss of the arm played is known after the same delay in every round; order only",
        origin="Cesa-Bianchi, Gentile and Mansour (2019)",
    )


def bandit_with_anonymous_losses(rounds: int, arms: int, delay: int) -> LowerBound:
    """sqrt((d + 1) K T)."""
    _checked(rounds, arms, delay)
    return LowerBound(
        value=math.sqrt((delay + 1) * arms * rounds),
        exact=False,
        when=(
            "only the sum of what arrives is seen, spread over the delay and without its rounds, "
            "which is less than any learner here is told; order only, up to logarithms"
        ),
        origin="Cesa-Bianchi, Gentile and Mansour (2018)",
    )


def bandit_with_heavy_tails(rounds: int, alpha: float) -> LowerBound:
    """T^(1 - alpha) / 8."""
    as_count(rounds, "rounds", 1)
    if not as_number(alpha, "alpha") > 0.0:
        raise ValueError(f"alpha is {alpha!r}; it must be above 0")
    return LowerBound(
        value=float(rounds) ** (1.0 - alpha) / 8.0,
        exact=True,
        when=(
            "two arms, independent draws, an arm's delay above m with probability up to m^-alpha, "
            "and a reward that has not come looks like a reward of 0, which is less than any "
            "learner here is told"
        ),
        origin="Gael, Vernade, Carpentier and Valko (2020), theorem 4",
    )


def _checked(rounds: int, arms: int, delay: int) -> None:
    as_count(rounds, "rounds", 1)
    as_count(arms, "arms", 1)
    as_count(delay, "delay", 0)
