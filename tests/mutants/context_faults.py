"""Faults in the linear learner with contexts, each noticed by its own tests."""

from tests.mutants.fault import Fault

LINEAR = "learners/contextual/test_linear.py"


def fault(name: str, file: str, right: str, wrong: str) -> Fault:
    """A fault in a file of the contextual learners."""
    return Fault(name, f"learners/contextual/{file}", right, wrong, LINEAR)


CONTEXT_FAULTS = [
    fault(
        "linear: the vector of the latest play, not of the play that is told",
        "linear_model.py",
        "    learn(model.ridge, arm, play[FEATURES:], weight",
        "    learn(model.ridge, arm, plays.x[slot_now(plays, now - 1, now)], weight",
    ),
    fault(
        "linear: a foretold reward is not clipped",
        "delay_law.py",
        "chance = min(max(foretold, LEAST_CHANCE), 1.0 - LEAST_CHANCE)",
        "chance = foretold",
    ),
    fault(
        "linear: the law of delays is not truncated",
        "delay_law.py",
        "        if fate == bin_:\n",
        "        if fate <= bin_:\n",
    ),
    fault(
        "linear: a silent play counts beside its reward",
        "linear_model.py",
        "weight - before, weight * reward - as_reward)",
        "weight, weight * reward)",
    ),
    fault(
        "linear: shrunk to zero, not to the mean of all arms",
        "ridge.py",
        "above[i] = rewards[i] - mean * weights[i]",
        "above[i] = rewards[i]",
    ),
]
