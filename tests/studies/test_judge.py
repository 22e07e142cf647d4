"""The judgement: who takes part, what is left out of the practical bandit, and what is found."""

from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from belated.comparison.contenders import Contender
from belated.learners.driver import Driver
from belated.learners.practical.practical_bandit import PracticalBandit, narrowness
from belated.learners.practical.silence import has_meaning
from belated.learners.registry import registered
from belated.types import Setting
from belated.worlds.named_worlds import world
from belated.worlds.world_compare import compare
from belated.worlds.world_result import WorldComparison, WorldRuns
from studies import judge
from studies.__main__ import main
from studies.judge import (
    OWN,
    PARTS,
    REFERENCE,
    WithoutNarrowness,
    WithoutSilence,
    family_table,
    judged,
    kinds,
    parts_table,
    read_runs,
    runs_table,
    targets,
)
from tests.cli.commands import complaint_in

LABELS = (REFERENCE, OWN, "leading-arm", *(part.label for part in PARTS))


def made_up(own: float, rival: float, part: float) -> WorldComparison:
    """Two games in each of four worlds, in which Thompson sampling has a share of 30."""
    regrets = np.array([30.0, own, rival, *(part for _ in PARTS)])
    names = ("coins/1", "coins/2", "drift/1", "drift/2")
    runs = [
        WorldRuns(world(name), np.full(2, 100.0), np.outer(regrets + k, [1.0, 1.0]))
        for k, name in enumerate(names)
    ]
    return WorldComparison(LABELS, tuple(runs), len(runs))


def test_every_bandit_takes_part_under_a_label_of_its_own() -> None:
    """Uniform play is the unit; Thompson sampling is the first, with whom all are compared."""
    labels = [each.label for each in judged()]
    bandits = {n for n, k in registered().items() if k.setting is not Setting.FULL_INFORMATION}
    assert bandits - {"uniform"} <= set(labels)
    assert len(set(labels)) == len(labels)
    assert labels[:2] == [REFERENCE, OWN]
    assert registered()[OWN] is PracticalBandit


@pytest.mark.parametrize("default_loss", [None, 0.25])
def test_without_silence_it_never_has_a_meaning(default_loss: float | None) -> None:
    """Neither where it is declared, nor where all reports are alike; so it stays certified."""
    for kind in (PracticalBandit, WithoutSilence):
        driver = Driver(kind(2, default_loss=default_loss))
        for t in range(60):
            play = driver.play(t % 2)[0]
            if t % 3 == 0:
                driver.tell(play, t % 2, 0.0)
        assert has_meaning(driver.state.silence) == (kind is PracticalBandit)
        assert driver.state.options.certified[0] == (kind is WithoutSilence or default_loss is None)


def test_without_narrowness_all_losses_vary_like_coins() -> None:
    """Losses of 0.4 to 0.6 are narrow."""
    for kind, narrow in ((PracticalBandit, True), (WithoutNarrowness, False)):
        driver = Driver(kind(2))
        for t in range(60):
            driver.tell(driver.play(t % 2)[0], t % 2, 0.4 + 0.1 * (t % 3))
        assert (narrowness(driver.state.variance) < 0.3) == narrow
        assert narrow or narrowness(driver.state.variance) == 1.0


def test_what_was_kept_gives_the_same_tables(tmp_path: Path) -> None:
    """Up to the digits that are kept."""
    result = compare([REFERENCE, OWN, *PARTS], ["few-rounds/3", "coins/4"], games=2, workers=1)
    path = tmp_path / "runs.csv"
    runs_table(result).save(path)
    again = read_runs(path)
    assert again.labels == result.labels
    assert [each.world.name for each in again.worlds] == ["few-rounds/3", "coins/4"]
    np.testing.assert_allclose(again.shares, result.shares, atol=0.1)
    assert len(family_table(again)) == 2


def test_targets_are_met_or_not() -> None:
    """A third below Thompson, below all, a shorter tail, and within twice the best rival."""
    assert [each.met for each in targets(made_up(own=15.0, rival=20.0, part=1.0))] == [True] * 4
    missed = targets(made_up(own=45.0, rival=20.0, part=1.0))
    assert [each.met for each in missed] == [False] * 4
    assert missed[-1].found == "worse in coins, drift"
    assert [each.met for each in targets(made_up(22.0, 11.5, 1.0))] == [False, False, True, True]


def test_what_a_part_is_worth() -> None:
    """What is lost without it, by the kind of world; a star where that is beyond the error."""
    (row, *_) = parts_table(made_up(own=15.0, rival=20.0, part=18.0))
    assert row == {
        "part": PARTS[0].label,
        "all": "3.0 ± 0.0 *",
        "steady": "3.0 ± 0.0 *",
        "changing": "3.0 ± 0.0 *",
    }
    assert set(kinds().values()) == {"steady", "rare", "late", "changing", "hostile", "recorded"}


def test_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It plays, keeps every game, and shows what was kept."""
    monkeypatch.setattr(judge, "judged", lambda: [Contender(REFERENCE), Contender(OWN), *PARTS])
    path = tmp_path / "judge.csv"
    played = ["judge", "--set", "design", "--worlds", "2", "-r", "1", "--workers", "1"]
    first = CliRunner().invoke(main, [*played, "--table", str(path)])
    assert first.exit_code == 0, first.output
    assert "95 % of runs below Thompson's" in first.output
    assert len(path.read_text().splitlines()) == 3
    kept = CliRunner().invoke(main, ["judge", "--kept", str(path)])
    assert kept.exit_code == 0, kept.output
    assert "without narrowness" in kept.output
    wrong = CliRunner().invoke(main, [*played, "--table", str(tmp_path / "judge.txt")])
    assert "must end in .csv" in complaint_in(wrong)
