"""The route that says what a contextual learner believes of each feature, for each arm."""

from typing import Any, NamedTuple

import numpy as np
from fastapi import APIRouter
from fastapi.responses import JSONResponse
from pydantic import BaseModel, Field

from belated.asktell.contexts import Circumstances
from belated.learners.contextual.beliefs import Beliefs, beliefs
from belated.learners.contextual.censored_model import CensoredLearner
from belated.learners.contextual.contextual_learner import ContextualLearner
from belated.learners.contextual.segments import segments
from belated.service.core.arms import drawn_shares
from belated.service.core.replica import Replica
from belated.service.statistics.calibration import CalibrationBin
from belated.service.web.dependencies import Caller, TheBridge, known_name
from belated.service.web.error_responses import BY_NAME
from belated.service.web.models import example

router = APIRouter(prefix="/v1/problems", tags=["problems"])

MOST_FEATURES = 20  # that are shown: those that matter most, beside their uncertainty
Z = 1.96  # of a 95 % interval


class EffectBody(BaseModel):
    """The effect of a feature on an arm's reward, in the problem's units, with its 95 % interval.

    For a number it is that of one standard deviation more, for a category that of its presence.
    """

    feature: str
    effect: float
    low: float
    high: float


class ArmBeliefBody(BaseModel):
    """What is believed of an arm: its reward in a usual context, and the effect of each feature."""

    arm: str
    base: float
    base_low: float
    base_high: float
    effects: list[EffectBody]


class CalibrationBody(BaseModel):
    """Plays of about the same foretold reward, and what they earned, with its 95 % interval."""

    plays: int
    foretold: float
    reward: float
    low: float | None
    high: float | None


class SegmentBody(BaseModel):
    """What would be drawn if one thing were known: a category, or that a number is low or high.

    Low and high are one standard deviation from the mean of all contexts.
    """

    segment: str
    weights: dict[str, float]


class BeliefsBody(BaseModel):
    """What a contextual learner believes of the rewards; null if the learner has no such model."""

    model_config = example(
        features=2,
        arms=[
            {
                "arm": "red", "base": 0.4, "base_low": 0.3, "base_high": 0.5,
                "effects": [{"feature": "age", "effect": 0.1, "low": 0.05, "high": 0.15}],
            }
        ],
        calibration=[{"plays": 90, "foretold": 0.41, "reward": 0.4, "low": 0.3, "high": 0.5}],
        segments=[{"segment": "age, low", "weights": {"red": 0.9, "green": 0.1}}],
    )  # fmt: skip

    features: int = Field(description="How many there are; those shown matter most.")
    arms: list[ArmBeliefBody] | None
    calibration: list[CalibrationBody] = Field(
        description="Of plays told or expired, in rising order of what was foretold of them."
    )
    segments: list[SegmentBody] = Field(
        description="Of the declared features among those shown; empty if none are declared."
    )


class Known(NamedTuple):
    """What is taken of a replica: beliefs, segments, its arms, and the ends of its range.

    `shown` has the places of the features that matter most, the surest first.
    """

    beliefs: Beliefs | None
    shown: list[int]
    segments: list[dict[str, Any]]
    calibration: list[CalibrationBin]
    arms: tuple[str, ...]
    low: float
    width: float


@router.get("/{name}/beliefs", response_model=BeliefsBody, responses=BY_NAME)
async def read_beliefs(name: str, bridge: TheBridge, who: Caller) -> Any:
    """What a contextual learner believes of each feature: its effect on the reward of each arm."""
    who.needs_sight(known_name(name))
    known = await bridge.run_on_thread(lambda store, replicas: known_of(replicas.named(name)))
    return JSONResponse(beliefs_view(known))


def known_of(replica: Replica) -> Known:
    """The beliefs of a replica's learner, if it has a linear model of rewards."""
    learner, problem, bounds = replica.learner, replica.problem, replica.problem.loss_range
    found, shown, drawn = None, list[int](), list[dict[str, Any]]()
    has_none = learner.takes_actions or isinstance(learner, CensoredLearner)
    if isinstance(learner, ContextualLearner) and not has_none:
        found = beliefs(learner, replica.state)
        shown = surest(found)
        for each in segments(learner, replica.state):
            if each.place in shown:
                q = replica.weights_in(Circumstances(coordinates=each.coordinates))
                shares = drawn_shares(problem, q, None)
                weights = dict(zip(problem.arms, shares.tolist(), strict=True))
                drawn.append({"segment": each.name, "weights": weights})
    calibration = replica.stats.calibration.shown()
    width = bounds.high - bounds.low
    return Known(found, shown, drawn, calibration, problem.arms, bounds.low, width)


def surest(found: Beliefs) -> list[int]:
    """The places of the features that matter most beside their uncertainty, for any arm."""
    certainty = np.abs(found.effects) / np.maximum(found.errors, np.finfo(float).tiny)
    order = np.argsort(-certainty.max(axis=0), kind="stable")
    return [int(place) for place in order[:MOST_FEATURES]]


def beliefs_view(known: Known) -> dict[str, Any]:
    """Beliefs in the problem's units: rewards are low + high - loss."""
    found = known.beliefs
    rest = {
        "calibration": [calibration_view(each, known) for each in known.calibration],
        "segments": known.segments,
    }
    if found is None:
        return {"features": 0, "arms": None, **rest}
    arms = []
    for k, arm in enumerate(known.arms):
        effects = [
            {
                "feature": found.names[place],
                **interval("effect", found.effects[k, place], found.errors[k, place], known.width),
            }
            for place in known.shown
        ]
        base = interval("base", found.base[k], found.base_error[k], known.width, known.low)
        arms.append({"arm": arm, **base, "effects": effects})
    return {"features": len(found.names), "arms": arms, **rest}


def calibration_view(found: CalibrationBin, known: Known) -> dict[str, Any]:
    """Foretold and true rewards in the problem's units."""
    low, width, half = known.low, known.width, found.half_width
    ends = None if half is None else (found.reward - half, found.reward + half)
    return {
        "plays": found.number,
        "foretold": low + width * found.foretold,
        "reward": low + width * found.reward,
        "low": None if ends is None else low + width * max(0.0, ends[0]),
        "high": None if ends is None else low + width * min(1.0, ends[1]),
    }


def interval(
    name: str, middle: float, error: float, width: float, low: float = 0.0
) -> dict[str, float]:
    """A number with its 95 % interval, in the problem's units."""
    prefix = "" if name == "effect" else f"{name}_"
    value, half = low + width * float(middle), Z * width * float(error)
    return {name: value, f"{prefix}low": value - half, f"{prefix}high": value + half}
