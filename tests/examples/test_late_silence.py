"""The closed form of the game that breaks th:fullinfobound, against the game played in full."""

import numpy as np
import pytest

from belated.analysis.bounds import bound_for
from belated.analysis.certificates import account_certificate
from belated.comparison.compare import compare
from belated.environments.scenarios import scenario
from belated.types import VARIANTS, Variant
from examples.late_silence import LateSilenceGame

GAME = LateSilenceGame(kappa=3.0, first=500, second=200, most=4)


@pytest.mark.parametrize("variant", VARIANTS)
def test_it_is_the_scenario_played_from_its_second_part_on(variant: Variant) -> None:
    """Regret, certificate and bound are those of the whole scenario, all rounds of it played."""
    whole = compare(
        [f"full-information:variant={variant}"],
        scenario("late-silence", first=500, second=200, most=4, kappa=3.0),
        repetitions=1,
    )
    sums, learner = whole.game_sums[0], GAME.learner(variant)
    outcome = GAME.play(variant)
    assert outcome.regret == pytest.approx(whole.regret(0)[0], rel=1e-9)
    certificate = account_certificate(sums, learner)[0]
    np.testing.assert_allclose(outcome.certificate, certificate, rtol=1e-12)
    assert GAME.bound(variant) == pytest.approx(bound_for(learner, sums, 0).value, rel=1e-12)


def test_progress_counts_the_rounds_of_the_second_part() -> None:
    """Every round that is played is told once."""
    told: list[int] = []
    GAME.play("paper", told.append)
    assert sum(told) == GAME.second
