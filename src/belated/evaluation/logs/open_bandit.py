"""Logs of the Open Bandit Pipeline: its `bandit_feedback` in memory, and the Open Bandit Dataset.

Each row is a decision of its own, as it is there. The position on the page is a part of its
context. There are no times of outcomes: whatever was told was told at once.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from belated.table_files import Batch

DATASET = ("item_id", "click", "propensity_score")  # columns that only the dataset has
FEEDBACK = ("action", "reward")


def read_feedback(feedback: Mapping[str, Any]) -> Batch:
    """Return the columns of OBP's `bandit_feedback`: action, reward, pscore, context, position."""
    absent = [name for name in FEEDBACK if feedback.get(name) is None]
    if absent:
        raise ValueError(f"bandit_feedback has no {absent[0]!r}; it must have action and reward")
    actions, rewards = (np.asarray(feedback[name]) for name in FEEDBACK)
    if actions.ndim != 1 or rewards.shape != actions.shape:
        raise ValueError(
            f"action and reward have the shapes {actions.shape} and {rewards.shape}; they must "
            "have one value for each round"
        )
    columns: dict[str, Any] = {
        "arm": [str(action) for action in actions.tolist()],
        "reward": rewards.tolist(),
    }
    if feedback.get("pscore") is not None:
        columns["probability"] = np.asarray(feedback["pscore"]).tolist()
    contexts: list[dict[str, Any]] = [{} for _ in columns["arm"]]
    if feedback.get("context") is not None:
        for context, row in zip(contexts, np.asarray(feedback["context"]).tolist(), strict=True):
            context.update({f"x{k}": value for k, value in enumerate(row)})
    if feedback.get("position") is not None:
        for context, place in zip(contexts, np.asarray(feedback["position"]), strict=True):
            context["position"] = str(place)
    if any(contexts):
        columns["context"] = contexts
    return Batch(columns, range(1, len(actions) + 1), "row")


def arms_of_feedback(feedback: Mapping[str, Any]) -> list[str]:
    """Return the names of all arms of OBP's `bandit_feedback`, also of those never chosen."""
    return [str(arm) for arm in range(int(feedback.get("n_actions") or 0))]


def is_dataset(columns: Mapping[str, Any]) -> bool:
    """Return whether these are the columns of a file of the Open Bandit Dataset."""
    return "arm" not in columns and all(name in columns for name in DATASET)


def read_dataset(batch: Batch) -> Batch:
    """Return the columns of a file of the Open Bandit Dataset; affinities are left out."""
    told = batch.columns
    features = [name for name in told if name.startswith("user_feature") or name == "position"]
    columns: dict[str, Any] = {
        "arm": told["item_id"],
        "probability": told["propensity_score"],
        "reward": told["click"],
        "context": [
            dict(zip(features, map(str, row), strict=True))
            for row in zip(*(told[name] for name in features), strict=True)
        ],
    }
    if "timestamp" in told:
        columns["decided_at"] = told["timestamp"]
    return Batch(columns, batch.places, batch.place)
