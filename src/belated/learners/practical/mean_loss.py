"""Four estimates of each arm's mean loss, and how much weight each of them gets.

One estimate uses all losses equally, two forget old losses, slowly or fast, and one subtracts the
common shift of all arms (`common_shift`). Whenever a loss arrives, each estimate is scored by the
square of its error: that is the evidence against it. An arm's own evidence decides between its
first three estimates, together with a tenth of the evidence of all arms at the last refresh; the
evidence of all arms decides on the weight of the fourth. So the losses themselves tell drifts of
single arms, drifts of all arms together and no drift apart, and no prior knowledge is needed.

Seen from round u, a loss of round s has weight 1, 0.998^(u-s) or 0.99^(u-s). For the fourth
estimate it has weight 1, and counts less the shift as it was when the loss arrived. Every estimate
begins as two losses of g + (1 - g)/4, on the bad side of g, which is (sum + 1/2)/(count + 1) over
all arms at the last refresh. All estimates are refreshed in rounds 1, 2, ..., 16, 18, ...: after
round r, min(16, 1 + r // 16) rounds later. In between, the forecasts of an arm are computed again
when it is played.
"""

import math
from typing import NamedTuple

import numpy as np

from belated.arrays import Counts, Floats
from belated.compiled.kernels import compiled
from belated.learners.practical.common_shift import (
    DOUBT,
    NO_WEIGHT,
    CommonShift,
    no_shift,
    shift_now,
)
from belated.learners.states import ArmFloats

STEADY, SLOW, FAST, SHIFTED, MIXED = range(5)  # the estimates; the last mixes the first three
OWN = 3  # estimates that an arm's own evidence chooses from: steady, slow, fast
SLOW_RATE, FAST_RATE = 0.998, 0.99  # the factors by which the weight of a loss falls every round
LOG_SLOW, LOG_FAST = math.log(SLOW_RATE), math.log(FAST_RATE)
SUPPOSED, LEANING = 2.0, 0.25  # the number of supposed losses of an arm, and how bad they are
SHARPNESS = 4.0  # the factor of a squared error; near one half, that of a likelihood is 2
SHARED_PART = 0.1  # the part of the evidence of all arms that is added to that of each
FORGOTTEN = 1e-200  # smaller counts become 0: they show in no digit, and denormal numbers are slow
LONGEST = 16  # rounds between two refreshes of all estimates
SHORT = 64  # rounds up to which decays are looked up in a table
DECAYS = np.exp(np.outer([LOG_SLOW, LOG_FAST], np.arange(-LONGEST, SHORT + 1)))


class MeanLoss(NamedTuple):
    """The estimates of all arms.

    sums and counts of losses, by estimate and arm, are weighted as in the round of the last
    refresh. evidence is the evidence against each of an arm's own estimates, and weights follow
    from it.
    forecast is the next loss of the arm that each estimate, and their mixture, predicts.
    all_evidence adds up the evidence over all arms, and shared_evidence is the part of it, at the
    last refresh, that every arm takes into account. all_sums, all_counts and all_means are over all
    arms, by estimate; prior_sums has the supposed losses that every arm begins with.
    """

    sums: ArmFloats
    counts: ArmFloats
    evidence: ArmFloats
    weights: ArmFloats
    forecast: ArmFloats
    all_evidence: Floats
    shared_evidence: Floats
    all_sums: Floats
    all_counts: Floats
    prior_sums: Floats
    all_means: Floats
    shift: CommonShift
    last_refresh: Counts
    next_refresh: Counts


def nothing_known(arms: int, forgets: bool = True, shifts: bool = True) -> MeanLoss:
    """Make the estimates before the first loss: a little worse than one half for every arm.

    Without `forgets` the two estimates that forget have no weight, without `shifts` that with the
    common shift has none.
    """
    evidence = np.zeros((OWN, arms))
    evidence[SLOW] = DOUBT if forgets else np.inf
    evidence[FAST] = 2.0 * evidence[SLOW]
    weights = np.exp(-evidence)
    return MeanLoss(
        sums=np.zeros((4, arms)),
        counts=np.zeros((4, arms)),
        evidence=evidence,
        weights=weights / weights.sum(axis=0),
        forecast=np.full((5, arms), 0.5 + 0.5 * LEANING),
        all_evidence=np.zeros(OWN),
        shared_evidence=np.zeros(OWN),
        all_sums=np.zeros(4),
        all_counts=np.zeros(4),
        prior_sums=np.full(4, SUPPOSED * (0.5 + 0.5 * LEANING)),
        all_means=np.full(4, 0.5),
        shift=no_shift(shifts),
        last_refresh=np.zeros(1, dtype=np.int64),
        next_refresh=np.ones(1, dtype=np.int64),
    )


@compiled
def decay(rounds: int) -> tuple[float, float]:
    """Return the weights of a loss in the slow and the fast estimate after this many rounds.

    They are more than 1 for a negative number of rounds.
    """
    if -LONGEST <= rounds <= SHORT:
        return DECAYS[0, rounds + LONGEST], DECAYS[1, rounds + LONGEST]
    return math.exp(LOG_SLOW * rounds), math.exp(LOG_FAST * rounds)


@compiled
def decay_since_refresh(means: MeanLoss, round_: int) -> tuple[float, float]:
    """Return the decay of the slow and the fast estimate from the last refresh to a round."""
    return decay(round_ - means.last_refresh[0])


@compiled
def estimate_of(means: MeanLoss, kind: int, arm: int, fade: float) -> float:
    """Return one estimate of an arm's mean loss, which includes two supposed losses."""
    sum_ = means.sums[kind, arm] * fade + means.prior_sums[kind]
    return float(sum_ / (means.counts[kind, arm] * fade + SUPPOSED))


@compiled
def mixed_estimate(means: MeanLoss, arm: int, slow: float, fast: float) -> tuple[float, float]:
    """Return the mean loss of an arm by all estimates together, and the number of losses used.

    slow and fast are the decays since the last refresh.
    """
    weights, counts, shifted = means.weights, means.counts, means.shift.weight[0]
    mean = weights[STEADY, arm] * estimate_of(means, STEADY, arm, 1.0)
    mean += weights[SLOW, arm] * estimate_of(means, SLOW, arm, slow)
    mean += weights[FAST, arm] * estimate_of(means, FAST, arm, fast)
    count = weights[STEADY, arm] * counts[STEADY, arm]
    count += weights[SLOW, arm] * (counts[SLOW, arm] * slow)
    count += weights[FAST, arm] * (counts[FAST, arm] * fast)
    if shifted > 0.0:
        mean += shifted * (estimate_of(means, SHIFTED, arm, 1.0) - mean)
        count += shifted * (counts[SHIFTED, arm] - count)
    return mean, count


@compiled
def set_forecast(means: MeanLoss, arm: int, slow: float, fast: float) -> None:
    """Compute the forecasts of an arm again; losses that arrive later score the estimates by them.

    slow and fast are the decays since the last refresh.
    """
    forecast, weights = means.forecast, means.weights
    forecast[STEADY, arm] = estimate_of(means, STEADY, arm, 1.0)
    forecast[SLOW, arm] = estimate_of(means, SLOW, arm, slow)
    forecast[FAST, arm] = estimate_of(means, FAST, arm, fast)
    forecast[SHIFTED, arm] = estimate_of(means, SHIFTED, arm, 1.0)
    forecast[MIXED, arm] = (
        weights[STEADY, arm] * forecast[STEADY, arm]
        + weights[SLOW, arm] * forecast[SLOW, arm]
        + weights[FAST, arm] * forecast[FAST, arm]
    )


@compiled
def expected_loss(means: MeanLoss, arm: int) -> float:
    """Return the expected loss of a play of this arm, including the common shift."""
    own, weight = means.forecast[MIXED, arm], means.shift.weight[0]
    return float(own + weight * (means.forecast[SHIFTED, arm] + shift_now(means.shift) - own))


@compiled
def score(means: MeanLoss, arm: int, loss: float, explained: float) -> None:
    """Add the errors of all estimates at a loss to the evidence against them.

    Against each of the arm's own estimates, 4 (l - forecast)^2. Against the one with the shift,
    over all arms and with l less what its delay explains, 4 ((l - forecast - shift)^2 - (l -
    forecast of the arm's mixture)^2).
    """
    forecast, evidence, shift = means.forecast, means.evidence, means.shift
    for kind in range(OWN):
        error = loss - forecast[kind, arm]
        evidence[kind, arm] += SHARPNESS * (error * error)
        means.all_evidence[kind] += SHARPNESS * (error * error)
    rest = loss - explained
    off = rest - forecast[SHIFTED, arm]
    error, own_error = off - shift_now(shift), rest - forecast[MIXED, arm]
    shift.against[0] += SHARPNESS * (error * error - own_error * own_error)
    shift.new_residual[0] += off
    shift.new_number[0] += 1.0
    set_weights(means, arm)


@compiled
def set_weights(means: MeanLoss, arm: int) -> None:
    """Set the weights of an arm's own estimates: exp(-evidence against each), normalised."""
    evidence, shared, weights = means.evidence, means.shared_evidence, means.weights
    least, sum_ = np.inf, 0.0
    for kind in range(OWN):
        least = min(least, evidence[kind, arm] + shared[kind])
    for kind in range(OWN):
        behind = evidence[kind, arm] + shared[kind] - least
        if behind == 0.0:
            weights[kind, arm] = 1.0
        else:
            weights[kind, arm] = math.exp(-behind) if behind < NO_WEIGHT else 0.0
        sum_ += weights[kind, arm]
    scale = 1.0 / sum_
    for kind in range(OWN):
        weights[kind, arm] *= scale


@compiled
def add_loss(means: MeanLoss, arm: int, loss: float, round_: int) -> None:
    """Add a loss of this round to all sums."""
    slow, fast = decay(means.last_refresh[0] - round_)
    for kind, weight in enumerate((1.0, slow, fast, 1.0)):
        counted = weight * (loss - shift_now(means.shift) if kind == SHIFTED else loss)
        means.sums[kind, arm] += counted
        means.counts[kind, arm] += weight
        means.all_sums[kind] += counted
        means.all_counts[kind] += weight


@compiled
def refresh(means: MeanLoss, round_: int) -> None:
    """Decay the sums of all arms to this round, and compute the means over all arms again."""
    sums, counts = means.sums, means.counts
    for kind, weight in enumerate(decay(round_ - means.last_refresh[0]), SLOW):
        for i in range(sums.shape[1]):
            kept = weight if counts[kind, i] > FORGOTTEN else 0.0
            sums[kind, i] *= kept
            counts[kind, i] *= kept
        means.all_sums[kind] *= weight
        means.all_counts[kind] *= weight
    for kind in range(OWN):
        means.shared_evidence[kind] = SHARED_PART * means.all_evidence[kind]
    for kind in range(4):
        overall = (means.all_sums[kind] + 0.5) / (means.all_counts[kind] + 1.0)
        means.all_means[kind] = overall
        means.prior_sums[kind] = SUPPOSED * (overall + LEANING * (1.0 - overall))
    means.last_refresh[0] = round_
    means.next_refresh[0] = round_ + min(LONGEST, 1 + round_ // LONGEST)
