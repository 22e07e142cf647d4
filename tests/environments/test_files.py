"""Users' own data: what is read, and one sentence for all that is wrong."""

import builtins
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from belated.environments.environment import Environment
from belated.environments.files import environment_from_arrays, environment_from_file
from belated.environments.missing import NEVER
from tests.counting import counting_instructions
from tests.environments.games import drawn

GOOD = """round,arm,loss,delay
1,red,0.25,0
1,blue,1,3
2,red,0,
2,blue,0.5,1
"""
HEADER = "round,arm,loss,delay\n"
MOST_FOR_A_ROW = 200  # instructions of Python


def written(folder: Path, text: str, name: str = "mine.csv") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def written_parquet(folder: Path, **columns: Any) -> Path:
    arrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    path = folder / "mine.parquet"
    parquet.write_table(arrow.table(columns), path)
    return path


def table(environment: Environment) -> tuple[list[list[float]], list[list[int]]]:
    """All losses and delays, as lists."""
    losses, delays = drawn(environment)
    return losses.tolist(), delays.tolist()


LOSSES, DELAYS = [[0.25, 1.0], [0.0, 0.5]], [[0, 3], [NEVER, 1]]


def test_a_csv_file(tmp_path: Path) -> None:
    """Arms are in the order of their first rows, an empty delay is never."""
    environment = environment_from_file(written(tmp_path, GOOD))
    assert environment.name == "mine"
    assert environment.labels == ("red", "blue")
    assert environment.rounds == 2
    assert not environment.random
    assert table(environment) == (LOSSES, DELAYS)


def test_losses_in_another_range(tmp_path: Path) -> None:
    """`loss` is then in the units of the range, whatever `unit_loss` says; learners see [0, 1]."""
    text = GOOD.replace("0.25", "-0.5").replace("blue,1,3", "blue,1,3").replace("0.5,1", "0,1")
    path = written(tmp_path, text.replace("2,red,0,", "2,red,-1,"))
    environment = environment_from_file(path, loss_range=(-1, 1))
    assert environment.loss_range == (-1.0, 1.0)
    assert table(environment) == (LOSSES, DELAYS)
    with pytest.raises(ValueError, match=r"mine.csv: line 2: loss is -0.5; it must be in \[0, 1\]"):
        environment_from_file(path)
    with pytest.raises(ValueError, match=r"line 3: loss is 1; it must be in \[-1, 0.5\]"):
        environment_from_file(path, loss_range=(-1, 0.5))
    exported = (
        GOOD.replace("delay", "delay,unit_loss")
        .replace("\n", ",0.9\n")
        .replace("unit_loss,0.9", "unit_loss")
    )
    both = written(tmp_path, exported, "both.csv")
    assert drawn(environment_from_file(both))[0].max() == 0.9
    assert table(environment_from_file(both, (0, 1)))[0] == LOSSES


@pytest.mark.parametrize(
    "text",
    [
        "round,arm,loss,arrival\n1,red,0.25,1\n1,blue,1,4\n2,red,0,\n2,blue,0.5,3\n",
        "note,delay,loss,arm,round\nx,,0,red,2\ny,1,.5,blue,2\n,0,0.25,red,1\n\n,3,1e0,blue,1\n",
        "\ufeff" + GOOD.replace("\n", "\r\n"),
        GOOD.replace("red", '"red"'),
        GOOD.replace(",", ", ").replace("delay\n", "delay \n"),
        GOOD.replace("1,blue,1,3", "1.0,blue,1.0,3.0").rstrip(),
    ],
    ids=[
        "arrival",
        "any order, more columns, blank lines",
        "windows",
        "quotes",
        "spaces",
        "fractions",
    ],
)
def test_other_ways_to_write_it(tmp_path: Path, text: str) -> None:
    """Column order, extra columns, quotes and line ends do not change the table that is read."""
    environment = environment_from_file(str(written(tmp_path, text, "mine.CSV")))
    where = [environment.labels.index("red"), environment.labels.index("blue")]
    losses, delays = drawn(environment)
    assert losses[:, where].tolist() == LOSSES
    assert delays[:, where].tolist() == DELAYS


def test_a_parquet_file(tmp_path: Path) -> None:
    """Null and NaN are never; arms may be numbers."""
    rows = {"round": [1, 1, 2, 2], "arm": [7, 8, 7, 8], "loss": [0.25, 1.0, 0.0, 0.5]}
    for delays in ([0, 3, None, 1], [0.0, 3.0, math.nan, 1.0]):
        environment = environment_from_file(written_parquet(tmp_path, **rows, delay=delays))
        assert environment.labels == ("7", "8")
        assert table(environment) == (LOSSES, DELAYS)
    environment = environment_from_file(written_parquet(tmp_path, **rows, arrival=[1, 4, None, 3]))
    assert table(environment) == (LOSSES, DELAYS)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (
            "",
            "the columns are none; there must be round, arm, loss or reward, delay or arrival",
        ),
        (HEADER, "there are no rows; there must be one for each round and arm"),
        (
            "round|arm|loss|delay\n1|red|0|0\n",
            "the columns are round|arm|loss|delay; there must be round, arm, loss or reward, delay "
            "or arrival",
        ),
        (
            "round,arm,loss\n1,red,0\n",
            "the columns are round, arm, loss; there must be round, arm, loss or reward, delay or "
            "arrival",
        ),
        (
            "round,arm,loss,delay,arrival\n1,red,0,0,1\n",
            "the columns are round, arm, loss, delay, arrival; there must be round, arm, loss or "
            "reward, delay or arrival",
        ),
        (
            "round,arm,loss,loss,delay\n1,red,0,0,0\n",
            "there are two columns 'loss'; each must be there once",
        ),
        (
            GOOD + "3,red,0\n",
            "line 6: there are 3 fields; there must be 4 as in the header",
        ),
        (GOOD + "3,red,1.01,0\n", "line 6: loss is 1.01; it must be in [0, 1]"),
        (GOOD + "3,red,-0.1,0\n", "line 6: loss is -0.1; it must be in [0, 1]"),
        (
            GOOD + "3,red,,0\n",
            "line 6: loss is empty; it must be in [0, 1]; `belated replay` and `belated evaluate` "
            "take logs without it",
        ),
        (
            GOOD + '3,red,"0,5",0\n',
            "line 6: loss is 0,5; it must be a number, with a decimal point",
        ),
        (GOOD + "3,red,nan,0\n", "line 6: loss is nan; it must be a number"),
        (GOOD + "3,red,inf,0\n", "line 6: loss is inf; it must be in [0, 1]"),
        (GOOD + "\n3,red,low,0\n", "line 7: loss is low; it must be a number"),
        (
            GOOD + "3,red,0,-1\n",
            "line 6: delay is -1; it must be a whole number, at least 0, or empty for never",
        ),
        (
            GOOD + "3,red,0,1.5\n",
            "line 6: delay is 1.5; it must be a whole number, at least 0, or empty for never",
        ),
        (
            GOOD + "3,red,0,inf\n",
            "line 6: delay is inf; it must be a whole number, at least 0, or empty for never",
        ),
        (GOOD + "3,red,0,nan\n", "line 6: delay is nan; it must be a number"),
        (GOOD + "3,red,0,soon\n", "line 6: delay is soon; it must be a number"),
        (
            GOOD.replace("delay", "arrival") + "3,red,0,2\n",
            "line 2: arrival is 0; it must be a whole number, at least its round, or empty for "
            "never",
        ),
        (
            GOOD + "0,red,0,0\n",
            "line 6: round is 0; it must be a whole number from 1 to 1000000000000000",
        ),
        (
            GOOD + "2.5,red,0,0\n",
            "line 6: round is 2.5; it must be a whole number from 1 to 1000000000000000",
        ),
        (
            GOOD + ",red,0,0\n",
            "line 6: round is empty; it must be a whole number from 1 to 1000000000000000",
        ),
        (GOOD + "3,,0,0\n", "line 6: arm is empty; it must be a name"),
        (
            GOOD + "4,red,0,0\n4,blue,0,0\n",
            "round 3 has no row; rounds must run from 1 without a gap",
        ),
        (
            HEADER + "2,red,0,0\n",
            "round 1 has no row; rounds must run from 1 without a gap",
        ),
        (
            HEADER + "1000000000000000,red,0,0\n",
            "round 1 has no row; rounds must run from 1 without a gap",
        ),
        (
            GOOD + "3,blue,0,0\n",
            "round 3 has no row for arm 'red'; every round must have one for each arm",
        ),
        (
            GOOD + "3,red,0,0\n",
            "round 3 has no row for arm 'blue'; every round must have one for each arm",
        ),
        (
            HEADER + "1,red,0,0\n2,blue,0,0\n",
            "every round has the row of one arm, as in a log of decisions, which `belated replay` "
            "takes; here every round must have a row for each arm",
        ),
        (
            GOOD + "1,green,0,0\n",
            "round 2 has no row for arm 'green'; every round must have one for each arm",
        ),
        (
            GOOD + "1,blue,0,0\n",
            "duplicate row for round 1, arm 'blue' (lines 3 and 6)",
        ),
    ],
)
def test_bad_tables(tmp_path: Path, text: str, sentence: str) -> None:
    """One sentence names the file, the place and the rule."""
    with pytest.raises(ValueError) as caught:
        environment_from_file(written(tmp_path, text))
    assert str(caught.value) == f"mine.csv: {sentence}"


@pytest.mark.parametrize("separator", [";", "\t", " , "])
def test_columns_may_be_separated_otherwise(tmp_path: Path, separator: str) -> None:
    """Semicolons, as spreadsheets write them in many countries, tabs, and spaces around commas."""
    plain = environment_from_file(written(tmp_path, GOOD))
    other = environment_from_file(written(tmp_path, GOOD.replace(",", separator)))
    assert other.labels == plain.labels
    for one, another in zip(drawn(other), drawn(plain), strict=True):
        np.testing.assert_array_equal(one, another)


def test_two_arms_of_one_label_are_refused() -> None:
    """A table of results could not tell them apart."""
    with pytest.raises(ValueError, match=r"^two arms are called 'a'; each must have a label"):
        environment_from_arrays([[0.1, 0.2]], [[0, 0]], labels=["a", "a"])


def test_bad_parquet_tables(tmp_path: Path) -> None:
    """Rows are counted from 1."""
    rows = {"round": [1, 1], "arm": ["red", "red"], "delay": [0, 0]}
    path = written_parquet(tmp_path, **rows, loss=[0.0, 1.0])
    with pytest.raises(ValueError, match=r"^mine.parquet: duplicate row .* \(rows 1 and 2\)$"):
        environment_from_file(path)
    path = written_parquet(tmp_path, **rows, loss=[0.0, math.nan])
    with pytest.raises(ValueError, match=r"^mine.parquet: row 2: loss is nan; it must be in"):
        environment_from_file(path)
    path = written_parquet(tmp_path, **rows, loss=["0", "x"])
    with pytest.raises(ValueError, match=r"^mine.parquet: row 2: loss is x; it must be a number$"):
        environment_from_file(path)
    path = written_parquet(tmp_path, **rows)
    with pytest.raises(ValueError, match=r"^mine.parquet: the columns are round, arm, delay; "):
        environment_from_file(path)
    path.write_text("PAR1 this is none")
    with pytest.raises(ValueError, match=r"^mine.parquet: it is not Parquet: "):
        environment_from_file(path)


def test_parquet_without_pyarrow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The sentence says what to install."""
    path = written(tmp_path, "", "mine.parquet")
    real_import = builtins.__import__

    def refuse(name: str, *rest: Any) -> Any:
        if name.startswith("pyarrow"):
            raise ImportError(name)
        return real_import(name, *rest)

    monkeypatch.setattr(builtins, "__import__", refuse)
    with pytest.raises(ValueError, match=r"needs pyarrow: pip install 'belated\[parquet\]'$"):
        environment_from_file(path)


def test_files_that_are_no_tables(tmp_path: Path) -> None:
    """Absent, a folder, of another kind, or not text."""
    with pytest.raises(ValueError, match=r"^none.csv cannot be read: No such file or directory$"):
        environment_from_file(tmp_path / "none.csv")
    (tmp_path / "folder.csv").mkdir()
    with pytest.raises(ValueError, match=r"^folder.csv cannot be read: Is a directory$"):
        environment_from_file(tmp_path / "folder.csv")
    with pytest.raises(
        ValueError, match=r"^mine.xlsx is of unknown kind; it must end in .csv, .csv.gz or .pa"
    ):
        environment_from_file(written(tmp_path, GOOD, "mine.xlsx"))
    path = tmp_path / "bytes.csv"
    path.write_bytes(b"round,arm,loss,delay\n1,\xff\xfe,0,0\n")
    with pytest.raises(ValueError, match=r"^bytes.csv: it is not CSV in UTF-8: "):
        environment_from_file(path)


def test_a_table_longer_than_a_batch(tmp_path: Path) -> None:
    """Twenty thousand rows, shuffled, come back as the arrays they were written from."""
    random = np.random.default_rng(5)
    losses, delays = random.random((5000, 4)), random.integers(NEVER, 50, (5000, 4))
    rows = [
        f"{t + 1},arm {i},{float(losses[t, i])!r},{'' if delays[t, i] == NEVER else delays[t, i]}"
        for t in range(5000)
        for i in range(4)
    ]
    order = [*range(4), *(4 + random.permutation(len(rows) - 4))]
    path = written(tmp_path, HEADER + "\n".join(rows[n] for n in order))
    with counting_instructions() as count:
        read = environment_from_file(path)
    assert count.instructions < MOST_FOR_A_ROW * len(rows)
    assert read.labels == ("arm 0", "arm 1", "arm 2", "arm 3")
    assert table(read) == (losses.tolist(), delays.tolist())


def test_arrays() -> None:
    """NaN, infinity and -1 all mean never."""
    environment = environment_from_arrays(LOSSES, [[0, 3], [math.nan, 1]], ["red", "blue"])
    assert environment.name == "given"
    assert environment.labels == ("red", "blue")
    assert table(environment) == (LOSSES, DELAYS)
    for never in (math.inf, NEVER):
        assert table(environment_from_arrays(LOSSES, [[0, 3], [never, 1]])) == (LOSSES, DELAYS)


@pytest.mark.parametrize(
    ("losses", "delays", "labels", "sentence"),
    [
        ([[0.0, 2.0]], [[0, 0]], [], r"^the loss of arm 2 in round 1 is 2.0; it must be in \[0, 1"),
        (
            [[0.0, 1.0]],
            [[0, -2]],
            [],
            "^the delay of arm 2 in round 1 is -2; it must be at least 0",
        ),
        ([[0.0, 1.0]], [[0, 0.5]], [], "^the delay of arm 2 in round 1 is 0.5; it must be a whole"),
        (
            [[0.0, 1.0]],
            [[0]],
            [],
            r"^losses have the shape \(1, 2\) and delays \(1, 1\); they must",
        ),
        ([0.0, 1.0], [[0, 0]], [], r"^losses have the shape \(2,\); they must be a table"),
        ([[0.0, 1.0]], [[0, 0]], ["red"], "^there are 1 labels; there must be one for each of 2"),
    ],
)
def test_bad_arrays(losses: Any, delays: Any, labels: list[str], sentence: str) -> None:
    """One sentence names the value and the rule."""
    with pytest.raises(ValueError, match=sentence):
        environment_from_arrays(losses, delays, labels)
