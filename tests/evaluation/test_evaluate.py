"""`belated.evaluate`: policies of every kind, what silence means, and what is said beside."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import belated
from belated.evaluation.logs.journal import Journal
from belated.evaluation.silence import filled
from tests.evaluation.worked_case import POLICY, ROWS_AS_DICTS, journal, values

WEIGHING = ("ips", "snips")


def log_of(seed: int = 0, rows: int = 600, late: bool = True) -> Journal:
    """A log of two arms, red (0.3) and blue (0.7); blue takes longer."""
    random = np.random.default_rng(seed)
    found = []
    for t in range(1, rows + 1):
        device = "phone" if random.random() < 0.5 else "desk"
        red = 0.8 if device == "phone" else 0.4
        arm = "red" if random.random() < red else "blue"
        delay = random.exponential(5.0 if arm == "red" else 60.0) if late else 0.0
        found.append(
            {
                "round": t,
                "arm": arm,
                "probability": red if arm == "red" else 1.0 - red,
                "reward": float(random.random() < (0.3 if arm == "red" else 0.7)),
                "delay": delay,
                "context": {"device": device, "hour": t % 24},
            }
        )
    return Journal.from_rows(found)


def test_the_worked_case_through_the_front_door() -> None:
    """The whole way gives the golden numbers of the estimators without a model, and the bounds."""
    found = belated.evaluate(
        journal(),
        {"policy": POLICY},
        silence="missing",
        estimators=["ips", "snips", "clipped-ips:clip=1.5"],
        draws=20,
    )
    # Half of arm 1's outcomes take 8 of 40 rounds at most: the log is old enough.
    assert found["policy"].ips.value == pytest.approx(0.833333, abs=1e-6)
    assert found["policy"].snips.value == pytest.approx(1.0)
    assert found["policy"].clipped_ips.value == pytest.approx(0.625)
    assert found["policy"].ips.bounds == pytest.approx(
        [values(POLICY, filled(journal(), each))["ips"] for each in (0.0, 1.0)]
    )
    assert found["policy"].rows_used == pytest.approx(1.923077, abs=1e-6)
    assert found["policy"].mean_weight == pytest.approx(1.15625)


def test_policies_of_every_kind() -> None:
    """An arm, uniform play, functions, tables, classifiers, bandits: the same policy, one value."""

    class Classifier:
        classes_ = ("blue", "red")

        def predict_proba(self, rows: Any) -> Any:
            return np.tile([0.0, 1.0], (len(rows), 1))

    log = log_of(rows=3000, late=False)
    bandit = belated.Bandit(["red", "blue"], learner="uniform", seed=1)
    found = belated.evaluate(
        log,
        {
            "arm": "red",
            "prefixed": "arm:red",
            "function": lambda context: "red",
            "shares": lambda context: {"red": 1.0},
            "table": np.tile([1.0, 0.0] if log.arms[0] == "red" else [0.0, 1.0], (len(log), 1)),
            "classifier": Classifier(),
            "weights": {"red": 1.0},
            "uniform": "uniform",
            "bandit": bandit,
            "best": "best-arm",
            "blue": "blue",
        },
        estimators=WEIGHING,
    )
    reds = [found[name].snips.value for name in list(found.policies)[:7]]
    assert reds == pytest.approx([reds[0]] * 7)
    assert found["bandit"].ips.value == pytest.approx(found["uniform"].ips.value)
    assert found["best"].ips.value == pytest.approx(found["blue"].ips.value)
    assert found["blue"].ips.value == pytest.approx(0.7, abs=0.08)
    assert found.interval == "normal"  # nothing is missing
    assert found["uniform"].ips.bounds[0] == found["uniform"].ips.bounds[1]


def test_each_meaning_of_silence() -> None:
    """They differ, and the bounds are the same."""
    log = log_of()
    kinds: list[dict[str, Any]] = [
        {"silence": "missing"},
        {"silence": "speeds"},
        {"default_loss": 1.0},
        {"silence": "missing", "stratum": "device"},
    ]
    found = [belated.evaluate(log, {"u": "uniform"}, draws=50, **kind) for kind in kinds]
    assert [each.silence for each in found] == ["missing", "speeds", "default", "missing"]
    assert len({each["u"].snips.value for each in found}) == 4
    assert len({each["u"].snips.bounds for each in found}) == 1
    for each in found:
        estimate = each["u"].snips
        assert estimate.low is not None
        assert estimate.high is not None
        assert estimate.value is not None
        assert estimate.low < estimate.value < estimate.high
        assert estimate.outer[0] < estimate.bounds[0] < estimate.bounds[1] < estimate.outer[1]
    assert [part.label for part in found[3]["u"].parts] == ["desk", "phone"]


def test_silence_without_a_meaning_has_bounds_only() -> None:
    """And the note asks for one; an interval that needs none is given all the same."""
    found = belated.evaluate(log_of(), {"u": "uniform"})
    estimate = found["u"].snips
    assert (estimate.value, estimate.low, estimate.high) == (None, None, None)
    assert 0.0 < estimate.bounds[0] < estimate.bounds[1] < 1.0
    assert "Declare silence" in found.notes[0]
    sure = belated.evaluate(log_of(), {"u": "uniform"}, interval="betting")["u"].snips
    assert sure.value is None
    assert sure.low is not None
    assert sure.low < estimate.bounds[0]


def test_a_log_that_is_too_young_has_bounds_only() -> None:
    """Most of what will come of the arm has not come."""
    random = np.random.default_rng(0)
    rows = [
        {"round": t, "arm": "a", "probability": 1, "reward": 1, "delay": random.exponential(2e3)}
        for t in range(1, 601)
    ]
    found = belated.evaluate(rows, {"a": "a"}, silence="missing")
    assert found["a"].snips.value is None
    assert "too short for a" in found.notes[0]


def test_one_row_has_no_interval() -> None:
    """It says nothing about others."""
    found = belated.evaluate([{"arm": "a", "probability": 1, "reward": 1}], {"a": "a"})["a"].snips
    assert (found.value, found.low, found.high) == (1.0, None, None)


@pytest.mark.parametrize("options", [{"silence": "missing"}, {"default_loss": 1}])
def test_rows_younger_than_the_shortest_delay_do_not_count(options: dict[str, Any]) -> None:
    """All earn 1 and say so after 50 rounds: nobody can speak for the last 50 rows."""
    rows = [{"arm": "ab"[t % 2], "probability": 0.5, "reward": 1, "delay": 50} for t in range(200)]
    found = belated.evaluate(rows, {"u": "uniform"}, estimators=["ips", "dr"], draws=20, **options)
    assert found["u"].ips.value == found["u"].ips.low == found["u"].ips.high == 1.0
    assert found["u"].dr.value == pytest.approx(1.0, abs=0.01)
    assert found["u"].ips.bounds == (0.75, 1.0)
    assert found.notes[0].startswith("The youngest 25.0% of the rows are left out")


def test_an_arm_of_which_nothing_was_told() -> None:
    """Without times of outcomes, silence that is the default needs no correction."""
    rows = [{"arm": "ab"[t % 2], "probability": 0.5, "reward": [1, None][t % 2]} for t in range(60)]
    lost = belated.evaluate(rows, {"b": "b"}, silence="missing", draws=20)
    assert lost["b"].snips.value is None
    assert lost.notes[0] == "No outcome of b is known, so there are only bounds."
    assert belated.evaluate(rows, {"b": "b"}, default_loss=1, draws=20)["b"].snips.value == 0.0


def test_intervals() -> None:
    """Each kind has its own width; those that hold whatever silence means are widest."""
    log = log_of()
    ways = ("normal", "bootstrap", "betting", "bernstein")
    found = {
        way: belated.evaluate(log, {"u": "uniform"}, silence="missing", interval=way, draws=200)
        for way in ways
    }
    widths = []
    for way in ways:
        estimate = found[way]["u"].ips if "ips" in found[way]["u"].estimates else None
        estimate = estimate or found[way]["u"].snips
        assert estimate.low is not None
        assert estimate.high is not None
        widths.append(estimate.high - estimate.low)
    assert widths[0] == pytest.approx(widths[1], rel=0.3)
    assert min(widths[2:]) > max(widths[:2])


def test_a_learner_is_replayed_by_rejection() -> None:
    """It finds the better arm, and it is told late."""
    log = log_of(rows=1500)
    found = belated.evaluate(log, {"exp3": "learner:exp3"}, silence="missing", draws=50, seed=3)[
        "exp3"
    ]
    assert list(found.estimates) == ["replay"]
    assert found.weights is not None
    assert set(np.unique(found.weights)) == {0.0, 1.0}  # M = 1 / min p needs no weights
    assert found.table is not None
    assert found.table[-1, log.arms.index("blue")] > 0.6
    for policy, said in (
        ("learner:hedge", "is told the losses of all arms"),
        ("learner:nobody", "learner is 'nobody'"),
        ("learner:exp3:x=1", "exp3 has no option 'x'"),
    ):
        with pytest.raises(ValueError, match=said):
            belated.evaluate(log, {"x": policy})


def contextual_rows(number: int) -> list[dict[str, Any]]:
    """A uniform log in which red is right on a phone and blue on a desk; all is told at once."""
    random, rows = np.random.default_rng(2), []
    for t in range(1, number + 1):
        device, arm = random.choice(["phone", "desk"]), random.choice(["red", "blue"])
        wins = random.random() < (0.9 if (arm == "red") == (device == "phone") else 0.1)
        context = {"device": str(device)}
        row = {"round": t, "arm": str(arm), "probability": 0.5, "delay": 0, "context": context}
        rows.append({**row, "reward": float(wins)})
    return rows


def test_learners_with_contexts_see_those_of_the_log() -> None:
    """As they are, saved, and along the log: without a context none of them earns above 0.5."""
    rows = contextual_rows(300)
    bandit = belated.Bandit(["red", "blue"], learner="linear", features=None, seed=1)
    for row in rows:
        ticket = bandit.ask(context=row["context"])
        phone = row["context"]["device"] == "phone"
        bandit.tell(ticket, reward=0.9 if (ticket.arm == "red") == phone else 0.1)
    saved = belated.from_json(bandit.to_json())
    found = belated.evaluate(rows, {"now": bandit, "saved": saved, "along": "learner:linear"})
    assert found["saved"].snips == found["now"].snips
    assert found["now"].snips.value == pytest.approx(0.9, abs=0.06)
    assert found["along"].replay.value == pytest.approx(0.85, abs=0.1)


def test_a_learner_that_counts_seconds_is_told_the_time() -> None:
    """From the log; without times it is refused."""
    rows = contextual_rows(60)
    policy = {"x": "learner:linear:ages=seconds"}
    with pytest.raises(ValueError, match="linear counts ages in seconds, which the log does not"):
        belated.evaluate(rows, policy)
    timed = [{**row, "decided_at": 1e9 + 60.0 * row["round"]} for row in rows]
    assert belated.evaluate(timed, policy)["x"].replay.value is not None


class Fitted:
    """A classifier that was fitted to these columns and answers as this function does."""

    classes_ = ("red", "blue")

    def __init__(self, answers: Any, names: tuple[str, ...] | None = None) -> None:
        self.predict_proba = answers
        if names is not None:
            self.feature_names_in_ = names


def test_a_classifier_sees_the_contexts_as_they_are() -> None:
    """By name if it was fitted to a DataFrame; else all numbers in the order of their names."""
    rows = contextual_rows(200)
    for row in rows:
        row["context"] = {"age": 31.0, "phone": float(row["context"]["device"] == "phone")}

    def by_name(table: Any) -> Any:
        assert list(table.columns) == ["phone"]
        return np.stack([table["phone"], 1.0 - table["phone"]], axis=1)

    def by_place(table: Any) -> Any:
        assert (table[:, 0] == 31.0).all()
        return np.stack([table[:, 1], 1.0 - table[:, 1]], axis=1)

    policies = {"name": Fitted(by_name, ("phone",)), "place": Fitted(by_place)}
    found = belated.evaluate(rows, policies, estimators=["snips"])
    assert found["name"].snips == found["place"].snips
    assert found["name"].snips.value == pytest.approx(0.9, abs=0.08)


def test_uniform_logging_accepts_rows_as_the_learner_plays() -> None:
    """With uniform logging and K arms a row is accepted with the learner's own weight."""
    random = np.random.default_rng(1)
    rows = [
        {"arm": "ab"[random.integers(2)], "probability": 0.5, "reward": 1.0} for _ in range(400)
    ]
    found = belated.evaluate(rows, {"x": "learner:uniform"})["x"]
    assert found.weights is not None
    assert found.weights.mean() == pytest.approx(0.5, abs=0.08)
    assert found.replay.value == 1.0


def test_the_value_in_the_users_units() -> None:
    """Rewards from 0 to 10 give values from 0 to 10."""
    rows = [{**row, "reward": 10.0 * row["reward"]} for row in ROWS_AS_DICTS]
    terms: dict[str, Any] = {"silence": "missing", "estimators": ["ips"], "draws": 20, "now": 50}
    found = belated.evaluate(rows, {"u": "uniform"}, loss_range=(0, 10), **terms)["u"].ips
    unit = belated.evaluate(ROWS_AS_DICTS, {"u": "uniform"}, **terms)["u"].ips
    assert unit.value is not None
    assert found.value == pytest.approx(10.0 * unit.value)
    assert found.bounds == pytest.approx([10.0 * each for each in unit.bounds])


def test_wrong_probabilities_show_in_the_mean_of_the_weights() -> None:
    """Which should be 1."""
    log = log_of(rows=2000, late=False)
    rows = [
        {"arm": log.arms[arm], "probability": p / 2.0, "reward": r}
        for arm, p, r in zip(log.chosen, log.probability, log.rewards, strict=True)
    ]
    found = belated.evaluate(rows, {"u": "uniform"}, estimators=["ips"])
    assert found["u"].mean_weight == pytest.approx(2.0, abs=0.1)
    assert "have the mean" in found.notes[0]
    right = belated.evaluate(log, {"u": "uniform"}, estimators=["ips"])
    assert not right.notes


def test_table_and_json() -> None:
    """All that was found, as plain values."""
    found = belated.evaluate(log_of(), {"u": "uniform"}, silence="missing", draws=20)
    assert found.table().column("policy") == ["logged", "u", "u", "u"]
    content = json.loads(found.to_json())
    assert content["silence"] == "missing"
    assert content["policies"][1]["estimates"]["snips"]["value"] == found["u"].snips.value
    assert str(found).startswith("policy")
    again = belated.evaluate(log_of(), {"u": "uniform"}, silence="missing", draws=20)
    assert again.to_json() == found.to_json()
    with pytest.raises(KeyError, match="no policy 'v'"):
        found["v"]
    with pytest.raises(AttributeError, match="no estimate 'dm'"):
        _ = found["u"].dm


REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"silence": "quiet"}, "silence is 'quiet'; it must be one of missing, default, speeds"),
    ({"silence": "default"}, "then default_loss must say"),
    ({"silence": "missing", "default_loss": 1}, "default_loss is for silence 'default' only"),
    ({"default_loss": 2}, "default_loss is 2"),
    ({"estimators": ["ipss"]}, "estimator is 'ipss'; it must be one of"),
    ({"estimators": ["ips:tau=1"]}, "ips has no option 'tau'; it has no options"),
    ({"estimators": ["switch-dr:tau=0"]}, "tau of switch-dr is 0; it must be a number above 0"),
    ({"interval": "wide"}, "interval is 'wide'; it must be one of bootstrap"),
    ({"level": 1.0}, "level is 1.0; it must be above 0 and below 1"),
    ({"stratum": "colour"}, "stratum is 'colour'; it must be a column of the log"),
    ({"draws": 1}, "draws is 1"),
    ({"most_weight": 0, "interval": "bernstein"}, "most_weight is 0; it must be above 0"),
    ({"rejection_limit": -1.0}, "rejection_limit is -1.0; it must be above 0"),
]


@pytest.mark.parametrize(("options", "said"), REFUSED, ids=[said[:25] for _, said in REFUSED])
def test_bad_options_get_one_sentence(options: dict[str, Any], said: str) -> None:
    """Before anything is computed."""
    with pytest.raises(ValueError) as error:
        belated.evaluate(log_of(rows=60), {"u": "uniform"}, **options)
    assert said in str(error.value)


@pytest.mark.parametrize(
    ("policies", "said"),
    [
        ({}, "it must be a dict of policies by name"),
        ({"logged": "red"}, "the log itself has that name"),
        ({"x": "green"}, "policy is 'green'; it must be one of uniform, best-arm"),
        ({"x": lambda context: "green"}, "policy 'x' answers 'green' in row 1; it must be an arm"),
        ({"x": lambda context: [0.5, 0.5]}, "policy 'x' answers [0.5, 0.5] in row 1; it must be"),
        ({"x": lambda context: None}, "policy 'x' answers None in row 1; it must be an arm"),
        ({"x": lambda context: {"red": 0.5}}, "have the sum 1"),
        ({"x": lambda context: {"red": None}}, "probabilities must be numbers of at least 0"),
        ({"x": lambda context: {"red": 2.0, "blue": -1.0}}, "numbers of at least 0"),
        ({"x": lambda context: {"red": np.nan, "blue": 1.0}}, "numbers of at least 0"),
        ({"x": lambda context: context["os"]}, "policy 'x' fails in row 1: KeyError: 'os'"),
        ({"x": lambda: "red"}, "policy 'x' fails in row 1: TypeError"),
        ({"x": Fitted(lambda x: 1 / 0, ())}, "policy 'x' cannot classify the contexts: ZeroDiv"),
        ({"x": Fitted(None, ("os",))}, "it was fitted to the column 'os', which no context has"),
        ({"x": Fitted(lambda x: x, ("hour",))}, "answers in the shape (60, 1); it must be (60, 2)"),
        ({"x": "learner:dew-skipping"}, "must know delays beforehand, which a log does not say"),
        ({"x": np.ones((3, 2))}, "it must be (60, 2), rows and arms"),
    ],
)
def test_bad_policies_get_one_sentence(policies: Any, said: str) -> None:
    """They name the policy and the rule."""
    with pytest.raises(ValueError) as error:
        belated.evaluate(log_of(rows=60), policies)
    assert said in str(error.value)


def test_a_function_is_told_that_the_log_has_no_contexts() -> None:
    """The sentence says what the log lacks."""
    rows = [{name: row[name] for name in ("arm", "reward", "probability")} for row in ROWS_AS_DICTS]
    with pytest.raises(ValueError, match="KeyError: 'segment'; the log has no column context"):
        belated.evaluate(rows, {"x": lambda context: context["segment"]})


def test_rows_that_count_differently_have_no_sure_interval(tmp_path: Path) -> None:
    """Nor its figure; the bootstrap and the normal interval weigh them."""
    rows = [{**row, "weight": 1.0 + k % 2} for k, row in enumerate(ROWS_AS_DICTS)]
    for way in ("betting", "bernstein"):
        with pytest.raises(ValueError, match=f"interval is '{way}', which is for rows that count"):
            belated.evaluate(rows, {"u": "uniform"}, interval=way)
    found = belated.evaluate(rows, {"u": "uniform"}, silence="missing", now=50, draws=20)
    assert "figure-sequences" not in found.report(tmp_path / "page.html").read_text()


def test_outcomes_beyond_the_end_are_counted() -> None:
    """Delays in seconds without the times of decisions are found by this."""
    rows = [{"arm": "a", "probability": 1, "reward": 1, "delay": 600.0 * (t % 2)} for t in range(9)]
    found = belated.evaluate([*rows, {**rows[0], "delay": None}], {"a": "a"}, silence="missing")
    assert found.notes[-1] == (
        "An outcome that came after the end of the log or at no known time counts as not told: "
        "5 of 10 rows. No column says when decisions were made, so delays are in rounds."
    )


def test_rows_without_a_probability_can_only_be_modelled(tmp_path: Path) -> None:
    """Nothing can be weighed then."""
    rows = [{key: row[key] for key in ("arm", "reward", "context")} for row in ROWS_AS_DICTS]
    with pytest.raises(ValueError, match="use the estimator dm, which is a model and no meas"):
        belated.evaluate(rows, {"u": "uniform"})
    found = belated.evaluate(rows, {"u": "uniform"}, estimators=["dm"])
    assert found["u"].dm.value is not None
    assert not found.notes
    assert "dm" in found.report(tmp_path / "page.html").read_text()
    some = [
        {**row, "probability": row["probability"] if k else None}
        for k, row in enumerate(ROWS_AS_DICTS)
    ]
    with pytest.raises(ValueError, match="the probability of row 1 is absent"):
        belated.evaluate(some, {"u": "uniform"})
    zero = [{**ROWS_AS_DICTS[0], "probability": 0.0}]
    with pytest.raises(ValueError, match="the probability of row 1 is 0"):
        belated.evaluate(zero, {"u": "uniform"})


def test_cab_needs_all_probabilities() -> None:
    """With two arms the other one's is known; with more it must be logged."""
    rows = [{"arm": a, "probability": 0.25, "reward": 1.0} for a in "abcd"]
    with pytest.raises(ValueError, match="cab needs the logged probabilities of all arms"):
        belated.evaluate(rows, {"u": "uniform"}, estimators=["cab"])
    shares = dict.fromkeys("abcd", 0.25)
    known = [{**row, "probabilities": shares} for row in rows]
    found = belated.evaluate(known, {"u": "uniform"}, estimators=["cab"])
    assert found["u"].cab.value == pytest.approx(1.0)
