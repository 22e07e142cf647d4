"""An exported game is the game that `compare` plays, digit for digit, whatever the scenario."""

import json
from pathlib import Path

import numpy as np
import pytest

from belated.comparison.compare import compare
from belated.environments.environment import Environment, game_seed
from belated.environments.environment_specs import environment_named
from belated.environments.files import environment_from_frame
from belated.environments.game_files import (
    environment_from_content,
    environment_from_game,
    export_game,
)
from belated.environments.scenarios import scenario

GAMES = {
    "shares the range": lambda: scenario("gains", rounds=40),
    "has contexts": lambda: scenario("conversions", rounds=40),
    "has policies": lambda: scenario("contexts", rounds=40),
    "loses losses": lambda: scenario("late-silence"),
    "has real data": lambda: scenario("limit-orders", rounds=40),
}


def drawn(environment: Environment, seed: int, repetition: int = 0) -> dict[str, np.ndarray]:
    """All arrays of a game, with losses in [0, 1]."""
    blocks = list(environment.blocks(game_seed(seed, repetition)))
    names = ("losses", "delays", "advice", "contexts")
    return {
        name: np.concatenate([getattr(block, name) for block in blocks])
        for name in names
        if getattr(blocks[0], name) is not None
    }


@pytest.mark.parametrize("kind", GAMES)
def test_a_game_in_json_is_the_same_game(kind: str, tmp_path: Path) -> None:
    """Losses, delays, advice and contexts, for another seed and repetition than the first."""
    environment = GAMES[kind]()
    again = environment_from_game(export_game(environment, tmp_path / "game.json", 7, 2))
    expected, found = drawn(environment, 7, 2), drawn(again, 0)
    assert expected.keys() == found.keys()
    for name, values in expected.items():
        np.testing.assert_array_equal(found[name], values, err_msg=name)
    assert not again.random
    assert again.loss_range == environment.loss_range
    assert again.labels == environment.labels
    assert again.default_loss == environment.default_loss
    assert (again.features, again.policies) == (environment.features, environment.policies)


@pytest.mark.parametrize("ending", [".csv", ".csv.gz", ".parquet", ".json"])
def test_a_comparison_on_a_game_in_a_file_has_the_same_regret(ending: str, tmp_path: Path) -> None:
    """The first repetition of the same seed; learners draw the same arms."""
    if ending == ".parquet":
        pytest.importorskip("pyarrow")
    environment = scenario("late-best", rounds=120)
    path = export_game(environment, tmp_path / f"game{ending}", seed=5)
    learners = ["concealed", "full-information", "uniform"]
    first = compare(learners, environment, repetitions=1, seed=5)
    again = compare(learners, path, repetitions=1, seed=5)
    for k in range(3):
        assert first.regret(k) == again.regret(k)
    assert again.environment.name == ("late-best:rounds=120" if ending == ".json" else "game")
    assert not list(tmp_path.glob("*.part"))


def test_tables_keep_contexts_and_other_ranges(tmp_path: Path) -> None:
    """Features are columns, and losses are in the game's own units."""
    environment = scenario("gains", rounds=30)
    path = export_game(environment, tmp_path / "gains.csv.gz", seed=2)
    again = environment_named(str(path), environment.loss_range)
    np.testing.assert_array_equal(drawn(again, 0)["losses"], drawn(environment, 2)["losses"])
    visitors = scenario("conversions", rounds=30)
    path = export_game(visitors, tmp_path / "visitors.csv", seed=2)
    again = environment_named(str(path), features=list(visitors.features))
    np.testing.assert_array_equal(drawn(again, 0)["contexts"], drawn(visitors, 2)["contexts"])


def test_what_cannot_be_exported_is_refused(tmp_path: Path) -> None:
    """One sentence each, and no file."""
    policies, long = scenario("contexts", rounds=10), scenario("late-best", rounds=10**7)
    for environment, name, said in (
        (policies, "game.csv", "a game with policies needs .json"),
        (policies, "game.xlsx", "must end in .csv, .csv.gz, .parquet, .json"),
        (policies, "no/game.json", "its folder does not exist"),
        (long, "game.json", "cannot be exported"),
    ):
        with pytest.raises(ValueError, match=said):
            export_game(environment, tmp_path / name)
    with pytest.raises(ValueError, match="repetition is -1"):
        export_game(policies, tmp_path / "game.json", repetition=-1)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"losses": [[0.1], [2.0]]}, r"2\.0; it must be in \[0, 1\]"),
        ({"losses": [[0.1], ["x"]]}, "losses must have a row for each round"),
        ({"losses": [[0.1, 0.2], [0.3]]}, "losses must have a row for each round"),
        ({"delays": [[1], [-2]]}, "at least 0"),
        ({"delays": [[1]]}, "they must have the same"),
        ({"labels": ["a", "b"]}, "there are 2 labels"),
        ({"loss_range": [1, 0]}, "the lower one first"),
        ({"contexts": [[1.0], [2.0]], "features": ["a", "b"]}, "contexts have the shape"),
        ({"advice": [[[1.0]]]}, "advice must have a table for each of 2 rounds"),
    ],
)
def test_bad_games_get_one_sentence(change: dict[str, object], said: str) -> None:
    """The value and the rule."""
    good = {"losses": [[0.1], [0.2]], "delays": [[0], [None]]}
    assert environment_from_content(good, "good").rounds == 2
    with pytest.raises(ValueError, match=said):
        environment_from_content(good | change, "bad")


def test_a_case_below_its_key_is_a_game(tmp_path: Path) -> None:
    """As `belated stress --save` writes it; what is no game at all is refused."""
    path = tmp_path / "found.json"
    path.write_text(json.dumps({"case": {"losses": [[0.5, 1.0]], "delays": [[0, None]]}}))
    assert environment_from_game(path).arms == 2
    assert environment_from_game(path).name == "found"
    for text, said in (("{", "is not JSON"), ("[1]", "must be a JSON object")):
        path.write_text(text)
        with pytest.raises(ValueError, match=said):
            environment_from_game(path)


def test_frames_and_rewards() -> None:
    """A DataFrame, a dict and an Arrow table are the same game; a reward is a loss turned round."""
    columns = {
        "round": [1, 1, 2, 2],
        "arm": ["red", "blue"] * 2,
        "loss": [0.25, 0.5, 1.0, 0.0],
        "delay": [0, 3, None, 1],
        "age": [31, 31, 54, 54],
    }
    found = [environment_from_frame(columns, features=["age"])]
    pandas = pytest.importorskip("pandas")
    found.append(environment_from_frame(pandas.DataFrame(columns), features=["age"]))
    pyarrow = pytest.importorskip("pyarrow")
    found.append(environment_from_frame(pyarrow.table(columns), features=["age"]))
    nullable = pandas.DataFrame(columns).convert_dtypes()
    found.append(environment_from_frame(nullable, features=["age"]))
    for each in found:
        for name, values in drawn(found[0], 1).items():
            np.testing.assert_array_equal(drawn(each, 1)[name], values)
    rewards = {name: values for name, values in columns.items() if name != "loss"}
    rewards["reward"] = [0.75, 0.5, 0.0, 1.0]
    turned = environment_from_frame(rewards)
    np.testing.assert_array_equal(drawn(turned, 1)["losses"], drawn(found[0], 1)["losses"])
    wide = environment_from_frame(rewards | {"reward": [4.0, -1.0, 0.0, 1.5]}, (-1, 4))
    np.testing.assert_array_equal(drawn(wide, 1)["losses"], [[0.0, 1.0], [0.8, 0.5]])
    for bad, said in (
        (columns | {"reward": [1] * 4}, "loss or reward, delay or arrival"),
        (rewards | {"reward": [2.0] * 4}, r"row 1: reward is 2.0; it must be in \[0, 1\]"),
        (rewards | {"arm": ["red"]}, "must have the same number"),
        ([1, 2], "it must be a DataFrame"),
    ):
        with pytest.raises(ValueError, match=said):
            environment_from_frame(bad)
