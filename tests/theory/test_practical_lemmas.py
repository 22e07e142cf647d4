"""The numbered inequalities of docs/theory-practical.md, lemma by lemma and along whole runs."""

import functools
import math
from typing import NamedTuple

import numpy as np
import pytest

from belated.arrays import Counts, Floats
from belated.environments.missing import NEVER
from belated.learners.practical.experts_certificate import level
from belated.learners.practical.practical_experts import STEADY, PracticalExperts
from tests.games import records_of
from tests.theory.games import DELAYS, LOSSES
from tests.twins.practical_certificate import practical_certificate

SEEDS = range(200)


def softmin(values: Floats, rate: float) -> Floats:
    weights = np.exp(-rate * (values - values.min()))
    return np.asarray(weights / weights.sum())


def even_level(values: Floats, rate: float) -> float:
    return level(values, rate, np.full(values.size, -math.log(values.size)))


def width(values: Floats) -> float:
    """The range, max - min."""
    return float(values.max() - values.min())


def moved(q: Floats, other: Floats) -> float:
    """The total variation between two distributions."""
    return 0.5 * float(np.abs(q - other).sum())


def drawn(seed: int) -> tuple[Floats, Floats, float]:
    """Values, a change of them, and a rate, all of any size."""
    random = np.random.default_rng(seed)
    arms = int(random.integers(2, 40))
    sizes = np.exp(random.uniform(-3.0, 3.0, 3))
    values, change = sizes[0] * random.random(arms), sizes[1] * random.normal(size=arms)
    return values, change, float(sizes[2])


@pytest.mark.parametrize("seed", SEEDS[::20])
def test_the_level_falls_in_the_rate_and_lies_above_the_least(seed: int) -> None:
    """(1): min G <= Phi <= G(i) + ln K/eta for every i, and a lower rate gives a higher Phi."""
    values, _, rate = drawn(seed)
    found, above = even_level(values, rate), even_level(values, 0.5 * rate)
    assert values.min() - 1e-12 <= found <= above
    assert found <= values.min() + math.log(values.size) / rate + 1e-12


def test_a_change_lifts_the_level_by_its_mean_but_for_a_square() -> None:
    """(4): by Hoeffding's lemma; and (5): by concavity no less than its mean afterwards."""
    nearest = np.inf
    for seed in SEEDS:
        values, change, rate = drawn(seed)
        risen = even_level(values + change, rate) - even_level(values, rate)
        before, after = softmin(values, rate), softmin(values + change, rate)
        slack = risen - float(before @ change) + rate * width(change) ** 2 / 8.0
        nearest = min(nearest, slack / (rate * width(change) ** 2))
        assert slack >= -1e-9
        assert risen >= float(after @ change) - 1e-9
    assert nearest < 0.1


def test_weights_move_no_further_than_the_rate_times_the_change() -> None:
    """(6): total variation at most eta range/4; with two experts and a small change nearly so."""
    for seed in SEEDS:
        values, change, rate = drawn(seed)
        one, other = softmin(values, rate), softmin(values + change, rate)
        assert moved(one, other) <= rate * width(change) / 4.0 + 1e-12
    one, other = (softmin(np.array([x, -x]), 1.0) for x in (0.05, -0.05))
    assert moved(one, other) > 0.99 * 0.2 / 4.0


def test_a_lower_rate_moves_the_weights_by_a_logarithm() -> None:
    """(7): at most (1 + ln K)/2 ln(eta/eta'), as ln q has a deviation of at most 1 + ln K."""
    for seed in SEEDS:
        values, _, rate = drawn(seed)
        q = softmin(values, 5.0 * rate)
        held = q[q > 0.0]
        deviation = math.sqrt(float(held @ np.log(held) ** 2) - float(held @ np.log(held)) ** 2)
        assert deviation <= 1.0 + math.log(q.size)
        for lower in (0.9, 0.5, 0.01):
            apart = moved(q, softmin(values, 5.0 * rate * lower))
            assert apart <= 0.5 * (1.0 + math.log(q.size)) * -math.log(lower) + 1e-12


class Run(NamedTuple):
    """A run by round, the closing step last: revisions e[t][s], E_t, G_t, mu_t, q_t, rates, D_t."""

    revisions: list[Floats]
    steps: list[Floats]
    imputed: list[Floats]
    guesses: list[Floats]
    q: list[Floats]
    rates: list[float]
    drifts: list[float]


def analysed(losses: Floats, delays: Counts) -> Run:
    """Played by the learner; revisions from what it guessed and from what it was told when."""
    learner = PracticalExperts(losses.shape[1])
    made = [record.prediction for record in records_of(learner, losses, delays)]
    rounds = np.arange(len(losses))[:, None]
    told = np.where(delays == NEVER, len(losses), np.minimum(rounds + delays + 1, len(losses)))
    filled = [np.where(told <= t, losses, each.info.guesses) for t, each in enumerate(made)]
    filled.append(losses)
    revisions = [filled[t][:t] - filled[t - 1][:t] for t in range(1, len(filled))]
    closed = practical_certificate(learner, losses, made).steady
    return Run(
        revisions,
        [each.sum(axis=0) for each in revisions],
        [*(each.info.imputed for each in made), losses.sum(axis=0)],
        [*(each.info.guesses for each in made), np.zeros(losses.shape[1])],
        [each.info.strategies[STEADY] for each in made],
        [float(each.eta[STEADY]) for each in made],
        [*(float(each.info.steady.drift[0]) for each in made), closed.drift],
    )


@functools.cache
def some_runs() -> list[Run]:
    """Every kind of losses with every kind of delays, once."""
    runs = []
    for losses in LOSSES.values():
        for delays in DELAYS.values():
            random = np.random.default_rng(len(runs))
            rounds, arms = int(random.integers(20, 60)), int(random.integers(2, 6))
            runs.append(analysed(losses(random, rounds, arms), delays(random, rounds, arms)))
    return runs


def test_the_sums_of_the_learner_are_those_of_the_text() -> None:
    """(3): G_t - G_{t-1} = E_t + mu_t, the last step without a coming round."""
    for run in some_runs():
        for t, step in enumerate(run.steps):
            change = run.imputed[t + 1] - run.imputed[t]
            np.testing.assert_allclose(change, step + run.guesses[t + 1], rtol=0, atol=1e-9)


def test_no_drift_exceeds_what_the_hint_was_off() -> None:
    """(8), in every round of every run."""
    for run in some_runs():
        for t, (each, step) in enumerate(zip(run.revisions, run.steps, strict=True)):
            q, rate = run.q[t], run.rates[t]
            kept = float(q @ run.guesses[t])
            coming = float(softmin(run.imputed[t + 1], rate) @ run.guesses[t + 1])
            old = sum(float((run.q[s] - q) @ each[s]) for s in range(t))
            bound = kept - coming + old + rate * width(step) ** 2 / 8.0
            assert run.drifts[t + 1] - run.drifts[t] <= bound + 1e-9


def a_priori(run: Run) -> float:
    """The right-hand side of (9)."""
    arms = run.q[0].size
    off = [[width(e) for e in each] for each in run.revisions]
    steps = [width(run.imputed[u] - run.imputed[u - 1]) for u in range(1, len(run.q))]
    z = sum(width(step) ** 2 for step in run.steps) / 8.0
    z += sum(each[s] * sum(steps[s:t]) for t, each in enumerate(off) for s in range(t)) / 4.0
    pending = [
        sum(each[s] for each in off[v:] for s in range(v + 1)) for v in range(len(run.revisions))
    ]
    most, b = max(pending), max(width(step) for step in run.steps)
    h = 2.0 + b + most + 0.5 * math.log(3.0) * (1.0 + math.log(arms)) * (1.0 + most)
    c = 1.0 + 660.0 / (60.0 + max(run.drifts) / 2.0)
    return 2.0 * h + 2.0 * math.sqrt(c * math.log(arms) * z)


def test_the_largest_drift_is_within_its_bound_beforehand() -> None:
    """(9), loose as it is."""
    for run in some_runs():
        assert max(run.drifts) <= max(1 / 32, a_priori(run))


@pytest.mark.parametrize("delay", [0, 3, 10])
def test_it_grows_with_the_root_of_rounds_times_delay(delay: int) -> None:
    """(10): with one delay for all the right-hand side of (9) is of the order sqrt(T (1 + d))."""
    random = np.random.default_rng(delay)
    parts = []
    for rounds in (40, 160):
        losses = random.integers(0, 2, (rounds, 2)).astype(np.float64)
        run = analysed(losses, np.full((rounds, 2), delay))
        parts.append(a_priori(run) / math.sqrt(math.log(2) * rounds * (1 + delay)))
    assert parts[1] < parts[0]
