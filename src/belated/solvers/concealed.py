"""Fast solver for the concealed argmin: one exponential per arm, from the last round's solution.

In the notation of `concealed_safe`, each arm keeps y = ln w, with w + ln w = z and z = gamma (L -
c)/2 + ln a. At a guess of y with residual r = w + y - z, consider a shift of the multiplier that
lowers every z by x. It requires y + d with d + k d^2/2 + k d^3/6 + ... = e, where s = 1/(1 + w), k
= w s = 1 - s and e = -(r + x) s; the weight (a/w)^2 then changes by the factor exp(-2 d). Both are
power series in e, so one exponential per arm is enough for all trials of x, and where all |e| are
small the result is exact to rounding. An arm with a large e is first solved by itself. If the
iteration does not converge, the safe solver is used.
"""

import math

import numpy as np

from belated.arrays import Floats
from belated.compiled.kernels import compiled, compiled_apart, inlined
from belated.numerics.lanes import (
    LANES,
    Lanes,
    across,
    exponential,
    fused,
    larger,
    largest,
    load,
    magnitude,
    spread,
    store,
    whole,
)
from belated.solvers.concealed_safe import solve_concealed_safely, wright_omega

SLOPE, RESIDUAL, BASE = range(3)  # rows of the work array: s, r and the weight of each arm
WORK = 3
MOST_PASSES = 8
MOST_TRIALS = 4
EXACT = 3e-3  # largest |e| for which the series, cut off at e^6, are exact to rounding
WILD = 0.3  # largest |e| for which the series are used at all
MANY, FEW = 64, 16  # with at least 64 arms it pays to solve up to a sixteenth of them one by one
NEAR = 1e-8  # |sum - 1| from which one linear step is enough: it squares the error
NEARER = 1e-4  # |sum - 1| that is enough if another pass must follow
BEYOND = 700.0  # y in lanes beyond the last arm: its weight and slope underflow to zero


@compiled
def solve_concealed(
    losses: Floats,
    eta: float,
    gamma: float,
    guess: Floats,
    q: Floats,
    dual: Floats,
    work: Floats,
) -> int:
    """Fill q with the concealed argmin; returns the number of passes over the arms.

    Also fills dual = (c, y_1, ..., y_K), which is the guess for the next round. A guess of
    infinities is a cold start; the guess affects the time but not the solution. gamma may be
    infinite, which means no entropy.
    """
    for i in range(dual.shape[0]):
        dual[i] = guess[i]
    if losses.shape[0] > 1 and gamma < np.inf and math.isfinite(guess[0]):
        passes = correct_together(losses, losses, eta, gamma, q, dual, work, False)
        if passes > 0:
            return passes
    return solve_from_afar(losses, eta, gamma, guess[0], q, dual)


@compiled_apart
def solve_from_afar(
    losses: Floats, eta: float, gamma: float, guess: float, q: Floats, dual: Floats
) -> int:
    """Fill q and dual with the safe solver, starting from a guess of c; returns the passes."""
    dual[0], passes = solve_concealed_safely(losses, eta, gamma, guess, q)
    ratio = gamma / (4.0 * eta)
    log_ratio = math.log(ratio) if ratio != 0.0 else -np.inf  # gamma is 0 with a single arm
    for i in range(q.shape[0]):
        dual[1 + i] = log_ratio - 0.5 * math.log(q[i])
    return passes


@compiled
def correct_together(
    losses: Floats,
    copies: Floats,
    eta: float,
    gamma: float,
    q: Floats,
    dual: Floats,
    work: Floats,
    grouped: bool,
) -> int:
    """Fill q from the old dual, and update the dual; returns the passes, or 0 without convergence.

    If `grouped`, an arm stands for copies[i] equal arms, and q is the weight of each one of them.
    """
    half = 0.5 * gamma
    ratio = gamma / (4.0 * eta)
    log_ratio = math.log(ratio)
    c = dual[0]
    y = dual[1:]
    for passes in range(1, MOST_PASSES):
        x, worst = linearise(losses, copies, c, half, ratio, log_ratio, y, work, grouped)
        far = not worst <= (WILD if losses.shape[0] < MANY else EXACT)
        if far and tame(losses, c, half, ratio, log_ratio, worst, y, work):
            x = 0.0
        for _ in range(MOST_TRIALS):
            x = max(-WILD, min(WILD, x))
            sum_, rate, worst = attempt(x, copies, y.shape[0], work, grouped)
            if not sum_ > 0.0:
                return 0
            if abs(sum_ - 1.0) <= (NEAR if worst <= EXACT else NEARER):
                break
            x -= math.log(sum_) * sum_ / rate
        if worst <= EXACT and abs(sum_ - 1.0) <= NEAR:
            last = (1.0 - sum_) / rate
            finish(x, last, y, work, q)
            dual[0] = c + (x + last) / half
            return passes
        finish(x, 0.0, y, work, q)
        c += x / half
    return 0


@inlined
def linearise(
    losses: Floats,
    copies: Floats,
    c: float,
    half: float,
    ratio: float,
    log_ratio: float,
    y: Floats,
    work: Floats,
    grouped: bool,
) -> tuple[float, float]:
    """Fill the work array with s, r and the weight of every arm at its guess y.

    Returns x to third order, and the largest |e| of any arm at x = 0.
    """
    zero = spread(0.0)
    sums = (zero, zero, zero, zero)
    end = whole(y.shape[0])
    for i in range(0, end, LANES):
        q, e, s = linearise_arms(losses, c, half, ratio, log_ratio, y, work, i, False)
        sums = added(sums, q * load(copies, i, 0.0, False) if grouped else q, e, s)
    if end < y.shape[0]:
        q, e, s = linearise_arms(losses, c, half, ratio, log_ratio, y, work, end, True)
        sums = added(sums, q * load(copies, end, 0.0, True) if grouped else q, e, s)
    sum_, rate, bend, worst = sums
    rising = 2.0 * across(rate)
    x = (1.0 - across(sum_)) / rising
    return x - across(bend) / rising * x * x, largest(worst)


@inlined
def linearise_arms(
    losses: Floats,
    c: float,
    half: float,
    ratio: float,
    log_ratio: float,
    y: Floats,
    work: Floats,
    i: int,
    part: bool,
) -> tuple[Lanes, Lanes, Lanes]:
    """Fill the work array for the four arms from i on; returns weight, -e at x = 0, and s."""
    here = load(y, i, BEYOND, part)
    w = exponential(here)
    above = 1.0 + w
    inverse = 1.0 / (w * above)
    s = w * inverse
    r = w + (here - fused(load(losses, i, 0.0, part) - c, half, log_ratio))
    root = ratio * (above * inverse)
    q = root * root
    store(work[SLOPE], i, s, part)
    store(work[RESIDUAL], i, r, part)
    store(work[BASE], i, q, part)
    return q, s * r, s


@inlined
def added(
    sums: tuple[Lanes, Lanes, Lanes, Lanes], q: Lanes, e: Lanes, s: Lanes
) -> tuple[Lanes, Lanes, Lanes, Lanes]:
    """Add four arms to the sum of weights to second order in x, and to the largest |e|."""
    sum_, rate, bend, worst = sums
    curved = q * (3.0 - s)
    return (
        sum_ + fused(fused(curved, e, 2.0 * q), e, q),
        rate + s * fused(curved, e, q),
        bend + curved * (s * s),
        larger(worst, magnitude(e)),
    )


@compiled_apart
def tame(
    losses: Floats,
    c: float,
    half: float,
    ratio: float,
    log_ratio: float,
    worst: float,
    y: Floats,
    work: Floats,
) -> bool:
    """Solve arms with a large |e| one by one; returns whether there were any.

    If few arms have |e| > EXACT, for example those whose loss has just arrived, all of them are
    solved, and no other pass is needed. Otherwise only those with |e| > WILD are.
    """
    arms, off = y.shape[0], 0
    for i in range(arms):
        off += not abs(work[SLOPE, i] * work[RESIDUAL, i]) <= EXACT
    limit = EXACT if off * FEW <= arms else WILD
    if worst <= limit:
        return False
    for i in range(arms):
        if not abs(work[SLOPE, i] * work[RESIDUAL, i]) <= limit:
            w = wright_omega(half * (losses[i] - c) + log_ratio)
            y[i] = math.log(w)
            work[SLOPE, i] = 1.0 / (1.0 + w)
            work[RESIDUAL, i] = w + (y[i] - (half * (losses[i] - c) + log_ratio))
            work[BASE, i] = ratio / w * (ratio / w)
    return True


@inlined
def change(e: Lanes, k: Lanes) -> Lanes:
    """d, the change of y, as a power series in e."""
    fifth = k * fused(k, fused(k, fused(k, 7 / 8, -7 / 8), 5 / 24), -1 / 120)
    fourth = k * fused(k, fused(k, -5 / 8, 5 / 12), -1 / 24)
    third = k * fused(k, 0.5, -1 / 6)
    return fused(e * e, fused(e, fused(e, fused(e, fifth, fourth), third), -0.5 * k), e)


@inlined
def grown(q: Lanes, d: Lanes) -> Lanes:
    """The new weight q exp(-2 d), as a power series in d."""
    t = -2.0 * d
    tail = fused(t, fused(t, fused(t, 1 / 120, 1 / 24), 1 / 6), 0.5)
    return fused(q, fused(t * t, tail, t), q)


@inlined
def attempt(
    x: float, copies: Floats, arms: int, work: Floats, grouped: bool
) -> tuple[float, float, float]:
    """The sum of the weights if every z is lowered by x, its slope in x, and the largest |e|."""
    zero = spread(0.0)
    sums = (zero, zero, zero)
    end = whole(arms)
    for i in range(0, end, LANES):
        sums = attempt_arms(x, copies, work, sums, i, False, grouped)
    if end < arms:
        sums = attempt_arms(x, copies, work, sums, end, True, grouped)
    sum_, rate, worst = sums
    return across(sum_), 2.0 * across(rate), largest(worst)


@inlined
def attempt_arms(
    x: float,
    copies: Floats,
    work: Floats,
    sums: tuple[Lanes, Lanes, Lanes],
    i: int,
    part: bool,
    grouped: bool,
) -> tuple[Lanes, Lanes, Lanes]:
    """Add the four arms from i on to the sums of `attempt`."""
    sum_, rate, worst = sums
    s = load(work[SLOPE], i, 0.0, part)
    k = 1.0 - s
    e = (-x - load(work[RESIDUAL], i, 0.0, part)) * s
    d = change(e, k)
    q = grown(load(work[BASE], i, 0.0, part), d)
    if grouped:
        q = q * load(copies, i, 0.0, part)
    return sum_ + q, fused(q, s - s * k * d, rate), larger(worst, magnitude(e))


@inlined
def finish(x: float, last: float, y: Floats, work: Floats, q: Floats) -> None:
    """Fill q and y for a shift x followed by a linear step `last`."""
    end = whole(y.shape[0])
    for i in range(0, end, LANES):
        finish_arms(x, last, y, work, q, i, False)
    if end < y.shape[0]:
        finish_arms(x, last, y, work, q, end, True)


@inlined
def finish_arms(
    x: float, last: float, y: Floats, work: Floats, q: Floats, i: int, part: bool
) -> None:
    """Fill q and y of the four arms from i on for a shift x followed by a linear step `last`."""
    s = load(work[SLOPE], i, 0.0, part)
    k = 1.0 - s
    d = change((-x - load(work[RESIDUAL], i, 0.0, part)) * s, k)
    further = last * (s - s * k * d)
    weight = grown(load(work[BASE], i, 0.0, part), d)
    store(q, i, fused(weight, 2.0 * further, weight), part)
    store(y, i, load(y, i, 0.0, part) + (d - further), part)
