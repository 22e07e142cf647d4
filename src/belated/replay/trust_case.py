"""Certified trust along a case: which rounds of a given game may be played from its weights q.

A case of this kind names no learner. It has the weights q of every round, whatever they come from,
and the arms drawn from them; the answer is the account of Theorem 4 (docs/beyond-the-paper.md).
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from belated.checks import checked_advice
from belated.environments.missing import NEVER
from belated.learners.practical.certified_trust import (
    begin_round,
    estimated_regret,
    is_certified,
    no_trusted_plays,
    tell_trusted,
    trust_budget,
)
from belated.replay.case_values import (
    delays_or_never,
    is_number,
    played_arms,
    table_of,
    unit_losses,
    whole_number,
)

SETTING = "certified-trust"
KEYS = {"setting", "K", "T", "beta", "q", "losses", "delays", "arms"}


@dataclass(frozen=True)
class TrustCase:
    """A checked case: arrays of shape (round, arm), the arms played, and the budget's beta."""

    beta: float
    q: NDArray[np.float64]
    losses: NDArray[np.float64]
    delays: NDArray[np.int64]
    arms: NDArray[np.int64]
    ignored: tuple[str, ...] = ()  # keys of the JSON object that have no meaning here


class TrustedRound(NamedTuple):
    """The account at the start of a round: C_t(u) by arm, b_t, and whether it is trusted."""

    regrets: list[float]
    budget: float
    trusted: bool


def parse_trust_case(content: Mapping[str, Any]) -> TrustCase:
    """Make a case from its JSON object, and check every value."""
    rounds, arms = whole_number(content, "T", 1), whole_number(content, "K", 1)
    played = played_arms(content.get("arms"), rounds, arms)
    return TrustCase(
        beta=_beta(content.get("beta")),
        q=_weights(content.get("q"), played, arms),
        losses=unit_losses(content.get("losses"), rounds, arms),
        delays=delays_or_never(content.get("delays"), rounds, arms),
        arms=played,
        ignored=tuple(sorted(set(content) - KEYS)),
    )


def _beta(value: object) -> float:
    """Return the factor of sqrt(K t) in the budget."""
    if not isinstance(value, (int, float)) or not is_number(value) or not 0.0 <= value < np.inf:
        raise ValueError(f"beta is {value!r}; it must be a number of at least 0")
    return float(value)


def _weights(value: object, played: NDArray[np.int64], arms: int) -> NDArray[np.float64]:
    """Return the weights of every round: distributions in which the played arm has a chance."""
    rows = table_of(value, "q", len(played), arms)
    for t, (row, arm) in enumerate(zip(rows, played, strict=True), 1):
        if not all(map(is_number, row)):
            raise ValueError(f"q in round {t} is {row!r}; it must be a list of numbers")
        try:
            checked_advice([row], ["q"], arms)
        except ValueError:
            rule = "weights must be at least 0 and have the sum 1"
            raise ValueError(f"q in round {t} is {row!r}; {rule}") from None
        if not row[arm] > 0.0:
            raise ValueError(f"the arm of round {t} is {arm}, whose weight in q is 0")
    return np.array(rows, dtype=np.float64)


def trust_along(case: TrustCase, progress: Callable[[], None]) -> list[TrustedRound]:
    """Keep the account of Theorem 4 along a case; `progress` is called after each round.

    A loss with delay d is known from the start of round s+d+1 on. What a round that is not trusted
    has lost counts nowhere.
    """
    arms = case.q.shape[1]
    account, due = no_trusted_plays(arms), dict[int, list[int]]()
    rounds = []
    for t, arm in enumerate(case.arms.tolist()):
        for s in due.pop(t, []):
            played = int(case.arms[s])
            tell_trusted(account, played, float(case.losses[s, played]), float(case.q[s, played]))
        budget = trust_budget(account, case.beta, t + 1)
        regrets = [float(estimated_regret(account, u)) for u in range(arms)]
        trusted = is_certified(account, budget)
        rounds.append(TrustedRound(regrets, float(budget), trusted))
        begin_round(account, trusted)
        if trusted and case.delays[t, arm] != NEVER:
            due.setdefault(t + 1 + int(case.delays[t, arm]), []).append(t)
        progress()
    return rounds
