"""Lower bounds on the regret of every learner, as orders of growth.

These results are known up to a constant factor, which is left out here: a value says how the least
possible regret grows, not how large it is.
"""

import math
from dataclasses import dataclass

from belated.checks import as_count


@dataclass(frozen=True)
class LowerBound:
    """An order that every learner's regret has in some game of the kind that `when` describes."""

    value: float
    when: str
    origin: str


def experts_with_delay(rounds: int, arms: int, delay: int) -> LowerBound:
    """Return the order sqrt((d + 1) T ln K) for experts whose losses all have the delay d."""
    _checked(rounds, arms, delay)
    return LowerBound(
        value=math.sqrt((delay + 1) * rounds * math.log(arms)),
        when="the losses of all arms are known after the same delay in every round; order only",
        origin="Weinberger and Ordentlich (2002)",
    )


def bandit_with_delay(rounds: int, arms: int, delay: int) -> LowerBound:
    """Return the order max{sqrt(K T), sqrt(d T ln K)} for a bandit with the constant delay d."""
    _checked(rounds, arms, delay)
    return LowerBound(
        value=max(math.sqrt(arms * rounds), math.sqrt(delay * rounds * math.log(arms))),
        when="the loss of the arm played is known after the same delay in every round; order only",
        origin="Cesa-Bianchi, Gentile and Mansour (2019)",
    )


def _checked(rounds: int, arms: int, delay: int) -> None:
    as_count(rounds, "rounds", 1)
    as_count(arms, "arms", 1)
    as_count(delay, "delay", 0)
