"""What families say of their worlds, seen in their losses and delays."""

import re

import numpy as np
import pytest

from belated.arrays import Floats
from belated.environments.missing import NEVER
from tests.worlds.games import Drawn, some


def number(text: str, line: str) -> float:
    """The number that the line of a world has in this place."""
    found = re.search(text, line)
    assert found, line
    return float(found[1])


def arrivals(found: Drawn) -> np.ndarray:
    """The rounds in which losses arrive, of those that do."""
    return (found.rounds + found.delays)[found.delays != NEVER]


def late(found: Drawn) -> Floats:
    """The median delay of each arm."""
    return np.median(found.delays, axis=0)


def best_arm(found: Drawn) -> int:
    """The arm of the smallest total loss."""
    return int(found.losses.sum(axis=0).argmin())


def test_narrow_losses_are_narrow_and_coins_are_coins() -> None:
    """By the spread of an arm's losses, and by their values."""
    for found in some("narrow"):
        spread = number(r"spread ([\d.]+)", found.world.line)
        assert np.allclose(found.losses.std(axis=0), spread, rtol=0.2)
    for found in some("coins"):
        assert set(np.unique(found.losses)) == {0.0, 1.0}


def test_many_arms_have_few_rounds_each() -> None:
    """From 30 arms on, and at most 60 rounds for each."""
    for found in some("many-arms"):
        rounds, arms = found.losses.shape
        assert arms >= 30
        assert rounds <= 61 * arms


def test_conversions_are_rare_and_silence_is_as_declared() -> None:
    """Failures never report; where it is declared, learners are told."""
    for family, default in (("conversions-declared", 1.0), ("conversions-silent", None)):
        for found in some(family):
            assert 0.004 < 1.0 - found.losses.mean() < 0.055
            assert (found.delays[found.losses == 1.0] == NEVER).all()
            assert (found.delays[found.losses == 0.0] != NEVER).all()
            assert found.world.environment.default_loss == default
    for found in some("complaints", 6):
        assert (found.delays[found.losses == 0.0] == NEVER).all()
        declared = "declared" in found.world.line
        assert found.world.environment.default_loss == (0.0 if declared else None)


def test_windows_end_with_a_failure() -> None:
    """Failures come when the window ends, sales not later."""
    for family in ("conversions-expiring", "slow-sales"):
        for found in some(family):
            window = number(r"after (\d+) rounds", found.world.line)
            assert (found.delays[found.losses == 1.0] == window).all()
            assert (found.delays[found.losses == 0.0] <= window).all()


def test_failures_can_be_later_than_conversions() -> None:
    """conversions-late: both report, each in its own time; so do sales and their absence."""
    for family in ("conversions-late", "revenue"):
        for found in some(family):
            sold = found.losses < 1.0
            assert (found.delays != NEVER).all()
            times = np.log1p(found.delays)
            assert abs(times[sold].mean() - times[~sold].mean()) > 0.1


def test_slow_arms_are_good_or_bad_as_said() -> None:
    """The best arm is the slowest, or the fastest, or neither."""
    for found in some("slow-good"):
        assert late(found)[best_arm(found)] == late(found).max()
    for found in some("slow-bad"):
        assert late(found)[best_arm(found)] == late(found).min()
    places = [(late(each) < late(each)[best_arm(each)]).mean() for each in some("slow-any", 8)]
    assert min(places) < 0.3
    assert max(places) > 0.6
    for found in some("slow-sales"):
        sold = np.nanmedian(np.where(found.losses < 1.0, found.delays, np.nan), axis=0)
        assert sold[best_arm(found)] == sold.max()


def test_heavy_tails_reach_beyond_the_game() -> None:
    """Some losses come after the end, and yet most come soon."""
    for found in some("heavy-tails"):
        assert (found.rounds + found.delays >= len(found.losses)).mean() > 0.01
        assert np.median(found.delays) < 10


def test_news_comes_by_outcome() -> None:
    """by-outcome: one kind is later in the median."""
    for found in some("by-outcome"):
        good, bad = (np.median(found.delays[found.losses == x]) for x in (0.0, 1.0))
        assert max(good, bad) > 1.2 * min(good, bad)


def test_nights_and_outages_hold_news_back() -> None:
    """nightly: all news at the end of days. outages: none in their middle."""
    for found in some("nightly"):
        day = int(number(r"days of (\d+) rounds", found.world.line))
        assert (arrivals(found) % day == day - 1).all()
    for found in some("outages"):
        pause, every = map(int, re.search(r"of (\d+) in every (\d+)", found.world.line).groups())  # type: ignore[union-attr]
        place = arrivals(found) % every
        assert ((place < every - pause) | (place == every - 1)).all()


def test_reports_get_lost() -> None:
    """At random, by arm, and by outcome, as often as said."""
    for found in some("lost-at-random"):
        share = number(r"(\d+)% of the reports", found.world.line) / 100.0
        assert abs((found.delays == NEVER).mean() - share) < 0.03
    for found in some("lost-by-arm"):
        lost = (found.delays == NEVER).mean(axis=0)
        assert np.ptp(lost) > 0.1
    for found in some("lost-by-outcome"):
        for outcome in (0, 1):
            share = number(rf"(\d+)% of the losses of {outcome}", found.world.line) / 100.0
            lost = (found.delays[found.losses == outcome] == NEVER).mean()
            assert abs(lost - share) < 0.03


def test_delays_grow() -> None:
    """growing-late: none at first, and long ones at the end."""
    for found in some("growing-late"):
        assert (found.delays[: len(found.delays) // 25] == 0).all()
        assert found.delays[-1].min() == number(r"growing to (\d+)", found.world.line)


@pytest.mark.parametrize("family", ["seasons", "weather"])
def test_all_arms_share_a_level(family: str) -> None:
    """The means of two halves of the arms go up and down together, beyond what chance does."""
    for found in some(family, 4):
        period = number(r"(?:in|about) ([\d.]+) rounds(?:;|$)", found.world.line)
        stretch = max(1, int(period / 4))
        rounds = len(found.losses) // stretch * stretch
        means = found.losses[:rounds].reshape(-1, stretch, found.losses.shape[1]).mean(axis=1)
        together = np.corrcoef(means.T)[np.triu_indices(means.shape[1], 1)]
        assert together.mean() > 0.1, found.world.line


def test_seasons_come_again() -> None:
    """The level is that of the hour: higher in the first half of each period, for every arm."""
    for found in some("seasons"):
        swing = number(r"up and down by ([\d.]+)", found.world.line)
        period = number(r"in ([\d.]+) rounds;", found.world.line)
        first = np.sin(2.0 * np.pi * found.rounds[:, 0] / period) > 0.0
        higher = found.losses[first].mean(axis=0) - found.losses[~first].mean(axis=0)
        assert (higher > swing).all()  # 4/pi of it on average


def test_losses_stay_for_a_while() -> None:
    """autocorrelated: neighbours are alike, as much as said."""
    for found in some("autocorrelated"):
        lasting = number(r"kept for ([\d.]+) rounds", found.world.line)
        same = (found.losses[1:] == found.losses[:-1]).mean()
        assert same >= 1.0 - 1.0 / lasting - 0.02


def means_between(found: Drawn, start: float, end: float) -> Floats:
    """The mean loss of each arm in a part of the game."""
    rounds = len(found.losses)
    part: Floats = found.losses[int(start * rounds) : int(end * rounds)].mean(axis=0)
    return part


def test_an_arm_emerges_and_an_arm_fades() -> None:
    """The emerging one is bad at first, the best at last, and the best in total."""
    for found in some("emerging", 5):
        arm = int(means_between(found, 0.8, 1.0).argmin())
        turn = number(r"from round (\d+)", found.world.line) / len(found.losses)
        before = means_between(found, 0.0, turn)
        assert before[arm] > np.delete(before, arm).min()
        assert best_arm(found) == arm
    for found in some("fading", 5):
        turn = number(r"from round (\d+)", found.world.line) / len(found.losses)
        best = int(means_between(found, 0.0, turn).argmin())
        after = means_between(found, min(turn + 0.2, 0.95), 1.0)
        assert after[best] > np.delete(after, best).min()


def test_leaders_change() -> None:
    """swaps, drift, rotating, blocks: some part of the game has another best arm than another."""
    for family in ("swaps", "drift", "rotating", "blocks"):
        changed = []
        for found in some(family, 5):
            parts = [means_between(found, k / 20, (k + 1) / 20).argmin() for k in range(20)]
            changed.append(len(set(parts)) > 1)
        assert all(changed), family


def test_the_bait_is_bad_when_it_is_heard_of() -> None:
    """Its first loss arrives in the round in which it turns."""
    for found in some("bait"):
        turn = int(number(r"in round (\d+)", found.world.line))
        arm = int(found.losses[:turn].mean(axis=0).argmin())
        assert found.losses[:turn, arm].max() == 0.0
        assert found.losses[turn:, arm].mean() > 0.9
        assert found.delays[0, arm] == turn


def test_what_is_known_of_reversing_arms_is_the_opposite() -> None:
    """A loss arrives when its arm has just turned."""
    for found in some("reversing"):
        every = int(number(r"every (\d+) rounds", found.world.line))
        assert (found.delays == every - 1).all()
        first, second = (found.losses[k * every : (k + 1) * every, :2].mean(axis=0) for k in (0, 1))
        assert (first[0] - first[1]) * (second[0] - second[1]) < 0.0


def test_levels_jump() -> None:
    """jumping-levels: phases near 0 and near 1."""
    for found in some("jumping-levels"):
        means = found.losses.mean(axis=1)
        assert means.min() < 0.3
        assert means.max() > 0.7


def test_recorded_worlds_are_measured_numbers() -> None:
    """limit-orders, network-width and which-learner: nothing about them is random."""
    for family in ("limit-orders", "network-width", "which-learner"):
        for found in some(family):
            assert not found.world.environment.random
            assert len(np.unique(found.losses)) > 50
            assert found.delays.max() > 0
