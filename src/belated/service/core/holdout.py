"""A holdout: a share of a problem's decisions is drawn by a fixed control, and not by the learner.

First the cohort is drawn, control or treatment, by a coin that knows nothing else; then the arm, by
the control's shares or by the learner's weights. The decision keeps its cohort. Its probability is
that of the arm under both draws together, (1 - share) q(arm) + share c(arm). With this one a loss
is weighed, also by the learner, which learns from both cohorts.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

import numpy as np

from belated.arrays import Floats
from belated.checks import as_number
from belated.numerics.single_draws import Draws

CONTROL: Final = "control"
TREATMENT: Final = "treatment"
FIELDS: Final = frozenset({"share", "arm", "weights"})
SUMS_TO_ONE: Final = 1e-9
LEAST_SHARE: Final = 1e-4  # of either cohort: of fewer decisions nothing could be said


class Holdout(NamedTuple):
    """The share of decisions that the control draws, and its arm, or its weights by arm.

    It draws uniformly if it has neither. Weights are those of a previous learner as it last stood.
    """

    share: float
    arm: str | None = None
    weights: Mapping[str, float] | None = None

    @property
    def arms(self) -> frozenset[str]:
        """The arms that must stay, since the control plays them."""
        if self.weights is not None:
            return frozenset(arm for arm, weight in self.weights.items() if weight > 0.0)
        return frozenset(() if self.arm is None else (self.arm,))

    def control(self, arms: Sequence[str], among: frozenset[str] | None = None) -> Floats:
        """The control's shares of these arms, of which only some may be drawn.

        It draws uniformly among these if it plays none of them.
        """
        eligible = [among is None or arm in among for arm in arms]
        own = self.weights or dict.fromkeys(self.arms, 1.0)
        played = [own.get(arm, 0.0) * may for arm, may in zip(arms, eligible, strict=True)]
        shares = np.array(played if any(played) else eligible, dtype=np.float64)
        return np.asarray(shares / shares.sum())

    def mixed(self, weights: Floats, control: Floats) -> Floats:
        """The probabilities of the arms under both draws together."""
        return (1.0 - self.share) * weights + self.share * control

    def drawn(self, draws: Draws, weights: Floats, control: Floats) -> tuple[int, str]:
        """Draw a cohort, and then the place of an arm."""
        is_control = draws.uniform() < self.share
        arm = draws.arm((control if is_control else weights).tolist())
        return arm, CONTROL if is_control else TREATMENT


def holdout_of(spec: Mapping[str, Any]) -> Holdout | None:
    """The holdout in a specification, if it has one."""
    given = spec.get("holdout")
    return None if given is None else Holdout(given["share"], given["arm"], given.get("weights"))


def checked_holdout(given: Any, arms: Sequence[str], is_bandit: bool) -> dict[str, Any]:
    """The field of a specification with a complete holdout, or none; ValueError if it is wrong."""
    if given is None:
        return {}
    if not is_bandit:
        raise ValueError("holdout is given for experts, who draw no arm; leave it out")
    if not isinstance(given, Mapping) or not {"share"} <= given.keys() <= FIELDS:
        raise ValueError(
            f"holdout is {given!r}; it must have a share, and may have an arm or weights"
        )
    share, arm = as_number(given["share"], "the share of holdout"), given.get("arm")
    if not LEAST_SHARE <= share <= 1.0 - LEAST_SHARE:
        raise ValueError(
            f"the share of holdout is {share!r}; it must be from {LEAST_SHARE} to {1 - LEAST_SHARE}"
        )
    if arm is not None and arm not in arms:
        raise ValueError(f"the arm of holdout is {arm!r}; it must be one of {', '.join(arms)}")
    weights = given.get("weights")
    if weights is None:
        return {"holdout": {"share": share, "arm": arm}}
    if arm is not None:
        raise ValueError("holdout has an arm and weights; its control plays by one of the two")
    return {"holdout": {"share": share, "arm": None, "weights": checked_weights(weights, arms)}}


def checked_weights(weights: Any, arms: Sequence[str]) -> dict[str, float]:
    """The weights of a control: a distribution over some of the arms; ValueError if not."""
    if not isinstance(weights, Mapping) or not weights.keys() <= set(arms):
        raise ValueError(
            f"the weights of holdout are {weights!r}; they must be weights of {', '.join(arms)}"
        )
    found = {arm: as_number(weight, f"the weight of {arm}") for arm, weight in weights.items()}
    total = math.fsum(found.values())
    if min(found.values(), default=0.0) < 0.0 or abs(total - 1.0) > SUMS_TO_ONE:
        raise ValueError(
            f"the weights of holdout are {weights!r}; they must be from 0 to 1, and their sum 1"
        )
    return found
