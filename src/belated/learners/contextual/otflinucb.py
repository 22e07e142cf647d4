"""OTFLinUCB (Vernade et al. 2020): a linear bandit whose rewards count if they come in time.

The arm is played whose estimate plus width is largest. The width has a part for the noise, and a
part for plays that may not have reported yet. The paper asks for vectors of a norm of at most 1 and
for delays that do not depend on the arm. Here a vector ends with a 1 and has a norm of about the
root of 2, and arms may have delays of their own: nothing is claimed for that. The authors' code
differs from their paper (squared norms, and a width without its factor of 2); this is the paper.
"""

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from belated.compiled.kernels import compiled
from belated.learners.contextual.censored_model import (
    CensoredLearner,
    CensoredModel,
    commit,
    fill_estimates,
    observe,
    untold_norms,
    width_of,
    withdraw,
)
from belated.learners.contextual.linear_ucb import weigh_largest
from belated.learners.contract import Prediction, Verbs


class OtfLinUcbState(NamedTuple):
    """The state of OTFLinUCB: its model."""

    model: CensoredModel


@compiled
def predict(state: OtfLinUcbState, prediction: Prediction) -> None:
    """Give all weight to the largest <phi, V^-1 B> + alpha_t |phi| in V^-1; ties share it.

    alpha_t = 2 f_t + the sum of the norms of the plays of the last m rounds.
    """
    model, info = state.model, prediction.info
    fill_estimates(model, info)
    alpha = 2.0 * width_of(model) + untold_norms(model)
    for i in range(info.optimistic.shape[0]):
        info.optimistic[i] = info.foretold[i] + alpha * info.deviation[i]
    weigh_largest(info.optimistic, model.eligible, prediction.q)


@dataclass(frozen=True)
class OtfLinUcb(CensoredLearner):
    """OTFLinUCB with a block of parameters for each arm; deterministic but for ties."""

    name: ClassVar[str] = "otflinucb"
    guarantee: ClassVar[str] = (
        "with probability 1 - 2 delta, for linear rewards, vectors no longer than 1 and delays "
        "that do not depend on the arm: (4 f_T/tau) sqrt(2 D T L) + 4 m D L/tau, where D = K d, "
        "L = ln((D + T)/D) and tau is the share of rewards that come within m rounds"
    )
    source: ClassVar[str] = "Vernade et al. 2020, read"
    state: ClassVar[type] = OtfLinUcbState
    verbs: ClassVar[Verbs] = Verbs(predict, commit, withdraw, observe)
