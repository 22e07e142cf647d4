"""belated stress, run as a user runs it."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from belated.cli.replay import replay
from belated.cli.stress import stress
from tests.cli.commands import complaint_in

QUICK = ("--rounds", "20", "--arms", "3", "--restarts", "2", "--steps", "12", "--workers", "1")


def run(*arguments: object) -> Result:
    """The command with these arguments."""
    return CliRunner().invoke(stress, [str(argument) for argument in arguments])


@pytest.mark.compiled  # slow without
def test_it_shows_the_hardest_games_and_how_to_read_them() -> None:
    """A row for each game, valued on fresh draws, beside the value in search."""
    result = run("concealed", *QUICK)
    assert result.exit_code == 0
    assert "regret / bound in games of 20 rounds and 3 arms; 2 restarts, 24 games" in result.stdout
    for word in ("value", "±", "in search", "bound", "draws that the search has not used"):
        assert word in result.stdout


def test_without_draws_there_is_one_value() -> None:
    """Full information draws nothing, and the search tells no two stories."""
    result = run("full-information", "--objective", "certificate", *QUICK)
    assert result.exit_code == 0
    assert "regret / certificate" in result.stdout
    assert "in search" not in result.stdout


def test_regret_by_itself_needs_no_bound_and_delays_can_be_bounded() -> None:
    """The line above the table says what was searched for, and in which games."""
    result = run("uniform", "--objective", "regret", "--longest-delay", 3, *QUICK)
    assert result.exit_code == 0
    words = "regret per round in games of 20 rounds and 3 arms, no loss later than 3 rounds; 2 rest"
    assert words in result.stdout
    assert "bound" not in result.stdout
    assert "later than" not in run("uniform", "--objective", "regret", *QUICK).stdout


@pytest.mark.compiled  # slow without
def test_with_a_rival_the_table_has_its_regret() -> None:
    """Only then."""
    assert "rival's" in run("concealed", "--against", "uniform", *QUICK).stdout
    assert "rival's" not in run("concealed", *QUICK).stdout


@pytest.mark.compiled  # slow without
def test_json_is_one_list_with_the_best_first() -> None:
    """For machines: every number with its name."""
    hard_games = json.loads(run("concealed", "--against", "uniform", *QUICK, "--json").stdout)
    assert [found["learner"] for found in hard_games] == ["concealed", "concealed"]
    assert {found["restart"] for found in hard_games} == {0, 1}
    assert hard_games[0]["objective"] == "difference per round"
    assert hard_games[0]["against"] == "uniform"
    assert hard_games[0]["fresh_draws"] == 400
    assert hard_games[0]["half_width"] > 0.0
    difference = hard_games[0]["regret"] - hard_games[0]["rivals_regret"]
    assert difference / 20 == pytest.approx(hard_games[0]["value"], abs=1e-9)


@pytest.mark.compiled  # slow without
def test_saved_games_are_cases_that_replay_accepts(tmp_path: Path) -> None:
    """One file for each find that is shown, and nothing in it that replay would note."""
    folder = tmp_path / "new" / "hard_games"
    result = run("concealed", *QUICK, "--best", 1, "--save", folder)
    (path,) = folder.iterdir()
    assert result.stderr.strip().endswith(f"Saved {path}")
    replayed = CliRunner().invoke(replay, [str(path)])
    assert replayed.exit_code == 0
    assert replayed.stderr == ""
    assert len(json.loads(replayed.stdout)["q"]) == 20


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("uniform",), "no bound is known for this learner"),
        (("practical-bandit:certified=0",), "the objective 'regret' needs no bound"),
        (("concelaed",), "did you mean 'concealed'?"),
        (("concealed:variant=best",), "variant is 'best'"),
        (("concealed", "--against", "uniform", "--objective", "bound"), "--objective is for one"),
        (("concealed", "--against", "uniform", "--objective", "regret"), "--objective is for one"),
        (("concealed", "--longest-delay", -1), "longest_delay is -1; it must be a whole number"),
        (("concealed", "--rounds", 0), "rounds is 0"),
        (("concealed", "--seconds", 0), "seconds is 0.0; it must be above 0"),
        (("concealed", "--best", 0), "best is 0"),
        (("concealed", "--save", __file__), "is a file; --save must name a folder"),
    ],
)
def test_bad_input_gets_one_line(arguments: tuple[object, ...], sentence: str) -> None:
    """It names the value and the rule."""
    assert sentence in complaint_in(run(*arguments))
