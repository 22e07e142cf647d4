"""PoolD, both ways: our experts with the methods of its learners, and its learners in our games.

PoolD, the library of "Online learning with optimism and delay" (Flaspohler et al. 2021), tells
losses by round, as dictionaries of functions. This module does not import it: a learner of PoolD
is given, as `poold.create` makes it.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from belated.arrays import Floats
from belated.asktell.experts import Experts
from belated.types import Setting, Ticket

Loss = Mapping[str, Callable[[Floats], Any]]  # with "fun" and "grad", as PoolD has them


def linear_loss(losses: Floats) -> Loss:
    """The losses of all experts in one round, as PoolD has them: a function and its gradient."""
    return {"fun": lambda w: float(np.dot(losses, w)), "grad": lambda w: losses}


class PooldExperts:
    """Our learners of experts with `update_and_play`, as PoolD's environments call it.

    A loss counts by its gradient at the weights of its round, as in PoolD. The gradients must lie
    in `loss_range`. No hints are used.
    """

    def __init__(
        self,
        model_list: Sequence[str],
        learner: str = "practical-experts",
        loss_range: Sequence[float] = (0.0, 1.0),
        **options: Any,
    ) -> None:
        self.expert_models = list(model_list)
        self.experts = Experts(
            self.expert_models, learner=learner, loss_range=loss_range, remember=0, **options
        )
        self.t = 0
        self._tickets: dict[int, Ticket] = {}

    def update_and_play(self, losses_fb: Iterable[tuple[int, Loss]], hint: Any = None) -> Floats:
        """Tell the losses of earlier rounds, and return the weights of the next one."""
        if hint is not None:
            raise ValueError("a hint is given; our learners take no hints from outside")
        for t, loss in losses_fb:
            if t not in self._tickets:
                raise ValueError(f"a loss of round {t} is told, which is not outstanding")
            ticket = self._tickets.pop(t)
            told = np.asarray(loss["grad"](weights_of(ticket)), dtype=np.float64)
            self.experts.tell(ticket, told.tolist())
        ticket = self.experts.ask()
        self._tickets[self.t] = ticket
        self.t += 1
        return weights_of(ticket)

    def get_outstanding(self, include: bool = True) -> list[int]:
        """The rounds whose losses have not been told; with `include`, the coming one as well."""
        return [*self._tickets, *([self.t] if include else [])]

    def get_weights(self) -> dict[str, float]:
        """The weights of the coming round, by expert."""
        return {str(expert): weight for expert, weight in self.experts.weights().items()}


def weights_of(ticket: Ticket) -> Floats:
    """The weights of a round, in the order of the experts."""
    assert ticket.weights is not None
    return np.array(list(ticket.weights.values()))


class PooldPlay(NamedTuple):
    """The round and the expert that a loss belongs to."""

    round: int
    arm: int


class PooldState:
    """A learner of PoolD in a game, with the losses that have come since it last played."""

    def __init__(self, learner: Any, arms: int) -> None:
        self.learner, self.arms, self.rounds = learner, arms, 0
        self.coming: dict[int, dict[int, float]] = {}
        self.whole: list[int] = []  # rounds all losses of which have come


class PooldPrediction(NamedTuple):
    """The weights that a learner of PoolD plays."""

    q: Floats


class PooldLearner:
    """A learner of PoolD in our games; `make` makes a new one, such as by `poold.create`.

    PoolD's feedback is about whole rounds: it is told a round when its last loss has arrived, and
    never told a round of which a loss never comes.
    """

    setting = Setting.FULL_INFORMATION

    def __init__(self, make: Callable[[], Any], arms: int, name: str = "poold") -> None:
        self.make, self.arms, self.name = make, arms, name

    def start(self) -> PooldState:
        """A new learner, and nothing outstanding."""
        return PooldState(self.make(), self.arms)

    def predict(self, state: PooldState) -> PooldPrediction:
        """Tell it the rounds that are complete, and take its weights."""
        feedback = []
        for round_ in sorted(state.whole):
            losses = state.coming.pop(round_)
            feedback.append((round_, linear_loss(np.array([losses[k] for k in range(self.arms)]))))
        state.whole.clear()
        weights = np.asarray(state.learner.update_and_play(feedback, hint=None))
        return PooldPrediction(weights.astype(np.float64))

    def commit(self, state: PooldState, prediction: PooldPrediction, arm: int) -> list[PooldPlay]:
        """Remember the round."""
        round_ = state.rounds
        state.rounds += 1
        state.coming[round_] = {}
        return [PooldPlay(round_, each) for each in range(self.arms)]

    def observe(
        self, state: PooldState, play: PooldPlay, arm: int, loss: float, missing: int
    ) -> None:
        """Keep a loss until its round is complete."""
        known = state.coming[play.round]
        known[arm] = loss
        if len(known) == self.arms:
            state.whole.append(play.round)
