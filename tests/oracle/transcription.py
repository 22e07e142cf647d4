"""Algorithm 1 (alg:framework) and its three instances, transcribed literally: the tests' oracle.

Nothing is carried from round to round except the paper's own q_s: every quantity of round t is
rebuilt from the arrays of losses, delays and played arms. Rounds are counted from 1, arms from 0.
Labels such as eq:fullinfoeta are the paper's, E1..E13 the entries of docs/errata.md.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

from mpmath import mp

from .argmin import (
    Matrix,
    Number,
    Vector,
    argmin_concealed,
    argmin_full,
    argmin_partial,
    marginal,
    matrix,
    vector,
)

__all__ = [
    "Answer",
    "Round",
    "argmin_concealed",
    "argmin_full",
    "argmin_partial",
    "predictions",
    "rounds",
]


class Answer(NamedTuple):
    """q: T x K. eta: full T x J, bandits T. gamma: full None, partial J, concealed T."""

    q: Matrix
    eta: Vector
    gamma: Vector | None


class Round(NamedTuple):
    """One round's inputs to eq:frameworkprediction and its result p_t^av with marginal q_t."""

    L: Matrix
    eta: Any
    gamma: Any
    p: Matrix
    q: Vector


@dataclass(frozen=True)
class Game:
    """A replay case with exact numbers; a delay of None is infinite."""

    K: int
    T: int
    prior: Vector
    losses: Matrix
    delays: list[list[float]]
    arms: list[int]
    rho_star: Number
    repaired: bool
    gamma_weight: str

    def loss(self, s: int, i: int) -> Number:
        return self.losses[s - 1][i]

    def delay(self, s: int, i: int) -> float:
        return self.delays[s - 1][i]

    def arm(self, s: int) -> int:
        return self.arms[s - 1]


def predictions(case: dict[str, Any], digits: int = 40) -> Answer:
    """The predictions and rates of every round of a replay case."""
    played = rounds(case, digits)
    q, eta = [r.q for r in played], [r.eta for r in played]
    match case["setting"]:
        case "full":
            return Answer(q, eta, None)
        case "partial":
            return Answer(q, eta, played[0].gamma)
        case _:
            return Answer(q, eta, [r.gamma for r in played])


def rounds(case: dict[str, Any], digits: int = 40) -> list[Round]:
    """alg:framework along the losses, delays and played arms of a replay case."""
    settings: dict[str, Callable[[Game], list[Round]]] = {
        "full": full_information,
        "partial": partially_concealed,
        "concealed": concealed,
    }
    with mp.workdps(digits):
        return settings[case["setting"]](read(case))


def read(case: dict[str, Any]) -> Game:
    K, T = case["K"], case["T"]
    repaired = {"paper": False, "repaired": True}[case.get("variant") or "paper"]
    default_weight = "q+eps" if repaired else "q"
    return Game(
        K=K,
        T=T,
        prior=vector(case.get("prior") or [mp.mpf(1) / K] * K),
        losses=matrix(case["losses"]),
        delays=[[math.inf if d is None else d for d in row] for row in case["delays"]],
        arms=case.get("arms") or [],
        rho_star=mp.mpf(case.get("rho_star") or 0),
        repaired=repaired,
        gamma_weight=(case.get("options") or {}).get("gamma_weight") or default_weight,
    )


# --- sec:algorithm: what has arrived and what is missing ---------------------------------------


def available(game: Game, t: int, i: int) -> list[int]:
    """S_t(i) = {s : s + d_s(i) < t} (above eq:key)."""
    return [s for s in range(1, t) if s + game.delay(s, i) < t]


def missing(game: Game, t: int, i: int) -> list[int]:
    """m_t(i) = {s : s < t, s + d_s(i) >= t} (above eq:key)."""
    return [s for s in range(1, t) if s + game.delay(s, i) >= t]


def rho(game: Game, t: int, i: int) -> int:
    """rho_t(i) = |m_t(i)|."""
    return len(missing(game, t, i))


def available_losses(game: Game, t: int, lhat: list[Matrix], J: int) -> Matrix:
    """L_t^av(i') = sum of lhat_s(i') over s in S_t(i') (eq:key, last line of alg:framework)."""
    return [
        [sum((lhat[s - 1][i][j] for s in available(game, t, i)), mp.mpf(0)) for j in range(J)]
        for i in range(game.K)
    ]


def grid_size(game: Game, base: int = 4) -> int:
    """J = ceil(log_2 sqrt(T)), at least 1: the smallest j with 4^j >= T."""
    j = 1
    while base**j < game.T:
        j += 1
    return j


def grid_prior(J: int) -> Vector:
    """The weights 2^(-2j) / sum_j' 2^(-2j') of eq:fullinfoprior."""
    total = sum(mp.mpf(4) ** -j for j in range(1, J + 1))
    return [mp.mpf(4) ** -j / total for j in range(1, J + 1)]


# --- sec:Full information ----------------------------------------------------------------------


def full_information(game: Game) -> list[Round]:
    everyone, every_round = range(game.K), range(1, game.T + 1)
    J = grid_size(game, base=2 if game.repaired else 4)
    missing_count = [[rho(game, s, i) for i in everyone] for s in every_round]
    eta = [full_rates(game, J, max(map(max, missing_count[:t]))) for t in every_round]
    lhat = [
        [full_estimates(game.loss(s, i), eta[s - 1], missing_count[s - 1][i]) for i in everyone]
        for s in every_round
    ]
    played = []
    for t in every_round:
        L = available_losses(game, t, lhat, J)
        p = argmin_full(L, game.prior, grid_prior(J), eta[t - 1], joint=True)
        played.append(Round(L, eta[t - 1], None, p, marginal(p)))
    return played


def full_rates(game: Game, J: int, rho_max: int) -> Vector:
    """H_t of eq:fullinfoeta; E1's repair drops sqrt(1 + rho_t^max) from the second term."""
    scale = mp.sqrt(mp.log(game.K) + 2 * (mp.log(game.T) + 1))
    shrink = 1 if game.repaired else mp.sqrt(1 + rho_max)
    cap = mp.mpf(1) / (4 * (1 + rho_max))
    return [min(cap, scale / (4 * shrink * 2**j)) for j in range(1, J + 1)]


def full_estimates(loss: Number, rates: Vector, rho_s: int) -> Vector:
    """lhat_s(i, .) = ltil_s + a_s with ltil_s(i, eta) = l_s(i), on round s's rates."""
    return [loss + full_correction(eta, loss, rho_s) for eta in rates]


def full_correction(eta: Number, loss: Number, rho_s: int) -> Number:
    """eq:fullinfocorr: a_s(i, eta) = 4 eta l_s(i) (1 + rho_s(i))."""
    return 4 * eta * loss * (1 + rho_s)


# --- sec:partcon -------------------------------------------------------------------------------


def partially_concealed(game: Game) -> list[Round]:
    J = grid_size(game)
    grid = partial_grid(game, J)
    played: list[Round] = []
    lhat: list[Matrix] = []
    for t in range(1, game.T + 1):
        L, eta = available_losses(game, t, lhat, J), partial_rate(game, t)
        p = argmin_partial(L, game.prior, grid_prior(J), grid, eta, joint=True)
        q = marginal(p)
        played.append(Round(L, eta, grid, p, q))
        lhat.append(partial_estimates(game, t, q, grid))
    return played


def partial_grid(game: Game, J: int) -> Vector:
    """Gamma of eq:banditgamma; infinite, that is without Phi, when rho* = 0 (E10)."""
    if not game.rho_star:
        return [mp.inf] * J
    scale = mp.sqrt(mp.log(game.K) + mp.log(game.T) + 1)
    cap = 1 / (4 * game.rho_star)
    return [min(cap, scale / (4 * mp.sqrt(game.rho_star) * 2**j)) for j in range(1, J + 1)]


def partial_rate(game: Game, t: int) -> Number:
    """eq:banditeta; E3's repair puts the most outstanding plays so far in the place of rho*."""
    observed = sum(
        game.loss(s, game.arm(s)) for s in range(1, t) if s + game.delay(s, game.arm(s)) < t
    )
    most = game.rho_star
    if game.repaired:
        most = max(len(outstanding_plays(game, s)) for s in range(1, t + 1))
    return mp.sqrt(game.K * mp.log(game.T) / (4 * (1 + most) + 4 * observed))


def outstanding_plays(game: Game, t: int) -> list[int]:
    """The plays r < t whose loss has not arrived when round t starts (E3)."""
    return [r for r in range(1, t) if r + game.delay(r, game.arm(r)) >= t]


def partial_estimates(game: Game, t: int, q: Vector, grid: Vector) -> Matrix:
    """lhat_t = ltil_t + a_t with ltil_t(i, gamma) = 1[i_t = i] l_t(i) / q_t(i)."""
    ltil = estimates(game, t, q, mp.mpf(0))
    return [
        [x + partial_correction(gamma, x, rho(game, t, i)) for gamma in grid]
        for i, x in enumerate(ltil)
    ]


def partial_correction(gamma: Number, ltil: Number, rho_t: int) -> Number:
    """eq:correctionbandit: a_t(i, gamma) = 4 gamma ltil_t(i) rho_t(i); none if rho* = 0 (E10)."""
    return mp.mpf(0) if mp.isinf(gamma) else 4 * gamma * ltil * rho_t


def estimates(game: Game, t: int, q: Vector, epsilon: Number) -> Vector:
    """Implicit exploration of sec:bandits: ltil_t(i) = 1[i_t = i] l_t(i) / (q_t(i) + eps_t)."""
    return [
        game.loss(t, i) / (q[i] + epsilon) if i == game.arm(t) else mp.mpf(0) for i in range(game.K)
    ]


# --- sec:concealed -----------------------------------------------------------------------------


def concealed(game: Game) -> list[Round]:
    played: list[Round] = []
    lhat: list[Matrix] = []
    for t in range(1, game.T + 1):
        L = available_losses(game, t, lhat, J=1)
        eta, gamma = concealed_rate(t), concealed_gamma(game, t, [r.q for r in played])
        q = argmin_concealed([row[0] for row in L], eta, gamma)
        played.append(Round(L, eta, gamma, [[x] for x in q], q))
        lhat.append([[x] for x in estimates(game, t, q, exploration(game, t))])
    return played


def concealed_rate(t: int) -> Number:
    """th:concealed: eta_t = 1/sqrt(4 t)."""
    return 1 / mp.sqrt(4 * t)


def exploration(game: Game, t: int) -> Number:
    """th:concealed: eps_t = 1/sqrt(t); E2's repair: 1/sqrt(K t)."""
    return 1 / mp.sqrt(game.K * t if game.repaired else t)


def concealed_gamma(game: Game, t: int, q: Matrix) -> Number:
    """eq:censoredgamma, with q the predictions before round t; infinite over zero (E10)."""
    accumulated = sum(
        outstanding_weight(game, s_, q)
        for s in range(1, t)
        for s_ in missing(game, s, game.arm(s))
        if game.arm(s_) == game.arm(s)
    )
    denominator = game.rho_star / exploration(game, t) + accumulated
    return mp.sqrt(mp.log(game.K) / denominator) if denominator else mp.inf


def outstanding_weight(game: Game, s: int, q: Matrix) -> Number:
    """1/q_s(i_s) as in eq:censoredgamma, or E5's 1/(q_s(i_s) + eps_s)."""
    epsilon = {"q": mp.mpf(0), "q+eps": exploration(game, s)}[game.gamma_weight]
    return 1 / (q[s - 1][game.arm(s)] + epsilon)
