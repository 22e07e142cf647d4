"""What a linear model believes adds up to what it foretells, whatever the features are."""

import random
from typing import Any

import numpy as np
import pytest

from belated.learners.contextual.beliefs import beliefs
from belated.learners.contextual.linear import Linear
from belated.learners.contextual.scaling import standardized

FEATURES: dict[str, Any] = {
    "age": "number", "visits": "optional number", "device": ["phone", "desk"],
}  # fmt: skip


def context(chance: random.Random) -> dict[str, Any]:
    """A visitor."""
    visits = {"visits": chance.randrange(9)} if chance.random() < 0.6 else {}
    device = chance.choice(["phone", "desk"])
    return {"age": chance.gauss(40.0, 10.0), "device": device, **visits}


def played(interactions: int, rounds: int) -> tuple[Linear, Any]:
    """A learner and its state, where the green arm is good for the young on phones."""
    chance = random.Random(1)
    learner = Linear(2, features=FEATURES, interactions=interactions)
    state = learner.reserved(learner.start(), rounds)
    for _ in range(rounds):
        seen, arm = context(chance), chance.randrange(2)
        learner.consider(state, learner.encoder.encode(seen))
        (play,) = learner.commit(state, learner.predict(state), arm)
        good = 0.2 + 0.5 * (seen["device"] == "phone") - 0.01 * (seen["age"] - 40.0)
        learner.observe(state, play, arm, 1.0 - float(np.clip(good * arm, 0.0, 1.0)))
    return learner, state


@pytest.mark.parametrize("interactions", [1, 2])
def test_effects_add_up_to_what_is_foretold(interactions: int) -> None:
    """Base and effects, times the coordinates as they enter x."""
    learner, state = played(interactions, 60)
    found = beliefs(learner, state)
    assert len(found.names) == learner.width - 1
    for seed in range(5):
        learner.consider(state, learner.encoder.encode(context(random.Random(seed))))
        expected = learner.predict(state).info.foretold
        raw = state.model.context
        x = [standardized(state.model.scaling, i, raw[i]) for i in range(raw.size)]
        if interactions == 2:
            scaled = learner.scaled()
            pairs = [
                (i, j)
                for i in range(raw.size)
                for j in range(i if scaled[i] == 1.0 else i + 1, raw.size)
            ]
            x += [min(max(x[i] * x[j], -4.0), 4.0) for i, j in pairs]
        np.testing.assert_allclose(found.base + found.effects @ np.array(x), expected, atol=1e-9)


def test_what_matters_is_found() -> None:
    """The phone helps the green arm, age harms it; nothing is said of the red one."""
    found = beliefs(*played(1, 400))
    assert found.names == ["age", "visits", "visits is absent", "device = phone", "device = desk"]
    red, green = found.effects
    assert green[0] < -3.0 * found.errors[1, 0]
    assert green[3] - green[4] > 0.3
    assert np.abs(red).max() < 0.05
