"""Every comparison shows how far a certified bandit was trusted, and says if Theorem 4 fails."""

import html
import json
import math
import re
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

from belated.analysis.run_certificates import trust_means
from belated.cli import main
from belated.comparison.compare import compare
from belated.comparison.result import Comparison
from belated.environments.delays import UniformDelays
from belated.environments.environment import Environment
from belated.environments.losses import Bernoulli
from belated.learners.branches import TAKEN
from belated.learners.contract import TrustStanding
from belated.learners.driver import Driver
from belated.learners.practical.practical_bandit import TRUSTED, PracticalBandit
from belated.report.formatting import number
from belated.report.sections import bounds_list

ROUNDS, ARMS = 200, 3
LEARNERS = ["practical-bandit:beta=0.02", "practical-bandit:certified=0", "uniform"]


@pytest.fixture(scope="module")
def compared() -> Comparison:
    """A bandit with so small a budget that its fallback plays, one without, and another learner."""
    coins, late = Bernoulli([0.5, 0.6, 0.7]), UniformDelays(0, 60)
    return compare(LEARNERS, Environment("coins", coins, late, ROUNDS, loss_range=(0.0, 2.0)), 3)


def test_the_standing_is_the_account_written_out() -> None:
    """C, b, trusted rounds and n, recomputed from the plays of a game with late news."""
    beta, random = 0.3, np.random.default_rng(5)
    learner = PracticalBandit(ARMS, beta=beta)
    driver, due = Driver(learner), dict[int, list[Any]]()
    told, hat, out, most, by_fallback = 0.0, np.zeros(ARMS), 0, 0, 0
    for t in range(1, ROUNDS + 1):
        for arm, loss, play, q in due.pop(t, ()):
            driver.tell(play, arm, loss)
            if q is not None:
                told, out, hat[arm] = told + loss, out - 1, hat[arm] + loss / q
        standing = learner.trust(driver.state)
        assert standing is not None
        budget = beta * math.sqrt(ARMS * t) + max(most, out)
        np.testing.assert_allclose(standing.regrets, told + out - hat, rtol=0, atol=1e-9)
        assert standing.budget == pytest.approx(budget, abs=1e-9)
        assert standing.trusted == (standing.largest <= standing.budget)
        assert (standing.rounds, standing.by_fallback) == (t - 1, by_fallback)
        assert standing.share == 1.0 - by_fallback / max(t - 1, 1)
        assert standing.holds
        most, prediction = max(most, out), driver.predict()
        trusted = prediction.info.branch[TAKEN] == TRUSTED
        assert trusted == standing.trusted
        arm = int(random.choice(ARMS, p=prediction.q / prediction.q.sum()))
        (play,) = driver.play(arm)
        out, by_fallback = out + trusted, by_fallback + (not trusted)
        q = float(prediction.q[arm]) if trusted else None
        later = t + 1 + int(random.integers(0, 30))
        due.setdefault(later, []).append((arm, float(random.random() < 0.7), play, q))
        assert learner.trust(driver.state).last_budget == pytest.approx(budget, abs=1e-9)  # type: ignore[union-attr]
    assert 0 < by_fallback < ROUNDS
    plain = PracticalBandit(ARMS, certified=False)
    assert plain.trust(plain.start()) is None


def test_a_table_shows_trust_and_the_bound_in_its_units(compared: Comparison) -> None:
    """Losses up to 2 double the account, the budget and the bound."""
    first, second, third = compared.table()
    traces = compared.traces[0]
    ends = [trace.trust for trace in traces if trace.trust is not None]
    assert first["trusted"] == np.mean([1 - end.by_fallback / ROUNDS for end in ends])
    assert first["account"] == pytest.approx(2.0 * np.mean([end.regrets.max() for end in ends]))
    assert first["budget"] == pytest.approx(2.0 * np.mean([end.last_budget for end in ends]))
    assert first["trusted"] < 1.0
    logs = math.log(ARMS)
    proven = 1.0 + np.mean([end.last_budget for end in ends])
    proven += 8.0 * math.sqrt(ARMS) * np.mean([math.sqrt(end.by_fallback) for end in ends])
    proven += 3.0 * math.sqrt(logs * np.mean([end.overlap for end in ends]))
    proven += math.sqrt(logs) * np.mean([math.sqrt(end.most_waiting) for end in ends])
    assert first["bound"] == pytest.approx(2.0 * proven)
    assert first["bound applies"]
    for row in (second, third):
        assert row["trusted"] is row["account"] is row["budget"] is None
        assert row["bound"] is None
    runs = [row for row in compared.runs() if row["learner"] == compared.labels[0]]
    assert [row["trusted_rounds"] for row in runs] == [ROUNDS - end.by_fallback for end in ends]
    assert [row["budget"] for row in runs] == [2.0 * end.last_budget for end in ends]
    assert trust_means(compared.traces[2]) is None


def test_the_fallback_is_charged_for_its_own_rounds_only(compared: Comparison) -> None:
    """A and W of (11) are those of the fallback's state, and no bound rests on all rounds."""
    for trace in compared.traces[0]:
        assert trace.trust is not None
        assert (trace.overlap, trace.most_waiting) == (
            trace.trust.overlap,
            trace.trust.most_waiting,
        )
        assert trace.by_fallback == trace.trust.by_fallback > 0
        assert trace.overlap > 0.0


def test_a_run_that_contradicts_theorem_4_is_reported(compared: Comparison) -> None:
    """At any checkpoint, not only at the end."""
    assert compared.faults() == []
    trace = compared.traces[0][1]
    standing = trace.trust_at[7]
    above = standing._replace(regrets=np.full(ARMS, standing.last_budget + 1.001))
    assert standing.holds
    assert not above.holds
    wrong = replace(trace, trust_at=(*trace.trust_at[:7], above, *trace.trust_at[8:]))
    runs = (compared.traces[0][0], wrong, compared.traces[0][2])
    (said,) = replace(compared, traces=(runs, *compared.traces[1:])).faults()
    assert "repetition 1" in said


def test_what_holds_may_touch_its_limit() -> None:
    """C = b + 1 is within the theorem, a thousandth more is not."""
    standing = TrustStanding(10, 0, np.array([6.0, 2.0]), 6.0, 5.0, True, 0.0, 0.0)
    assert standing.holds
    assert not standing._replace(last_budget=4.999).holds


def test_report_and_terminal_say_it(compared: Comparison) -> None:
    """Only certified learners have a sentence on trust."""
    said = html.unescape(re.sub("<[^>]+>", "", bounds_list(compared))).replace("\xa0", " ")
    trust = compared.trust(0)
    assert trust is not None
    assert f"{100 * trust.share:.4g} % of its rounds were trusted" in said
    account, budget = number(trust.account), number(trust.budget)
    assert f"{account} on average, within a budget b of {budget}" in said
    assert said.count("were trusted") == 1
    given = ["compare", "late-best:rounds=60", "-r", "2", "-l", "practical-bandit,uniform"]
    shown = CliRunner().invoke(main, given)
    assert shown.exit_code == 0
    (line,) = [line for line in shown.stdout.splitlines() if "were trusted" in line]
    assert line.startswith(
        "practical-bandit: 100 % of the rounds were trusted; its account C ended"
    )
    assert line.endswith("(Theorem 4: at most b + 1).")
    rows = json.loads(CliRunner().invoke(main, [*given, "--json"]).stdout)
    assert [row["trusted"] for row in rows] == [1.0, None]
