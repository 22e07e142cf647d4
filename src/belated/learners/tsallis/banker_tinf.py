"""Banker-TINF of Huang, Dai and Huang (2023): mirror descent that pays each play from a bank.

Each play is an investment of sigma_t. It is paid from the savings of plays whose losses have come,
oldest first, and what they lack is paid by the bank, which stands for the even weights. The play is
the mean, in the dual space of the Tsallis entropy, of the points that pay for it, weighted by what
they pay. When its loss comes, its investment becomes a saving, at the point after a mirror step of
size 1/sigma. Because every play is backed by points at rest, no delay spoils the analysis.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from belated.arrays import Counts, Floats
from belated.compiled.kernels import compiled
from belated.learners.contract import Learner, Prediction, Verbs
from belated.learners.slots import all_free, give_back, grown, take
from belated.numerics.importance_weights import divisor
from belated.solvers.tsallis import solve_tsallis
from belated.types import Covers, Origin, Setting

SLOT, PROBABILITY = range(2)  # the columns of a play
FIRST_ROOM = 1  # for plays and savings; `reserved` makes more


class Investments(NamedTuple):
    """Plays outstanding and savings, each in a slot.

    For each slot: the round of the play, its investment sigma, what is left of it as a saving, and
    its point, in the dual space. `savings` is the number of savings, followed by their slots, those
    of the oldest play first. `free` is the number of free slots, followed by these slots.
    """

    round: Counts
    sigma: Floats
    saved: Floats
    point: Floats
    savings: Counts
    free: Counts


class BankerState(NamedTuple):
    """State: the investments, and what was paid by the bank so far.

    losses is the sum of the loss estimates that have arrived, by arm. waiting is the number of
    outstanding plays, and total its sum over the rounds played; multiplier is the solver's start.
    """

    investments: Investments
    losses: Floats
    waiting: Counts
    total: Counts
    bank: Floats
    round: Counts
    multiplier: Floats


class BankerInfo(NamedTuple):
    """What a round would pay and from which point it is played; values is working space.

    sigma is the investment of the round, of which the bank pays `bank`. point is the play in the
    dual space, -1/sqrt(q); it is finite also where q is too small for a number.
    """

    sigma: Floats
    bank: Floats
    point: Floats
    values: Floats
    multiplier: Floats
    passes: Counts


def no_investments(arms: int, room: int) -> Investments:
    """Make the record before the first play, with room for so many plays and savings."""
    return Investments(
        round=np.zeros(room, dtype=np.int64),
        sigma=np.zeros(room),
        saved=np.zeros(room),
        point=np.zeros((room, arms)),
        savings=np.zeros(1 + room, dtype=np.int64),
        free=all_free(room),
    )


def with_free_slots(investments: Investments, least: int) -> Investments:
    """Return a record of the same investments with at least so many free slots."""
    room = investments.sigma.size
    larger = no_investments(investments.point.shape[1], 2 * room + least)
    for name in ("round", "sigma", "saved", "point"):
        getattr(larger, name)[:room] = getattr(investments, name)
    larger.savings[: 1 + room] = investments.savings
    return larger._replace(free=grown(investments.free, larger.sigma.size))


@compiled
def investment_now(state: BankerState) -> float:
    """Return sigma_t = 1/(1/sqrt(t) + d sqrt(ln(D + 1)/D)), without the second term while D is 0.

    d is the number of outstanding plays, and D its sum over the rounds up to this one.
    """
    waiting = state.waiting[0]
    total = float(state.total[0] + waiting)
    inverse = 1.0 / math.sqrt(state.round[0])
    if total > 0.0:
        inverse += waiting * math.sqrt(math.log(total + 1.0) / total)
    return 1.0 / inverse


@compiled
def predict(state: BankerState, prediction: Prediction) -> None:
    """Fill in q_t: the mean of the points that pay for the round, mapped back to the simplex."""
    info, q, savings = prediction.info, prediction.q, state.investments
    arms, sigma = q.shape[0], investment_now(state)
    left, k = sigma, 0
    for i in range(arms):
        info.values[i] = 0.0
    while k < savings.savings[0] and left > 0.0:
        slot = savings.savings[1 + k]
        paid = min(savings.saved[slot], left)
        for i in range(arms):
            info.values[i] -= paid / sigma * savings.point[slot, i]
        left -= paid
        k += 1
    even = left / sigma * math.sqrt(arms)
    for i in range(arms):
        info.values[i] += even
    info.sigma[0], info.bank[0] = sigma, left
    info.multiplier[0], info.passes[0] = solve_tsallis(info.values, 1.0, state.multiplier[0], q)
    for i in range(arms):
        info.point[i] = info.multiplier[0] - info.values[i]


@compiled
def commit(state: BankerState, prediction: Prediction, arm: int, plays: Floats) -> None:
    """Pay for the round, and freeze the play's slot and the probability of the arm."""
    info, investments = prediction.info, state.investments
    pay(investments, info.sigma[0])
    state.bank[0] += info.bank[0]
    slot = take(investments.free)
    investments.round[slot] = state.round[0]
    investments.sigma[slot] = info.sigma[0]
    for i in range(prediction.q.shape[0]):
        investments.point[slot, i] = info.point[i]
    plays[0, SLOT] = slot
    plays[0, PROBABILITY] = divisor(prediction.q[arm])
    state.multiplier[0] = info.multiplier[0]
    state.total[0] += state.waiting[0]
    state.waiting[0] += 1
    state.round[0] += 1


@compiled
def pay(investments: Investments, sigma: float) -> None:
    """Take sigma from the savings, oldest first, as far as they reach; spent savings are closed."""
    savings, left, spent = investments.savings, sigma, 0
    while spent < savings[0] and left > 0.0:
        slot = savings[1 + spent]
        paid = min(investments.saved[slot], left)
        investments.saved[slot] -= paid
        left -= paid
        if investments.saved[slot] > 0.0:
            break
        give_back(investments.free, slot)
        spent += 1
    savings[0] -= spent
    for k in range(1, 1 + savings[0]):
        savings[k] = savings[k + spent]


@compiled
def withdraw(state: BankerState, play: Floats, arm: int) -> None:
    """Free the slot of a play whose loss will never come; its investment is lost."""
    state.waiting[0] -= 1
    give_back(state.investments.free, int(play[SLOT]))


@compiled
def observe(state: BankerState, play: Floats, arm: int, loss: float, missing: int) -> None:
    """Move the point of the play by -(l/q_s)/sigma_s at its arm, and save what was invested."""
    investments, slot = state.investments, int(play[SLOT])
    estimate = loss / play[PROBABILITY]
    investments.point[slot, arm] -= estimate / investments.sigma[slot]
    investments.saved[slot] = investments.sigma[slot]
    savings, place = investments.savings, 1 + investments.savings[0]
    while place > 1 and investments.round[savings[place - 1]] > investments.round[slot]:
        savings[place] = savings[place - 1]
        place -= 1
    savings[place] = slot
    savings[0] += 1
    state.losses[arm] += estimate
    state.waiting[0] -= 1


@dataclass(frozen=True)
class BankerTinf(Learner):
    """Banker-OMD with the Tsallis entropy, for any number of rounds; nothing need be known."""

    name: ClassVar[str] = "banker-tinf"
    setting: ClassVar[Setting] = Setting.CONCEALED
    guarantee: ClassVar[str] = "expected regret of order sqrt(KT) + sqrt(K D ln D)"
    covers: ClassVar[Covers] = Covers.SHARED
    origin: ClassVar[Origin] = Origin.READ
    source: ClassVar[str] = "Huang, Dai and Huang 2023, read"
    play_width: ClassVar[int] = 2
    state: ClassVar[type] = BankerState
    verbs: ClassVar[Verbs] = Verbs(predict, commit, withdraw, observe)

    def start(self) -> BankerState:
        return BankerState(
            investments=no_investments(self.arms, FIRST_ROOM),
            losses=np.zeros(self.arms),
            waiting=np.zeros(1, dtype=np.int64),
            total=np.zeros(1, dtype=np.int64),
            bank=np.zeros(1),
            round=np.ones(1, dtype=np.int64),
            multiplier=np.full(1, np.inf),
        )

    def reserved(self, state: BankerState, rounds: int) -> BankerState:
        if state.investments.free[0] >= rounds:
            return state
        return state._replace(investments=with_free_slots(state.investments, rounds))

    def check_saved(self, state: BankerState, plays: Iterable[Sequence[float]]) -> None:
        """Make sure that every slot is free, a saving or an outstanding play."""
        record, room = state.investments, state.investments.sigma.size
        free, savings = int(record.free[0]), int(record.savings[0])
        if not (0 <= free <= room and 0 <= savings <= room):
            raise ValueError(f"there are {free} free slots and {savings} savings in {room} slots")
        named = [*record.free[1 : 1 + free], *record.savings[1 : 1 + savings]]
        if sorted([*named, *(play[SLOT] for play in plays)]) != list(range(room)):
            raise ValueError("plays, savings and free slots are not all slots, each once")

    def blank(self) -> Prediction:
        info = BankerInfo(
            sigma=np.zeros(1),
            bank=np.zeros(1),
            point=np.zeros(self.arms),
            values=np.zeros(self.arms),
            multiplier=np.zeros(1),
            passes=np.zeros(1, dtype=np.int64),
        )
        return Prediction.blank(self.arms, info=info)
