"""Laws of ask and tell that every registered learner obeys, without a test being written for it."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from belated.learners.contract import Learner
from belated.learners.states import leaves
from belated.testing.hand_laws import HAND_LAWS
from belated.testing.hands import by_hand, by_the_loop, in_hand
from belated.testing.trials import LearnerLaw, Trial
from belated.types import Need
from tests.laws.long_games import long_game
from tests.laws.test_laws import KINDS, Kind, few

pytestmark = [
    pytest.mark.filterwarnings("ignore::belated.BelatedWarning"),
]
GROWING = {n: kind for n, kind in KINDS.items() if kind.reserved is not Learner.reserved}


def size_of(state: Any) -> int:
    """How many numbers a state holds."""
    return sum(array.size for array in leaves(state).values())


@pytest.mark.parametrize(
    ("law", "kind"),
    [
        pytest.param(law, kind, id=f"{law.name}-{name}")
        for law in HAND_LAWS
        for name, kind in KINDS.items()
        if law.applies(kind)
    ],
)
@few
@given(data=st.data())
def test_every_learner_obeys(law: LearnerLaw, kind: Kind, data: st.DataObject) -> None:
    """The laws of ask and tell in `belated.testing`, however losses are told."""
    law.check(Trial(kind, data))


@pytest.mark.parametrize("kind", list(GROWING.values()), ids=list(GROWING))
def test_states_that_grow_are_given_room_by_hand(kind: Kind) -> None:
    """With dozens of plays under way, through many portions of rounds, saved and resumed."""
    options: dict[str, Any] = {}
    if kind.name in ("adahedged", "dorm", "dorm-plus", "dub"):
        options = {"hint": "recent"}
    elif kind.name == "concealed":
        options = {"variant": "repaired", "skipping": True}
    elif kind.name == "linear-shared":
        options = {"action_features": 2, "cross_bits": 2}  # a short vector: only its width costs
    game = long_game(kind, 150, **options)
    learner = in_hand(game)
    size = size_of(learner._runner.workspace.state)
    expected = by_the_loop(game, learner._learner)
    assert by_hand(game, learner).tobytes() == expected.tobytes()
    if Need.ADVICE not in kind.needs:  # what is given again is kept once
        assert size_of(learner._runner.workspace.state) > size
    resumed = by_hand(game, in_hand(game), resume_every=7)
    assert resumed.tobytes() == expected.tobytes()
