"""The command line, run as a user runs it."""

import csv
import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

from belated.cli import main
from belated.comparison.compare import compare
from belated.environments.scenarios import scenario
from belated.learners.paper.concealed import Concealed
from belated.learners.registry import registered
from tests.cli.commands import belated, complaint
from tests.games import random_game

CASES = sorted((Path(__file__).parents[1] / "cases").glob("*.json"))


@pytest.mark.parametrize(
    "code",
    [
        "import belated",
        "import belated; belated.Ticket; belated.__version__; dir(belated)",
        "import belated.cli",
    ],
)
def test_importing_does_not_import_numba(code: str) -> None:
    """Start-up stays quick: numba comes with the first learner."""
    check = f"{code}; import sys; assert 'numba' not in sys.modules"
    subprocess.run([sys.executable, "-c", check], check=True, timeout=300)


def test_a_mistyped_command_is_recognised() -> None:
    """Commands are imported when they are used, and known by name before."""
    run = CliRunner().invoke(main, ["compar"])
    assert run.exit_code == 2
    assert "No such command 'compar'. Did you mean 'compare'?" in run.stderr


@pytest.mark.parametrize("option", ["--help", "--version", "-h"])
def test_help_and_version_do_not_import_numba(option: str) -> None:
    """The quick options answer, and numba is not among the imports."""
    command = [sys.executable, "-X", "importtime", "-m", "belated", option]
    run = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert run.returncode == 0
    assert run.stdout
    assert "numba" not in run.stderr


def test_every_command_has_help() -> None:
    """Each command says what it does."""
    listing = belated("--help").stdout
    commands = ("compare", "learners", "replay", "scenarios", "stress", "sweep", "warmup")
    for command in commands:
        assert command in listing
        run = belated(command, "--help")
        assert run.returncode == 0
        assert len(run.stdout.splitlines()) > 4


@pytest.mark.parametrize("group", [(), ("problems",), ("keys",)])
def test_no_sentence_of_a_listing_is_cut_off(group: tuple[str, ...]) -> None:
    """Each command has one that fits into a line of 80 characters."""
    listing = CliRunner().invoke(main, [*group, "--help"]).stdout
    assert "..." not in listing.replace("[ARGS]...", "")


def test_learners_lists_name_setting_needs_and_guarantee() -> None:
    """All of them, as text and as JSON."""
    rows = json.loads(belated("learners", "--json").stdout)
    assert [row["name"] for row in rows] == sorted(registered())
    text = belated("learners").stdout
    for row in rows:
        said = {"name", "in Python", "setting", "must be known", "guarantee"}
        assert set(row) == said | {"proven for", "source"}
        assert all(value in text for value in row.values())


def test_replay_answers_every_case_in_a_line_of_its_own() -> None:
    """The contract: several files, one JSON line each, every q within 1e-10 of the answer."""
    run = belated("replay", *CASES)
    assert run.returncode == 0
    lines = run.stdout.splitlines()
    assert len(lines) == len(CASES)
    for line, path in zip(lines, CASES, strict=True):
        content = json.loads(path.read_text())
        answer = json.loads(line)
        assert set(answer) == {"q", "eta", "gamma"}
        assert np.abs(np.array(answer["q"]) - np.array(content["answer"]["q"])).max() <= 1e-10
        for name in {"eta", "gamma"} & set(content["answer"]):
            expected = np.array(content["answer"][name], dtype=float)
            assert np.allclose(np.array(answer[name], dtype=float), expected, rtol=1e-10)


def test_replay_takes_a_bare_case(tmp_path: Path) -> None:
    """A case without the wrapping, in each setting and variant."""
    files = []
    for setting in ("full", "partial", "concealed"):
        for variant in ("paper", "repaired"):
            file = tmp_path / f"{setting}-{variant}.json"
            file.write_text(json.dumps(random_game(np.random.default_rng(1), setting, variant)))
            files.append(file)
    run = belated("replay", *files)
    assert run.returncode == 0
    assert len(run.stdout.splitlines()) == 6


def changed(**changes: Any) -> dict[str, Any]:
    """A small valid case with some keys changed; None removes a key."""
    case: dict[str, Any] = {
        "setting": "concealed",
        "K": 2,
        "T": 2,
        "losses": [[0.1, 0.2], [0.3, 0.4]],
        "delays": [[0, 1], [None, 0]],
        "arms": [0, 1],
        "rho_star": 1,
    }
    case.update(changes)
    return {key: value for key, value in case.items() if value is not None}


@pytest.mark.parametrize(
    ("case", "told"),
    [
        (changed(setting="half"), "'half'"),
        (changed(setting=None), "setting"),
        (changed(K=0), "K is 0"),
        (changed(K=3), "3 arms"),
        (changed(T=0), "T is 0"),
        (changed(T=3), "3 rounds"),
        (changed(losses=[[0.1, 0.2], [0.3, 1.5]]), "1.5"),
        (changed(losses=[[0.1, 0.2], [0.3, -0.5]]), "-0.5"),
        (changed(losses=[[0.1, 0.2], [0.3, None]]), "None"),
        (changed(losses=[[0.1, 0.2], [0.3, "x"]]), "'x'"),
        (changed(losses=[[0.1, 0.2], [0.3]]), "round 2"),
        (changed(delays=[[0, 1], [-1, 0]]), "-1"),
        (changed(delays=[[0, 1], [0.5, 0]]), "0.5"),
        (changed(arms=[0, 2]), "2"),
        (changed(arms=None), "arms"),
        (changed(arms=[0]), "2 rounds"),
        (changed(rho_star=None), "rho_star"),
        (changed(rho_star=-1), "-1"),
        (changed(variant="other"), "'other'"),
        (changed(options={"gamma_weight": "p"}), "'p'"),
        (changed(options={"speed": 3}), "speed"),
        (changed(setting="full", prior=[0.5, 0.6]), "1.1"),
        (changed(setting="full", prior=[1.0]), "1 weights"),
        (changed(setting="full", prior=[1.5, -0.5]), "1.5"),
        (changed(setting="partial", prior=[1.0, 0.0]), "0.0"),
        ([1, 2], "object"),
    ],
)
def test_a_bad_case_gets_one_clear_line(case: Any, told: str, tmp_path: Path) -> None:
    """The file, the value and the rule; no traceback."""
    file = tmp_path / "bad.json"
    file.write_text(json.dumps(case))
    line = complaint("replay", file)
    assert "bad.json" in line
    assert told in line


def test_a_key_that_means_nothing_is_named_on_standard_error(tmp_path: Path) -> None:
    """A misspelt key is not swallowed in silence, and the answer stays clean."""
    file = tmp_path / "case.json"
    file.write_text(json.dumps(changed(varient="repaired", prior=[0.5, 0.5])))
    run = CliRunner().invoke(main, ["replay", str(file)])
    assert run.exit_code == 0
    assert "'varient' is ignored" in run.stderr
    assert "'prior' is ignored" in run.stderr
    assert len(json.loads(run.stdout)["q"]) == 2


def test_options_for_logs_are_refused_for_cases() -> None:
    """A case says itself what it is; an option that would change nothing is not swallowed."""
    for option in ("--horizon", "--max-missing", "--variant"):
        value = "repaired" if option == "--variant" else 3
        assert option in complaint("replay", CASES[0], option, value)


def test_any_learner_replays_a_game_as_compare_plays_it(tmp_path: Path) -> None:
    """An exported game, with the arms that compare draws; another learner along a case."""
    game = tmp_path / "game.json"
    run = CliRunner().invoke(main, ["game", "late-best:rounds=40", str(game), "--seed", "4"])
    assert run.exit_code == 0, run.output
    found = compare(["concealed"], scenario("late-best", rounds=40), repetitions=1, seed=4)
    replayed = CliRunner().invoke(main, ["replay", str(game), "--learner", "concealed"])
    answer = json.loads(replayed.stdout)
    np.testing.assert_array_equal(answer["q"][-1], found.traces[0][0].last)
    np.testing.assert_array_equal(
        np.bincount(answer["arms"], minlength=5), found.traces[0][0].plays
    )
    along = CliRunner().invoke(main, ["replay", str(CASES[0]), "--learner", "exp3"])
    assert json.loads(along.stdout)["learner"] == "exp3"
    assert "add --learner" in complaint("replay", game)
    assert "leave out the learner" in complaint("replay", game, "--learner", "exp3", "--decompose")


def test_a_game_that_needs_options_says_so(tmp_path: Path) -> None:
    """A table has no range and no features; unknown endings are refused at once."""
    run = CliRunner().invoke(main, ["game", "gains:rounds=20", str(tmp_path / "gains.csv")])
    assert "Play it with --loss-range" in run.stderr
    assert "must end in" in complaint("game", "late-best", tmp_path / "game.txt")
    assert "scenario is 'nowhere'" in complaint("game", "nowhere", tmp_path / "game.csv")


def test_unreadable_files_get_one_clear_line(tmp_path: Path) -> None:
    """Absent, not JSON, or not text at all."""
    assert "nowhere.json" in complaint("replay", tmp_path / "nowhere.json")
    text, binary = tmp_path / "text.json", tmp_path / "binary.json"
    text.write_text("{")
    binary.write_bytes(bytes(range(256)))
    assert "text.json is not JSON" in complaint("replay", text)
    assert "binary.json is not JSON" in complaint("replay", binary)


LOG = [
    {"round": 1, "arm": "red", "probability": 0.5, "loss": 0.2, "arrival": 3},
    {"round": 2, "arm": "blue", "probability": 0.25, "loss": 0.9, "arrival": 2},
    {"round": 3, "arm": "red", "probability": 0.5, "loss": 0.1, "arrival": 3},
    {"round": 4, "arm": "green", "probability": 0.25, "loss": "", "arrival": ""},
    {"round": 5, "arm": "red", "probability": 0.4, "loss": 0.0, "arrival": 6},
]


def write_log(path: Path, rows: Sequence[dict[str, Any]]) -> Path:
    """Rows as a CSV file."""
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, fieldnames=list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return path


def test_a_log_is_replayed_with_its_own_probabilities(tmp_path: Path) -> None:
    """The predictions of the command are those of the learner fed by hand."""
    path = write_log(tmp_path / "log.csv", LOG)
    run = belated("replay", path, "--learner", "concealed", "--max-missing", 2, "--json")
    answer = json.loads(run.stdout)
    assert answer["arms"] == ["red", "blue", "green"]
    learner = Concealed(arms=3, max_missing=2)
    state = learner.start()
    plays = {}
    for t, row in enumerate(LOG, 1):
        prediction = learner.predict(state)
        assert prediction.q.tolist() == answer["q"][t - 1]
        arm = answer["arms"].index(row["arm"])
        prediction.q[arm] = row["probability"]
        plays[t] = learner.commit(state, prediction, arm)[0]
        for s, told in enumerate(LOG[:t], 1):
            if told["arrival"] == t:
                told_arm = answer["arms"].index(told["arm"])
                learner.observe(state, plays[s], told_arm, float(told["loss"]))


def test_a_log_is_shown_as_a_table_and_read_from_parquet(tmp_path: Path) -> None:
    """The same log as Parquet gives the same answer; without --json it is a table."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    path = write_log(tmp_path / "log.csv", LOG)
    rows = [{key: None if value == "" else value for key, value in row.items()} for row in LOG]
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "log.parquet")
    options = ("--learner", "concealed", "--json")
    from_csv = belated("replay", path, *options)
    from_parquet = belated("replay", tmp_path / "log.parquet", *options)
    assert from_csv.returncode == 0
    assert from_csv.stdout == from_parquet.stdout
    table = belated("replay", path, "--learner", "concealed").stdout
    assert "favourite" in table
    assert "green" in table


def test_logs_of_the_other_settings(tmp_path: Path) -> None:
    """Experts have a row for each expert and round; the partially concealed have missing counts."""
    experts = [
        {"round": t, "arm": arm, "loss": 0.1 * t, "arrival": t + delay}
        for t in (1, 2, 3)
        for arm, delay in (("a", 0), ("b", 2))
    ]
    path = write_log(tmp_path / "experts.csv", experts)
    run = belated("replay", path, "--learner", "full-information", "--json")
    assert np.array(json.loads(run.stdout)["q"]).shape == (3, 2)
    partial = [{**row, "missing": 0} for row in LOG]
    path = write_log(tmp_path / "partial.csv", partial)
    run = belated("replay", path, "--learner", "partially-concealed", "--json")
    assert np.array(json.loads(run.stdout)["q"]).shape == (5, 3)


@pytest.mark.parametrize(
    ("row", "change", "told"),
    [
        (0, {"loss": 1.5}, "line 2: loss is 1.5; it must be in [0, 1]"),
        (0, {"loss": "much"}, "line 2: loss is much; it must be a number"),
        (0, {"loss": ""}, "line 2: loss is empty; it must be in [0, 1]"),
        (1, {"loss": "nan"}, "line 3: loss is nan; it must be a number"),
        (1, {"probability": 0}, "line 3: probability is 0; it must be above 0 and at most 1"),
        (1, {"probability": ""}, "line 3: probability is empty; it must be above 0 and at most 1"),
        (1, {"round": 0}, "line 3: round is 0; it must be a whole number from 1 to"),
        (1, {"round": 1}, "round 1 has two rows (lines 2 and 3); in a bandit's log"),
        (1, {"round": 1, "arm": "red"}, "duplicate row for round 1, arm 'red' (lines 2 and 3)"),
        (4, {"round": 9}, "line 6: arrival is 6; it must be a whole number, at least its round"),
        (4, {"round": 9, "arrival": 9}, "there are 5 rows for 9 rounds; rounds must have no gap"),
        (2, {"arrival": 2}, "line 4: arrival is 2; it must be a whole number, at least its round"),
        (2, {"arrival": 3.5}, "line 4: arrival is 3.5; it must be a whole number, at least its"),
        (3, {"arm": ""}, "line 5: arm is empty; it must be a name"),
    ],
)
def test_a_bad_log_gets_one_clear_line(
    row: int, change: dict[str, Any], told: str, tmp_path: Path
) -> None:
    """The file, the line, the value and the rule."""
    rows = [dict(entry) for entry in LOG]
    rows[row] |= change
    path = write_log(tmp_path / "log.csv", rows)
    line = complaint("replay", path, "--learner", "concealed")
    assert "log.csv" in line
    assert told in line


@pytest.mark.parametrize(
    ("learner", "arms", "told"),
    [
        ("concealed", "red,blue,green,green", "arm 'green' is named twice"),
        ("concealed", "red", "arm 'blue' is in the log; it must be among the given arms"),
        ("full-information", None, "experts must be told the loss of every arm"),
    ],
)
def test_arms_and_learners_must_fit_the_log(
    learner: str, arms: str | None, told: str, tmp_path: Path
) -> None:
    """Each arm is named once, none is left out, and experts need more than a bandit's log."""
    path = write_log(tmp_path / "log.csv", LOG)
    options = [] if arms is None else ["--arms", arms]
    assert told in complaint("replay", path, "--learner", learner, *options)


def test_arms_that_a_log_never_chose_may_be_named(tmp_path: Path) -> None:
    """They are arms that the learner could have played."""
    path = write_log(tmp_path / "log.csv", LOG)
    options = ("--learner", "concealed", "--arms", "blue, red, green, white", "--json")
    run = CliRunner().invoke(main, ["replay", str(path), *options])
    assert json.loads(run.stdout)["arms"] == ["blue", "red", "green", "white"]


@pytest.mark.parametrize("row", ["1,a,.5", "1,a,.5,.2,1,more"])
def test_a_row_cut_short_is_noticed(row: str, tmp_path: Path) -> None:
    """A half-written line is not taken for a loss that never came."""
    path = tmp_path / "log.csv"
    path.write_text(f"round,arm,probability,loss,arrival\n{row}\n")
    assert "fields" in complaint("replay", path, "--learner", "concealed")


def test_logs_need_a_learner_and_their_columns(tmp_path: Path) -> None:
    """No or an unknown learner, an absent column, no rows, an option that does not apply."""
    path = write_log(tmp_path / "log.csv", LOG)
    assert "add --learner NAME" in complaint("replay", path)
    assert "did you mean 'exp3'" in complaint("replay", path, "--learner", "ex3")
    assert "'best'" in complaint("replay", path, "--learner", "best")
    needed = "there must be round, arm, loss, arrival, probability and missing"
    assert needed in complaint("replay", path, "--learner", "partially-concealed")
    assert "--horizon" in complaint("replay", path, "--learner", "concealed", "--horizon", 5)
    (tmp_path / "empty.csv").write_text("round,arm,probability,loss,arrival\n")
    assert "no rows" in complaint("replay", tmp_path / "empty.csv", "--learner", "concealed")
    advised = complaint("replay", path, "--learner", "advice-bandit:policies=3")
    assert "a log has no advice, so leave policies out" in advised


def test_warmup_without_a_compiler_says_so(tmp_path: Path) -> None:
    """Where nothing is compiled there is nothing to do, which is no error."""
    run = belated("warmup", BELATED_CACHE_DIR=str(tmp_path), BELATED_COMPILE="never")
    assert (run.returncode, run.stdout.count("\n")) == (0, 1)
    assert "learners run interpreted" in run.stdout


@pytest.mark.core
@pytest.mark.compiled
def test_warmup_compiles_and_says_where(tmp_path: Path) -> None:
    """The compiled code lands in the directory that was named, and is found there again."""
    run = belated("warmup", "uniform", BELATED_CACHE_DIR=str(tmp_path))
    assert run.returncode == 0
    assert str(tmp_path) in run.stdout
    assert "uniform: ready" in run.stdout
    kept = sorted(tmp_path.rglob("*.code"))
    assert kept
    belated("warmup", "uniform", BELATED_CACHE_DIR=str(tmp_path))
    assert sorted(tmp_path.rglob("*.code")) == kept


@pytest.mark.core
@pytest.mark.compiled
def test_warmup_without_a_writable_cache_says_so(tmp_path: Path) -> None:
    """A cache directory that cannot be made is no error; the code is just not kept."""
    blocked = tmp_path / "file"
    blocked.write_text("")
    run = belated("warmup", "uniform", BELATED_CACHE_DIR=str(blocked))
    assert run.returncode == 0
    assert "not kept" in run.stdout


def test_warmup_refuses_unknown_learners() -> None:
    """A wrong name is one line."""
    wrong = belated("warmup", "conceled")
    assert (wrong.returncode, wrong.stdout) == (2, "")
    assert wrong.stderr == "Error: learner is 'conceled'; `belated learners` lists them\n"


def test_no_traceback_reaches_the_user(tmp_path: Path) -> None:
    """Bad input in a process of its own: one line, exit code 2, nothing on standard output."""
    run = belated("replay", tmp_path / "nowhere.json")
    assert run.returncode == 2
    assert run.stdout == ""
    assert run.stderr == "Error: nowhere.json cannot be read: No such file or directory\n"


@pytest.mark.parametrize(
    ("name", "content", "told"),
    [
        ("list.json", '{"setting": ["full"]}', "['full']"),
        ("deep.json", "[" * 100_000, "not JSON"),
        ("huge.json", json.dumps(changed(delays=[[0, 10**400], [0, 0]])), "delay"),
        ("nan.json", json.dumps(changed(losses=[[0.1, float("nan")], [0.3, 0.4]])), "nan"),
        ("prior.json", json.dumps(changed(setting="full", prior=0.5)), "0.5"),
        ("notes.txt", "nothing", ".csv or .parquet"),
        ("long.csv", "round,arm,probability,loss,arrival\n1," + "a" * 200_000 + ",1,1,1\n", "CSV"),
        ("bad.parquet", "nothing", "bad.parquet"),
    ],
)
def test_files_of_any_kind_get_one_clear_line(
    name: str, content: str, told: str, tmp_path: Path
) -> None:
    """Whatever is in a file, no traceback."""
    path = tmp_path / name
    path.write_text(content)
    options = ["--learner", "concealed"] if path.suffix in (".csv", ".parquet") else []
    assert told in complaint("replay", path, *options)


def test_a_folder_is_not_a_file(tmp_path: Path) -> None:
    """One line for a folder, too."""
    assert "cannot be read" in complaint("replay", tmp_path)


def test_names_are_shown_as_they_are(tmp_path: Path) -> None:
    """An arm that looks like markup of the terminal library is printed unchanged."""
    rows = [{**row, "arm": f"[/{row['arm']}]"} for row in LOG]
    path = write_log(tmp_path / "log.csv", rows)
    run = CliRunner().invoke(main, ["replay", str(path), "--learner", "concealed"])
    assert run.exit_code == 0
    assert "[/green]" in run.stdout


def test_other_columns_of_a_parquet_log_do_not_matter(tmp_path: Path) -> None:
    """Columns that the log does not need may hold anything."""
    import datetime as dt

    import pyarrow as pa
    import pyarrow.parquet as pq

    moment = dt.datetime(2026, 1, 1, tzinfo=dt.UTC)
    rows = [{k: None if v == "" else v for k, v in row.items()} | {"at": moment} for row in LOG]
    table = pa.Table.from_pylist(rows)
    pq.write_table(table.cast(table.schema.set(5, pa.field("at", pa.timestamp("ns", "UTC")))),
                   tmp_path / "log.parquet")  # fmt: skip
    path = tmp_path / "log.parquet"
    run = CliRunner().invoke(main, ["replay", str(path), "--learner", "concealed", "--json"])
    assert run.exit_code == 0


def test_replay_takes_the_regret_of_a_case_apart() -> None:
    """--decompose adds the terms of eq:decomp, which add up to the regret; logs have none."""
    run = belated("replay", CASES[0], "--decompose")
    parts = json.loads(run.stdout)["decomposition"]
    total = parts["comparator_corrections"] + parts["cheating_regret"] + parts["drift"]
    assert parts["regret"] == pytest.approx(total - parts["learner_corrections"], abs=1e-9)
    assert "--decompose is for cases" in complaint("replay", "log.csv", "--decompose")
