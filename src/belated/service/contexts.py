"""Contexts in the service: what is known of a round, as text in the journal and as a learner's.

A context is kept as canonical JSON, with its names sorted, so that the order in which a client
sends them changes nothing. The numbers that a learner takes are computed from this text, both when
a decision is made and when it is folded, and so they are equal bit for bit.
"""

import json
from collections.abc import Collection, Sequence
from typing import Any

import numpy as np

from belated.arrays import Floats
from belated.asktell.contexts import PLAIN, Circumstances
from belated.learners.contextual.contextual_learner import ContextualLearner
from belated.learners.contract import Learner

ENCODE = json.JSONEncoder(sort_keys=True, separators=(",", ":")).encode


def canonical(context: Any) -> str:
    """A context as the journal keeps it."""
    return ENCODE(context)


def circumstances(
    learner: Learner, arms: Sequence[str], context: str | None, among: Collection[str] | None
) -> Circumstances:
    """A context, and the arms that may be drawn, as a learner takes them; ValueError if wrong."""
    eligible = eligible_arms(arms, among)
    if context is None:
        return PLAIN if eligible is None else Circumstances(eligible=eligible)
    if not isinstance(learner, ContextualLearner):
        raise ValueError(f"context is given, but learner {learner.name} takes none")
    return Circumstances(context, learner.encoder.encode(json.loads(context)), eligible)


def eligible_arms(arms: Sequence[str], among: Collection[str] | None) -> Floats | None:
    """1 for each arm that may be drawn, 0 for the others; None if all may."""
    if among is None:
        return None
    eligible = np.array([arm in among for arm in arms], dtype=np.float64)
    return None if eligible.all() else eligible
