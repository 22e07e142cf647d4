"""Published experiments: the games are those described, and the numbers are what they say."""

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from belated.analysis.statistics import estimate
from belated.comparison.compare import compare
from belated.environments.changing_losses import ConstrainedAdversary
from belated.environments.delays import Pareto
from belated.environments.losses import Bernoulli
from belated.report.svg import svg_text
from studies.experiments import (
    EXPERIMENTS,
    Experiment,
    experiment_named,
    folded_variance,
    heavy_tails,
    mean_delay,
)
from studies.published import (
    ExperimentResult,
    from_means,
    played,
    pseudo_regrets,
    published_table,
)
from studies.published_figures import published_figure
from tests.environments.drawing import draw_delays

SHORT = {"mean-delay": 400, "heavy-tails": 1000, "constrained-adversary": 1000}


def made(experiment: Experiment, curve: Callable[[np.ndarray], np.ndarray]) -> ExperimentResult:
    """An outcome in which every learner's regret is this curve, in each of four repetitions."""
    checkpoints = np.arange(1000, 100_001, 1000)
    shape = (len(experiment.trials), len(experiment.claims), 4, checkpoints.size)
    return ExperimentResult(experiment, checkpoints, np.broadcast_to(curve(checkpoints), shape))


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_every_claim_has_its_contender_and_every_arm_its_gap(name: str) -> None:
    """Claims and contenders go together, and gaps are those of the losses."""
    experiment = experiment_named(name)
    for trial in experiment.trials:
        assert len(trial.contenders) == len(experiment.claims)
        losses = trial.environment.losses
        if isinstance(losses, ConstrainedAdversary):
            gaps = [losses.gap] * (losses.arms - 1) + [0.0]
        else:
            assert isinstance(losses, Bernoulli)
            gaps = [mean - min(losses.means) for mean in losses.means]
        assert experiment.gaps == pytest.approx(gaps)


def test_all_mean_delays_have_the_same_losses() -> None:
    """Only the delays differ from trial to trial, and their means are the ones named."""
    trials = mean_delay(5000).trials
    games = [next(iter(t.environment.blocks(np.random.SeedSequence(1)))) for t in trials]
    for trial, game in zip(trials, games, strict=True):
        assert np.array_equal(game.losses, games[0].losses)
        if trial.mean_delay:
            assert game.delays.mean() == pytest.approx(trial.mean_delay - 0.5, abs=0.7)
    assert games[0].delays.mean() == pytest.approx(10.0 * math.sqrt(2.0 / math.pi) - 0.5, abs=0.5)


@pytest.mark.parametrize("mean", [0.0, 7.0, 100.0])
def test_the_variance_of_folded_delays(mean: float) -> None:
    """The formula is the variance of many drawn numbers."""
    numbers = np.abs(mean + 10.0 * np.random.default_rng(1).standard_normal(400_000))
    assert folded_variance(mean, 10.0) == pytest.approx(float(numbers.var()), rel=0.02)


def test_the_law_told_to_d_ucb_is_that_of_the_delays_it_believes_in() -> None:
    """P(delay <= x) of Pareto delays with index 0.7."""
    law = heavy_tails().trials[0].contenders[1].options["delay_law"]
    delays = draw_delays(Pareto(0.7), np.zeros((50_000, 2)))
    for x in (0, 1, 5, 50, 1000, 4095):
        assert law[x] == pytest.approx(float((delays <= x).mean()), abs=0.008)


def test_a_ratio_of_means_and_its_interval() -> None:
    """By hand for two repetitions, and for a fixed divisor the interval of a mean."""
    value, width = from_means(np.divide, np.array([2.0, 4.0]), np.array([1.0, 1.0]))
    assert value == 3.0
    assert width == pytest.approx(12.7062, rel=1e-4)  # the error is 1, Student's quantile this
    late = np.random.default_rng(1).random(9)
    value, width = from_means(np.divide, late, np.full(9, 2.0))
    own = estimate(late / 2.0)
    assert (value, width) == pytest.approx((float(own.mean), float(own.half_width)))
    assert math.isnan(from_means(np.divide, late[:1], late[:1])[1])


@pytest.mark.parametrize("exponent", [0.3, 1.0])
def test_the_exponent_of_a_power_is_found(exponent: float) -> None:
    """Regret c T^e has the exponent e, and no doubt about it if all repetitions agree."""
    outcome = made(heavy_tails(), lambda t: 7.0 * t**exponent)
    assert outcome.found(0) == pytest.approx((exponent, 0.0))


def test_the_exponent_looks_back_a_factor_of_ten() -> None:
    """For a logarithm it is the logarithm to base 10 of ln T / ln(T/10)."""
    outcome = made(heavy_tails(), lambda t: np.log(t))
    assert outcome.found(2)[0] == pytest.approx(math.log10(5.0 / 4.0))


def test_pseudo_regret_counts_gaps() -> None:
    """Uniform play has half the gap in every round, whatever the losses are."""
    trial = heavy_tails(300).trials[0]
    comparison = compare(["uniform"], trial.environment, 2, workers=1)
    found = pseudo_regrets(comparison, (0.2, 0.0))
    assert found.shape == (1, 2, comparison.checkpoints.size)
    assert found[0, 1] == pytest.approx(0.1 * comparison.checkpoints)


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_an_experiment_is_played_shown_and_drawn(name: str) -> None:
    """A row for each learner in each trial, published words with the last, and a figure."""
    experiment = experiment_named(f"{name}:rounds={SHORT[name]}")
    told: list[tuple[int, int]] = []
    outcome = played(replace(experiment, games=2), 1, 1, 1, lambda *both: told.append(both))
    rows = list(published_table([outcome]))
    assert len(rows) == len(experiment.trials) * len(experiment.claims)
    assert all(row["rounds"] == SHORT[name] and row["repetitions"] == 2 for row in rows)
    last = rows[-len(experiment.claims) :]
    assert [row["published"] for row in last] == [claim.published for claim in experiment.claims]
    assert not any(row["published"] for row in rows[: -len(experiment.claims)])
    assert told[-1][0] == told[-1][1]
    assert [done for done, _ in told] == sorted(done for done, _ in told)
    assert "<svg" in svg_text(published_figure(outcome))
    if experiment.measure == "ratio":
        assert all(row["found"] == 1.0 for row in rows[: len(experiment.claims)])


def test_one_repetition_is_drawn_without_intervals() -> None:
    """What is unknown is left out of the figure."""
    outcome = made(mean_delay(), lambda t: t**0.5)
    alone = replace(outcome, regrets=outcome.regrets[:, :, :1])
    assert math.isnan(alone.found(0)[1])
    assert "<svg" in svg_text(published_figure(alone))


def test_more_delay_costs_odaaf_more_than_qpm_d() -> None:
    """At full length the mean delay multiplies the regret of ODAAF, and hardly that of QPM-D."""
    experiment = mean_delay()
    ends = (experiment.trials[0], experiment.trials[-1])
    outcome = played(replace(experiment, trials=ends, games=2), 1, 1, 1)
    ratios = {c.learner: outcome.found(k)[0] for k, c in enumerate(experiment.claims)}
    assert ratios["QPM-D"] < 2.0
    assert ratios["ODAAF-V, told mu, sigma^2"] < 2.0
    assert ratios["ODAAF, told true mean"] > 3.0
    assert ratios["ODAAF, told mu"] > ratios["ODAAF, told true mean"]


def test_d_ucb_with_the_wrong_law_never_learns() -> None:
    """Its regret grows as the rounds do, that of PatientBandits much more slowly."""
    outcome = played(heavy_tails(20_000), 1, 1, 1)
    exponents = [outcome.found(k)[0] for k in range(4)]
    assert exponents[0] > 0.9
    assert exponents[2] < 0.7
    assert outcome.regrets[0, 0, :, -1].mean() > 3.0 * outcome.regrets[0, 2, :, -1].mean()


def test_jumping_means_mislead_what_was_made_for_fixed_ones() -> None:
    """UCB1 ends far above Tsallis-INF."""
    outcome = played(experiment_named("constrained-adversary:rounds=20000"), 2, 1, 1)
    ucb1, _, tsallis = outcome.regrets[0, :, :, -1].mean(axis=1)
    assert ucb1 > 2.0 * tsallis
    assert outcome.found(0)[0] > outcome.found(2)[0] + 0.2


def test_an_interrupt_ends_the_experiment() -> None:
    """Trials that are not complete would make wrong ratios."""

    def interrupt(done: int, total: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        played(mean_delay(400), 1, 1, 1, interrupt)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (
            "heavy-tail",
            "experiment is 'heavy-tail'; it must be one of mean-delay, heavy-tails, "
            "constrained-adversary; did you mean 'heavy-tails'?",
        ),
        ("mean-delay:spread=3", "mean-delay has no option 'spread'; it has rounds"),
        ("heavy-tails:rounds=99", "rounds is 99; it must be a whole number from 100 to "),
    ],
)
def test_bad_names_get_one_sentence(text: str, sentence: str) -> None:
    """The value and the rule."""
    with pytest.raises(ValueError) as error:
        experiment_named(text)
    assert str(error.value).startswith(sentence)
