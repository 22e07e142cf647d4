"""Every kind of log becomes the same journal, and what is wrong in one gets a clear sentence."""

import csv
import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import belated
from belated.evaluation.logs.journal import Journal
from belated.table_files import write_parquet
from tests.evaluation.worked_case import DELAY, REWARD, ROWS_AS_DICTS, journal

TOLD = [0, 2, 3, 5, 7]
LINE = {
    "_label_cost": -1.0,
    "_label_probability": 0.8,
    "_label_Action": 4,
    "_labelIndex": 3,
    "o": [{"v": 1.0, "EventId": "e"}],
    "Timestamp": "2021-02-04T16:31:29.2460000Z",
    "Version": "1",
    "EventId": "e",
    "a": [4, 2, 1, 3],
    "c": {"User": {"age": 31}, "_multi": [{"_tag": tag} for tag in "wxyz"]},
    "p": [0.8, 0.1, 0.05, 0.05],
}


def written(path: Path, rows: list[dict[str, Any]]) -> Path:
    """A CSV file of rows; contexts are JSON, and what never comes is empty."""
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        for row in rows:
            shown = {k: json.dumps(v) if isinstance(v, dict) else v for k, v in row.items()}
            writer.writerow({k: "" if v == np.inf else v for k, v in shown.items()})
    return path


def same(found: Journal, wanted: Journal) -> None:
    """Both have the same rows."""
    assert found.arms == wanted.arms
    for name in ("chosen", "probability", "rewards", "played", "delays"):
        assert getattr(found, name) == pytest.approx(getattr(wanted, name), nan_ok=True), name
    assert found.contexts == wanted.contexts


def test_rows_as_dicts() -> None:
    """What was told by the end of the log, and the ages."""
    log = journal()
    assert np.flatnonzero(log.told).tolist() == TOLD
    assert log.rewards[TOLD].tolist() == REWARD[TOLD].tolist()
    assert log.delays[TOLD].tolist() == DELAY[TOLD].tolist()
    assert log.ages.tolist() == [40, 35, 30, 25, 20, 15, 10, 5]
    assert log.clock == "rounds"


def test_csv_parquet_and_dataframe(tmp_path: Path) -> None:
    """The same rows in three more forms."""
    csv_file = written(tmp_path / "log.csv", ROWS_AS_DICTS)
    same(belated.read_log(csv_file, now=50), journal())
    columns = {name: [row[name] for row in ROWS_AS_DICTS] for name in ROWS_AS_DICTS[0]}
    columns["context"] = [json.dumps(context) for context in columns["context"]]
    write_parquet(columns, tmp_path / "log.parquet")
    same(belated.read_log(tmp_path / "log.parquet", now=50), journal())
    same(belated.read_log(pd.DataFrame(ROWS_AS_DICTS), now=50), journal())
    same(belated.read_log(journal()), journal())


def test_cells_without_a_value_in_frames_and_rows() -> None:
    """NaN, NaT and NA are nothing told, wherever they are."""
    at = pd.to_datetime(["2026-05-01 10:00", "2026-05-01 10:01", "2026-05-01 10:02"])
    frame = pd.DataFrame({"arm": ["a", "b", "a"], "probability": 0.5, "decided_at": at})
    frame["told_at"] = [at[1], pd.NaT, at[2]]
    frame["reward"] = pd.array([1, None, 0], dtype="Int64")
    wanted = ([1.0, np.nan, 0.0], [60.0, np.nan, 0.0])
    forms: list[Any] = [frame, frame.to_dict("records"), pa.Table.from_pandas(frame)]
    forms.append({name: frame[name].to_numpy() for name in frame})
    for form in forms:
        log = belated.read_log(form)
        assert log.rewards == pytest.approx(wanted[0], nan_ok=True)
        assert log.delays == pytest.approx(wanted[1], nan_ok=True)
        assert log.clock == "seconds"
    frame.loc[1, "arm"] = None
    with pytest.raises(ValueError, match="row 2: arm is empty"):
        belated.read_log(frame)


def test_losses_and_ranges() -> None:
    """A loss is a reward turned round; other units need their range."""
    rows = [{"arm": "a", "probability": 1, "loss": loss} for loss in (0.0, 0.25)]
    assert Journal.from_rows(rows).rewards.tolist() == [1.0, 0.75]
    rows = [{"arm": "a", "probability": 1, "reward": reward} for reward in (0.0, 5.0)]
    with pytest.raises(ValueError, match=r"row 2: reward is 5\.0; it must be in"):
        Journal.from_rows(rows)
    assert Journal.from_rows(rows, loss_range=(0, 10)).rewards.tolist() == [0.0, 0.5]
    odd = [{"arm": "a", "probability": 1, "loss": 12.0, "unit_loss": 0.8}]
    with pytest.raises(ValueError, match=r"loss is 12 and unit_loss is 0\.8"):
        Journal.from_rows(odd)
    assert Journal.from_rows(odd, loss_range=(0, 15)).rewards[0] == pytest.approx(0.2)


def test_expired_cancelled_and_late_outcomes_of_an_export() -> None:
    """What a play expired with was not told; what came late was; a cancelled play is left out."""
    common = {"arm": "a", "probability": 0.5, "decided_at": 100.0}
    rows = [
        {**common, "round": 1, "unit_loss": 0.0, "loss": 0.0, "outcome": "told", "told_at": 103.0},
        {**common, "round": 2, "unit_loss": 1.0, "loss": 1.0, "outcome": "expired", "told_at": 110},
        {**common, "round": 3, "unit_loss": 1.0, "loss": 1.0, "outcome": "expired", "told_at": 110,
         "late_loss": 0.25, "late_at": 150.0},
        {**common, "round": 4, "outcome": "cancelled", "told_at": 104.0},
        {**common, "round": 5, "outcome": "pending"},
    ]  # fmt: skip
    log = Journal.from_rows(rows)
    assert log.rewards == pytest.approx([1.0, np.nan, 0.75, np.nan], nan_ok=True)
    assert log.delays == pytest.approx([3.0, np.nan, 50.0, np.nan], nan_ok=True)
    assert (log.clock, log.end, log.cancelled) == ("seconds", 150.0, 1)
    early = Journal.from_rows(rows, now=120)
    assert np.isnan(early.rewards[2])


def test_arms_that_come_and_go() -> None:
    """Policies play only the arms that could be chosen in a row."""
    rows: list[dict[str, Any]] = [
        {"round": t, "arm": arm, "probability": 0.5, "loss": 0.5, "outcome": "told", "event": t}
        for t, arm in ((1, "a"), (2, "b"), (3, "c"), (4, "c"))
    ]
    changed = [("a", "removed", 5), ("c", "added", 6)]
    rows += [{"round": 2, "arm": arm, "outcome": kind, "event": n} for arm, kind, n in changed]
    log = Journal.from_rows(rows)
    assert log.arms == ("a", "b", "c")
    assert log.allowed is not None
    assert log.allowed.tolist() == [[True, True, False]] * 2 + [[False, True, True]] * 2
    found = belated.evaluate(log, {"u": "uniform"}, estimators=["ips"])
    assert found["u"].ips.value == pytest.approx(0.5)
    with pytest.raises(ValueError, match="could not be chosen in row 3"):
        belated.evaluate(log, {"a": "a"})


def test_decision_service_lines(tmp_path: Path) -> None:
    """The action is _label_Action, its name the tag; a cost of 0 without observation is silence."""
    silent = {**LINE, "_label_cost": 0, "o": [], "_label_Action": 2, "_labelIndex": 1}
    silent |= {"_label_probability": 0.1, "pdrop": 0.5}
    skipped = {**LINE, "_skipLearn": True}
    alone = {"RewardValue": 1.0, "EventId": "e", "DanglingReward": True}
    path = tmp_path / "log.dsjson"
    path.write_text("\n".join(json.dumps(each) for each in (LINE, silent, alone, skipped)) + "\n")
    log = Journal.from_dsjson(path)
    same(belated.read_log(path), log)
    assert [log.arms[arm] for arm in log.chosen] == ["z", "x"]
    assert log.probability.tolist() == [0.8, 0.1]
    assert log.rewards == pytest.approx([1.0, np.nan], nan_ok=True)
    assert log.weights.tolist() == [1.0, 2.0]
    assert log.contexts is not None
    assert log.contexts[0] == {"User": {"age": 31}}
    assert log.all_probabilities is not None
    by_name = dict(zip(log.arms, log.all_probabilities[0], strict=True))
    assert by_name == {"z": 0.8, "x": 0.1, "w": 0.05, "y": 0.05}
    assert (log.cancelled, log.clock, log.timed) == (1, "seconds", False)


def test_vowpal_text(tmp_path: Path) -> None:
    """With action features, where the arm is the tag or the place, and without."""
    path = tmp_path / "log.vw"
    path.write_text(
        "shared |U age:31 phone\n|A a\n0:0.25:0.5 |A b\n\n"
        "shared |U age:20\n0:1:0.25 'red|A c\n|A d\n"
    )
    log = Journal.from_vw(path)
    assert [log.arms[arm] for arm in log.chosen] == ["2", "red"]
    assert log.rewards.tolist() == [0.75, 0.0]
    assert log.contexts == ({"U.age": 31.0, "U.phone": 1.0}, {"U.age": 20.0})
    path.write_text("1:-1:0.4 | a:2 c\n2:0:0.6 |n a\n\n3:-0.5:0.5 |\n")
    log = belated.read_log(path)
    assert [log.arms[arm] for arm in log.chosen] == ["1", "2", "3"]
    assert log.rewards.tolist() == [1.0, 0.0, 0.5]
    assert log.probability.tolist() == [0.4, 0.6, 0.5]


def test_open_bandit(tmp_path: Path) -> None:
    """A file of the dataset, and feedback in memory or in .npz."""
    path = tmp_path / "all.csv"
    path.write_text(
        ",timestamp,item_id,position,click,propensity_score,user_feature_0,user-item_affinity_0\n"
        "0,2019-11-24 00:00:18.800092+00:00,7,2,0,0.25,f1,0.0\n"
        "1,2019-11-24 00:00:19+00:00,3,1,1,0.5,f2,0.0\n"
    )
    log = belated.read_log(path)
    assert (log.arms, log.rewards.tolist()) == (("7", "3"), [0.0, 1.0])
    assert log.probability.tolist() == [0.25, 0.5]
    assert log.contexts == (
        {"position": "2", "user_feature_0": "f1"},
        {"position": "1", "user_feature_0": "f2"},
    )
    feedback = {"action": np.array([1, 0]), "reward": np.array([0, 1]), "pscore": np.full(2, 0.5)}
    np.savez(tmp_path / "log.npz", **feedback)
    same(belated.read_log(tmp_path / "log.npz"), Journal.from_obp(feedback))


WRONG: list[tuple[Any, str]] = [
    ([{"arm": "a"}], "there must be reward, loss or unit_loss"),
    ([{"reward": 1}], "there must be arm"),
    ([], "there are no rows"),
    ([{"arm": "", "reward": 1}], "row 1: arm is empty"),
    ([{"arm": "a", "reward": "x"}], "row 1: reward is x; it must be a number"),
    ([{"arm": "a", "reward": 1, "probability": 2}], "row 1: probability is 2"),
    ([{"arm": "a", "reward": 1, "round": 1}] * 2, "round 1 has two rows"),
    ([{"arm": "a", "reward": 1, "ticket": "t"}] * 2, "ticket t has two rows (rows 1 and 2)"),
    ([{"arm": "a", "reward": 1, "delay": -1}], "row 1: delay is -1; it must be at least 0"),
    ([{"arm": "a", "reward": 1, "context": "{"}], "row 1: context is {; it must be a JSON object"),
    ([{"arm": "a", "reward": 1, "probabilities": {"a": 0.5}}], "must have the sum 1"),
    (
        [{"arm": "a", "reward": 1, "at": "soon", "told_at": 3}],
        "row 1: at is soon; it must be a num",
    ),
    ([{"arm": "a", "reward": 1, "at": 5, "told_at": 3}], "it must not be before its at"),
    ([3], "row 1 is 3; it must be a dict"),
    (3, "log is 3; it must be a path"),
    ({"arm": ["a"], "reward": [1, 2]}, "all must have the same number"),
    ({"action": [1, 2], "reward": [1]}, "must have one value for each round"),
]


@pytest.mark.parametrize(("log", "said"), WRONG, ids=[said[:30] for _, said in WRONG])
def test_bad_input_gets_one_sentence(log: Any, said: str) -> None:
    """It names the value and the rule."""
    with pytest.raises(ValueError) as error:
        belated.read_log(log)
    assert said in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("x.pdf", "", "it must end in .csv, .csv.gz, .parquet"),
        ("x.dsjson", "{", "x.dsjson: line 1: it is not JSON"),
        ("x.dsjson", '{"a": []}', "x.dsjson: line 1: it is no line of dsjson"),
        ("x.dsjson", '{"c": {}}', "x.dsjson: line 1: it says no action that was taken"),
        ("x.dsjson", '{"_outcomes": []}', "x.dsjson: line 1: it has decisions for several slots"),
        ("x.dsjson", '{"RewardValue": 1.0, "EventId": "e"}', "x.dsjson: there are no lines"),
        ("x.vw", "|a b\n", "x.vw: no line has a label"),
        ("x.csv", "arm,reward\na,1,2\n", "x.csv: line 2: there are 3 fields"),
        ("x.npz", "text", "x.npz: it is no file of numpy arrays"),
    ],
)
def test_bad_files_are_named(tmp_path: Path, name: str, text: str, said: str) -> None:
    """The file, and the line if there is one."""
    (tmp_path / name).write_text(text)
    with pytest.raises(ValueError) as error:
        belated.read_log(tmp_path / name)
    assert said in str(error.value)


def test_now_is_not_before_the_last_decision() -> None:
    """And it is a time."""
    with pytest.raises(ValueError, match="must not be before the last decision"):
        Journal.from_rows(ROWS_AS_DICTS, now=20)
    for now in ("x", "2026-05-01"):
        with pytest.raises(ValueError, match=f"now is '{now}'; it must be a round, as the times"):
            Journal.from_rows(ROWS_AS_DICTS, now=now)
