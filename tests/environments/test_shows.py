"""What the `shows` texts of scenarios claim, tested with the learners of the paper."""

import numpy as np
import pytest

from belated.analysis.bounds import bound_for, run_means
from belated.analysis.game_sums import sum_up
from belated.arrays import Floats
from belated.comparison.compare import compare
from belated.environments.environment import Environment
from belated.environments.scenarios import scenario
from belated.learners.paper.concealed import Concealed
from belated.learners.paper.full_information import FullInformation
from belated.play.engine import EngineRun
from belated.play.game import Game
from belated.play.trace import Trace
from belated.types import Variant
from tests.environments.games import drawn

pytestmark = pytest.mark.compiled  # slow without


def played(learner: FullInformation | Concealed, game: Game) -> Trace:
    """The trace of a whole run of the learner."""
    run = EngineRun(learner, game, np.random.SeedSequence(1))
    for stretch in game.stretches():
        run.play(stretch)
    return run.close()


def game_of(environment: Environment) -> Game:
    return Game(environment, np.random.SeedSequence(1))


def experts(environment: Environment, variant: Variant = "paper") -> Trace:
    """The trace of the full-information learner on the environment."""
    prior = environment.prior
    learner = FullInformation(
        arms=environment.arms, variant=variant, horizon=environment.rounds, prior=prior
    )
    return played(learner, game_of(environment))


def bandit(environment: Environment, variant: Variant = "paper") -> Trace:
    """The trace of the concealed learner, with max_missing at the true largest count."""
    game = game_of(environment)
    most = max(int(stretch.missing.max()) for stretch in game.stretches())
    return played(Concealed(arms=environment.arms, variant=variant, max_missing=most), game)


def weights(trace: Trace) -> Floats:
    """The mean weights between consecutive checkpoints."""
    sums = np.diff(trace.weight_at, axis=0, prepend=np.zeros((1, trace.weight_at.shape[1])))
    shares: Floats = sums / np.diff(trace.checkpoints, prepend=0)[:, None]
    return shares


def test_experts_settle_for_the_prompt_arm_unless_the_delay_is_short() -> None:
    """late-best: the learner ends on the prompt arm or, with a delay of 3, on the late one."""
    assert experts(scenario("late-best")).last[1] > 0.99
    assert experts(scenario("late-best", delay=3)).last[0] > 0.99
    late, prompt = bandit(scenario("late-best")).last[:2]
    assert late > 2.0 * prompt


def test_those_who_find_the_late_gain_end_below_zero() -> None:
    """gains: practical experts do, and uniform play does not."""
    result = compare(["practical-experts", "uniform"], scenario("gains"), repetitions=3)
    found, chance = (row["loss per round"] for row in result.table())
    assert found < -0.09
    assert chance > 0.05


def test_growing_delays_make_learners_give_up_what_they_knew() -> None:
    """growing-late: the weight of the best arm falls in the second half."""
    for trace in (experts(scenario("growing-late")), bandit(scenario("growing-late"))):
        best = weights(trace)[:, 0]
        assert best[-1] < best[len(best) // 2] - 0.1


def test_lost_reports_make_learners_more_cautious() -> None:
    """packet-loss: experts find the best arm if all losses arrive, and learn nothing otherwise."""
    assert experts(scenario("packet-loss", chance=0)).last[0] > 0.99
    lossy = experts(scenario("packet-loss"))
    assert lossy.last.max() < 0.25


def test_experts_that_trust_the_past_lose_to_every_rotating_leader() -> None:
    """rotating-leaders: experts lose more than any single arm."""
    environment = scenario("rotating-leaders")
    assert experts(environment).loss > 1.05 * drawn(environment)[0].sum(axis=0).max()


def test_learners_of_the_trial_have_just_begun() -> None:
    """clinical-trial: the worst treatment ends slightly below an even share of the weight."""
    for trace in (experts(scenario("clinical-trial")), bandit(scenario("clinical-trial"))):
        assert 0.15 < trace.last[0] < 0.24
        assert trace.last.argmin() == 0


def test_the_repaired_experts_find_the_silent_arm_sooner() -> None:
    """late-silence: the paper's learner has more than 1.5 times the regret of the repaired one."""
    environment = scenario("late-silence")
    least = drawn(environment)[0].sum(axis=0).min()
    paper, repaired = (experts(environment, each).loss - least for each in ("paper", "repaired"))
    assert paper > 1.5 * repaired


def test_the_repaired_bandit_finds_the_good_arm_of_many_sooner() -> None:
    """many-arms, with a quarter of the arms: the paper's learner loses more than twice as much."""
    environment = scenario("many-arms", arms=500)
    paper, repaired = (bandit(environment, each) for each in ("paper", "repaired"))
    assert paper.loss > 2.0 * repaired.loss
    assert paper.last[0] < 0.5 < repaired.last[0]


def test_skipping_a_few_plays_guards_the_bound() -> None:
    """unbalanced: the bound of the bandit that skips is half that of the one that waits for all."""
    game = game_of(scenario("unbalanced"))
    bounds, sums = [], sum_up(game)
    for skipping in (False, True):
        learner = Concealed(arms=sums.arms, variant="repaired", skipping=skipping)
        trace = played(learner, game)
        assert trace.skipped <= 2.0 * np.sqrt(np.log(sums.arms) * trace.overlap)
        assert (trace.skipped > 0) == skipping
        bounds.append(bound_for(learner, sums, sums.best_arm, run_means([trace])).value or np.inf)
    assert bounds[1] < 0.5 * bounds[0]
