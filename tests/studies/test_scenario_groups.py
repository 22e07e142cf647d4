"""Judging the practical learners: what they are judged on, and against whom."""

from belated.environments.scenarios import scenarios
from belated.learners.registry import registered
from belated.types import Setting
from studies.scenario_groups import GROUPS, HELD_OUT, TUNED_ON, games_of, judged
from studies.study import PARTS


def test_nothing_is_judged_that_was_tuned_on() -> None:
    """The held-out games differ from those the constants were chosen on, and enough are real."""
    assert not set(HELD_OUT) & set(TUNED_ON)
    real = {each.name for each in scenarios() if each.real}
    assert sum(text.partition(":")[0] in real for text in HELD_OUT) >= 3
    assert sum(text.startswith(("drifting", "switching")) for text in HELD_OUT) >= 2


def test_every_game_of_every_group_can_be_played() -> None:
    """Each has a name of its own."""
    names = [game.name for group in GROUPS for game in games_of(group)]
    assert len(set(names)) == len(names)


def test_every_learner_is_among_the_judged_under_a_label_of_its_own() -> None:
    """The practical experts also without each of their parts."""
    study_learners = judged()
    assert set(registered()) <= {each.label for each in study_learners}
    labels = [each.label for each in study_learners]
    assert len(set(labels)) == len(labels)
    for name, options in PARTS.items():
        assert len([each for each in labels if each.startswith(f"{name}, ")]) == len(options)
    assert [*PARTS] == ["practical-experts"]
    assert any(each.kind.setting is Setting.FULL_INFORMATION for each in study_learners)
