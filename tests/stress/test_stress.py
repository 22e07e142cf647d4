"""The search for hard games: it finds what chance does not, and what it says can be replayed."""

import hashlib
import itertools
import json
import signal
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
import pytest

from belated.analysis.bounds import bound_for
from belated.analysis.game_sums import sum_up
from belated.comparison.compare import compare
from belated.comparison.contenders import contender
from belated.environments.missing import NEVER, missing_counts
from belated.replay.case import read_case
from belated.replay.game_replay import drawn_by, predictions_along, replay_game
from belated.replay.replay import learner_for, replay
from belated.stress import restart_runner
from belated.stress.annealing import Restart
from belated.stress.hard_games import HardGame
from belated.stress.mutations import DELAYS, LOSSES, Script, cut, mutated, opening
from belated.stress.objectives import Objective, OverCertificate, OverRival, ScriptedGame
from belated.stress.stress import Aim, StressResult, stress
from belated.types import Setting

pytestmark = pytest.mark.compiled  # slow without

PAPER, REPAIRED = contender("full-information"), contender("full-information:variant=repaired")
SMALL: dict[str, Any] = {"arms": 3, "rounds": 25, "restarts": 1, "steps": 40}


def best_of(objective: Objective, scripts: list[Script]) -> float:
    """The largest value of some games; of learners that draw nothing."""
    draws = [np.random.SeedSequence(1)]
    return max(objective.score(ScriptedGame(script), draws).value for script in scripts)


def same(one: HardGame, other: HardGame) -> bool:
    """Whether two finds are the same game of the same value."""
    tables = zip(one.script, other.script, strict=True)
    return one.score.value == other.score.value and all(np.array_equal(a, b) for a, b in tables)


def test_it_nears_the_certificate_where_plain_random_games_do_not() -> None:
    """Regret over certificate above 0.55 within 600 games; coin flips do not reach 0.2."""
    random = np.random.default_rng(1)
    coins = [
        Script(random.integers(0, 2, (40, 3)).astype(np.float64), random.integers(-1, 8, (40, 3)))
        for _ in range(600)
    ]
    (found,) = stress(
        PAPER, objective="certificate", arms=3, rounds=40, restarts=1, steps=600
    ).hard_games
    assert 0.55 < found.score.value < 1.0
    assert best_of(OverCertificate(PAPER), coins) < 0.2


def test_it_beats_as_many_random_games_with_structure() -> None:
    """The lead of the repaired grid over the paper's, against the best of equally many openings."""
    random = np.random.default_rng(1)
    openings = [opening(random, 40, 3) for _ in range(600)]
    (found,) = stress(PAPER, REPAIRED, arms=3, rounds=40, restarts=1, steps=600).hard_games
    assert found.score.value > 1.15 * best_of(OverRival(PAPER, REPAIRED), openings) > 0.0


@pytest.mark.parametrize(
    ("learner", "rival", "least"), [("concealed", "uniform", 0.01), ("uniform", "concealed", 0.1)]
)
def test_each_of_two_learners_has_games_in_which_it_loses(
    learner: str, rival: str, least: float
) -> None:
    """Losses that turn make uniform play the better one; a leader that stays makes it the worse."""
    (found,) = stress(learner, rival, arms=3, rounds=40, restarts=1, steps=80).hard_games
    assert found.half_width is not None
    assert found.score.value - found.half_width > least


def test_the_same_seed_finds_the_same_in_one_process_and_in_two() -> None:
    """A find depends on the seed and the number of its restart alone."""
    options = SMALL | {"restarts": 3}
    alone, together = (stress("concealed", **options, workers=workers) for workers in (1, 2))
    rankings = [found.ranking for found in alone.hard_games]
    assert len(rankings) == 3
    assert rankings == sorted(rankings, reverse=True)
    assert alone.evaluations == together.evaluations == 120
    assert all(map(same, alone.hard_games, together.hard_games))
    assert not same(stress("concealed", **SMALL, seed=2).hard_games[0], alone.hard_games[0])


def interrupted(after: int, **options: Any) -> StressResult:
    """A search that is interrupted after so many games."""

    def progress(done: int, total: int) -> None:
        if done >= after:
            signal.raise_signal(signal.SIGINT)

    return stress(PAPER, progress=progress, **options)


def test_an_interrupted_search_keeps_the_best_so_far() -> None:
    """Ctrl-C in the second restart: both count, and the first is what it would have been."""
    result = interrupted(60, **SMALL | {"restarts": 100})
    assert result.interrupted
    assert sorted(found.restart for found in result.hard_games) == [0, 1]
    assert result.evaluations == 60
    whole = stress(PAPER, **SMALL).hard_games[0]
    assert any(same(found, whole) for found in result.hard_games)


def test_an_interrupt_reaches_the_other_processes() -> None:
    """Ctrl-C ends restarts that would take hours, and brings home what they have."""
    result = interrupted(50, **SMALL | {"steps": 10**7, "restarts": 2}, workers=2)
    assert result.interrupted
    assert 1 <= len(result.hard_games) <= 2
    assert all(found.score.value > 0.0 for found in result.hard_games)


def test_time_ends_a_search(monkeypatch: pytest.MonkeyPatch) -> None:
    """`seconds` alone takes as many restarts as there is time for, by a clock of the test's own."""
    done, now = [], itertools.count(1000.0, 0.001)
    monkeypatch.setattr(restart_runner, "time", SimpleNamespace(time=lambda: next(now)))
    result = stress(
        PAPER,
        **SMALL | {"restarts": None, "seconds": 0.5},
        progress=lambda now, total: done.append(now / total),
    )
    assert 100 <= result.evaluations <= 500  # it looks at the clock a few times for each
    assert len(result.hard_games) > 1
    assert not result.interrupted
    assert done == sorted(done)
    assert 0.9 < done[-1] <= 1.0


@pytest.mark.parametrize(
    ("learner", "against", "replayed"),
    [
        ("full-information", None, "full-information"),
        ("full-information:variant=repaired", None, "full-information (repaired)"),
        ("partially-concealed", None, "partially-concealed"),
        ("concealed", None, "concealed"),
        ("concealed:variant=repaired,max_missing=9", None, None),
        ("concealed:variant=repaired,skipping=true", None, None),
    ],
)
def test_a_saved_find_replays_to_the_regret_that_it_states(
    learner: str, against: str | None, replayed: str | None, tmp_path: Path
) -> None:
    """The case alone, read from its file, gives q and with it the regret."""
    result = stress(learner, against, **SMALL)
    (path,) = result.save(tmp_path / "hard_games")
    run = json.loads(path.read_text())["found"]["run"]
    case = read_case(path)
    assert case.ignored == ()
    q = replay(case, learner_for(case)).q
    regret = (q * case.losses).sum() - case.losses[:, run["against_arm"]].sum()
    assert run["regret"] == pytest.approx(regret, abs=1e-12)
    assert run["replays_exactly"]
    assert run["learner"] == (replayed or result.search.objective.contenders[0].label)


@pytest.mark.parametrize(
    ("learner", "against", "objective"),
    [
        ("practical-bandit:certified=0", None, "regret"),
        ("practical-experts", None, "certificate"),
        ("exp3", "uniform", "bound"),
        ("uniform", "concealed", "bound"),
    ],
)
def test_a_find_replays_with_the_learner_that_it_was_found_for(
    learner: str, against: str | None, objective: Aim, tmp_path: Path
) -> None:
    """Whatever the learner is, and `compare` plays the saved game."""
    result = stress(learner, against, objective=objective, **SMALL)
    (path,) = result.save(tmp_path / "hard_games")
    content = json.loads(path.read_text())
    run, case = content["found"]["run"], content["case"]
    assert run["replays_exactly"]
    assert case["learner"] == learner
    q = replay_game(content, case["learner"]).q
    losses = np.array(case["losses"])
    regret = (q * losses).sum() - losses[:, run["against_arm"]].sum()
    assert run["regret"] == pytest.approx(regret, abs=1e-12)
    played = compare([learner], path, repetitions=1)
    np.testing.assert_array_equal(played.game_sums[0].losses, losses.sum(axis=0))


def test_the_value_is_regret_over_bound_of_the_saved_game(tmp_path: Path) -> None:
    """Played anew from the file by the readable loop, and divided by the bound of its account."""
    (path,) = stress(PAPER, **SMALL).save(tmp_path)
    found, case = json.loads(path.read_text())["found"], read_case(path)
    learner = learner_for(case)
    q = replay(case, learner).q
    sums = sum_up(ScriptedGame(Script(case.losses, case.delays)))
    bound = bound_for(learner, sums, sums.best_arm).value
    assert bound is not None
    regret = (q * case.losses).sum() - case.losses.sum(axis=0).min()
    assert found["value"] == pytest.approx(regret / bound, rel=1e-9)
    assert found["bound"] == pytest.approx(bound, rel=1e-12)
    assert found["max_missing"] == missing_counts(case.delays).max()


def test_regret_by_itself_is_searched_for_a_learner_without_a_bound() -> None:
    """The value is the mean regret per round; the first draw's is played anew, readably."""
    (found,) = stress("practical-bandit", objective="regret", **SMALL).hard_games
    game, losses = ScriptedGame(found.script), found.script.losses
    best = losses.sum(axis=0).min()
    (contender,) = found.objective.contenders
    q, _ = predictions_along(contender.built(sum_up(game)), game, drawn_by(found.fresh[0]))
    assert found.score.regrets[0] == pytest.approx((q * losses).sum() - best, abs=1e-9)
    assert found.score.value == pytest.approx(found.score.regrets.mean() / 25)
    assert found.score.value > 0.1
    assert found.score.bound is None


def test_the_rivals_regret_stands_beside_the_learners() -> None:
    """Uniform play loses the mean of every round; of one learner alone nothing is said."""
    (game,) = stress("concealed", "uniform", **SMALL).hard_games
    found, losses = game.content()["found"], game.script.losses
    regret = losses.mean(axis=1).sum() - losses.sum(axis=0).min()
    assert found["rivals_regret"] == pytest.approx(regret, abs=1e-9)
    assert found["regret"] - found["rivals_regret"] == pytest.approx(25 * found["value"], abs=1e-9)
    assert game.summary()["rival's regret"] == found["rivals_regret"]
    (alone,) = stress(PAPER, **SMALL).hard_games
    assert "rivals_regret" not in alone.content()["found"]


def test_the_saved_run_is_the_worst_of_the_fresh_draws(tmp_path: Path) -> None:
    """Its regret is the largest that the find has seen, and the value is about the mean."""
    (found,) = stress("concealed", **SMALL).hard_games
    run = found.content()["found"]["run"]
    assert run["regret"] == pytest.approx(found.score.regrets.max(), abs=1e-9)
    assert found.score.value == pytest.approx(found.score.regrets.mean() / found.score.bound)


def test_the_search_flatters_its_own_draws() -> None:
    """The value on fresh draws is lower on average: it is the one to state."""
    result = stress("concealed", "uniform", **SMALL | {"restarts": 3, "steps": 60})
    assert np.mean([found.search_value - found.score.value for found in result.hard_games]) > 0.0
    looked_at = {draw.spawn_key for draw in Restart(result.search, 0).draws}
    assert not looked_at & {draw.spawn_key for found in result.hard_games for draw in found.fresh}


class State(NamedTuple):
    """The losses seen of each arm."""

    losses: np.ndarray


class Weights(NamedTuple):
    """What is played in a round."""

    q: np.ndarray


@dataclass(frozen=True)
class Leader:
    """Always the arm that lost least so far, in plain Python."""

    arms: int
    setting: Setting = Setting.FULL_INFORMATION

    def start(self) -> State:
        return State(np.zeros(self.arms))

    def predict(self, state: State) -> Weights:
        return Weights(np.eye(self.arms)[state.losses.argmin()])

    def commit(self, state: State, prediction: Weights, arm: int) -> list[int]:
        return [0] * self.arms

    def observe(self, state: State, play: int, arm: int, loss: float, missing: int) -> None:
        state.losses[arm] += loss


def test_a_learner_in_plain_python_can_be_stressed(tmp_path: Path) -> None:
    """Following the leader loses almost every round of some game, which no other learner does."""
    result = stress(Leader(3), "full-information", arms=3, rounds=12, restarts=1, steps=150)
    assert result.hard_games[0].score.value > 0.25
    (path,) = result.save(tmp_path)
    assert json.loads(path.read_text())["found"]["run"]["learner"] == "full-information"


def test_a_seed_finds_what_it_has_always_found() -> None:
    """The very game that a seed found before delays could be bounded, with numbers that are exact
    on every machine."""
    (found,) = stress(
        Leader(4), "uniform", arms=4, rounds=20, restarts=1, steps=120, seed=3
    ).hard_games
    assert found.score.value == pytest.approx(0.45)
    assert found.script.losses.sum() == 40.0
    tables = b"".join(table.astype(f"<{table.dtype.kind}8").tobytes() for table in found.script)
    assert hashlib.sha256(tables).hexdigest()[:16] == "f8c15885a2340d7c"


def test_delays_are_cut_at_the_longest_and_at_the_end() -> None:
    """What would be later or never comes after the longest, if there is a round left for it."""
    delays = np.array([[NEVER, 7], [0, 2], [1, 3], [2, NEVER], [0, 1]])
    assert cut(delays).tolist() == [[NEVER, NEVER], [0, 2], [1, NEVER], [NEVER, NEVER], [0, NEVER]]
    assert cut(delays, 2).tolist() == [[2, 2], [0, 2], [1, 2], [NEVER, NEVER], [0, NEVER]]
    assert cut(delays, 0).tolist() == [[0, 0]] * 5


def in_time(script: Script, longest: int) -> bool:
    """Whether every loss comes within the longest delay, or would come after the last round."""
    left = len(script.delays) - np.arange(len(script.delays))[:, None]
    told = (script.delays >= 0) & (script.delays <= longest)
    return bool((told | (left <= longest)).all())


@pytest.mark.parametrize("longest", [0, 2])
def test_a_search_keeps_to_the_longest_delay(longest: int) -> None:
    """What it begins with, what it comes to and what it finds; without a limit it goes beyond."""
    result = stress(PAPER, **SMALL, longest_delay=longest)
    random = np.random.default_rng(1)
    script = result.hard_games[0].script
    assert in_time(script, longest)
    assert not in_time(stress(PAPER, **SMALL).hard_games[0].script, longest)
    for _ in range(50):
        assert in_time(result.search.opening(random), longest)
        script = result.search.changed(random, script)
        assert in_time(script, longest)


def test_a_longest_delay_of_the_whole_game_is_no_limit() -> None:
    """Whatever takes as long as the game is not told anyway."""
    free, wide, narrow = (
        stress(PAPER, **SMALL, longest_delay=longest).hard_games[0] for longest in (None, 25, 1)
    )
    assert same(free, wide)
    assert not same(free, narrow)


def test_every_script_is_a_game() -> None:
    """Openings of every kind and whatever comes of changing them; the original stays as it was."""
    random = np.random.default_rng(1)
    for rounds, arms in ((1, 2), (2, 3), (60, 4)):
        script = opening(random, rounds, arms)
        for n in range(300):
            before = Script(script.losses.copy(), script.delays.copy())
            changed = mutated(random, script)
            assert all(map(np.array_equal, before, script))
            assert changed.losses.shape == changed.delays.shape == (rounds, arms)
            assert changed.losses.min() >= 0.0
            assert changed.losses.max() <= 1.0
            left = rounds - np.arange(rounds)[:, None]
            assert ((changed.delays == NEVER) | (changed.delays >= 0)).all()
            assert (changed.delays < left).all()
            script = changed if n % 20 else opening(random, rounds, arms)


def test_openings_are_of_many_kinds() -> None:
    """Each kind of losses and delays can be made for the smallest and for larger games."""
    random = np.random.default_rng(1)
    for rounds, arms in ((1, 2), (50, 5)):
        for losses in LOSSES:
            assert losses(random, rounds, arms).arms == arms
        for delays in DELAYS:
            assert callable(delays(random, rounds, arms).sampler(random))


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (
            {"learner": "uniform"},
            "^there is nothing to search for: no bound is known for this learner; "
            "the objective 'regret' needs no bound$",
        ),
        ({"learner": "concelaed"}, "did you mean 'concealed'?"),
        ({"learner": "concealed", "objective": "certificate"}, "concealed has no certificate"),
        ({"learner": "concealed", "objective": "loss"}, "^objective is 'loss'; it must be"),
        ({"learner": "concealed", "longest_delay": -1}, "^longest_delay is -1; it must be a whole"),
        ({"learner": "concealed", "longest_delay": 0.5}, "^longest_delay is 0.5; it must be"),
        ({"learner": "concealed", "longest_delay": 10**30}, "whole number from 0 to 100000$"),
        ({"learner": "concealed", "against": "concealed"}, "two learners are called 'concealed'"),
        ({"learner": "concealed", "arms": 1}, "^arms is 1; it must be a whole number from 2"),
        ({"learner": "concealed", "rounds": 0}, "^rounds is 0; it must be"),
        ({"learner": "concealed", "steps": 0}, "^steps is 0; it must be"),
        ({"learner": "concealed", "restarts": 0}, "^restarts is 0; it must be"),
        ({"learner": "concealed", "seconds": -1.0}, "^seconds is -1.0; it must be above 0$"),
        ({"learner": "concealed", "workers": 0}, "^workers is 0; it must be"),
        ({"learner": "concealed", "seed": -1}, "^seed is -1; it must be"),
        ({"learner": "full-information", "rounds": 2}, "the theorem is claimed from 3 on"),
        ({"learner": Leader(5)}, "^Leader is for 5 arms; the game has 4$"),
    ],
)
def test_bad_input_gets_one_sentence(options: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        stress(**options)


def test_the_certificate_of_practical_experts_can_be_searched() -> None:
    """The search comes near to it, and never across."""
    found = stress("practical-experts", arms=2, rounds=20, objective="certificate", restarts=1)
    assert 0.3 < found.hard_games[0].score.value <= 1.0
