"""The model of delayed conversions: its derivatives, and what it finds in logs that were made."""

import math
from typing import Any

import numpy as np
import pytest

import belated
from belated.arrays import Floats
from belated.evaluation import page
from belated.evaluation.conversions import (
    ConversionRecord,
    Point,
    conversions,
    conversions_in,
    conversions_of,
    fitted,
    record_of,
)
from belated.evaluation.logs.journal import Journal

RATES, DELAYS = (0.3, 0.1), (30.0, 200.0)
POINTS = [Point(-2.0, -3.0), Point(0.5, -5.0), Point(-6.0, 0.0), Point(4.0, -7.0)]


def made_log(seed: int, decisions: int = 4000, length: float = 500.0) -> Journal:
    """Two arms that convert as RATES and DELAYS say, over a log of so many rounds."""
    random = np.random.default_rng(seed)
    chosen = random.integers(0, 2, decisions)
    played = np.sort(random.random(decisions)) * length
    delays = random.exponential(np.array(DELAYS)[chosen])
    comes = (random.random(decisions) < np.array(RATES)[chosen]) & (played + delays <= length)
    return Journal(
        arms=("quick", "slow"),
        chosen=chosen,
        probability=np.full(decisions, 0.5),
        rewards=np.where(comes, 1.0, np.nan),
        played=played,
        delays=np.where(comes, delays, np.nan),
        end=length,
        weights=np.ones(decisions),
    )


def some_record() -> ConversionRecord:
    """Conversions, refusals, and silent decisions of all ages, some of which count twice."""
    random = np.random.default_rng(3)
    ages = random.random(40) * 300.0
    return ConversionRecord(12.0, 400.0, 5.0, ages, random.choice([1.0, 2.0], 40))


def numerical(function: Any, at: Point) -> Floats:
    """Central differences by both parameters."""
    step = 1e-5
    rows = [
        (
            np.array(function(Point(*(np.array(at) + move))))
            - function(Point(*(np.array(at) - move)))
        )
        / (2.0 * step)
        for move in step * np.eye(2)
    ]
    return np.array(rows)


@pytest.mark.parametrize("at", POINTS)
def test_derivatives_are_those_of_the_likelihood(at: Point) -> None:
    """First and second ones, against differences."""
    record = some_record()
    slope = numerical(record.likelihood, at)
    np.testing.assert_allclose(record.gradient(at), slope, rtol=1e-6, atol=1e-5)
    bend = -numerical(record.gradient, at)
    np.testing.assert_allclose(record.information(at), bend, rtol=1e-6, atol=1e-5)


@pytest.mark.parametrize("at", POINTS[:2])
def test_the_likelihood_is_that_of_the_text(at: Point) -> None:
    """Term by term."""
    record, p, rate = some_record(), 1.0 / (1.0 + math.exp(-at.theta)), math.exp(at.log_rate)
    terms = [12.0 * (math.log(p) + math.log(rate)) - rate * 400.0, 5.0 * math.log(1.0 - p)]
    for age, weight in zip(record.ages, record.weights, strict=True):
        terms.append(weight * math.log(1.0 - p + p * math.exp(-rate * age)))
    assert record.likelihood(at) == pytest.approx(math.fsum(terms), rel=1e-12)


def test_the_fit_is_a_maximum() -> None:
    """Flat there, and lower around it; and from other starts nothing is higher."""
    record = record_of(made_log(1), 1, 0.0)
    best = fitted(record)
    assert np.abs(record.gradient(best)).max() <= 1e-9 * record.decisions
    highest = record.likelihood(best)
    for theta in np.linspace(-6.0, 6.0, 25):
        for log_rate in np.linspace(-9.0, 0.0, 25):
            assert record.likelihood(Point(float(theta), float(log_rate))) <= highest + 1e-9


def test_rates_and_delays_are_found_again() -> None:
    """The slow arm's told share is far too low; the fit is not, and its errors are right."""
    found = [conversions_of(made_log(seed), 0.0) for seed in range(160)]
    for arm in range(2):
        rates = np.array([each[arm].rate for each in found])
        delays = np.array([each[arm].mean_delay for each in found])
        rate_errors = np.array([each[arm].rate_error for each in found])
        delay_errors = np.array([each[arm].delay_error for each in found])
        for values, errors, truth in (
            (rates, rate_errors, RATES[arm]),
            (delays, delay_errors, DELAYS[arm]),
        ):
            assert abs(values.mean() - truth) < 4.0 * values.std() / math.sqrt(160) + 0.03 * truth
            assert (np.abs(values - truth) < 2.0 * errors).mean() > 0.8
            assert 0.75 < values.std() / np.median(errors) < 1.3
    told = np.mean([each[1].told_share for each in found])
    assert told < 0.75 * RATES[1]


def test_a_default_that_is_told_is_no_conversion() -> None:
    """Told refusals and conversions with nobody silent: the shares themselves."""
    rows = [
        {"arm": "a", "probability": 0.5, "round": t + 1, "delay": t % 7, "loss": float(t % 4 > 0)}
        for t in range(40)
    ]
    (found,) = conversions(rows, now=100)
    assert found.decisions == 40
    assert found.told == 10
    assert found.rate == pytest.approx(0.25, abs=1e-9)
    assert found.rate_error == pytest.approx(math.sqrt(0.25 * 0.75 / 40), rel=1e-6)
    delays = [t % 7 for t in range(40) if t % 4 == 0]
    assert found.mean_delay == pytest.approx(np.mean(delays), rel=1e-9)
    assert found.delay_error == pytest.approx(np.mean(delays) / math.sqrt(10), rel=1e-6)
    (other,) = conversions(rows, default_loss=0.0, now=100)
    assert other.told == 30


def test_arms_of_which_a_log_cannot_say_much() -> None:
    """Nothing converted: nothing is known. At once or everybody: nobody is late."""
    still = ConversionRecord(0.0, 0.0, 0.0, np.ones(5), np.ones(5))
    at_once = ConversionRecord(2.0, 0.0, 0.0, np.ones(6), np.ones(6))
    assert math.isnan(conversions_in("a", still).rate)
    found = conversions_in("a", at_once)
    assert (found.rate, found.mean_delay) == (0.25, 0.0)
    everybody = conversions_in("a", ConversionRecord(4.0, 8.0, 0.0, np.zeros(0), np.zeros(0)))
    assert (everybody.rate, everybody.mean_delay) == (1.0, 2.0)
    young = ConversionRecord(30.0, 45.0, 0.0, np.full(10, 3.0), np.ones(10))
    guess = conversions_in("a", young)
    assert 0.0 < guess.rate <= 1.0
    assert math.isfinite(guess.mean_delay)


def test_a_log_without_times_is_refused() -> None:
    rows = [{"arm": "a", "probability": 0.5, "loss": 1.0}, {"arm": "a", "probability": 0.5}]
    with pytest.raises(ValueError, match="the log has no times of outcomes"):
        conversions(rows)


def test_the_page_shows_them_where_silence_is_the_default(monkeypatch: pytest.MonkeyPatch) -> None:
    """And nowhere else."""
    monkeypatch.setattr(page, "_figures", lambda found: "")
    log = made_log(2, decisions=600)
    shown = belated.evaluate(log, {"u": "uniform"}, silence="default", default_loss=1.0, draws=10)
    text = page.evaluation_html(shown)
    assert 'id="conversions"' in text
    assert "The model of delayed conversions" in text
    other = belated.evaluate(log, {"u": "uniform"}, silence="missing", draws=10)
    assert 'id="conversions"' not in page.evaluation_html(other)
