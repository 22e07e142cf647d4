"""Segments: contexts of which one thing is known, to show how what is drawn depends on it."""

import math
from collections.abc import Iterator
from typing import Any, NamedTuple

from belated.arrays import Floats
from belated.features.encoder import DeclaredEncoder
from belated.learners.contextual.beliefs import coordinate_names
from belated.learners.contextual.contextual_learner import ContextModel, ContextualLearner

LOW, HIGH = -1.0, 1.0  # standard deviations from the mean


class FeatureSegment(NamedTuple):
    """A segment, the coordinate that it is about, and the coordinates of its context.

    Nothing else is known of this context, so that all other numbers count as their means.
    """

    name: str
    place: int
    coordinates: Floats


def segments(learner: ContextualLearner, state: Any) -> Iterator[FeatureSegment]:
    """The segments of declared features: each category, and numbers one deviation from their mean.

    Numbers that never differed have none. The values of numbers are not in the names, since with
    few contexts they would be those of persons.
    """
    encoder, model = learner.encoder, state.model
    if not isinstance(encoder, DeclaredEncoder):
        return
    for place, name in enumerate(coordinate_names(encoder)[: encoder.numbers]):
        for words, value in values_of(model, place, name):
            coordinates = encoder.nothing()
            coordinates[place] = value
            yield FeatureSegment(words, place, coordinates)


def values_of(model: ContextModel, place: int, name: str) -> Iterator[tuple[str, float]]:
    """The values of a coordinate that are shown, with their names."""
    scaling = model.scaling
    if scaling.scaled[place] == 0.0:
        yield name, 1.0
        return
    seen = max(1.0, float(scaling.seen[place]))
    deviation = math.sqrt(float(scaling.deviations[place]) / seen)
    if deviation > 0.0:
        mean = float(scaling.mean[place])
        yield f"{name}, low", mean + LOW * deviation
        yield f"{name}, high", mean + HIGH * deviation
