"""Contexts and eligible arms in ask and tell: what is known of a round, and which arms it has."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np

from belated.arrays import Floats
from belated.asktell.session import Session
from belated.asktell.shares import shares_of, weights_among
from belated.checks import as_arms, as_number
from belated.compiled.ask_tell import PREDICT_ONLY
from belated.features.flattening import shortened
from belated.learners.contextual.contextual_learner import ContextualLearner
from belated.types import Arm

AnyContext = Mapping[str, Any] | Sequence[Any] | Floats
AnyActions = Mapping[Arm, AnyContext | None]
TOLD_WITH_ASK = ("context", "eligible", "actions")  # parts of a model, as `consider` takes them
LEAVE_OUT = (
    "practical-bandit, thompson, uniform, those that play the arm of the largest index, such as "
    "delayed-ucb1, and the learners that take a context"
)


class Circumstances(NamedTuple):
    """What was given with an ask: a copy of the context, its coordinates, and the arms allowed.

    Coordinates are None for learners that take no context; `eligible` is None if all arms are. If
    arms have features in this round, `actions` has their coordinates, and `names` are these arms,
    each in its place; they need not be the arms of the bandit.
    """

    context: Any = None
    coordinates: Floats | None = None
    eligible: Floats | None = None
    actions: Floats | None = None
    names: tuple[Arm, ...] | None = None


PLAIN = Circumstances()


class ContextualSession(Session):
    """A session whose learner may take a context with each ask, and may draw from some arms only.

    `minimum_share` is the least probability of every arm that may be drawn.
    """

    _keeps_time: bool  # whether the learner counts the ages of plays in seconds

    def _weights_in(self, context: Any, arms: Any, actions: Any) -> dict[Arm, float]:
        """The weights with which the next `ask` in this context would draw; nothing changes."""
        given = self._circumstances(context, arms, actions)
        with self._lock:
            runner = self._prepare_round(self._book.due(self._expire_after)).runner
            space = runner.workspace
            if self._takes_context:
                model = space.state.model
                told = [getattr(model, part) for part in TOLD_WITH_ASK if hasattr(model, part)]
                before = [part.copy() for part in told]
                self._tell_learner(space.state, given)
            try:
                runner.ask(runner.address, PREDICT_ONLY)
            finally:
                if self._takes_context:
                    self._learner.consider(space.state, *before)
            shares = space.prediction.q
            if self.minimum_share > 0.0 or not self._takes_context:
                weights = weights_among(self._learner, space, given.eligible)
                shares = shares_of(weights, given.eligible, self.minimum_share)
            return dict(zip(given.names or self.arms, shares.tolist(), strict=False))

    def _tell_learner(self, state: Any, given: Circumstances) -> None:
        """Put what was given with an ask into the state."""
        learner: Any = self._learner
        actions = () if given.actions is None else (given.actions,)
        learner.consider(state, given.coordinates, given.eligible, *actions)

    @contextmanager
    def _moment(self, at: Any) -> Iterator[None]:
        """Tell the learner the time of what follows; if that fails, it was told nothing."""
        seconds = self._seconds(at)
        if seconds is None:
            yield
            return
        learner: Any = self._learner
        clock = self._runner.workspace.state.model.clock
        before = clock.copy()
        learner.tick(self._runner.workspace.state, seconds)
        try:
            yield
        except BaseException:
            clock[...] = before
            raise

    def _seconds(self, at: Any) -> float | None:
        """The time of a call, in seconds; None if the learner counts ages in rounds."""
        if at is None and not self._keeps_time:
            return None
        if at is None:
            raise ValueError("at is missing; ages are counted in seconds, so say when this happens")
        if not self._keeps_time:
            raise ValueError(
                f"at is {at!r}, but {self._title} does not count ages in seconds; learners with "
                "the option ages='seconds' do"
            )
        return as_number(at, "at")

    def _circumstances(self, context: Any, arms: Any, actions: Any = None) -> Circumstances:
        """What an ask is given, checked and in the learner's terms."""
        if context is None and arms is None and actions is None:
            return PLAIN
        rows, names, eligible = None, None, None
        if actions is not None:
            rows, names = self._action_features(actions)
            arms = names if arms is None else arms
        if arms is not None:
            eligible = self._eligible(arms, names or self.arms)
        if context is None:
            return Circumstances(None, None, eligible, rows, names)
        if not self._takes_context:
            raise ValueError(f"context is given, but {self._title} takes none")
        learner: Any = self._learner
        coordinates, copy = learner.encoder.frozen(context)
        return Circumstances(copy, coordinates, eligible, rows, names)

    def _action_features(self, actions: Any) -> tuple[Floats, tuple[Arm, ...]]:
        """The coordinates of the features of a round's arms, a row for each place, and the arms."""
        learner: Any = self._learner
        if not learner.takes_actions:
            raise ValueError(
                f"actions is given, but {self._title} takes no features of arms; linear-shared does"
            )
        if not isinstance(actions, Mapping) or not 1 <= len(actions) <= len(self.arms):
            raise ValueError(
                f"actions is {shortened(actions)}; it must be a dict that names from 1 to "
                f"{len(self.arms)} arms, as many as this bandit has, with the features of each"
            )
        names = as_arms(list(actions))
        return learner.features_of(names, actions), names

    def _eligible(self, arms: Any, named: Sequence[Arm]) -> Floats:
        """Which arms may be drawn: 1 for each of these, 0 for all others."""
        if isinstance(arms, (str, bytes)) or not isinstance(arms, Collection):
            raise ValueError(f"arms is {arms!r}; it must be a list of arms that may be drawn")
        if not arms:
            raise ValueError("arms is empty; at least one arm must be allowed")
        if not self.kind.can_leave_arms_out:
            raise ValueError(
                f"arms is {list(arms)!r}, but {self.kind.name} would take an arm that could not be "
                f"drawn for one without loss; {LEAVE_OUT} can leave arms out"
            )
        known = {arm: place for place, arm in enumerate(named)}
        eligible = np.zeros(len(self.arms))
        for arm in arms:
            if arm not in known:
                of = "this bandit" if named is self.arms else "this round"
                raise ValueError(f"arms names {arm!r}, which is not an arm of {of}")
            eligible[known[arm]] = 1.0
        return eligible

    @property
    def _takes_context(self) -> bool:
        return isinstance(self._learner, ContextualLearner)
