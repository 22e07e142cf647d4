"""E4 refuted: eq:tricky as an inequality is false for the partially concealed learner, too.

Three arms, of which the last is played hardly ever. A loss of the last arm that is told lowers the
rate eta, and that lowers q(1); the loss itself does next to nothing to q(1). So q_t(1) is larger
where the play of round s is not told, and 1[i_s = 1]/q_s(1) goes together with it.
"""

import functools
import random
from typing import NamedTuple

from mpmath import mp

from .argmin import Matrix, Number, Vector, argmin_partial, marginal
from .transcription import grid_prior

ARMS = 3
MOST_MISSING = 1  # rho*, and the most plays outstanding (of the repaired learner) from round 2 on


class Game(NamedTuple):
    """Two rounds without losses, then these, and then rounds s and t.

    The loss of round 1 comes a round late, so that one loss is missing for a round; all others
    until s are told at once. d_s = (inf, inf, 0) and arm 3 loses 1; t loses (1, 0, 0).
    """

    last_loses: int  # rounds with losses (0, 0, 1)
    two_lose: int  # rounds with losses (0, 1, 1)

    @property
    def horizon(self) -> int:
        return self.last_loses + self.two_lose + 4

    @property
    def losses(self) -> list[tuple[int, int, int]]:
        """Of the rounds before s that are not without losses."""
        return [(0, 0, 1)] * self.last_loses + [(0, 1, 1)] * self.two_lose


class State(NamedTuple):
    """What the learner knows: the sums of its estimates, and of the losses observed.

    No loss was missing in the rounds it has been told of, so there are no corrections and the sums
    are the same for all rates of the grid.
    """

    L: tuple[Number, ...]
    observed: int

    def told(self, arm: int, q: Vector) -> "State":
        """Learn of a loss of 1 of an arm that was drawn from q."""
        L = [x + 1 / q[i] if i == arm else x for i, x in enumerate(self.L)]
        return State(tuple(L), self.observed + 1)


BEGINNING = State((mp.mpf(0),) * ARMS, 0)


class Sides(NamedTuple):
    """Both sides of eq:tricky for arm 1 at one rate of the grid (None: all, the marginals)."""

    rate: Number | None
    weighted: Number
    plain: Number


@functools.cache
def joint(state: State, horizon: int) -> Matrix:
    """p_t^av of the partially concealed learner, of eq:banditgamma and eq:banditeta, rho* = 1."""
    grid = rates(horizon)
    eta = mp.sqrt(ARMS * mp.log(horizon) / (4 * (1 + MOST_MISSING) + 4 * state.observed))
    L, even = [[x] * len(grid) for x in state.L], [mp.mpf(1) / ARMS] * ARMS
    return argmin_partial(L, even, grid_prior(len(grid)), grid, eta, joint=True)


def rates(horizon: int) -> Vector:
    """Gamma of eq:banditgamma with rho* = 1, and J the least with 4^J >= T."""
    J = 1
    while horizon > 4**J:
        J += 1
    scale = mp.sqrt(mp.log(ARMS) + mp.log(horizon) + 1)
    return [min(mp.mpf("0.25"), scale / (4 * 2**j)) for j in range(1, J + 1)]


@functools.cache
def prediction(state: State, horizon: int) -> Vector:
    """q_t."""
    return marginal(joint(state, horizon))


def history(game: Game, seed: int) -> State:
    """What is known at the start of round s, on one path."""
    draw = random.Random(seed)
    state = BEGINNING
    for losses in game.losses:
        q = prediction(state, game.horizon)
        arm = drawn(q, draw.random())
        if losses[arm]:
            state = state.told(arm, q)
    return state


def all_histories(game: Game, least: Number) -> tuple[dict[State, Number], Number]:
    """The probability of every state at the start of round s, and that of what is left out.

    Few draws change the state, so there are few of them. Those less likely than `least` in some
    round are left out from there on.
    """
    chances: dict[State, Number] = {BEGINNING: mp.mpf(1)}
    for losses in game.losses:
        later = after_a_round(chances, losses, game.horizon)
        chances = {state: chance for state, chance in later.items() if chance >= least}
    return chances, 1 - sum(chances.values())


def after_a_round(
    chances: dict[State, Number], losses: tuple[int, ...], horizon: int
) -> dict[State, Number]:
    """The probabilities of the states after one more round whose losses are told at once."""
    later: dict[State, Number] = {}
    for state, chance in chances.items():
        q = prediction(state, horizon)
        for arm, x in enumerate(q):
            reached = state.told(arm, q) if losses[arm] else state
            later[reached] = later.get(reached, mp.mpf(0)) + chance * x
    return later


def drawn(q: Vector, chance: float) -> int:
    """The arm at which the sum of the probabilities passes `chance`."""
    total = mp.mpf(0)
    for arm, x in enumerate(q):
        total += x
        if chance < total:
            return arm
    return len(q) - 1


def both_sides(state: State, horizon: int) -> list[Sides]:
    """E[p_t(1, g) 1[i_s = 1]/q_s(1)] and E[p_t(1, g)] given the past of s, for every g and all.

    t = s + 1 and d_s = (inf, inf, 0): of round s only a play of arm 3 is told, with loss 1.
    """
    now, q = joint(state, horizon), prediction(state, horizon)
    after = joint(state.told(ARMS - 1, q), horizon)
    told = q[ARMS - 1]
    sides = [
        Sides(rate, x, (1 - told) * x + told * y)
        for rate, x, y in zip(rates(horizon), now[0], after[0], strict=True)
    ]
    total = Sides(None, sum(x.weighted for x in sides), sum(x.plain for x in sides))
    return [*sides, total]
