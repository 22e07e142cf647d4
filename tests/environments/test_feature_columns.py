"""Contexts in users' own data: feature columns of files, and contexts beside arrays."""

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import belated
from belated.environments.environment import Environment
from belated.environments.files import environment_from_arrays, environment_from_file

FILE = """round,arm,loss,delay,age,device
2,red,0,,,desk
1,red,0.25,0,31,phone
1,blue,1,3,31.0, phone
3,blue,0.5,1,40,
3,red,0.5,1,40,
2,blue,0.5,1,,desk
"""


def written(folder: Path, text: str) -> Path:
    path = folder / "mine.csv"
    path.write_text(text, encoding="utf-8")
    return path


def contexts(environment: Environment) -> list[list[float]]:
    """The contexts of all rounds."""
    blocks = list(environment.blocks(np.random.SeedSequence(1)))
    tables = [block.contexts for block in blocks if block.contexts is not None]
    return [row for each in tables for row in each.tolist()]


def test_feature_columns_of_a_csv_file(tmp_path: Path) -> None:
    """Numbers as they are, an empty one is their mean; text one-hot, an empty one is nowhere."""
    path = written(tmp_path, FILE)
    environment = environment_from_file(path, features=["age", "device"])
    assert environment.features == ("age", "device=phone", "device=desk")
    assert contexts(environment) == [[31, 1, 0], [35.5, 0, 1], [40, 0, 0]]
    assert environment_from_file(path, features=["device"]).features == environment.features[1:]
    assert environment_from_file(path).features == ()


def test_feature_columns_of_a_parquet_file(tmp_path: Path) -> None:
    """Values have the types of the file: text that looks like a number stays text."""
    arrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "mine.parquet"
    columns: dict[str, Any] = {
        "round": [1, 1, 2, 2],
        "arm": ["red", "blue"] * 2,
        "loss": [0.5] * 4,
        "delay": [0] * 4,
        "code": ["7", "7", "8", "8"],
        "member": [True, True, False, False],
        "score": [0.5, 0.5, float("nan"), float("nan")],
    }
    parquet.write_table(arrow.table(columns), path)
    environment = environment_from_file(path, features=("code", "member", "score"))
    assert environment.features == ("code=7", "code=8", "member", "score")
    assert contexts(environment) == [[1, 0, 1, 0.5], [0, 1, 0, 0.5]]


@pytest.mark.parametrize(
    ("change", "features", "sentence"),
    [
        (
            ("31.0", "32"),
            ["age"],
            "mine.csv: round 1 has two values of 'age', 31.0 in line 3 and 32.0 in line 4; all "
            "rows of a round must have the same",
        ),
        (("31.0", ""), ["age"], "mine.csv: round 1 has two values of 'age', 31.0 in line 3"),
        ((" phone", "tablet"), ["device"], "mine.csv: round 1 has two values of 'device', 'phone'"),
        (("40", "nan"), ["age"], "mine.csv: round 3: 'age' is nan; it must be a finite number"),
        (("40", "inf"), ["age"], "mine.csv: round 3: 'age' is inf; it must be a finite number"),
        (("", ""), ["weight"], "mine.csv: the columns are round, arm, loss, delay, age, device; "),
        (("", ""), ["loss"], "features names 'loss', which is not known before an arm is chosen"),
        (("", ""), ["age", "age"], "features names 'age' twice; each column may be there once"),
        (("", ""), "age", "features is 'age'; it must be a list of column names"),
        (("", ""), ["age", ""], "features is ['age', '']; it must be a list of column names"),
    ],
)
def test_bad_feature_columns(
    tmp_path: Path, change: tuple[str, str], features: Any, sentence: str
) -> None:
    path = written(tmp_path, FILE.replace(*change))
    with pytest.raises(ValueError, match=f"^{re.escape(sentence)}") as found:
        environment_from_file(path, features=features)
    assert "\n" not in str(found.value)


def test_contexts_beside_arrays() -> None:
    """Dicts, rows of values or a table; names are those of ask(context=...)."""
    losses = np.zeros((2, 3))
    dicts = environment_from_arrays(
        losses, losses, contexts=[{"age": 3, "pet": {"kind": "cat"}}, {"age": 5}]
    )
    assert dicts.features == ("age", "pet.kind=cat")
    assert contexts(dicts) == [[3, 1], [5, 0]]
    table = environment_from_arrays(losses, losses, contexts=np.array([[1, 2.5], [3, 4]]))
    assert table.features == ("0", "1")
    assert contexts(table) == [[1, 2.5], [3, 4]]


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ([{}], "contexts has 1 rows; there must be one for each of 2"),
        ({"age": [1, 2]}, "contexts is {'age': [1, 2]}; it must have a dict or a row of values"),
        ([{"a": 1}, {"a": np.inf}], "round 2: 'a' is inf; it must be a finite number"),
        ([{"a": 1}, 7], "round 2: context is 7; it must be a dict, a sequence or an array"),
    ],
)
def test_bad_contexts_beside_arrays(given: Any, sentence: str) -> None:
    losses = np.zeros((2, 3))
    with pytest.raises(ValueError, match=f"^{re.escape(sentence)}"):
        environment_from_arrays(losses, losses, contexts=given)


def test_learners_with_contexts_are_told_them() -> None:
    """The right arm is known from the context; who does not see it loses every other round."""
    random = np.random.default_rng(3)
    phone = random.random(200) < 0.5
    losses = np.column_stack([phone, ~phone]).astype(float)
    seen = [{"device": "phone" if each else "desk"} for each in phone]
    game = environment_from_arrays(losses, np.full((200, 2), 3), contexts=seen)
    losses_by_round = (
        belated.compare(["linear", "practical-bandit"], game, repetitions=1)
        .table()
        .column("loss per round")
    )
    assert losses_by_round[0] < 0.2
    assert losses_by_round[1] > 0.35
