"""Four estimates of each arm's mean loss, and how much each of them is to be believed.

One remembers everything, two forget, slowly or fast, and one takes out what moves all arms at once,
a common level. An arm's losses decide which of the first three fits that arm, and those of all arms
a tenth as much, as of the last renewal of all; the losses of all arms decide whether a level does.
The judge is the square of what an estimate was off by, when it stood and a loss arrived. So drifts
of single arms, drifts of all and none are told apart by what has arrived, and nothing need be known
beforehand.

Seen from round u, a loss made in round s has weight 1, 0.998^(u-s) or 0.99^(u-s); for the level's
estimate weight 1, and it counts less the level as it stood when it arrived. An estimate begins as
two losses of g + (1 - g)/4, on the bad side of g, which is (sum + 1/2)/(count + 1) over all arms,
as of the last renewal of all. Those are in rounds 1, 2, ..., 16, 18, ...: after round r,
min(16, 1 + r // 16) rounds later. In between, what is said of an arm is renewed when it is played.
"""

import math
from typing import Any, Protocol

import numpy as np

from belated.arrays import Counts, Floats
from belated.compiled.jit import compiled

STEADY, SLOW, FAST, LEVEL, MIXED = range(5)
OWN = 3  # estimates that an arm chooses from by itself: steady, slow, fast
SLOW_RATE, FAST_RATE = 0.998, 0.99  # a loss counts so much less for every round that has passed
LEVEL_RATE = 0.95  # and in the level, for every loss that has arrived since
LOG_SLOW, LOG_FAST = math.log(SLOW_RATE), math.log(FAST_RATE)
SUPPOSED, LEANING = 2.0, 0.25  # losses of an arm before its first, and how bad they are
SHARPNESS = 4.0  # of the judge; near one half, a likelihood's is 2
DOUBT = 4.0  # what an estimate must be better by, in the judge's units, than the one before it
ECHO = 0.1  # of the evidence of all arms, in that of each
HOPELESS = 40.0  # a share below the last digit of the others
FORGOTTEN = 1e-200  # losses; so few show in no digit, and fewer still would slow the machine
LONGEST = 16  # rounds between two renewals of all estimates
SHORT = 64  # rounds up to which what has faded is looked up
FADED = np.exp(np.outer([LOG_SLOW, LOG_FAST], np.arange(-LONGEST, SHORT + 1)))
RUNNING, HEARD = range(2)  # evidence of all arms, and a tenth of it at the last renewal
RESIDUAL, SEEN, FRESH_RESIDUAL, FRESH, AGAINST, SHARE = range(6)  # of the level
LAST, NEXT = range(2)  # renewals
SUM, COUNT, START = range(3)  # of all arms


class Estimates(Protocol):
    """The part of a state that holds the estimates; by estimate and arm, but for the last five.

    sums and counts of losses are as they stood at the last renewal of all; evidence is what speaks
    against each of an arm's own estimates, and shares follow from it; said also has the mixture.
    echo is the evidence of all arms; pooled are sums and counts over all arms, and the sum that
    every arm starts from; overall is what they say.
    """

    @property
    def sums(self) -> Floats: ...

    @property
    def counts(self) -> Floats: ...

    @property
    def evidence(self) -> Floats: ...

    @property
    def shares(self) -> Floats: ...

    @property
    def said(self) -> Floats: ...

    @property
    def echo(self) -> Floats: ...

    @property
    def pooled(self) -> Floats: ...

    @property
    def overall(self) -> Floats: ...

    @property
    def level(self) -> Floats: ...

    @property
    def renewed(self) -> Counts: ...


def nothing_known(arms: int, forgets: bool = True, levels: bool = True) -> dict[str, Any]:
    """The estimates before the first loss: a little worse than one half for every arm.

    Whether some forget, and whether one takes out a common level, can be chosen.
    """
    evidence = np.zeros((OWN, arms))
    evidence[SLOW] = DOUBT if forgets else np.inf
    evidence[FAST] = 2.0 * evidence[SLOW]
    against = DOUBT if levels else np.inf
    shares = np.exp(-evidence)
    return {
        "sums": np.zeros((4, arms)),
        "counts": np.zeros((4, arms)),
        "evidence": evidence,
        "shares": shares / shares.sum(axis=0),
        "said": np.full((5, arms), 0.5 + 0.5 * LEANING),
        "echo": np.zeros((2, OWN)),
        "pooled": np.outer([0.0, 0.0, SUPPOSED * (0.5 + 0.5 * LEANING)], np.ones(4)),
        "overall": np.full(4, 0.5),
        "level": np.array([0.0, 0.0, 0.0, 0.0, against, 1.0 / (1.0 + np.exp(against))]),
        "renewed": np.array([0, 1], dtype=np.int64),
    }


@compiled
def faded(rounds: int) -> tuple[float, float]:
    """How much a loss counts in slow and fast memory after so many rounds.

    More than 1 for a negative number of them.
    """
    if -LONGEST <= rounds <= SHORT:
        return FADED[0, rounds + LONGEST], FADED[1, rounds + LONGEST]
    return math.exp(LOG_SLOW * rounds), math.exp(LOG_FAST * rounds)


@compiled
def faded_since(state: Estimates, round_: int) -> tuple[float, float]:
    """What slow and fast memory have faded to since the last renewal of all, seen from a round."""
    return faded(round_ - state.renewed[LAST])


@compiled
def level_now(state: Estimates) -> float:
    """By how much losses have been above what the level's estimate said of their arms, of late.

    What their delays explain is left out. A mean with one loss of zero; weights fall by 0.95 for
    every loss that arrived in a later round.
    """
    return float(state.level[RESIDUAL] / (state.level[SEEN] + 1.0))


@compiled
def estimate_of(state: Estimates, kind: int, arm: int, fade: float) -> float:
    """One estimate of an arm, which starts as two losses a little worse than the overall mean."""
    sum_ = state.sums[kind, arm] * fade + state.pooled[START, kind]
    return float(sum_ / (state.counts[kind, arm] * fade + SUPPOSED))


@compiled
def mixture_of(state: Estimates, arm: int, slow: float, fast: float) -> tuple[float, float]:
    """The mean loss of an arm as all estimates have it together, and how many losses back it.

    slow and fast are what has faded since the last renewal of all.
    """
    shares, counts, level = state.shares, state.counts, state.level[SHARE]
    mean = shares[STEADY, arm] * estimate_of(state, STEADY, arm, 1.0)
    mean += shares[SLOW, arm] * estimate_of(state, SLOW, arm, slow)
    mean += shares[FAST, arm] * estimate_of(state, FAST, arm, fast)
    count = shares[STEADY, arm] * counts[STEADY, arm]
    count += shares[SLOW, arm] * (counts[SLOW, arm] * slow)
    count += shares[FAST, arm] * (counts[FAST, arm] * fast)
    if level > 0.0:
        mean += level * (estimate_of(state, LEVEL, arm, 1.0) - mean)
        count += level * (counts[LEVEL, arm] - count)
    return mean, count


@compiled
def say(state: Estimates, arm: int, slow: float, fast: float) -> None:
    """What is said of an arm from now on, for arriving losses to judge."""
    said, shares = state.said, state.shares
    said[STEADY, arm] = estimate_of(state, STEADY, arm, 1.0)
    said[SLOW, arm] = estimate_of(state, SLOW, arm, slow)
    said[FAST, arm] = estimate_of(state, FAST, arm, fast)
    said[LEVEL, arm] = estimate_of(state, LEVEL, arm, 1.0)
    said[MIXED, arm] = (
        shares[STEADY, arm] * said[STEADY, arm]
        + shares[SLOW, arm] * said[SLOW, arm]
        + shares[FAST, arm] * said[FAST, arm]
    )


@compiled
def expected(state: Estimates, arm: int) -> float:
    """The loss that is expected of a play of this arm, the common level included."""
    own, share = state.said[MIXED, arm], state.level[SHARE]
    return float(own + share * (state.said[LEVEL, arm] + level_now(state) - own))


@compiled
def judge(state: Estimates, arm: int, loss: float, explained: float) -> None:
    """Count against every estimate by how much it was off.

    Against each of the arm's own, 4 (l - said)^2; and against the level, over all arms and with l
    less what its delay explains, 4 ((l - said - level)^2 - (l - said by the arm's mixture)^2).
    """
    said, evidence, level = state.said, state.evidence, state.level
    for kind in range(OWN):
        evidence[kind, arm] += SHARPNESS * (loss - said[kind, arm]) ** 2
        state.echo[RUNNING, kind] += SHARPNESS * (loss - said[kind, arm]) ** 2
    rest = loss - explained
    off = rest - said[LEVEL, arm]
    level[AGAINST] += SHARPNESS * ((off - level_now(state)) ** 2 - (rest - said[MIXED, arm]) ** 2)
    level[FRESH_RESIDUAL] += off
    level[FRESH] += 1.0
    share_out(evidence, state.echo, state.shares, arm)


@compiled
def share_out(evidence: Floats, echo: Floats, shares: Floats, arm: int) -> None:
    """The shares of an arm's own estimates: exp(-evidence against each), normalised."""
    least, sum_ = np.inf, 0.0
    for kind in range(OWN):
        least = min(least, evidence[kind, arm] + echo[HEARD, kind])
    for kind in range(OWN):
        behind = evidence[kind, arm] + echo[HEARD, kind] - least
        if behind == 0.0:
            shares[kind, arm] = 1.0
        else:
            shares[kind, arm] = math.exp(-behind) if behind < HOPELESS else 0.0
        sum_ += shares[kind, arm]
    share = 1.0 / sum_
    for kind in range(OWN):
        shares[kind, arm] *= share


@compiled
def add_loss(state: Estimates, arm: int, loss: float, round_: int) -> None:
    """Count a loss of this round in all sums."""
    slow, fast = faded(state.renewed[LAST] - round_)
    for kind, weight in enumerate((1.0, slow, fast, 1.0)):
        counted = weight * (loss - level_now(state) if kind == LEVEL else loss)
        state.sums[kind, arm] += counted
        state.counts[kind, arm] += weight
        state.pooled[SUM, kind] += counted
        state.pooled[COUNT, kind] += weight


@compiled
def settle_level(state: Estimates) -> None:
    """At the commit of a round: the level takes in what arrived since the last, and so its share.

    The share is 1/(1 + exp(evidence against the level)).
    """
    level = state.level
    if level[FRESH] > 0.0:
        fade = LEVEL_RATE if level[FRESH] == 1.0 else LEVEL_RATE ** level[FRESH]
        level[RESIDUAL] = fade * level[RESIDUAL] + level[FRESH_RESIDUAL]
        level[SEEN] = fade * level[SEEN] + level[FRESH]
        level[FRESH_RESIDUAL], level[FRESH] = 0.0, 0.0
        against = level[AGAINST]
        level[SHARE] = 1.0 / (1.0 + math.exp(against)) if against < HOPELESS else 0.0


@compiled
def fade_all(state: Estimates, round_: int) -> None:
    """Renew the sums of all arms as of this round, and what is said of all arms together."""
    sums, counts, renewed = state.sums, state.counts, state.renewed
    for kind, weight in enumerate(faded(round_ - renewed[LAST]), SLOW):
        for i in range(sums.shape[1]):
            kept = weight if counts[kind, i] > FORGOTTEN else 0.0
            sums[kind, i] *= kept
            counts[kind, i] *= kept
        state.pooled[SUM, kind] *= weight
        state.pooled[COUNT, kind] *= weight
    for kind in range(OWN):
        state.echo[HEARD, kind] = ECHO * state.echo[RUNNING, kind]
    for kind in range(4):
        overall = (state.pooled[SUM, kind] + 0.5) / (state.pooled[COUNT, kind] + 1.0)
        state.overall[kind] = overall
        state.pooled[START, kind] = SUPPOSED * (overall + LEANING * (1.0 - overall))
    renewed[LAST] = round_
    renewed[NEXT] = round_ + min(LONGEST, 1 + round_ // LONGEST)
