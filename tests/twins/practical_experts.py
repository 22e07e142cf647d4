"""The practical learner for experts once more: literal, slow, in long doubles, nothing incremental.

In every round all is computed anew from the losses told before it; sums of drifts run over all
rounds from the first. Written from the formulas of docs/theory-practical.md.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from belated.environments.missing import NEVER

Numbers = NDArray[Any]
LONG = np.longdouble
LEAST = LONG(1) / 64  # where Dmax begins
PRIOR = np.array([255, LONG(1) / 2, LONG(1) / 2], dtype=LONG) / 256
ALONE = np.array([1, 0, 0], dtype=LONG)
GAMMA = (LONG(0.998), LONG(0.98))


class Parts(NamedTuple):
    """Where D'max begins, and the options of the learner."""

    mixing_least: float = 16.0
    imputes: bool = True
    bold: float = 12.0
    tracks: bool = True

    @property
    def prior(self) -> Numbers:
        """pi of the strategies."""
        return PRIOR if self.tracks else ALONE

    def steady_rate(self, most: Any, arms: int) -> Any:
        """eta = (1 + (bold - 1) 60/(60 + Dmax)) ln K/Dmax; of one expert it does not matter."""
        c = 1 + (LONG(self.bold) - 1) * 60 / (60 + LONG(most))
        return c * np.log(LONG(max(arms, 2))) / most


WHOLE = Parts()


class Made(NamedTuple):
    """What was in force in a round, and what was known in it."""

    guesses: Numbers  # mu
    imputed: Numbers  # G
    strategies: Numbers  # q^m, a row for each
    q: Numbers
    lost: Numbers  # V^m
    mixture_lost: Any  # V
    drifts: tuple[Any, Any]  # D and D'
    most: tuple[Any, Any]  # Dmax and D'max


def softmin(values: Numbers, rate: Any, prior: Numbers) -> Numbers:
    """In proportion to pi exp(-rate v)."""
    weights = prior * np.exp(-rate * (values - values.min()))
    return np.asarray(weights / weights.sum())


def level(values: Numbers, rate: Any, prior: Numbers) -> Any:
    """Phi = -(1/rate) ln sum pi exp(-rate v)."""
    least = values.min()
    return least - np.log((prior * np.exp(-rate * (values - least))).sum()) / rate


def twin(
    losses: NDArray[np.float64], delays: NDArray[np.int64], parts: Parts = WHOLE
) -> list[Made]:
    """All rounds of a game."""
    made: list[Made] = []
    exact = losses.astype(LONG)
    for t in range(1, len(losses) + 1):
        s = np.arange(1, t)[:, None]
        known = (delays[: t - 1] != NEVER) & (s + delays[: t - 1] < t)
        made.append(played(t, np.where(known, exact[: t - 1], 0), known, made, parts))
    return made


def played(t: int, losses: Numbers, known: Numbers, before: list[Made], parts: Parts) -> Made:
    """Round t, given what is known of the rounds before it, and what was played in them."""
    arms, rate_of = losses.shape[1], parts.steady_rate
    even = np.full(arms, LONG(1) / arms)
    sums, counts = losses.sum(axis=0), known.sum(axis=0).astype(LONG)
    mean = (sums.sum() + LONG(0.5)) / (counts.sum() + 1)
    guesses = (sums + 2 * (mean + (1 - mean) / 4)) / (counts + 2) * int(parts.imputes)
    imputed = sums + (t - counts) * guesses
    filled = np.where(known, losses, guesses)
    lost = np.array([sum_of([made.strategies[m] for made in before], filled) for m in range(3)])
    mixture_lost = sum_of([made.q for made in before], filled)
    drifts = (
        drift([*(m.imputed for m in before), imputed], [*(m.lost[0] for m in before), lost[0]],
              [rate_of(m.most[0], arms) for m in before], even),
        drift([*(m.lost for m in before), lost], [*(m.mixture_lost for m in before), mixture_lost],
              [mixing_rate(m.most[1]) for m in before], parts.prior),
    )  # fmt: skip
    least = (LEAST, LONG(parts.mixing_least))
    most = tuple(max([least[k], *(m.drifts[k] for m in before), drifts[k]]) for k in range(2))
    strategies = [softmin(imputed, rate_of(most[0], arms), even)]
    for gamma in GAMMA:
        ages = gamma ** np.arange(t - 2, -1, -1, dtype=LONG)[:, None]
        s, n = (ages * losses).sum(axis=0), (ages * known).sum(axis=0)
        means = (s + (s.sum() + LONG(0.5)) / (n.sum() + 1)) / (n + 1)
        strategies.append(softmin(means, 8 * np.sqrt(min(1 / (1 - gamma), LONG(t))), even))
    shares = softmin(lost, mixing_rate(most[1]), parts.prior)
    q = shares @ np.array(strategies)
    return Made(guesses, imputed, np.array(strategies), q, lost, mixture_lost, drifts, most)


def mixing_rate(most: Any) -> Any:
    """eta' = ln(1/pi)/D'max with pi of a tracker that plays."""
    return np.log(1 / PRIOR.min()) / most


def sum_of(weights: list[Numbers], losses: Numbers) -> Any:
    """sum_s <q_s, l_s>."""
    return sum((row @ loss for row, loss in zip(weights, losses, strict=True)), LONG(0))


def drift(values: list[Numbers], lost: list[Any], rates: list[Any], prior: Numbers) -> Any:
    """The sum over all rounds of how much more V has risen than Phi, at the rate of the last."""
    total = LONG(0)
    for k, rate in enumerate(rates):
        risen = level(values[k + 1], rate, prior) - level(values[k], rate, prior)
        total += (lost[k + 1] - lost[k]) - risen
    return total
