"""Journals that the decision service wrote: what the next policy earned lies in the interval."""

import os

import pytest

from studies.evaluation.service_journals import WAYS, journal_study

JOURNALS = int(os.environ.get("BELATED_JOURNALS", "4"))


@pytest.mark.check
def test_what_ran_next_earned_what_the_journal_said() -> None:
    """In nine of ten journals at least, as 18 of 20 are; both meanings of silence are there."""
    found = [journal_study(seed) for seed in range(JOURNALS)]
    assert {each.way for each in found} == set(WAYS)
    assert all(each.untold > 0.05 for each in found)
    assert sum(each.holds for each in found) >= min(0.9 * JOURNALS, JOURNALS - 1)
    assert all(each.high - each.low < 0.2 for each in found if each.high is not None)
