"""Planted faults: each changes one line of the real source, and the worked cases must notice.

The package is copied, one line is changed, and the copy replays the cases in a process of its own.
A fault that no case notices would be a hole in the tests; so would a line that no longer exists.
"""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from tests.mutants.beyond_faults import BEYOND_FAULTS
from tests.mutants.context_faults import CONTEXT_FAULTS
from tests.mutants.fault import Fault
from tests.mutants.practical_faults import PRACTICAL_FAULTS
from tests.mutants.rival_faults import RIVAL_FAULTS

ROOT = Path(__file__).parents[2]
CASES = sorted((ROOT / "tests" / "cases").glob("*.json"))


FULL = "learners/paper/full_information.py"
KERNEL = "solvers/full_information.py"
PARTIAL = "learners/paper/partially_concealed.py"
CONCEALED = "learners/paper/concealed.py"
PLAY = "play/readable.py"

FAULTS = [
    Fault(
        "wrong propensity: the latest probability instead of that of the play (bandits)",
        PLAY,
        "                driver.tell(arrival.play, ",
        "                if bandit:\n"
        "                    arrival.play[0] = prediction.q[arrival.arm]\n"
        "                driver.tell(arrival.play, ",
    ),
    Fault(
        "wrong propensity: epsilon of the arrival round (concealed)",
        CONCEALED,
        "        state.losses[arm] += loss / play[DIVISOR]\n",
        "        state.losses[arm] += loss / (1.0 / play[WEIGHT] + epsilon_now(state))\n",
    ),
    Fault(
        "wrong propensity: no implicit exploration (concealed)",
        CONCEALED,
        "    plays[0, DIVISOR] = q + epsilon_now(state)\n",
        "    plays[0, DIVISOR] = q\n",
    ),
    Fault(
        "correction without rho (full)",
        FULL,
        "        state.arrived[WEIGHED, arm] += loss * (1.0 + missing)\n",
        "        state.arrived[WEIGHED, arm] += loss\n",
    ),
    Fault(
        "no correction (full)",
        FULL,
        "        state.arrived[WEIGHED, arm] += loss * (1.0 + missing)\n",
        "",
    ),
    Fault(
        "correction without rho after the rates have changed (full)",
        FULL,
        "+= loss + 4.0 * eta[j] * (loss * (1.0 + missing))",
        "+= loss + 4.0 * eta[j] * loss",
    ),
    Fault(
        "a late loss does not reach the merged rows (full)",
        FULL,
        "    if columns.merged[0] > 0:\n        merge_again(",
        "    if columns.merged[0] < 0:\n        merge_again(",
    ),
    Fault(
        "carried weights leave out a late loss (full)",
        FULL,
        "    state.carried[0] = np.inf\n    if columns.merged[0] > 0:\n",
        "    if columns.merged[0] > 0:\n",
    ),
    Fault(
        "carried weights count old losses again (full)",
        FULL,
        "            arrived[kind, i] = 0.0\n",
        "            arrived[kind, i] *= 0.5\n",
    ),
    Fault(
        "what has arrived is forgotten (full)",
        FULL,
        "            fresh[kind, i] += arrived[kind, i]\n",
        "",
    ),
    Fault(
        "carried weights lag behind (full)",
        FULL,
        "    if prediction.info.carried[0] < np.inf and state.columns.merged[0] > 0:\n",
        "    if prediction.info.carried[0] == 0.0 and state.columns.merged[0] > 0:\n",
    ),
    Fault(
        "carried weights without the correction (full)",
        KERNEL,
        "        exponent = rate * arrivals(plain, weighed, rate, end, True)\n",
        "        exponent = rate * load(plain, end, 0.0, True)\n",
    ),
    Fault(
        "fresh losses charged at the new rates when the rates change (full)",
        FULL,
        "        settle(columns)\n"
        "        fill_rates(state.steps, state.damped, float(most_missing), columns.rates)\n",
        "        fill_rates(state.steps, state.damped, float(most_missing), columns.rates)\n"
        "        settle(columns)\n",
    ),
    Fault(
        "correction without rho (partial)",
        PARTIAL,
        "        state.columns.fresh[WEIGHED, arm] += estimate * missing\n",
        "        state.columns.fresh[WEIGHED, arm] += estimate\n",
    ),
    Fault(
        "rates of the arrival round (full)",
        FULL,
        "    fill_rates(state.steps, state.damped, most_missing, eta)\n",
        "    fill_rates(state.steps, state.damped, float(most_missing_now(state)), eta)\n",
    ),
    Fault(
        "rho of the arrival round (full)",
        FULL,
        "        state.arrived[WEIGHED, arm] += loss * (1.0 + missing)\n",
        "        state.arrived[WEIGHED, arm] += loss * (1.0 + state.missing[arm])\n",
    ),
    Fault(
        "arrival one round late",
        PLAY,
        "arrivals.setdefault(t + delay, [])",
        "arrivals.setdefault(t + 1 + delay, [])",
    ),
    Fault(
        "arrival one round early",
        PLAY,
        "arrivals.setdefault(t + delay, [])",
        "arrivals.setdefault(max(t, t - 1 + delay), [])",
    ),
    Fault(
        "loss and 1 - loss swapped",
        PLAY,
        "float(feedback.losses[row, told])",
        "1.0 - float(feedback.losses[row, told])",
    ),
    Fault(
        "rho_t^max without the current round (full)",
        FULL,
        "    for i in range(state.missing.shape[0]):\n        most = max(most, state.missing[i])\n",
        "",
    ),
    Fault(
        "own play counted as outstanding in its own round (concealed)",
        CONCEALED,
        "    state.overlap[0] += state.waiting[0, arm] + state.waiting[1, arm]\n"
        "    add_exactly(state.waiting, arm, weight)\n",
        "    add_exactly(state.waiting, arm, weight)\n"
        "    state.overlap[0] += state.waiting[0, arm] + state.waiting[1, arm]\n",
    ),
    Fault(
        "answered plays still counted as outstanding (concealed)",
        CONCEALED,
        "    add_exactly(state.waiting, arm, -play[WEIGHT])\n",
        "",
    ),
    Fault(
        "estimates instead of raw losses in the rate (partial)",
        PARTIAL,
        "    state.observed[0] += loss\n",
        "    state.observed[0] += loss / play[PROBABILITY]\n",
    ),
    Fault(
        "uniform weights on the grid",
        "ftrl/rates.py",
        "    weights: Floats = halvings(size) ** 2\n",
        "    weights: Floats = halvings(size) ** 0\n",
    ),
    Fault(
        "missing counts include the current round",
        "environments/missing.py",
        "first = np.broadcast_to(index + 1, delays.shape)",
        "first = np.broadcast_to(index, delays.shape)",
    ),
]


IN_HAND = [
    Fault(
        "reward taken for a loss",
        "checks.py",
        "return (self.high - self._inside(value, name)) / (self.high - self.low)",
        "return (self._inside(value, name) - self.low) / (self.high - self.low)",
        "asktell/test_promises.py::test_losses_and_rewards_in_a_range_are_converted",
    ),
    Fault(
        "expiry one round late",
        "asktell/ticket_rules.py",
        "    return round_ - expire_after\n",
        "    return round_ - expire_after - 1\n",
        "asktell/test_tickets.py::test_an_expired_play_is_learned_as_if_told_with_that_delay",
    ),
    Fault(
        "a second report is learned again",
        "asktell/ticket_book.py",
        "        known = ~np.isnan(self.losses[reports.places])\n",
        "        known = np.zeros(len(reports.places), dtype=bool)\n",
        "asktell/test_tickets.py::test_another_loss_for_a_told_ticket_is_a_conflict",
    ),
    Fault(
        "the random stream is not saved",
        "asktell/loading.py",
        'stream=_stream_in(content["stream"]),',
        "stream=np.arange(1, 5, dtype=np.uint64),",
        "asktell/test_saving.py::test_saving_and_resuming_leaves_the_learner_and_the_text_as_they_are",
    ),
]


BEYOND = "replay/test_beyond_the_paper.py"
SKIPPING = "learners/paper/skipping.py"
WITHOUT_PROMISE = [
    Fault(
        "W counts a play from the moment it is made (Proposition 2)",
        CONCEALED,
        "    add_exactly(state.waiting, arm, weight)\n    state.outstanding",
        "    add_exactly(state.waiting, arm, weight)\n"
        "    state.most_waiting[0] = most_waiting_now(state)\n    state.outstanding",
        BEYOND,
    ),
    Fault(
        "W is what waits now, not the most that ever did (Proposition 2)",
        CONCEALED,
        "    return float(max(most, state.waiting[0, last] + state.waiting[1, last]))\n",
        "    return float(state.waiting[0, last] + state.waiting[1, last])\n",
        BEYOND,
    ),
    Fault(
        "the coming play may cost nothing (Proposition 2)",
        CONCEALED,
        "        cost = most_waiting_now(state) + state.overlap[0]\n",
        "        cost = state.overlap[0]\n",
        BEYOND,
    ),
    Fault(
        "a play is skipped one play too early (Theorem 9)",
        SKIPPING,
        "    plays.number[slot] = plays.played[arm]\n",
        "    plays.number[slot] = plays.played[arm] - 1\n",
        BEYOND,
    ),
    Fault(
        "the loss of a skipped play is learned when it comes (Theorem 9)",
        SKIPPING,
        "    return bool(counts)\n",
        "    return True\n",
        BEYOND,
    ),
    Fault(
        "skipped plays go on waiting (Theorem 9)",
        SKIPPING,
        "            add_exactly(left, 0, -plays.weight[slot])\n",
        "            stays = True\n",
        BEYOND,
    ),
    Fault(
        "skipping compares with Z of the next round (Theorem 9)",
        CONCEALED,
        "            skip_costly_plays(state.skippable, state.waiting, last, state.overlap[0])\n",
        "            total = state.overlap[0] + state.waiting[0, arm]\n"
        "            skip_costly_plays(state.skippable, state.waiting, last, total)\n",
        BEYOND,
    ),
]


HELD = "asktell/test_any_learner.py"
HELD_BACK = [
    Fault(
        "rounds in order do not wait",
        "asktell/held_rounds.py",
        "(round_ in finished or round_ not in book.open)",
        "True",
        HELD,
    ),
    Fault(
        "a window one round late",
        "asktell/held_rounds.py",
        "iter([book.opened - self.window])",
        "iter([book.opened - self.window - 1])",
        HELD,
    ),
    Fault(
        "what is held back is not saved",
        "asktell/session.py",
        "        held = {} if self._held is None else self._held.rounds\n",
        "        held: dict[int, FinishedRound] = {}\n",
        HELD,
    ),
]


TWIN = "play/test_engine.py::test_the_compiled_game_equals_its_readable_twin"
IN_GAME = [
    Fault(
        "compiled game: arrival one round late",
        "play/rounds.py",
        "put(calendar, now, now + delay)",
        "put(calendar, now, now + delay + 1)",
        f"{TWIN}[exp3]",
    ),
    Fault(
        "compiled game: the latest play instead of the one that was frozen",
        "play/rounds.py",
        "observe(state, in_force[at], ",
        "observe(state, plays[0], ",
        f"{TWIN}[exp3]",
    ),
    Fault(
        "compiled game: the latest missing count instead of that of the play",
        "play/rounds.py",
        "absent = int(rows[at, rows.shape[1] - 1]) if tells_missing else NOT_TOLD",
        "absent = int(missing[row, int(rows[at, ARM])])",
        f"{TWIN}[partially-concealed]",
    ),
    Fault(
        "compiled game: nobody is told what was missing",
        "play/engine.py",
        "missing=learner.setting is Setting.PARTIALLY_CONCEALED",
        "missing=False",
        f"{TWIN}[partially-concealed]",
    ),
    Fault(
        "compiled game: the first expert's play for every expert",
        "play/rounds.py",
        "feedback[row, k], plays[k], NOT_TOLD)",
        "feedback[row, k], plays[0], NOT_TOLD)",
        f"{TWIN}[full-information]",
    ),
    Fault(
        "calendar: what is due beyond a turn comes a turn too early",
        "play/calendar.py",
        "    if due >> BITS == now >> BITS:\n",
        "    if due - now < 2 * TURN:\n",
        "play/test_calendar.py::test_everything_comes_in_its_round[4097]",
    ),
    Fault(
        "missing counts forget what never comes",
        "play/game.py",
        "            counts[i] += 1\n            delay = delays[row, i]\n",
        "            delay = delays[row, i]\n            counts[i] += delay != NEVER\n",
        "analysis/test_game_sums.py::test_all_sums",
    ),
    Fault(
        "game sums: charged without the loss itself",
        "analysis/game_sums.py",
        "self.charge(stretch, weighted + stretch.losses)",
        "self.charge(stretch, weighted)",
        "analysis/test_game_sums.py::test_all_sums",
    ),
]


ADVICE = "learners/advice/advice.py"
ADVICE_BANDIT = "learners/advice/advice_bandit.py"
AGAINST_ORACLE = "learners/advice/test_against_oracle.py::test_worked_cases"
OVER_POLICIES = [
    Fault(f"policies: {name}", file, right, wrong, AGAINST_ORACLE)
    for name, file, right, wrong in (
        (
            "advice of the arrival instead of the play",
            ADVICE,
            "        part = play[SHARES + n] * loss\n",
            "        part = state.advice[n, arm] * loss\n",
        ),
        (
            "missing mass counted as plays",
            ADVICE,
            "            missing[n] += advice[n, i]\n",
            "            missing[n] += 1.0\n",
        ),
        (
            "missing mass of the arrival round",
            ADVICE,
            "play[MOST_MISSING], play[SHARES + size + n], n, part)",
            "play[MOST_MISSING], missing[n], n, part)",
        ),
        (
            "advice of the arrival taken out of the missing mass",
            ADVICE,
            "        missing[n] -= play[SHARES + n]\n",
            "        missing[n] -= state.advice[n, arm]\n",
        ),
        (
            "the grid of the paper, not the repaired one",
            ADVICE,
            'variant="repaired"',
            'variant="paper"',
        ),
        (
            "waiting weights of one arm only",
            ADVICE_BANDIT,
            "        spent += info.weights[n] * weight * (weight + info.waiting[n])\n",
            "        spent += info.weights[n] * weight * (weight + info.waiting[n] * (arm == 0))\n",
        ),
        (
            "W without the start of the coming round",
            ADVICE_BANDIT,
            "        most = max(most, info.waiting[n])\n",
            "",
        ),
        (
            "own play waits in its own round",
            ADVICE_BANDIT,
            "weight * (weight + info.waiting[n])",
            "weight * (2.0 * weight + info.waiting[n])",
        ),
        (
            "no variance in what was spent",
            ADVICE_BANDIT,
            "weight * (weight + info.waiting[n])",
            "weight * info.waiting[n]",
        ),
        (
            "no exploration",
            ADVICE_BANDIT,
            "1.0 / (prediction.q[arm] + 1.0 / root)",
            "1.0 / prediction.q[arm]",
        ),
        (
            "the root of the round without its quarter",
            ADVICE_BANDIT,
            "(0.25 * root + most_waiting",
            "(root + most_waiting",
        ),
        (
            "no prior over the policies",
            ADVICE_BANDIT,
            "gamma * state.losses[n] - state.log_prior[n]",
            "gamma * state.losses[n]",
        ),
    )
]
BY_THEIR_TESTS = (
    IN_HAND
    + WITHOUT_PROMISE
    + HELD_BACK
    + IN_GAME
    + OVER_POLICIES
    + BEYOND_FAULTS
    + CONTEXT_FAULTS
    + PRACTICAL_FAULTS
    + RIVAL_FAULTS
)


def replayed(source: Path) -> list[dict[str, list[list[float]]]] | None:
    """The answers of a copy of the package to all cases; None if it fails."""
    environment = {**os.environ, "PYTHONPATH": str(source), "BELATED_COMPILE": "never"}
    command = [sys.executable, "-m", "belated", "replay", *map(str, CASES)]
    run = subprocess.run(command, capture_output=True, text=True, env=environment, cwd=source)
    if run.returncode != 0:
        return None
    return [json.loads(line) for line in run.stdout.splitlines()]


def largest_error(answers: list[dict[str, list[list[float]]]]) -> float:
    """The largest difference to the cases' own answers."""
    expected = [json.loads(path.read_text())["answer"]["q"] for path in CASES]
    pairs = zip(answers, expected, strict=True)
    return max(float(np.abs(np.array(a["q"]) - np.array(e)).max()) for a, e in pairs)


def copied(tmp_path: Path) -> Path:
    """A copy of the package that a fault may be planted in."""
    package = tmp_path / "belated"
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(ROOT / "src" / "belated", package, ignore=ignored)
    return package


def planted(fault: Fault, tmp_path: Path) -> Path:
    """A copy of the package with one line changed."""
    package = copied(tmp_path)
    file = package / fault.file
    text = file.read_text()
    assert text.count(fault.right) == 1, "the line to be changed must stand exactly once"
    file.write_text(text.replace(fault.right, fault.wrong))
    return package


def test_the_unchanged_copy_is_right(tmp_path: Path) -> None:
    """The control: without a fault nothing is noticed, and it is the copy that runs."""
    package = copied(tmp_path)
    answers = replayed(package.parent)
    assert answers is not None
    assert largest_error(answers) <= 1e-14
    (package / "replay" / "replay.py").write_text("raise SystemExit(3)\n")
    assert replayed(package.parent) is None


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
def test_planted_fault_is_noticed(fault: Fault, tmp_path: Path) -> None:
    """One changed line, and some q of some case is off by far more than rounding."""
    package = planted(fault, tmp_path)
    answers = replayed(package.parent)
    assert answers is not None, "the fault must change a result, not break the program"
    assert largest_error(answers) > 1e-6


def test_without_a_fault_the_tests_pass_that_must_fail_with_one(tmp_path: Path) -> None:
    """The control of what follows: on the unchanged copy, run in the same way, all is well."""
    tests = sorted({fault.noticed_by for fault in BY_THEIR_TESTS})
    run = run_of(copied(tmp_path), tests)
    assert run.returncode == 0, run.stdout[-2000:]
    assert "passed" in run.stdout


@pytest.mark.parametrize("fault", BY_THEIR_TESTS, ids=lambda fault: fault.name)
def test_planted_fault_is_noticed_by_its_test(fault: Fault, tmp_path: Path) -> None:
    """One changed line in what users hold in their hands, or in the game, and its test fails."""
    run = run_of(planted(fault, tmp_path), [fault.noticed_by])
    assert run.returncode == 1, run.stdout[-2000:]
    assert "failed" in run.stdout


def run_of(package: Path, tests: list[str]) -> subprocess.CompletedProcess[str]:
    """These tests of a copy of the package, up to the first that fails."""
    environment = {**os.environ, "PYTHONPATH": str(package.parent), "BELATED_COMPILE": "never"}
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider"]
    nodes = [str(ROOT / "tests" / test) for test in tests]
    return subprocess.run(
        [*command, *nodes], capture_output=True, text=True, env=environment, cwd=ROOT
    )
