"""The registry of scenarios, and every scenario in it."""

import math
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from belated.environments import ads
from belated.environments import clinical_trial as trial
from belated.environments.missing import NEVER
from belated.environments.scenarios import Scenario, scenario, scenarios
from tests.environments.drawing import draw_delays, draw_losses
from tests.environments.games import drawn

DOCUMENT = Path(__file__).parents[2] / "docs" / "scenarios.md"
NAMES = [
    "late-best", "late-worst", "mixed-delays", "switching", "reversing", "heavy-tails",
    "packet-loss", "unbalanced", "growing-late", "first-order", "constrained-adversary",
    "rotating-leaders", "drifting", "block-constant", "gains", "contexts", "late-silence",
    "many-arms", "limit-orders", "limit-orders-falling", "network-width",
    "which-learner", "clinical-trial", "ads",
    "visitors", "conversions", "lossy-visitors", "late-complaints", "crossed-visitors",
    "idle-contexts", "redrawn", "late-segments", "heavy-conversions", "twenty-arms",
    "classes", "purchases",
]  # fmt: skip


def test_the_registry_holds_every_scenario() -> None:
    """Every scenario is registered, and none of them twice."""
    assert [each.name for each in scenarios()] == NAMES


@pytest.mark.parametrize("each", scenarios(), ids=lambda each: each.name)
def test_every_scenario_builds(each: Scenario) -> None:
    """With default options: losses in [0, 1], valid delays, one label per arm."""
    assert each.available, each.why_not
    environment = each.environment()
    assert (each.rounds, each.arms) == (environment.rounds, environment.arms)
    block = next(environment.blocks(np.random.SeedSequence(1)))
    shape = (block.span.count, environment.arms)
    assert block.losses.shape == block.delays.shape == shape
    assert ((block.losses >= 0.0) & (block.losses <= 1.0)).all()
    assert ((block.delays >= 0) | (block.delays == NEVER)).all()
    assert len(set(environment.labels)) == environment.arms
    assert environment.name == each.name
    assert environment.shows == each.shows
    if environment.prior is not None:
        assert sum(environment.prior) == pytest.approx(1.0, abs=1e-12)


@pytest.mark.parametrize("each", scenarios(), ids=lambda each: each.name)
def test_every_scenario_is_described(each: Scenario) -> None:
    """`shows` is one sentence, and the document has a row with all options."""
    assert re.fullmatch(r"[A-Z][^.!?]*(\d\.\d[^.!?]*)*\.", each.shows)
    row = re.search(rf"^\| `{each.name}` \|.*$", DOCUMENT.read_text(), re.MULTILINE)
    assert row, each.name
    assert each.shows in row[0]
    for name, default in each.options.items():
        shown = "all" if default is None else default
        assert f"`{name}={shown}`" in row[0], name


@pytest.mark.parametrize("name", ["late-best", "drifting", "ads", "clinical-trial"])
def test_a_seed_gives_the_same_game_again(name: str) -> None:
    """One seed always gives the same game, and another seed another game."""
    environment = scenario(name, rounds=50)
    again, other = drawn(environment, 1), drawn(environment, 2)
    assert all(map(np.array_equal, drawn(environment, 1), again))
    assert not np.array_equal(drawn(environment, 1)[0], other[0])
    assert environment.random


def test_options_change_the_game() -> None:
    """Options that are whole numbers, fractions and text reach the scenario."""
    environment = scenario("late-best", rounds=1e3, arms=3, gap=0, delay=7)
    losses, delays = drawn(environment)
    assert losses.shape == (1000, 3)
    assert (delays == [7, 0, 0]).all()
    assert environment.labels == ("late best", "prompt good", "prompt bad 1")
    assert scenario("limit-orders", ticker="goog").rounds == 2088
    assert scenario("limit-orders", start="2012-01-01", end="2012-02-01").rounds == 21


@pytest.mark.parametrize(
    ("name", "options", "sentence"),
    [
        ("late-bset", {}, r"^scenario is 'late-bset'; .* many-arms.*; did you mean 'late-best'\?$"),
        ("zzz", {}, r"^scenario is 'zzz'; it must be one of late-best, .* purchases$"),
        (
            "late-best",
            {"dealy": 3},
            r"^late-best has no option 'dealy'; it has rounds, .*; did you mean 'delay'\?$",
        ),
        ("late-best", {"gap": "wide"}, "^gap is 'wide'; it must be a number$"),
        ("late-best", {"gap": math.nan}, "^gap is nan; it must be finite$"),
        ("late-best", {"gap": 0.9}, "mean of arm 2 is 1.2; it must be in"),
        ("late-best", {"arms": 1}, "^arms is 1; it must be a whole number from 2 to"),
        ("late-best", {"delay": 2.5}, "^delay is 2.5; it must be a whole number of at least 0$"),
        ("late-best", {"rounds": 0}, "^rounds is 0; it must be a whole number from 1 to"),
        ("packet-loss", {"arms": 0}, "^arms is 0; it must be a whole number from 1 to"),
        ("drifting", {"arms": 0}, "^arms is 0; it must be a whole number from 1 to"),
        ("many-arms", {"arms": 0}, "^arms is 0; it must be a whole number from 1 to"),
        ("late-silence", {"kappa": -1}, r"^kappa is -1.0; it must be in \[0, 700\]$"),
        ("late-silence", {"most": 0}, "^most is 0; it must be a whole number of at least 1$"),
        ("limit-orders", {"ticker": "XXX"}, "^ticker is 'XXX'; .* AAPL, FB, GOOG, IBM, MSFT$"),
        ("limit-orders", {"start": 2000}, "^start is '2000'; it must be a date like 2007-10-09$"),
        ("limit-orders", {"end": "1999-01-01"}, "^from 2000-03-01 to 1999-01-01 IBM has no day"),
        ("limit-orders", {"days": 0}, "^days is 0; it must be a whole number from 1 to 3269$"),
        ("limit-orders", {"rounds": 9999}, "^rounds is 9999; .* from 1 to 3210$"),
        ("which-learner", {"seconds": 0}, "^seconds is 0.0; it must be above 0$"),
        ("ads", {"clicks_per_hour": 0}, "^clicks_per_hour is 0.0; it must be in"),
    ],
)
def test_bad_names_and_options(name: str, options: dict[str, float], sentence: str) -> None:
    """The error message names the value and the rule."""
    with pytest.raises(ValueError, match=sentence):
        scenario(name, **options)


def test_listing_scenarios_needs_nothing_heavy() -> None:
    """Listing imports neither numba nor the packages that some data comes from."""
    code = (
        "import sys; from belated.environments.scenarios import scenarios;"
        "assert all(each.arms for each in scenarios());"
        "print({'numba', 'pandas', 'lifelines', 'pyarrow', 'sklearn', 'river'} & set(sys.modules))"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "set()"


def test_a_scenario_without_its_data_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without lifelines the clinical trial is listed, but not available."""
    monkeypatch.setattr(trial, "find_spec", lambda name: None)
    trial.read_patients.cache_clear()
    known = trial.clinical_trial
    unbuilt = Scenario(known.name, known.shows, known.parts, known.real)
    assert not unbuilt.available
    assert unbuilt.why_not is not None
    assert unbuilt.why_not.endswith("which is not installed: pip install lifelines")
    assert unbuilt.rounds is None
    assert unbuilt.arms is None


def test_nobody_learns_from_constant_blocks() -> None:
    """On block-constant the expected regret is 56.1269 with the default options."""
    environment = scenario("block-constant")
    regrets = []
    for seed in range(2000):
        losses, delays = drawn(environment, seed)
        assert (delays == 19).all()
        regrets.append(300.0 - losses.sum(axis=0).min())
    error = np.std(regrets) / math.sqrt(len(regrets))
    assert abs(np.mean(regrets) - 56.1269) < 4.0 * error < 4.0


def test_late_silence_is_the_game_of_the_errata() -> None:
    """Both arms have loss 1 until the first turns good; its first zeros never arrive."""
    environment = scenario("late-silence", first=20_000, second=300, most=16, kappa=2.0)
    losses, delays = drawn(environment)
    assert (losses[:20_000] == 1.0).all()
    assert (losses[20_000:] == [0.0, 1.0]).all()
    silent = np.argwhere(delays == NEVER)
    assert silent.tolist() == [[20_000 + n, 0] for n in range(15)]
    assert delays[delays != NEVER].max() == 0
    assert environment.prior == pytest.approx((math.exp(-2.0), 1.0 - math.exp(-2.0)))


def test_one_arm_of_many_is_good() -> None:
    """Arm 1 has loss 0 and all others loss 1, without delay."""
    block = next(scenario("many-arms").blocks(np.random.SeedSequence(1)))
    assert (block.losses[:, 0] == 0.0).all()
    assert (block.losses[:, 1:] == 1.0).all()
    assert (block.delays == 0).all()


def test_impatience_prefers_the_worse_arm_under_heavy_tails() -> None:
    """Successes known within a few dozen rounds favour the worse arm, all successes the better."""
    losses, delays = drawn(scenario("heavy-tails"))
    successes = losses == 0.0
    worse, better = (successes & (delays < 36)).mean(axis=0)
    assert worse > better + 0.02
    worse, better = successes.mean(axis=0)
    assert worse < better - 0.15


def test_hours_to_a_sale_meet_their_quantiles() -> None:
    """Median and 90 % quantile are those given; the means, not used, are right within a fifth."""
    levels = np.repeat(np.linspace(0.0, 1.0, 100_001)[:, None], len(ads.MEDIANS), axis=1)
    hours = ads.hours_to_sale(levels)
    np.testing.assert_allclose(np.median(hours, axis=0), ads.MEDIANS, rtol=1e-9)
    np.testing.assert_allclose(np.quantile(hours, 0.9, axis=0), ads.NINE_IN_TEN, rtol=1e-9)
    np.testing.assert_allclose(hours.mean(axis=0), [31, 60, 85, 95, 114, 111, 107, 109], rtol=0.2)
    assert hours.max() <= ads.WINDOW


def test_the_best_ad_looks_worst_after_a_day() -> None:
    """A click with a sale is known at the sale, a click without one only after 30 days."""
    environment = scenario("ads", rounds=100_000, clicks_per_hour=10)
    losses, delays = drawn(environment)
    sold = losses == 0.0
    assert (delays[~sold] == 7200).all()
    assert delays[sold].max() <= 7200
    assert (sold & (delays < 240)).mean(axis=0).argmin() == 7
    assert sold.mean(axis=0).argmax() == 7
    np.testing.assert_allclose(sold.mean(axis=0), ads.SALES, atol=0.005)


@pytest.mark.parametrize("name", ["ads", "clinical-trial", "late-silence"])
def test_the_game_does_not_depend_on_how_it_is_cut(name: str) -> None:
    """Spans of any sizes give the same losses and delays."""
    environment = scenario(name)
    rounds = min(environment.rounds, 21_000)
    losses = draw_losses(environment.losses, rounds)
    delays = draw_delays(environment.delays, losses)
    sizes = (1, 700, 3)
    assert np.array_equal(draw_losses(environment.losses, rounds, sizes=sizes), losses)
    assert np.array_equal(draw_delays(environment.delays, losses, sizes=sizes), delays)
