"""The service's commands: on a store at rest, and on a service that runs."""

import csv
import json
import socket
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

import belated as belated_module
from belated.cli import main, service_options
from belated.client import Client
from belated.compiled.sources import source_hash
from belated.service.store import open_store
from belated.service.store.migrations import STEPS
from belated.table_files import read_batches
from tests.cli.commands import belated, complaint
from tests.service.server import serving


def done(*arguments: object) -> str:
    """What a command prints when all goes well."""
    run = CliRunner().invoke(main, [str(argument) for argument in arguments])
    assert run.exit_code == 0, run.output
    return run.stdout


def read(*arguments: object) -> Any:
    """The JSON that a command prints."""
    return json.loads(done(*arguments, "--json"))


def test_a_service_that_does_not_answer_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """After a deadline, with a sentence that says that it may have been done all the same."""
    monkeypatch.setattr(service_options, "SECONDS", 0.3)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        at = ("--server", f"http://127.0.0.1:{silent.getsockname()[1]}")
        said = CliRunner().invoke(main, ["problems", "create", "ads", "-a", "red", *at]).stderr
    assert "was tried once" in said
    assert "it may have been done" in said
    assert "Traceback" not in said


def test_certified_is_an_option_of_a_problem(tmp_path: Path) -> None:
    """At rest, over HTTP and with the client; a problem that is not certified shows no trust."""
    db = tmp_path / "belated.db"
    create = ("problems", "create", "-a", "x", "-a", "y")
    free = ("-l", "practical-bandit:certified=false")
    assert read(*create, "rest", *free, "--db", db)["options"] == {"certified": False}
    bad = complaint(*create, "bad", "-l", "practical-bandit:certified=2", "--db", db)
    assert "certified is 2; it must be True or False" in bad
    with serving(str(db)) as server:
        at = ("--server", server.address)
        assert read(*create, "far", *free, *at)["options"] == {"certified": False}
        sure = ("-l", "practical-bandit:certified=true", "--default-loss", 1)
        read(*create, "sure", *sure, *at)
        with Client(server.address) as client:
            client.create_problem("near", ["x", "y"], options={"certified": False})
            trust = {name: client.stats(name)["trust"] for name in ("rest", "far", "near", "sure")}
    assert [name for name, found in trust.items() if found is not None] == ["sure"]


def test_contexts_from_the_command_line(tmp_path: Path) -> None:
    """Features are declared, an export is replayed with them, and contexts are forgotten."""
    db, log = tmp_path / "belated.db", tmp_path / "log.csv"
    create = ("problems", "create", "-l", "linear", "-a", "x", "-a", "y", "-a", "z", "--db", db)
    kinds = ("--feature", "age=number", "--feature", "device=phone,desktop")
    made = read(*create, "shop", *kinds, "--minimum-share", "0.05")
    assert made["options"]["features"] == {"age": "number", "device": ["phone", "desktop"]}
    assert made["minimum_share"] == 0.05
    assert read(*create, "named", "--feature", "age")["options"]["features"] == ["age"]
    assert read(*create, "hashed", "--hash-bits", 3)["options"]["hash_bits"] == 3
    for wrong, sentence in (
        (("--feature", "age=number", "--feature", "sex"), "--feature sex has no kind"),
        (("--feature", "age", "--feature", "age"), "--feature names 'age'; each must have"),
        (("--feature", "age=numbr", "-l", "exp3"), "exp3 has no option 'features'"),
    ):
        assert sentence in complaint(*create, "bad", *wrong)
    live = []
    with serving(str(db)) as server, Client(server.address) as client:
        plain = client.create_problem("plain", ["x", "y", "z"], learner="linear", features=["age"])
        for age in range(20, 40):
            ticket = client.ask(plain.name, context={"age": age}, all_probabilities=True)
            live.append(list((ticket.probabilities or {}).values()))
            client.tell(ticket, reward=float(ticket.arm == "y"))
    done("export", "plain", log, "--db", db)
    found = read("replay", log, "--learner", "linear", "--feature", "age", "--arms", "x,y,z")
    np.testing.assert_allclose(found["q"], live, atol=1e-10)
    assert "context has the name 'age'" in complaint(
        "replay", log, "--learner", "linear", "--feature", "hour"
    )
    assert read("forget", "plain", "--older-than", "0s", "--contexts", "--db", db) == {
        "name": "plain", "forgotten": 20,
    }  # fmt: skip
    done("export", "plain", log, "--db", db)
    (batch,) = read_batches(log, ["context", "probabilities"])
    assert set(batch.columns["context"]) <= {None, ""}
    assert read("verify", "--db", db)["clean"]


def test_problems_at_rest_and_while_it_runs(tmp_path: Path) -> None:
    """The same commands with --db and with --server; a running service owns its file."""
    db = tmp_path / "belated.db"
    made = read("problems", "create", "ads", "-a", "red", "-a", "green", "--db", db)
    assert (made["learner"], made["status"]) == ("practical-bandit", "active")
    assert "already" in complaint("problems", "create", "ads", "-a", "red", "--db", db)
    assert read("problems", "pause", "ads", "--db", db)["status"] == "paused"
    other = ("problems", "arms", "ads", "--add", "blue", "--remove", "red")
    assert read(*other, "--db", db) == {"name": "ads", "arms": ["green", "blue"]}
    assert read("problems", "show", "ads", "--db", db)["arms"] == ["green", "blue"]
    terms = ("problems", "terms", "ads", "--expire-after", 9, "--default-loss", 0.5)
    assert read(*terms, "--db", db)["expire_after"] == 9
    assert "must be a number or none" in complaint(*terms[:3], "--expire-after", "x", "--db", db)
    with serving(str(db)) as server:
        at = ("--server", server.address)
        assert "in use by process" in complaint("problems", "list", "--db", db)
        assert read("problems", "show", "ads", *at)["status"] == "paused"
        assert done("problems", "arms", "ads", "-a", "red", *at).startswith(
            "ads has the arms green"
        )
        longer = ("--expire-after", "none", "--expire-seconds", 60, *at)
        changed = read("problems", "terms", "ads", *longer)
        assert (changed["expire_after"], changed["expire_seconds"]) == (None, 60.0)
        assert read("problems", "resume", "ads", *at)["status"] == "active"
        options = ("-a", "x", "-a", "y", "-l", "exp3", "--loss-range", -1, 1)
        assert read("problems", "create", "more", *options, *at)["loss_range"] == [-1.0, 1.0]
        assert [each["name"] for each in read("problems", "list", *at)] == ["ads", "more"]
        assert "ads" in done("problems", "list", *at)
        assert "no problem 'none'" in complaint("problems", "show", "none", *at)
        assert read("verify", *at)["clean"] is True
        done("export", "ads", tmp_path / "ads.csv", *at)
        assert ",red,,,0,,added," in (tmp_path / "ads.csv").read_text()
        assert "runs without keys" in complaint("keys", "list", *at)
    assert read("problems", "archive", "ads", "--db", db)["status"] == "archived"
    assert "for good" in complaint("problems", "resume", "ads", "--db", db)
    assert "for good" in complaint("problems", "arms", "ads", "-a", "x", "--db", db)
    assert "neither add nor remove" in complaint("problems", "arms", "more", "--db", db)
    assert [each["name"] for each in read("problems", "list", "--db", db)] == ["more"]
    assert "cannot be reached" in complaint("problems", "list", *at)
    assert "must begin with http" in complaint("problems", "list", "--server", "nowhere")


def test_outcomes_and_ranges_of_a_problem(tmp_path: Path) -> None:
    """Named with their rule, weights and time; what is not complete is said in a sentence."""
    db = ("--db", tmp_path / "belated.db")
    create = ("problems", "create", "-a", "red", "-a", "green")
    made = read(
        *create, "orders", "--soft-range", 0, 100, "--outcome", "click=0.5", "--outcome", "sale=1",
        "--revise-within", 60, *db,
    )  # fmt: skip
    weights = {"click": 0.5, "sale": 1.0}
    rule = {"names": ["click", "sale"], "rule": "weighted", "weights": weights}
    assert made["outcomes"] == {**rule, "revise_within": 60.0}
    assert made["soft_range"] == made["loss_range"] == [0.0, 100.0]
    summed = read(*create, "sums", "--outcome", "sale", "--revise-within", 60, *db)
    assert summed["outcomes"]["rule"] == "sum"
    for options, words in (
        (("--rule", "max"), "is given without --outcome"),
        (("--outcome", "sale=x"), "each must be NAME=WEIGHT"),
        (("--outcome", "sale"), "outcomes has no revise_within"),
        (("--loss-range", 0, 1, "--soft-range", 0, 1), "give one of the two"),
    ):
        assert words in complaint(*create, "more", *options, *db)


def test_a_saved_learner_is_a_control(tmp_path: Path) -> None:
    """Its weights are kept; one that needs a context has none."""
    db = ("--db", tmp_path / "belated.db")
    old = belated_module.Bandit(["red", "green"], learner="exp3")
    for _ in range(20):
        ticket = old.ask()
        old.tell(ticket, 0.0 if ticket.arm == "red" else 1.0)
    (tmp_path / "old.json").write_text(old.to_json())
    create = ("problems", "create", "-a", "red", "-a", "green", "--holdout", 0.1, "--control")
    made = read(*create, tmp_path / "old.json", "shop", *db)
    assert made["holdout"]["weights"] == old.weights()
    assert "cannot be read" in complaint(*create, tmp_path / "none.json", "more", *db)


def test_the_report_of_a_holdout(tmp_path: Path) -> None:
    """At rest and of a running service, in the terminal, as JSON and as a page."""
    db, page = tmp_path / "belated.db", tmp_path / "shop.html"
    done("problems", "create", "shop", "-a", "red", "-a", "green", "--holdout", 0.5, "--db", db)
    done("problems", "create", "plain", "-a", "red", "--db", db)
    assert "No decision of shop counts yet; 0 decisions wait" in done("report", "shop", "--db", db)
    assert "'plain' has no holdout" in complaint("report", "plain", "--db", db)
    assert "must end in .html" in complaint("report", "shop", "--html", "x.txt", "--db", db)
    with serving(str(db)) as server:
        at = ("--server", server.address)
        with Client(server.address) as client:
            for ticket in client.ask_batch("shop", 40):
                client.tell(ticket, reward=1)
            assert client.uplift("shop", within=60)["decisions"] == 40
        found = read("report", "shop", "--html", page, *at)
        assert (found["decisions"], found["within"]) == (40, 604_800.0)
        assert "no problem 'none'" in complaint("report", "none", *at)
    assert "cannot be told apart from its control yet" in done("report", "shop", "--db", db)
    text = page.read_text()
    assert "On shop the learner cannot be told apart from its control yet" in text
    assert text.count("<svg") == 2


def test_keys_are_made_listed_and_revoked(tmp_path: Path) -> None:
    """The key is printed once and never stored; a revoked one stays in the list."""
    db = tmp_path / "belated.db"
    made = read("keys", "create", "shop", "-s", "ask:ads", "--db", db)
    assert done("keys", "create", "other", "-s", "tell:*", "--db", db).startswith("belated_")
    assert "it must read" in complaint("keys", "create", "bad", "-s", "fly", "--db", db)
    assert read("keys", "revoke", made["id"], "--db", db)["revoked"] is not None
    assert "there is no key 'abc'" in complaint("keys", "revoke", "abc", "--db", db)
    listed = done("keys", "list", "--db", db)
    assert "shop" in listed
    assert made["key"] not in listed


def test_migrate_says_what_there_is(tmp_path: Path) -> None:
    """A new store is brought to the newest version."""
    assert f"schema version {len(STEPS)}" in done("migrate", "--db", tmp_path / "belated.db")
    (tmp_path / "text.db").write_text("no database at all, but long enough to be looked at")
    assert "is not a database" in complaint("migrate", "--db", tmp_path / "text.db")


def test_verify_notices_what_is_wrong(tmp_path: Path) -> None:
    """A probability, a loss or a tally that was changed by hand: exit code 1, and what it is."""
    db = tmp_path / "belated.db"
    played(db, "practical-bandit", 12)
    assert read("verify", "--db", db)["clean"] is True
    changes = {
        "off what the fold predicts": "update journal set probability = 0.123 where round = 9",
        "the tallies": "update tallies set count = count + 1 where kind = 'told'",
        "tickets are open": "delete from open_tickets",
    }
    for complaint_, statement in changes.items():
        copy = tmp_path / "copy.db"
        copy.write_bytes(db.read_bytes())
        connection = sqlite3.connect(copy)
        connection.execute(statement)
        connection.commit()
        connection.close()
        run = CliRunner().invoke(main, ["verify", "--db", str(copy)])
        assert run.exit_code == 1
        assert complaint_ in run.stderr


def test_verify_judges_the_decisions_of_its_own_version(tmp_path: Path) -> None:
    """Those before another version took over may differ from what this one predicts."""
    db = tmp_path / "belated.db"
    played(db, "practical-bandit", 12)
    whole = read("verify", "--db", db)["problems"][0]
    assert (whole["judged"], whole["off"]) == (whole["rounds"], whole["gap"])
    with open_store(db) as store:
        event = next(each for each in store.tail()[0] if getattr(each.body, "round", None) == 9)
        store.code.takes_over(source_hash(), event.position)
    connection = sqlite3.connect(db)
    connection.execute("update journal set probability = 0.123, checksum = null where round = 9")
    connection.execute("delete from snapshots")
    connection.commit()
    connection.close()
    found = read("verify", "--db", db)["problems"][0]
    assert found["clean"] is True
    assert found["judged"] == whole["rounds"] - 9
    assert found["gap"] > 1e-3 > 1e-9 > found["off"]


def played(db: Path, learner: str, rounds: int, **spec: Any) -> list[list[float]]:
    """A game over HTTP with late, lost, cancelled and expired plays; q of every round."""
    chance = np.random.default_rng(5)
    weights, waiting = [], []
    with serving(str(db), "--no-auth", "--seed", "3") as server, server.client() as http:
        arms = ["red", "green", "blue"]
        body = {"name": "game", "arms": arms, "learner": learner, **spec}
        made = http.post("/v1/problems", json=body)
        assert made.status_code == 201, made.text
        for _ in range(rounds):
            now = http.get("/v1/problems/game").json()["weights"]
            weights.append([now[arm] for arm in arms])
            waiting.append(http.post("/v1/problems/game/ask").json())
            for decision in [each for each in waiting if chance.random() < 0.3]:
                waiting.remove(decision)
                path = f"/v1/tickets/{decision['ticket']}"
                if chance.random() < 0.1:
                    http.post(f"{path}/cancel")
                    continue
                for arm in decision.get("weights", {decision.get("arm"): 1}):
                    loss = float(chance.random() < 0.2 + 0.3 * arms.index(arm))
                    http.post(f"{path}/tell", json={"loss": loss, "arm": arm})
        assert http.post("/v1/verify").json()["clean"] is True
    return weights


@pytest.mark.parametrize(
    ("learner", "spec", "ending"),
    [
        ("practical-bandit", {"expire_after": 9, "default_loss": 1}, ".csv"),
        ("practical-bandit", {"options": {"certified": False}}, ".parquet"),
        ("concealed", {"options": {"max_missing": 20, "variant": "repaired"}}, ".csv"),
        ("full-information", {"options": {"horizon": 50}}, ".csv"),
    ],
)
def test_the_learner_is_that_of_the_library(
    tmp_path: Path, learner: str, spec: dict[str, Any], ending: str
) -> None:
    """q_t along the journal is that of `belated replay` along its export, to 1e-10."""
    db, log = tmp_path / "belated.db", tmp_path / f"log{ending}"
    weights = played(db, learner, 40, **spec)
    done("export", "game", log, "--db", db)
    given = dict(spec.get("options", {}))
    if learner == "practical-bandit" and "default_loss" in spec:
        given["default_loss"] = spec["default_loss"]
    options = ",".join(f"{name}={value}" for name, value in given.items())
    named = f"{learner}:{options}" if options else learner
    replayed = read("replay", log, "--learner", named, "--arms", "red,green,blue")
    assert replayed["arms"] == ["red", "green", "blue"]
    np.testing.assert_allclose(replayed["q"], weights, rtol=0, atol=1e-10)
    assert np.ptp(weights, axis=0).max() > 0.05  # it did learn


def test_no_spreadsheet_runs_what_is_exported(tmp_path: Path) -> None:
    """Names that are formulas get an apostrophe, numbers do not, and replay reads the names."""
    db, log = tmp_path / "belated.db", tmp_path / "ads.csv"
    arms = ["=1+1", "+1", "-1", "@cmd", "'=1", "'plain"]
    options = [part for arm in arms for part in ("-a", arm)]
    read("problems", "create", "ads", *options, "-l", "exp3", "--db", db)
    with serving(str(db), "--no-auth", "--seed", "3") as server, server.client() as http:
        made = http.post("/v1/problems/ads/ask:batch", json={"count": 60}).json()["decisions"]
        http.post(f"/v1/tickets/{made[0]['ticket']}/tell", json={"loss": 0.25}).raise_for_status()
    done("export", "ads", log, "--db", db)
    with log.open(newline="") as file:
        rows = list(csv.DictReader(file))
    cells = {"'=1+1", "'+1", "'-1", "'@cmd", "''=1", "'plain"}
    assert {row["arm"] for row in rows} == cells
    assert rows[0]["loss"] == "0.25"
    assert {arm for batch in read_batches(log, ["arm"]) for arm in batch.labels()} == set(arms)


def test_a_terminal_is_told_nothing_but_text(tmp_path: Path) -> None:
    """A label that an older version let in is shown with escapes."""
    db = tmp_path / "belated.db"
    with open_store(db) as store:
        store.keys.add("0" * 64, ["ask:ads"], "a\x1b]0;title\x07\x1b[31m\nred", 1.0)
    shown = done("keys", "list", "--db", db)
    assert not any(ord(letter) < 32 and letter != "\n" for letter in shown)
    assert "x1b" in shown
    refused = belated("keys", "revoke", "\x1b[31m", "--db", str(db))
    assert "\x1b" not in refused.stderr


def test_export_refuses_what_it_cannot_write(tmp_path: Path) -> None:
    """An unknown problem, an unknown format."""
    db = tmp_path / "belated.db"
    done("migrate", "--db", db)
    assert "no problem 'none'" in complaint("export", "none", tmp_path / "a.csv", "--db", db)
    assert "neither .csv nor" in complaint("export", "none", tmp_path / "a.txt", "--db", db)


def test_a_missing_client_library_is_one_sentence() -> None:
    """Without httpx the commands for a running service say what to install."""
    code = (
        "import sys; sys.modules['httpx'] = None; from belated.cli import main; "
        "main(['problems', 'list', '--server', 'http://127.0.0.1:1'])"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert run.returncode == 2
    assert run.stderr == "Error: belated.client needs httpx: pip install 'belated[client]'\n"
