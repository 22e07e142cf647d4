"""The certificate of a run of `practical-experts`, from everything that was predicted in it.

The learner's own method finds it from the trace of a run, that is from sums that the game keeps.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from belated.arrays import Floats
from belated.learners.contract import Prediction
from belated.learners.practical.experts_certificate import PracticalCertificate
from belated.learners.practical.practical_experts import PracticalExperts, PracticalExpertsInfo


class PredictedRun(NamedTuple):
    """The sums of a run that the certificate needs."""

    loss: float
    strategies: Floats
    eta: Floats
    info: PracticalExpertsInfo


def practical_certificate(
    learner: PracticalExperts, losses: Floats, predictions: Sequence[Prediction]
) -> PracticalCertificate:
    """The certificate of a run, from the losses of its rounds and what was predicted in them."""
    played = np.array([prediction.info.strategies for prediction in predictions])
    mixture = sum(prediction.q @ row for prediction, row in zip(predictions, losses, strict=True))
    last = predictions[-1]
    strategies = np.einsum("tmi,ti->m", played, losses)
    run = PredictedRun(float(mixture), strategies, last.eta, last.info)
    return learner.proof(run, losses.sum(axis=0))
