"""The learner obeys every law of belated."""

from coffee_bar.boltzmann import Boltzmann

from belated.testing import check_learner


def test_it_obeys_every_law() -> None:
    """Random games of many kinds, and ask and tell."""
    check_learner(Boltzmann)
