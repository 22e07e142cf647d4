"""Fast solver for the partially concealed argmin: corrects all arms and c from the last solution.

In the notation of `partially_concealed_safe`, each arm keeps x = 1/(eta q). Its rates enter through
A(y) = ln sum_g p1(i,g) exp(g (y - L(i,g))) at y = c + x, that is, through its value and its
derivatives. These are the mean m, the variance v and the third cumulant k of the rates under p(i,
.). With h = A + ln x + ln eta, a shift of c by b changes ln x by the d that solves

    h + (m t + v t^2/2 + k t^3/6) + d = 0,    t = b + x (e^d - 1),

and q by the factor e^-d. So one exponential per coordinate is enough for all trials of b, and where
the changes are small the result is exact to rounding. An arm with a large residual, for example one
whose loss has just arrived, is first solved by itself. If the iteration does not converge, the
caller must use the safe solver.
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
    unless_below,
    whole,
)
from belated.solvers.partially_concealed_safe import solve_arm
from belated.solvers.rate_columns import PLAIN, WEIGHED, loss

Sums = tuple[Lanes, Lanes, Lanes]
Moments = tuple[Lanes, Lanes, Lanes, Lanes]

RESIDUAL, MEAN, VARIANCE, SKEW, GAIN, BASE, MOVE, SLOPE = range(8)  # rows of the work array
WORK = 8
MOST_PASSES = 8
MOST_TRIALS = 4
EXACT = 1e-4  # largest rate times t for which the series, cut off at its fourth power, is exact
STILL = 1e-8  # largest change for which its square is below rounding
WILD = 0.3  # largest residual for which the series is used at all
NEAR = 1e-9  # |sum - 1| from which one linear step is enough: it squares the error
NEARER = 1e-4  # |sum - 1| that is enough if another pass must follow
TINY = 1e-300
CHAIN = 5  # rows computed by squaring the next one, at most: the error doubles with each


@compiled
def correct_together(
    levels: Floats,
    offsets: Floats,
    fresh: Floats,
    ratios: Floats,
    chained: bool,
    rates: Floats,
    eta: float,
    q: Floats,
    dual: Floats,
    work: Floats,
) -> int:
    """Fill q from the old dual = (c, x_1, ..., x_K), and update the dual.

    Returns the passes over the arms, or 0 if the iteration does not converge. levels, offsets,
    fresh and ratios are described in `rate_columns`; they have one row for each rate, the largest
    rate first. `chained` says whether the ratios can be used.
    """
    c = dual[0]
    x = dual[1:]
    reach = WILD / rates[0]
    for passes in range(1, MOST_PASSES):
        b, worst = linearise(levels, offsets, fresh, ratios, chained, rates, eta, c, x, work)
        if worst <= STILL and abs(b) * rates[0] <= STILL:
            move_linearly(b, x, work, q)
            dual[0] = c + b
            return passes
        if not worst <= WILD:
            tame(levels, offsets, fresh, rates, eta, c, x, work)
            b = 0.0
        for _ in range(MOST_TRIALS):
            b = max(-reach, min(reach, b))
            sum_, rise, worst = attempt(b, rates[0], x, work)
            if not (sum_ > 0.0 and rise > 0.0 and sum_ < np.inf):
                return 0
            if abs(sum_ - 1.0) <= (NEAR if worst <= EXACT else NEARER):
                break
            b -= math.log(sum_) * sum_ / rise
        exact = worst <= EXACT and abs(sum_ - 1.0) <= NEAR
        last = (1.0 - sum_) / rise if exact else 0.0
        finish(last, x, work, q)
        c += b + last
        if exact:
            dual[0] = c
            return passes
    return 0


@inlined
def linearise(
    levels: Floats,
    offsets: Floats,
    fresh: Floats,
    ratios: Floats,
    chained: bool,
    rates: Floats,
    eta: float,
    c: float,
    x: Floats,
    work: Floats,
) -> tuple[float, float]:
    """Fill the work array with the residual and the cumulants of every arm at its guess x.

    Returns b to second order, and the largest residual.
    """
    zero = spread(0.0)
    sums = (zero, zero, zero)
    end = whole(x.shape[0])
    for i in range(0, end, LANES):
        moments = moments_of(levels, offsets, fresh, ratios, chained, rates, c, x, i, False)
        sums = linearise_arms(moments, eta, x, work, sums, i, False)
    if end < x.shape[0]:
        moments = moments_of(levels, offsets, fresh, ratios, chained, rates, c, x, end, True)
        sums = linearise_arms(moments, eta, x, work, sums, end, True)
    sum_, rise, worst = sums
    return (1.0 - across(sum_)) / across(rise), largest(worst)


@inlined
def moments_of(
    levels: Floats,
    offsets: Floats,
    fresh: Floats,
    ratios: Floats,
    chained: bool,
    rates: Floats,
    c: float,
    x: Floats,
    i: int,
    part: bool,
) -> Moments:
    """The moments sum_g p(i,g) g^n, n = 0 to 3, of the four arms from i on.

    If `chained`, most rows are computed as squares of the next one, and only one row in CHAIN and
    the row of the largest rate need an exponential.
    """
    here = load(x, i, 0.0, part)
    weighed = load(fresh[WEIGHED], i, 0.0, part)
    all_, first, second, third = spread(0.0), spread(0.0), spread(0.0), spread(0.0)
    weight, shrinking = spread(0.0), spread(1.0)
    last = rates.shape[0] - 1
    for k in range(last + 1):
        r = last - k
        rate = rates[r]
        if chained and r > 0 and k % CHAIN != 0:
            weight = weight * weight * (load(ratios[r], i, 0.0, part) * shrinking)
            shrinking = shrinking * shrinking
            shrinking = shrinking * shrinking
        else:
            distance = (c - loss(levels[r], fresh[PLAIN], fresh[WEIGHED], rate, i, part)) + here
            weight = exponential(fused(distance, rate, load(offsets[r], i, -np.inf, part)))
            if chained and r > 1:
                shrinking = exponential(-8.0 * rate * rate * weighed)
        moved = weight * rate
        all_ = all_ + weight
        first = first + moved
        moved = moved * rate
        second = second + moved
        third = fused(moved, rate, third)
    return all_, first, second, third


@inlined
def linearise_arms(
    moments: Moments, eta: float, x: Floats, work: Floats, sums: Sums, i: int, part: bool
) -> Sums:
    """Fill the work array for the four arms from i on; returns the sums with them added."""
    all_, first, second, third = moments
    here = load(x, i, 0.0, part)  # 0 beyond the last arm, which makes the weight 0
    inverse = 1.0 / larger(all_, TINY)
    m = first * inverse
    square = second * inverse
    excess = fused(all_ * eta, here, -1.0)
    h = log_of_one_and(excess)
    gain = 1.0 / fused(m, here, 1.0)
    q = unless_below(1.0 / (eta * larger(here, TINY)), here, TINY)
    store(work[RESIDUAL], i, h, part)
    store(work[MEAN], i, m, part)
    store(work[VARIANCE], i, square - m * m, part)
    store(work[SKEW], i, fused(m, fused(2.0 * m, m, -3.0 * square), third * inverse), part)
    store(work[GAIN], i, gain, part)
    store(work[BASE], i, q, part)
    sum_, rise, worst = sums
    return (
        sum_ + fused(q, h * gain, q),
        fused(q, m * gain, rise),
        larger(worst, unless_below(magnitude(excess), here, TINY)),
    )


@inlined
def log_of_one_and(e: Lanes) -> Lanes:
    """ln(1 + e) for small e, by the series of artanh(e/(2 + e))."""
    z = e / (2.0 + e)
    z2 = z * z
    tail = fused(z2, fused(z2, fused(z2, fused(z2, 1 / 11, 1 / 9), 1 / 7), 1 / 5), 1 / 3)
    return 2.0 * fused(z * z2, tail, z)


@compiled_apart
def tame(
    levels: Floats,
    offsets: Floats,
    fresh: Floats,
    rates: Floats,
    eta: float,
    c: float,
    x: Floats,
    work: Floats,
) -> None:
    """Solve the arms with a large residual one by one, and update their work columns."""
    limit = math.log1p(-WILD)
    losses, logs = np.empty(rates.shape[0]), np.empty(rates.shape[0])
    for i in range(x.shape[0]):
        if work[RESIDUAL, i] >= limit and work[RESIDUAL, i] <= -limit:
            continue
        high = np.inf  # here the first coordinate reaches 1
        for r in range(rates.shape[0]):
            fresh_loss = fresh[PLAIN, i] + 4.0 * rates[r] * fresh[WEIGHED, i]
            losses[r] = levels[r, i] + fresh_loss
            logs[r] = offsets[r, i]
            high = min(high, losses[r] - logs[r] / rates[r])
        u, _ = solve_arm(losses, 0.0, 0.0, logs, rates, eta, c, high, math.log(x[i]))
        x[i] = math.exp(u)
        linearise_arm(losses, logs, rates, eta, c, i, x, work)


@compiled_apart
def linearise_arm(
    losses: Floats,
    logs: Floats,
    rates: Floats,
    eta: float,
    c: float,
    i: int,
    x: Floats,
    work: Floats,
) -> None:
    """Fill the work array with the residual and the cumulants of one arm."""
    all_, first, second, third = 0.0, 0.0, 0.0, 0.0
    for r in range(rates.shape[0]):
        weight = math.exp(logs[r] + rates[r] * ((c - losses[r]) + x[i]))
        all_ += weight
        first += rates[r] * weight
        second += rates[r] * (rates[r] * weight)
        third += rates[r] * (rates[r] * (rates[r] * weight))
    m, square = first / all_, second / all_
    work[RESIDUAL, i] = math.log(all_ * eta * x[i])
    work[MEAN, i] = m
    work[VARIANCE, i] = square - m * m
    work[SKEW, i] = third / all_ - 3.0 * m * square + 2.0 * m * m * m
    work[GAIN, i] = 1.0 / (1.0 + m * x[i])
    work[BASE, i] = 1.0 / (eta * x[i])


@inlined
def move_linearly(b: float, x: Floats, work: Floats, q: Floats) -> None:
    """Fill q and x by a linear step, for changes whose squares are below rounding."""
    end = whole(x.shape[0])
    for i in range(0, end, LANES):
        move_arms_linearly(b, x, work, q, i, False)
    if end < x.shape[0]:
        move_arms_linearly(b, x, work, q, end, True)


@inlined
def move_arms_linearly(b: float, x: Floats, work: Floats, q: Floats, i: int, part: bool) -> None:
    """Fill q and x of the four arms from i on by a linear step."""
    move = fused(load(work[MEAN], i, 0.0, part), b, load(work[RESIDUAL], i, 0.0, part))
    move = move * load(work[GAIN], i, 0.0, part)
    here, base = load(x, i, 0.0, part), load(work[BASE], i, 0.0, part)
    store(x, i, here - here * move, part)
    store(q, i, fused(base, move, base), part)


@inlined
def less_one(d: Lanes) -> Lanes:
    """e^d - 1 for small d, by its series."""
    return fused(d * d, fused(d, fused(d, 1 / 24, 1 / 6), 0.5), d)


@inlined
def attempt(b: float, fastest: float, x: Floats, work: Floats) -> tuple[float, float, float]:
    """The sum of weights if c is shifted by b, its slope, and the largest |d| + fastest |t|."""
    zero = spread(0.0)
    sums = (zero, zero, zero)
    end = whole(x.shape[0])
    for i in range(0, end, LANES):
        sums = attempt_arms(b, fastest, x, work, sums, i, False)
    if end < x.shape[0]:
        sums = attempt_arms(b, fastest, x, work, sums, end, True)
    sum_, rise, worst = sums
    return across(sum_), across(rise), largest(worst)


@inlined
def attempt_arms(
    b: float, fastest: float, x: Floats, work: Floats, sums: Sums, i: int, part: bool
) -> Sums:
    """Add the four arms from i on to the sums of `attempt`; stores their d and d(ln q)/dc."""
    here = load(x, i, 0.0, part)
    m = load(work[MEAN], i, 0.0, part)
    v = load(work[VARIANCE], i, 0.0, part)
    skew = load(work[SKEW], i, 0.0, part) * (1 / 6)
    gain = load(work[GAIN], i, 0.0, part)
    h = load(work[RESIDUAL], i, 0.0, part)
    d = -1.0 * (fused(m, b, h) * gain)
    for _ in range(2):  # each iteration multiplies the error by the size of the change
        t = fused(here, less_one(d), b)
        change = t * fused(t, fused(t, skew, 0.5 * v), m)
        d = d - gain * (h + (change + d))
    growth = less_one(d)
    t = fused(here, growth, b)
    mean = fused(v, t, m)
    further = fused(mean, here * growth, (mean - m) * here)
    slope = mean * gain * (1.0 - gain * further)
    store(work[MOVE], i, d, part)
    store(work[SLOPE], i, slope, part)
    base = load(work[BASE], i, 0.0, part)
    q = fused(base, less_one(-1.0 * d), base)
    sum_, rise, worst = sums
    return sum_ + q, fused(q, slope, rise), larger(worst, magnitude(d) + magnitude(fastest * t))


@inlined
def finish(last: float, x: Floats, work: Floats, q: Floats) -> None:
    """Fill q and x at the last attempted shift, followed by a linear step `last`."""
    end = whole(x.shape[0])
    for i in range(0, end, LANES):
        finish_arms(last, x, work, q, i, False)
    if end < x.shape[0]:
        finish_arms(last, x, work, q, end, True)


@inlined
def finish_arms(last: float, x: Floats, work: Floats, q: Floats, i: int, part: bool) -> None:
    """Fill q and x of the four arms from i on at the last attempt and a linear step `last`."""
    d = load(work[MOVE], i, 0.0, part)
    gain = last * load(work[SLOPE], i, 0.0, part)
    here, base = load(x, i, 0.0, part), load(work[BASE], i, 0.0, part)
    weight = fused(base, less_one(-1.0 * d), base)
    moved = fused(here, less_one(d), here)
    store(q, i, fused(weight, gain, weight), part)
    store(x, i, moved - moved * gain, part)
