"""Faults in the learners with contexts, each noticed by its own tests."""

from tests.mutants.fault import Fault

LINEAR = "learners/contextual/test_linear.py"
RIVALS = "learners/contextual/test_rivals.py"
LAW = "learners/delay_law.py"


def fault(name: str, file: str, right: str, wrong: str) -> Fault:
    """A fault in a file of the contextual learners."""
    return Fault(name, f"learners/contextual/{file}", right, wrong, LINEAR)


def rival_fault(name: str, file: str, right: str, wrong: str) -> Fault:
    """A fault in a contextual rival."""
    return Fault(name, f"learners/contextual/{file}", right, wrong, RIVALS)


CONTEXT_FAULTS = [
    fault(
        "linear: the vector of the latest play, not of the play that is told",
        "linear_model.py",
        "model.renewal, arm, play[FEATURES:], played, more, rewards)",
        "model.renewal, arm, plays.x[slot_now(plays, now - 1, now)], played, more, rewards)",
    ),
    Fault(
        "linear: a foretold reward is not clipped",
        LAW,
        "chance = min(max(foretold, LEAST_CHANCE), 1.0 - LEAST_CHANCE)",
        "chance = foretold",
        LINEAR,
    ),
    Fault(
        "linear: the law of delays is not truncated",
        LAW,
        "        if fate == bin_:\n",
        "        if fate <= bin_:\n",
        LINEAR,
    ),
    fault(
        "linear: a silent play counts beside its reward",
        "linear_model.py",
        "more, rewards = weight - before, weight * reward - as_reward",
        "more, rewards = weight, weight * reward",
    ),
    fault(
        "linear: shrunk to zero, not to the mean of all arms",
        "ridge.py",
        "above[i] = rewards[i] - mean * weights[i]",
        "above[i] = rewards[i]",
    ),
    fault(
        "linear: the noise is that of coins, however little rewards vary",
        "linear_model.py",
        "return math.sqrt(min(coin * coin, found))",
        "return coin",
    ),
    rival_fault(
        "squarecb: a rate that does not grow",
        "squarecb.py",
        "STEEPNESS * math.sqrt(max(1.0, float(model.told[0])))",
        "STEEPNESS",
    ),
    rival_fault(
        "otflinucb: rewards count however late they come",
        "censored_model.py",
        "    if model.round[0] - 1 - int(play[ROUND]) <= model.norms.shape[0]:",
        "    if model.round[0] > 0:",
    ),
    rival_fault(
        "otflinucb: plays count when they are told, not when they are played",
        "censored_model.py",
        "    learn(model.ridge, arm, info.x, 1.0, 0.0)\n",
        "",
    ),
    rival_fault(
        "otflinucb: the norms of pending plays are left out",
        "censored_model.py",
        "    model.norms[place] = norm\n",
        "    model.sum_of_norms[0, 0] = 0.0\n",
    ),
    rival_fault(
        "otflints: a spread without the pending plays",
        "otflints.py",
        "scale = math.sqrt(1.0 + max(0.0, untold_norms(model)) / width_of(model))",
        "scale = 1.0",
    ),
    Fault(
        "linear-thompson: the whole spread, not half of it",
        "learners/contextual/linear_thompson.py",
        "SCALE = 0.5",
        "SCALE = 1.0",
        "learners/contextual/test_linear_twin.py",
    ),
    Fault(
        "linear-thompson: an arm's own chance counts among those of the others",
        "numerics/largest_chances.py",
        "work[row, k] * (product / work[BELOW, k])",
        "work[row, k] * product",
        "learners/contextual/test_normal_chances.py",
    ),
    Fault(
        "linear in seconds: a report counts in bins that had passed before it came",
        "learners/contextual/linear_model.py",
        "    if fate > bin_:\n        fate = SILENT\n",
        "",
        "learners/contextual/test_ages.py",
    ),
    Fault(
        "linear in seconds: a clock that is set back stops the ages of all later plays",
        "learners/contextual/followed_plays.py",
        "    plays.at[place] = min(plays.at[place], time)\n",
        "",
        "learners/contextual/test_ages.py",
    ),
    Fault(
        "linear-shared: crosses are hashed without a sign",
        "learners/contextual/linear_shared.py",
        "product = -product",
        "product = +product",
        "learners/contextual/test_linear_shared.py",
    ),
    Fault(
        "linear-shared: arms that may not be drawn are seen, too",
        "learners/contextual/linear_shared.py",
        "if model.eligible[arm] > 0.0:\n            see(",
        "if arm >= 0:\n            see(",
        "learners/contextual/test_linear_shared.py",
    ),
    Fault(
        "renewal: the lead falls below zero",
        "learners/contextual/renewal.py",
        "lead[0] = max(0.0, lead[0] + renewal.gained[0])",
        "lead[0] = lead[0] + renewal.gained[0]",
        "learners/contextual/test_renewal.py",
    ),
    Fault(
        "renewal: the silence of forgotten plays goes on counting",
        "learners/contextual/renewal.py",
        "    if played < since[MODEL]:\n        return\n",
        "",
        "learners/contextual/test_renewal.py",
    ),
]
