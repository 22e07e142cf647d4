"""Contexts in the service: what is known of a round, as text in the journal and as a learner's.

A context is kept as canonical JSON, with its names sorted, so that the order in which a client
sends them changes nothing. The numbers that a learner takes are computed from this text, both when
a decision is made and when it is folded, and so they are equal bit for bit.
"""

import functools
import json
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np

from belated.arrays import Floats
from belated.asktell.contexts import PLAIN, Circumstances
from belated.features.encoder import Encoder
from belated.learners.contextual.contextual_learner import ContextualLearner
from belated.learners.contextual.linear_shared import LinearShared
from belated.learners.contract import Learner

ENCODE = json.JSONEncoder(sort_keys=True, separators=(",", ":")).encode


def canonical(context: Any) -> str:
    """A context as the journal keeps it."""
    return ENCODE(context)


def circumstances(
    learner: Learner,
    arms: Sequence[str],
    context: str | None,
    among: Collection[str] | None,
    actions: str | None = None,
) -> Circumstances:
    """A context, the arms that may be drawn, and features of arms, as a learner takes them.

    ValueError says what is wrong with them.
    """
    eligible = eligible_arms(arms, among)
    rows = None if actions is None else action_features(learner, arms, json.loads(actions))
    if context is None:
        plain = eligible is None and rows is None
        return PLAIN if plain else Circumstances(eligible=eligible, actions=rows)
    if not isinstance(learner, ContextualLearner):
        raise ValueError(f"context is given, but learner {learner.name} takes none")
    return Circumstances(context, coordinates_of(learner.encoder, context), eligible, rows)


@functools.lru_cache(maxsize=1024)  # as many as one request may have
def coordinates_of(encoder: Encoder, context: str) -> Floats:
    """The coordinates of a context; the latest ones are kept, since each is decided and folded."""
    found = encoder.encode(json.loads(context))
    found.flags.writeable = False
    return found


def action_features(learner: Learner, arms: Sequence[str], actions: Mapping[str, Any]) -> Floats:
    """The coordinates of the features of arms, a row for each; arms without features are equal."""
    if not isinstance(learner, LinearShared):
        raise ValueError(
            f"actions is given, but learner {learner.name} takes no features of arms; "
            "linear-shared does"
        )
    return learner.features_of(arms, actions)


def eligible_arms(arms: Sequence[str], among: Collection[str] | None) -> Floats | None:
    """1 for each arm that may be drawn, 0 for the others; None if all may."""
    if among is None:
        return None
    eligible = np.array([arm in among for arm in arms], dtype=np.float64)
    return None if eligible.all() else eligible
