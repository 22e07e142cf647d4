"""AdaHedge and the learners of Flaspohler et al. once more: literal, slow, nothing incremental.

In every round all is computed anew from the list of rounds told so far. DORM and DORM+ take any
kind of number, fractions too.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from belated.environments.missing import NEVER

Numbers = NDArray[Any]


class Made(NamedTuple):
    """What was in force in a round: the rounds told before it, its hint, temperature and play."""

    told: list[int]
    hint: Numbers
    temperature: float
    play: Numbers


def told_by_round(delays: NDArray[np.int64]) -> list[list[int]]:
    """Whole rounds in the order of play, as known at the start of each round; all count from 0."""
    due: dict[int, float] = {}
    latest = 0.0
    for s, row in enumerate(delays):
        latest = np.inf if NEVER in row else max(latest, s + int(row.max()))
        due[s] = latest
    return [[s for s in due if due[s] < t] for t in range(len(delays))]


def guesses(kind: str, losses: Numbers, told: list[int], now: int) -> dict[int, Numbers]:
    """The losses expected of each outstanding round; a round passed over is not outstanding."""
    waiting = range(told[-1] + 1 if told else 0, now + 1)
    nothing = losses[0] * 0
    if kind == "none" or not told:
        return dict.fromkeys(waiting, nothing)
    if kind == "prev":
        return dict.fromkeys(waiting, losses[told[-1]])
    if kind == "mean":
        return dict.fromkeys(waiting, sum(losses[s] for s in told) / len(told))
    recent = [losses[s] for s in reversed(told)] + [nothing] * len(waiting)
    return dict(zip(waiting, recent, strict=False))


def softmin_logs(values: Numbers, temperature: float) -> Numbers:
    """ln w of w = softmin(values / temperature)."""
    if temperature == 0.0:
        least = values == values.min()
        return np.where(least, -np.log(least.sum()), -np.inf)
    scaled = -values / temperature
    return np.asarray(scaled - np.logaddexp.reduce(scaled))


def adahedged_cost(made: list[Made], losses: Numbers, s: int, told: list[int]) -> float:
    """delta_s by the published formulas."""
    then = made[s]
    lam, g, w, h = then.temperature, losses[s], then.play, then.hint
    theta = sum(losses[j] for j in told if j <= s)
    g_os = sum(losses[j] for j in told if j <= s and j not in then.told)

    def auxiliary(h: Numbers, log_w: Numbers) -> float:
        w = np.exp(log_w)
        if lam == 0.0:
            return float(theta @ w - theta.min())
        inside = log_w + (h - g_os) / lam
        return float(lam * np.logaddexp.reduce(inside) - (h - g_os) @ w)

    drift = g @ (w - np.exp(softmin_logs(theta, lam)))
    off = np.abs(h - g_os).max()
    sigma = 1.0 if off == 0.0 else min(1.0, np.abs(g).max() / off)
    mixed = g_os + sigma * (h - g_os)
    log_mixed = softmin_logs(theta - g_os + mixed, lam)
    hat = auxiliary(mixed, log_mixed) + g @ (w - np.exp(log_mixed))
    own = auxiliary(h, softmin_logs(theta - g_os + h, lam))
    return float(max(0.0, min(drift, own, hat)))


def adahedged_temperature(made: list[Made], losses: Numbers, told: list[int]) -> float:
    """The sum of delta_s/ln K."""
    if losses.shape[1] == 1:
        return 0.0
    total = sum(adahedged_cost(made, losses, s, told) for s in told)
    return float(total / np.log(losses.shape[1]))


def adahedge_temperature(made: list[Made], losses: Numbers, told: list[int]) -> float:
    """1/eta = Delta/ln K, Delta the sum of <q_s, l_s> minus the mix losses."""
    total = 0.0
    for s in told:
        then, lam = made[s], made[s].temperature
        known = sum((losses[j] for j in then.told), np.zeros(losses.shape[1]))
        log_q = softmin_logs(known, lam)
        if lam == 0.0:
            mixed = (known + losses[s]).min() - known.min()
        else:
            mixed = -lam * np.logaddexp.reduce(log_q - losses[s] / lam)
        total += max(0.0, np.exp(log_q) @ losses[s] - mixed)
    return float(total / np.log(losses.shape[1])) if losses.shape[1] > 1 else 0.0


def dub_temperature(
    made: list[Made], losses: Numbers, told: list[int], with_newest: bool = False
) -> float:
    """lambda by its formula; `with_newest` counts a_s itself among those outstanding at s."""
    alpha = np.log(losses.shape[1])
    steps: dict[int, float] = {}
    largest, squares = 0.0, 0.0
    for s in told:
        then = made[s]
        g_os = sum(losses[j] for j in told if j <= s and j not in then.told)
        x, y = np.abs(then.hint - g_os).max(), np.abs(losses[s]).max()
        window = sum(steps[j] for j in steps if j not in then.told)
        steps[s] = 2 * min(x, y)
        largest = max(largest, window + (steps[s] if with_newest else 0.0))
        squares += steps[s] ** 2 + 2 * alpha * (x**2 / 2 - max(0.0, x - y) ** 2 / 2)
    return float((2 * largest + np.sqrt(squares)) / alpha) if alpha else 0.0


Temperature = Callable[[list[Made], Numbers, list[int]], float]
TEMPERATURES: dict[str, Temperature] = {
    "adahedge": adahedge_temperature,
    "adahedged": adahedged_temperature,
    "dub": dub_temperature,
}


def hedged(
    temperature: Temperature, kind: str, losses: Numbers, delays: NDArray[np.int64]
) -> list[Made]:
    """A game of AdaHedge, AdaHedgeD or DUB."""
    made: list[Made] = []
    for t, told in enumerate(told_by_round(delays)):
        hint = sum(guesses(kind, losses, told, t).values(), np.zeros(losses.shape[1]))
        known = sum((losses[s] for s in told), np.zeros(losses.shape[1]))
        lam = temperature(made, losses, told)
        made.append(Made(told, hint, lam, np.exp(softmin_logs(known + hint, lam))))
    return made


def normalised(values: Numbers) -> Numbers:
    """Positive parts that sum to one; even if there are none."""
    parts = np.maximum(values, 0 * values)
    if parts.sum() > 0:
        return np.asarray(parts / parts.sum())
    return np.asarray(values * 0 + one(values) / len(values))


def one(values: Numbers) -> Any:
    """One, as a number of the same kind."""
    return type(values[0])(1)


def regret(losses: Numbers, play: Numbers) -> Numbers:
    """r = <g, w> 1 - g."""
    return np.asarray((losses * play).sum() - losses)


def matched(plus: bool, kind: str, losses: Numbers, delays: NDArray[np.int64]) -> list[Made]:
    """A game of DORM or DORM+."""
    made: list[Made] = []
    nothing = losses[0] * 0
    for t, told in enumerate(told_by_round(delays)):
        plays = [each.play for each in made]
        even = nothing + one(nothing) / len(nothing)
        expected = guesses(kind, losses, told, t)
        hint = nothing
        for s, guess in expected.items():
            hint = hint + regret(guess, plays[s] if s < t else [even, *plays][-1])
        if not plus:
            values = sum((regret(losses[s], plays[s]) for s in told), nothing) + hint
        else:
            hints = [*(each.hint for each in made), hint]
            values = pseudo_play(losses, plays, hints, [*(each.told for each in made), told])
        made.append(Made(told, hint, 0.0, normalised(values)))
    return made


def pseudo_play(
    losses: Numbers, plays: list[Numbers], hints: list[Numbers], told: list[list[int]]
) -> Numbers:
    """p of DORM+, from the first round to the last."""
    nothing = losses[0] * 0
    p: Numbers = nothing
    before = nothing
    for t, hint in enumerate(hints):
        fresh = [s for s in told[t] if t == 0 or s not in told[t - 1]]
        for s in fresh:
            p = np.maximum(nothing, p + regret(losses[s], plays[s]) + hint - before)
            before = hint
        if not fresh:
            p = np.maximum(nothing, p + hint - before)
            before = hint
    return np.asarray(p)


def twin(name: str, kind: str, losses: Numbers, delays: NDArray[np.int64]) -> list[Made]:
    """A game of any of the learners by its name."""
    if name in TEMPERATURES:
        return hedged(TEMPERATURES[name], kind, losses, delays)
    return matched(name == "dorm-plus", kind, losses, delays)
