"""The right-hand sides of the paper's theorems, with their constants, and of their repairs.

Where a theorem is false, the bound that docs/errata.md proves in its place follows it; E1 and E2
are entries of that document. `belated.analysis.bounds` says when each of them holds.
"""

import math
from typing import NamedTuple


class ComparatorTerms(NamedTuple):
    """The terms of a comparator u in the theorems: KL(u, pi), <u, L_T> and <u, L_T^rho>."""

    divergence: float
    loss: float
    missing_loss: float


def full_information(u: ComparatorTerms, arms: int, horizon: int, most_missing: int) -> float:
    """Return the bound of th:fullinfobound, with most_missing for rho_T^max."""
    logs = 2.0 * (math.log(horizon) + 1.0)
    cost, present = u.divergence + logs, 1.0 + most_missing
    return (
        4.0 * present
        + 12.0 * math.sqrt(present)
        + 8.0 * math.sqrt(cost * (u.loss + u.missing_loss))
        + 8.0 * cost * present
        + 16.0 * math.sqrt(present * (math.log(arms) + logs))
    )


def repaired_full_information(u: ComparatorTerms, horizon: int, most_missing: float) -> float:
    """Return the bound 4 M + 12 + 6 sqrt(c X) + 8 c M, proven for the repaired grid in E1."""
    cost, present = u.divergence + 2.0 * (math.log(horizon) + 1.0), 1.0 + most_missing
    root = math.sqrt(cost * (u.loss + u.missing_loss))
    return 4.0 * present + 12.0 + 6.0 * root + 8.0 * cost * present


def partially_concealed(u: ComparatorTerms, arms: int, horizon: int, max_missing: int) -> float:
    """Return the bound of th:banditbound."""
    logs = math.log(horizon)
    return (
        12.0 * math.sqrt(arms * logs * u.loss)
        + 16.0 * math.sqrt((u.divergence + logs + 1.0) * u.missing_loss)
        + 48.0 * (5.0 + logs + u.divergence) * max_missing
        + 42.0 * arms * logs
    )


def concealed(arms: int, rounds: int, max_missing: int, expected_missing: float) -> float:
    """Return the bound of th:concealed, with expected_missing for E sum_t <q_t, rho_t>."""
    delay = 3.0 * math.sqrt(math.log(arms) * expected_missing)
    return 9.0 * math.sqrt(arms * rounds) + 0.5 * max_missing + delay


def unpromised_concealed(arms: int, rounds: int, overlap: float, root_waiting: float) -> float:
    """Return the bound 8 sqrt(KT) + 3 sqrt(ln K A_T) + E sqrt(ln K W_T) of Proposition 2.

    overlap is A_T, and root_waiting the mean of sqrt(W_T).
    """
    logs = math.log(arms)
    delay = 3.0 * math.sqrt(logs * overlap) + math.sqrt(logs) * root_waiting
    return 8.0 * math.sqrt(arms * rounds) + delay


def certified_trust(
    arms: int, budget: float, root_by_fallback: float, overlap: float, root_waiting: float
) -> float:
    """Return the bound 1 + E b_T of Theorem 4, and (11) for the rounds that are not trusted.

    (11) is 8 sqrt(K) E sqrt(N) + 3 sqrt(ln K A) + E sqrt(ln K W). budget is the mean of b_T,
    root_by_fallback that of sqrt(N), overlap is A, and root_waiting the mean of sqrt(W).
    """
    logs = math.log(arms)
    delay = 3.0 * math.sqrt(logs * overlap) + math.sqrt(logs) * root_waiting
    return 1.0 + budget + 8.0 * math.sqrt(arms) * root_by_fallback + delay


def skipping_concealed(arms: int, rounds: int, root_overlap: float, root_waiting: float) -> float:
    """Return the bound 8 sqrt(KT) + 5 E sqrt(ln K Z_T) + E sqrt(ln K W_T) of Theorem 9.

    root_overlap is the mean of sqrt(Z_T), which includes the last play, root_waiting of sqrt(W_T).
    """
    delay = math.sqrt(math.log(arms)) * (5.0 * root_overlap + root_waiting)
    return 8.0 * math.sqrt(arms * rounds) + delay


def advised_bandit(
    arms: int, rounds: int, policies: int, apart: float, root_spent: float, waiting: float
) -> float:
    """Return the bound of Theorem 6 against a policy n of the prior exp(-apart), as it is measured.

    With r = ln(1/pi(n)) / ln N it is

        2 sqrt(KT) + (2 + r) E sqrt(ln N X) + r E sqrt(ln N (sqrt(KT)/4 + W_T)),

    where X sums v_t + z_t. root_spent is the mean of sqrt(X), and waiting that of W_T.
    """
    logs, root = math.log(policies), math.sqrt(arms * rounds)
    share = apart / logs if policies > 1 else 1.0
    late = share * math.sqrt(logs * (0.25 * root + waiting))
    return 2.0 * root + (2.0 + share) * math.sqrt(logs) * root_spent + late


def repaired_concealed(arms: int, rounds: int, max_missing: int, overlap: float) -> float:
    """Return the bound 9 sqrt(KT) + (1/2) rho* ln K + 3 sqrt(ln K A_T) of E2; overlap is A_T."""
    logs = math.log(arms)
    delay = 0.5 * max_missing * logs + 3.0 * math.sqrt(logs * overlap)
    return 9.0 * math.sqrt(arms * rounds) + delay
