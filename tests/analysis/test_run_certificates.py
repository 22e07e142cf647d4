"""Every comparison has the certificate of the practical experts, and says if a run breaks it."""

import html
import json
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from belated.analysis.game_sums import sum_up
from belated.arrays import Counts, Floats
from belated.cli.play_all import compare_all
from belated.comparison.compare import compare
from belated.comparison.contenders import contenders
from belated.comparison.result import Comparison
from belated.environments.delays import UniformDelays
from belated.environments.environment import Environment, game_seed
from belated.environments.in_memory import GivenDelays, GivenLosses
from belated.environments.losses import Bernoulli
from belated.environments.missing import NEVER
from belated.learners.driver import driver_for
from belated.learners.practical.drift import DriftAccount
from belated.learners.practical.practical_experts import (
    PracticalExperts,
    PracticalExpertsState,
)
from belated.play import engine
from belated.play import readable as play
from belated.play.engine import EngineRun
from belated.play.game import Game
from belated.play.readable import rounds_of
from belated.play.trace import Trace
from belated.report.formatting import number
from belated.report.sections import bounds_list
from belated.types import BelatedWarning
from tests.theory.games import DELAYS, LOSSES
from tests.twins.practical_certificate import practical_certificate

DRAWS = np.random.SeedSequence(3)
TOLD: dict[str, dict[str, Any]] = {
    "on arrival": {},
    "padded": {"delivery": "padded"},
    "window": {"window": 7},
}
LOOPS = {"engine": engine.play, "readable": play.play}
SIZES = [(1, 3), (50, 1), (70, 2), (60, 5)]  # rounds, arms


def game_of(losses: Floats, delays: Counts) -> Game:
    """A game in which nothing is random."""
    environment = Environment("given", GivenLosses(losses), GivenDelays(delays), len(losses))
    return Game(environment, np.random.SeedSequence(1))


def endless(random: np.random.Generator, rounds: int, arms: int) -> Counts:
    """Nothing ever comes."""
    return np.full((rounds, arms), NEVER)


def late(seed: int = 5) -> Environment:
    """A game of losses that change, which come late or never."""
    random = np.random.default_rng(seed)
    losses = LOSSES["blocks"](random, 80, 3)
    return game_of(losses, DELAYS["some_never"](random, 80, 3)).environment


def from_all_predictions(learner: PracticalExperts, game: Game) -> float:
    """The certificate as the theory has it, with nothing summed up on the way."""
    records = list(rounds_of(driver_for(learner), game.stretches(), lambda t, q: -1))
    losses = np.array([record.losses for record in records])
    predictions = [record.prediction for record in records]
    return practical_certificate(learner, losses, predictions).bound


@pytest.mark.parametrize("loop", LOOPS)
@pytest.mark.parametrize("told", TOLD)
@pytest.mark.parametrize("delays", [DELAYS["some_never"], DELAYS["growing"], endless])
def test_sums_are_enough_for_the_certificate(
    delays: Callable[[np.random.Generator, int, int], Counts], told: str, loop: str
) -> None:
    """Equal to that from every prediction, however the losses are told, and by either loop."""
    for rounds, arms in SIZES:
        random = np.random.default_rng([rounds, arms])
        for kind in ("coins", "late_turn"):
            losses = LOSSES[kind](random, rounds, arms)
            game = game_of(losses, delays(random, rounds, arms))
            learner = PracticalExperts(arms, **TOLD[told])
            trace: Trace = LOOPS[loop](learner, game, DRAWS)
            sums = sum_up(game)
            found = learner.proof(trace, sums.losses)
            assert learner.certificate(trace, sums).bounds.tolist() == [found.bound] * arms
            assert found.bound == pytest.approx(from_all_predictions(learner, game), abs=1e-9)
            assert found.regret == pytest.approx(trace.loss - losses.sum(axis=0), abs=1e-9)
            assert found.holds


def test_the_order_of_the_losses_in_memory_changes_nothing() -> None:
    """A stretch whose arms lie side by side, not its rounds."""
    game, sums = Game(late(), np.random.SeedSequence(1)), []
    for order in (np.ascontiguousarray, np.asfortranarray):
        run = EngineRun(PracticalExperts(3), game, DRAWS)
        for stretch in game.stretches():
            run.play(stretch._replace(losses=order(stretch.losses)))
        sums.append(run.close().strategies)
    assert np.array_equal(*sums)


def test_the_certificate_is_in_the_table_and_in_json() -> None:
    """The mean of all games, not below the regret; others have none."""
    environment = Environment("coins", Bernoulli([0.3, 0.5, 0.6]), UniformDelays(0, 20), 60)
    result = compare(["practical-experts", "adahedge", "uniform"], environment, repetitions=2)
    seeds = [game_seed(1, r) for r in range(2)]
    values = [from_all_predictions(PracticalExperts(3), Game(environment, s)) for s in seeds]
    mean = pytest.approx(np.mean(values), abs=1e-9)
    assert result.table().column("certificate") == [mean, None, None]
    assert json.loads(result.table().to_json())[0]["certificate"] == mean
    assert (result.regret(0) <= values).all()


def test_the_report_says_it() -> None:
    """That nothing is proven beforehand, where the proof is, and the number."""
    result = compare(["practical-experts", "uniform"], late(), repetitions=1)
    text = " ".join(html.unescape(re.sub("<[^>]*>", "", bounds_list(result))).split())
    certificate = result.certificate(0)
    assert certificate is not None
    said = (
        "No bound beforehand: its bound is computed from each run ((2') of "
        "docs/theory-practical.md). Certificate computed from the run: regret ≤ "
        f"{number(certificate)}."
    )
    assert said in text
    assert text.count("beforehand") == 1


# -- runs that break it


class Overdrawn(PracticalExperts):
    """The steady strategy begins with an account in which drift is already paid for."""

    def account_in(self, state: PracticalExpertsState) -> DriftAccount:
        return state.steady

    def start(self) -> PracticalExpertsState:
        state = super().start()
        self.account_in(state).drift[0] = -50.0
        return state


class OverdrawnAbove(Overdrawn):
    """So does the mixture."""

    def account_in(self, state: PracticalExpertsState) -> DriftAccount:
        return state.mixing


def broken(kind: type[Overdrawn]) -> Comparison:
    """A comparison of such a learner; it warns."""
    with pytest.warns(BelatedWarning, match="exceeds its certificate") as caught:
        result = compare([kind(3), "uniform"], late(), repetitions=2, seed=4)
    assert [str(each.message) for each in caught] == result.faults()
    return result


@pytest.mark.parametrize("kind", [Overdrawn, OverdrawnAbove])
def test_a_run_that_breaks_its_certificate_is_told(kind: type[Overdrawn]) -> None:
    """In one sentence, with all that is needed to see it again."""
    assert broken(kind).faults() == [
        "practical-experts exceeds its certificate on given with seed 4 in repetition 0, 1, which "
        "is proven to be impossible: an error of belated, please report it"
    ]


def test_the_command_line_says_it_too(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """On standard error, as one line; and nothing if all is well."""
    compare_all([late()], contenders(["practical-experts"]), 1, 1, 1)
    assert capsys.readouterr().err == ""
    found = broken(Overdrawn)
    monkeypatch.setattr("belated.comparison.compare.compare", lambda *rest: found)
    compare_all([late()], contenders(["practical-experts"]), len(found.repetitions), 1, 1)
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith("Warning: practical-experts exceeds its certificate on given")
    assert printed.err.count("\n") == 1
