"""Every family is well-formed and reproducible; the split into design and judge is what it was."""

import re
import zlib
from pathlib import Path

import numpy as np
import pytest

from belated.environments.missing import NEVER
from belated.worlds import draw_worlds, families, world
from belated.worlds.named_worlds import JUDGE_FROM, NUMBERS
from tests.worlds.games import drawn

ALL = sorted(families())
# The texts of two worlds of each family. Published numbers and the split rest on them: if this
# changes, worlds have changed, and every result with them.
DIGEST = 1046374320


@pytest.mark.parametrize("family", ALL)
def test_worlds_are_well_formed(family: str) -> None:
    """Sizes and losses in range, delays as they must be, news and something to learn."""
    for number in (0, 1, JUDGE_FROM):
        found = drawn(family, number)
        rounds, arms = found.losses.shape
        assert 2 <= arms <= 100
        assert 500 <= rounds <= 50_000
        assert found.losses.min() >= 0.0
        assert found.losses.max() <= 1.0
        told = (found.delays != NEVER) & (found.rounds + found.delays < rounds)
        assert told.mean() > 0.002  # conversions of 0.5 % may be all that is told
        totals = found.losses.sum(axis=0)
        assert totals.mean() > totals.min()
        assert found.world.line.startswith(f"{arms} arms, {rounds} rounds; ")
        assert found.world.environment.shows == found.world.line


@pytest.mark.parametrize("family", ALL)
def test_a_name_is_all_that_a_world_needs(family: str) -> None:
    """The same name gives the same line and the same games; games of a random world differ."""
    one, again = drawn(family, 3), drawn(family, 3)
    assert one.world.name == f"{family}/3" == world(f"{family}/3").name
    assert one.world.line == again.world.line != world(family, 4).line
    assert np.array_equal(one.losses, again.losses)
    assert np.array_equal(one.delays, again.delays)
    if one.world.environment.random:
        other = drawn(family, 3, game=1)
        assert not (
            np.array_equal(one.losses, other.losses) and np.array_equal(one.delays, other.delays)
        )


def test_worlds_are_what_they_were() -> None:
    """A change of a family would change all numbers that were published on it."""
    lines = [world(family, number).line for family in ALL for number in (0, JUDGE_FROM)]
    assert zlib.crc32("\n".join(lines).encode()) == DIGEST


def test_some_families_of_different_kinds_are_for_the_judge_only() -> None:
    """At least a quarter of them, from every module but none as a whole."""
    only = [each for each in families().values() if each.judge_only]
    assert len(only) >= len(families()) / 4
    kinds = {each.draw.__module__ for each in families().values()}
    assert {each.draw.__module__ for each in only} == kinds
    assert {each.draw.__module__ for each in families().values() if not each.judge_only} == kinds


def test_the_two_sets_have_no_world_in_common() -> None:
    """By number and by family."""
    design, judge = (draw_worlds(120, 7, each) for each in ("design", "judge"))
    assert {world(name).set for name in design} == {"design"}
    assert {world(name).set for name in judge} == {"judge"}
    only = {each.name for each in families().values() if each.judge_only}
    assert only <= {name.split("/")[0] for name in judge}
    assert not only & {name.split("/")[0] for name in design}
    assert all(int(name.split("/")[1]) < JUDGE_FROM for name in design)
    assert all(JUDGE_FROM <= int(name.split("/")[1]) < NUMBERS for name in judge)


def test_more_worlds_begin_with_the_same() -> None:
    """All families in turn, and those that were asked for only."""
    assert draw_worlds(50, 7)[:20] == draw_worlds(20, 7)
    assert draw_worlds(20, 8) != draw_worlds(20, 7)
    assert {name.split("/")[0] for name in draw_worlds(40, 7)} == {
        each.name for each in families().values() if not each.judge_only
    }
    chosen = draw_worlds(4, 7, only=["coins", "drift"])
    assert [name.split("/")[0] for name in chosen] == ["coins", "drift", "coins", "drift"]


def test_bad_names_get_a_clear_sentence() -> None:
    """The value and the rule."""
    with pytest.raises(ValueError, match=r"family is 'season'.*did you mean 'seasons'"):
        world("season", 1)
    with pytest.raises(ValueError, match="'seasons'; it must read seasons/17"):
        world("seasons")
    with pytest.raises(ValueError, match="'seasons/x'; it must read seasons/17"):
        world("seasons/x")
    with pytest.raises(ValueError, match="number of a world"):
        world("seasons", NUMBERS)
    with pytest.raises(ValueError, match="fading is for the judge set only"):
        draw_worlds(3, 1, only=["fading"])
    with pytest.raises(ValueError, match="must be one of design, judge"):
        draw_worlds(3, 1, "both")  # type: ignore[arg-type]


def test_the_documentation_lists_every_family_in_its_place() -> None:
    """docs/worlds.md: a row for each module, a column for each set."""
    text = (Path(__file__).parents[2] / "docs" / "worlds.md").read_text()
    table = text.split("| kind |")[1].split("\n\n")[0]
    listed = {}
    for kind, both, judge in re.findall(r"^\| (\w+) \| (.+) \| (.+) \|$", table, re.MULTILINE):
        listed |= dict.fromkeys(both.split(", "), (kind, False))
        listed |= dict.fromkeys(judge.split(", "), (kind, True))
    for each in families().values():
        kind = each.draw.__module__.rpartition(".")[2]
        assert listed.pop(each.name) == (kind, each.judge_only)
    assert not listed
