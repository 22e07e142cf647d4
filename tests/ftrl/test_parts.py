"""The records of the ledger."""

import pytest

from belated import ftrl


def test_a_loss_is_received_once() -> None:
    """A loss that is not pending, for example one already observed, is refused."""
    learner = ftrl.concealed(arms=2, max_missing=1)
    state = learner.start()
    (play,) = learner.commit(state, learner.predict(state), arm=1)
    learner.observe(state, play, arm=1, loss=0.5)
    with pytest.raises(ValueError, match="not pending"):
        learner.observe(state, play, arm=1, loss=0.5)
