"""Bandits for programs that draw arms, or report losses, in a way of their own."""

from collections import deque
from collections.abc import Hashable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from belated.arrays import Floats
from belated.asktell.held_rounds import HeldRounds
from belated.asktell.learner_options import kind_named, plain_options
from belated.asktell.options import DOUBLING
from belated.learners.contract import Learner
from belated.learners.driver import Driver
from belated.numerics.random_stream import draw, seeded
from belated.types import Need, Setting


def hosted_learner(
    name: str, arms: int, options: Mapping[str, Any], seed: int | None = None
) -> Learner:
    """A bandit by its name that needs nothing but losses as they arrive, and perhaps contexts."""
    kind = kind_named(name, bandit=True)
    given = plain_options(kind, tuple(range(arms)), options, seed)
    for need, unknown in ((Need.HORIZON, DOUBLING), (Need.MAX_MISSING, None)):
        if need in kind.needs_with(options) and given[need.value] == unknown:
            raise ValueError(f"{name} must know {need.value} here; give {need.value}=")
    learner = kind(arms=arms, **given)
    takes_more = Need.DELAY_AT_DECISION in kind.needs or learner.takes_advice
    if (
        takes_more
        or kind.setting is Setting.PARTIALLY_CONCEALED
        or HeldRounds.for_learner(learner) is not None
    ):
        raise ValueError(
            f"learner is {name!r}; here it must be a bandit that is told each loss when it "
            "arrives, and nothing else, such as practical-bandit"
        )
    return learner


class HostedPlay(NamedTuple):
    """A play whose loss has not been told: its arm, and what was frozen for it."""

    arm: int
    row: Floats


class HostedBandit:
    """A bandit whose plays are told by arm, the oldest one first, since there are no tickets.

    That is right if the rewards of one arm come in the order of its plays.
    """

    def __init__(
        self,
        arms: Sequence[Hashable],
        learner: str = "practical-bandit",
        seed: int | None = None,
        **options: Any,
    ) -> None:
        self.arms = list(arms)
        self._driver = Driver(hosted_learner(learner, len(self.arms), options, seed))
        self._stream = seeded(seed)
        self._open: dict[Hashable, deque[HostedPlay]] = {arm: deque() for arm in self.arms}

    def place_of(self, arm: Hashable) -> int:
        """The place of an arm; ValueError if there is no such arm."""
        if arm not in self._open:
            raise ValueError(f"arm is {arm!r}; it must be one of {', '.join(map(repr, self.arms))}")
        return self.arms.index(arm)

    def weights(self, context: Any = None) -> dict[Hashable, float]:
        """The probability of each arm in the coming round."""
        self._consider(context)
        return dict(zip(self.arms, self._driver.weights().tolist(), strict=True))

    def ask(self, context: Any = None) -> Any:
        """Draw an arm and play it."""
        self._consider(context)
        place = int(draw(self._stream, self._driver.weights()))
        return self._play(place, None)

    def played(self, arm: Hashable, probability: float, context: Any = None) -> None:
        """Count a play of an arm that another program drew with this probability."""
        place = self.place_of(arm)
        self._consider(context)
        self._play(place, probability)

    def _play(self, place: int, probability: float | None) -> Any:
        (row,) = self._driver.play(place, probability=probability)
        self._open[self.arms[place]].append(HostedPlay(place, row))
        return self.arms[place]

    def _consider(self, context: Any) -> None:
        learner = self._driver.learner
        if not learner.takes_context:
            if context is not None:
                raise ValueError(f"a context is given; {learner.name} takes none")
            return
        features = getattr(learner, "features", None)
        numbers = np.array([] if context is None else context, dtype=np.float64)
        if numbers.shape != (features,):
            raise ValueError(
                f"a context has the shape {numbers.shape}; {learner.name} must have {features} "
                "numbers, as its option features says"
            )
        self._driver.consider(numbers)

    def is_open(self, arm: Hashable) -> bool:
        """Whether a play of this arm is not told yet."""
        self.place_of(arm)
        return bool(self._open[arm])

    def tell(self, arm: Hashable, loss: float) -> None:
        """Tell the loss, in [0, 1], of the oldest play of this arm that is not told yet."""
        play = self._oldest(arm)
        self._driver.tell(play.row, play.arm, loss)

    def withdraw(self, arm: Hashable) -> None:
        """Give up the oldest play of this arm that is not told yet: its loss will not come."""
        play = self._oldest(arm)
        self._driver.withdraw(play.row, play.arm)

    def _oldest(self, arm: Hashable) -> HostedPlay:
        if not self.is_open(arm):
            raise ValueError(f"a reward of arm {arm!r} is told, but no play of it is open")
        return self._open[arm].popleft()

    def change_arms(self, kept: Sequence[Hashable], added: Sequence[Hashable]) -> None:
        """Continue with the arms kept and new ones; open plays of removed arms are withdrawn."""
        for arm in self.arms:
            while arm not in kept and self._open[arm]:
                self.withdraw(arm)
        places = [self.arms.index(arm) for arm in kept]
        self._driver.change_arms(places, len(added))
        self.arms = [*kept, *added]
        before = self._open
        self._open = {
            arm: deque(play._replace(arm=place) for play in before.get(arm, ()))
            for place, arm in enumerate(self.arms)
        }
